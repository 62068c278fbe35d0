"""The figures hold the core's curves, stay where they are, and keep their labels apart and inside."""

import pytest

from app.figures import Figure
from app.plan import lay_out, tick_text
from app.sections import MAIN_CHARTS
from app.theme import DARK, LIGHT
from envelope import catalog, evaluate
from envelope.curves import CHARTS
from tests.app.reader import Reader

MODELS = catalog.slugs()


def drawn(key: str, model: str = "muse-spark-open", **inputs: object) -> Figure:
    chart = CHARTS[key](evaluate(model, **inputs))
    figure = Figure(key, chart)
    figure.draw(chart, LIGHT)
    return figure


@pytest.mark.parametrize("key", CHARTS)
@pytest.mark.parametrize("model", MODELS)
def test_every_chart_of_every_model_is_drawn_as_computed(key: str, model: str):
    chart = CHARTS[key](evaluate(model))
    figure = drawn(key, model)
    assert [list(xs) for xs in figure.lines.data["xs"]] == [[float(x) for x in one.x] for one in chart.series]
    assert [list(ys) for ys in figure.lines.data["ys"]] == [[float(y) for y in one.y] for one in chart.series]
    assert figure.marks.data["x"] == [float(mark.x) for mark in chart.marks]
    said = [label.replace("\n", " ") for label in figure.labels.data["label"]]
    assert said == ([" ".join(label.lines) for label in lay_out(chart).labels] if chart.series else [])
    assert key not in MAIN_CHARTS or said == [mark.label for mark in chart.marks]


def test_the_pool_chart_marks_the_seeds_figures():
    labels = [label.replace("\n", " ") for label in drawn("pool-ratio").labels.data["label"]]
    assert "128K: 258 at 0.0782" in labels and "95 at the default 0.8" in labels


def test_models_and_sources_stay_when_the_state_changes():
    reader = Reader()
    figure = reader.page.figures["pool-ratio"]
    before = figure.model, figure.lines, list(figure.lines.data["ys"][0])
    reader.type("context", "1M")
    assert (figure.model, figure.lines) == before[:2] and list(figure.lines.data["ys"][0]) != before[2]
    assert [root.name for root in reader.page.document.roots] == ["door", "chart-pool-ratio", "chart-experts"]


def test_a_chart_that_does_not_apply_is_empty_and_comes_back():
    reader = Reader()
    figure = reader.page.figures["pool-ratio"]
    reader.do("go", query="?model=llama-3.1-70b")
    assert figure.lines.data["xs"] == [] and figure.marks.data["x"] == []
    assert "Not drawn" in reader.region("title-pool-ratio").text
    reader.do("go", query="?model=muse-spark-open")
    assert len(figure.lines.data["xs"]) == 3


def test_the_pinned_state_is_drawn_dashed_and_labelled():
    reader = Reader()
    reader.do("pin")
    reader.type("context", "1M")
    figure = reader.page.figures["pool-ratio"]
    assert figure.lines.data["dash"].count("dashed") == 1
    assert "A: 128K: 258 at 0.0782" in [label.replace("\n", " ") for label in figure.labels.data["label"]]


def test_follows_the_light():
    reader = Reader(dark=True)
    plot = reader.page.figures["experts"].model
    assert plot.background_fill_color == DARK.ground
    reader.do("light", dark="False")
    assert plot.background_fill_color == LIGHT.ground


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [(131_072, "tokens", "128K"), (1_048_576, "tokens", "1M"), (0.03, "ratio", "0.03"), (600, "sessions", "600"), (8e12, "bytes/s", "8.00 TB/s")],
)
def test_ticks_are_what_people_write(number: float, unit: str, text: str):
    assert tick_text(number, unit) == text


@pytest.mark.parametrize("inputs", [{}, {"context": "1M"}, {"context": "8K"}, {"pool_ratio": "0.8"}, {"batch": "64"}])
@pytest.mark.parametrize("key", ["pool-ratio", "experts"])
def test_no_tick_is_in_scientific_notation(key: str, inputs: dict):
    figure = drawn(key, **inputs)
    for axis in figure.model.axis:
        labels = list(axis.major_label_overrides.values())
        assert len(labels) >= 3 and not any("e" in label for label in labels)
        assert len(set(labels)) == len(labels)


def test_dots_on_the_frame_are_whole_and_a_chart_is_wide_enough_for_its_axis():
    plot = drawn("experts").model
    dots = next(one for one in plot.renderers if one.data_source.name == "experts-marks")
    assert dots.level == "guide" and plot.min_width == 240
