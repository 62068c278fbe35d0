"""A chart's labels keep clear of each other and inside the frame in every state and at every width."""

from dataclasses import replace
from itertools import combinations, pairwise
from math import hypot

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.plan import INSIDE, NARROW, WIDE, Label, Plan, lay_out, text_width
from app.sections import MAIN_CHARTS
from envelope import catalog, evaluate
from envelope.chart import Chart, Mark, Series
from envelope.curves import CHARTS
from tests.app.strategies import states

WIDTHS = (NARROW, 328, 358, 420, 471, 560, 612, 680, WIDE)
Box = tuple[float, float, float, float]


def box(plan: Plan, label: Label, width: int) -> Box:
    """Left, bottom, right, top in pixels of the frame, from what is drawn: anchor, alignment and lines."""
    anchor = plan.across(label.x) * plan.inside(width) + label.shift
    wide = max(text_width(line) for line in label.lines)
    left = anchor - {"left": 0, "center": wide / 2, "right": wide}[label.align]
    middle = label.y / plan.top * INSIDE + label.lift
    return left, middle - 7.5 * len(label.lines), left + wide, middle + 7.5 * len(label.lines)


def assert_clear(plan: Plan) -> None:
    for width in WIDTHS:
        boxes = [(label, box(plan, label, width)) for label in plan.labels]
        for label, (left, bottom, right, top) in boxes:
            assert left >= -1e-6 and right <= plan.inside(width) + 1e-6, (width, label.lines)
            assert bottom >= -1e-6 and top <= INSIDE + 1e-6, (width, label.lines)
        for (one, a), (other, b) in combinations(boxes, 2):
            meet = min(a[2], b[2]) - max(a[0], b[0]) > 1e-6 and min(a[3], b[3]) - max(a[1], b[1]) > 1e-6
            assert not meet, (width, one.lines, other.lines)


@pytest.mark.parametrize("context", ["1K", "8K", "32K", "128K", "1M"])
@pytest.mark.parametrize("model", catalog.slugs())
def test_no_two_labels_of_a_preset_meet_and_the_main_charts_leave_none_out(model: str, context: str):
    for key, make in CHARTS.items():
        chart = make(evaluate(model, context=context))
        if chart.series:
            plan = lay_out(chart)
            assert_clear(plan)
            if key in MAIN_CHARTS:
                assert [" ".join(label.lines) for label in plan.labels] == [mark.label for mark in chart.marks]


@settings(max_examples=60)
@given(states(), st.sampled_from(catalog.slugs()))
def test_no_two_labels_meet_in_any_state_beside_any_pinned_one(inputs: dict[str, str], pinned: str):
    here, there = evaluate(**inputs), evaluate(pinned)
    for make in CHARTS.values():
        chart = make(here)
        if chart.series:
            assert_clear(lay_out(chart, make(there)))


def crowded(count: int) -> Chart:
    line = Series("a line", (1.0, 10.0), (1.0, 1.0), "main")
    return Chart("crowded", "", "", "", "", "count", "count", (line,), tuple(Mark(f"mark number {one}", 3.0, 1.0) for one in range(count)))


def test_a_label_without_room_is_left_out_and_its_point_stays():
    plan = lay_out(crowded(60))
    assert_clear(plan)
    assert 10 < len(plan.labels) < 60 and len(plan.marks) == 60


def test_a_label_far_from_its_point_has_a_leader():
    assert [label.leads for label in lay_out(crowded(5)).labels] == [False, False, False, False, True]


def test_ticks_leave_room_for_each_other_on_a_phone():
    for batch in ("1", "4096", "1000000"):
        plan = lay_out(CHARTS["experts"](evaluate(batch=batch)))
        assert len(plan.x_ticks) >= 3
        ends = [(plan.across(x) * plan.inside(NARROW), text_width(words) / 2) for x, words in plan.x_ticks]
        assert all(left + half < right - other for (left, half), (right, other) in zip(ends, ends[1:], strict=False))


def test_a_line_without_a_mark_bears_its_name():
    named = Series("another line", (1.0, 5.0, 10.0), (0.2, 0.3, 0.4))
    chart = replace(crowded(1), series=(*crowded(1).series, named))
    assert [(label.lines, label.kind) for label in lay_out(chart).labels] == [(("mark number 0",), "plain"), (("another line",), "name")]


def hidden(chart: Chart, words: str, width: int) -> float:
    """Pixels of lines behind a label in a chart of this width."""
    plan = lay_out(chart)
    label = next(one for one in plan.labels if " ".join(one.lines) == words)
    left, bottom, right, top = box(plan, label, width)
    points = [(plan.across(x) * plan.inside(width), plan.up(y)) for one in plan.curves for x, y in zip(one.series.x, one.series.y, strict=True)]
    return sum(hypot(x - x0, y - y0) for (x0, y0), (x, y) in pairwise(points) if left < x < right and bottom < y < top)


@pytest.mark.parametrize("width", [358, 472, 680])
@pytest.mark.parametrize(
    ("key", "words"),
    [("pool-ratio", "95 at the default 0.8"), ("pool-ratio", "1M: 38 at 0.0098"), ("pool-ratio", "32K: 665 at 0.313"), ("experts", "1: 8, 54.1 GB"), ("experts", "73: 231, 477 GB")],
)
def test_the_labels_of_the_first_view_stand_beside_the_lines(key: str, words: str, width: int):
    assert hidden(CHARTS[key](evaluate()), words, width) < 8


def test_a_leader_ends_beside_its_words_and_under_centred_ones():
    one = Label(("words",), 1.0, 1.0, "plain", "left", 27.0, 0.1, 8.0, 40.0, 60.0)
    assert (one.foot, replace(one, align="center").foot, replace(one, align="center", lift=-27.0).foot) == (60.0, 52.5, 67.5)
