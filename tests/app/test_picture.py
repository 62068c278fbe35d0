"""The pictures of the first view say what the live charts say, in few bytes and without a script."""

import re

import pytest

from app import page, prerender
from app.page import Drawn
from app.picture import picture
from app.plan import lay_out
from app.state import State
from envelope import catalog, evaluate
from envelope.curves import CHARTS
from tests.app.reader import parsed

MODELS = catalog.slugs()


@pytest.mark.parametrize("key", page.MAIN_CHARTS)
@pytest.mark.parametrize("model", MODELS)
def test_every_preset_has_its_charts_as_pictures(model: str, key: str):
    chart = CHARTS[key](evaluate(model))
    view = prerender.page_view(model)
    place = page.mount(key)
    if not chart.series:
        assert place in view
        return
    drawn = str(picture(chart))
    assert page.mount(key, picture(chart)) in view and place not in view
    assert drawn in prerender.embed_view(model, key)
    assert f'role="img" aria-label="{chart.title}"' in drawn
    assert len(drawn) < 6000
    words = parsed(drawn).text
    for label in lay_out(chart).labels:
        assert all(line in words for line in label.lines)


def test_the_picture_holds_the_seeds_figures_as_text():
    words = parsed(str(picture(CHARTS["pool-ratio"](evaluate())))).text
    for said in ("128K: 258 at 0.0782", "32K: 665 at 0.313", "1M: 38 at 0.0098", "95 at the default 0.8", "pool ratio (log)"):
        assert said in words


def test_curves_and_points_stand_where_the_data_says():
    chart = CHARTS["experts"](evaluate())
    drawn, plan = str(picture(chart)), lay_out(chart)
    points = [tuple(map(float, pair.split(","))) for pair in re.search(r'points="([^"]+)"', drawn).group(1).split()]
    assert points[0] == pytest.approx((0, 208 - 208 * 8 / (1.18 * 256)), abs=0.1)  # one token reads its 8 of 256 experts
    assert points[-1] == pytest.approx((1000, 208 - 208 / 1.18), abs=0.1)
    assert len(points) == len(chart.series[0].x)
    assert re.findall(r'<circle cx="([\d.]+)%"', drawn) == [f"{100 * plan.across(mark.x):.2f}" for mark in chart.marks]


def test_no_colour_is_written_into_a_picture():
    for model in MODELS:
        assert not re.search(r"#[0-9a-f]{3}|rgb|fill=|stroke=", prerender.page_view(model))


def test_the_live_page_leaves_the_places_of_the_figures_empty():
    state = State({})
    made = {name: str(make() or "") for name, make in page.regions(state, page.View(), Drawn(state)).items()}
    assert "<svg" not in page.whole(made)


def test_where_no_script_runs_the_page_says_whose_numbers_stand():
    assert parsed(prerender.without_scripts("muse-spark-open")).text.startswith("This page computes in your browser and needs JavaScript")
    assert "Muse Spark Open on HGX B300 × 8" in prerender.without_scripts("muse-spark-open")
