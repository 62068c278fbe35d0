"""A page with one field, its result and one figure."""

import panel as pn
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure


def main() -> None:
    """Put the page's roots in the current document."""
    source = ColumnDataSource({"x": list(range(360)), "y": [0.0] * 360})
    plot = figure(height=240, sizing_mode="stretch_width", title="y = n x")
    plot.line("x", "y", source=source)
    field = pn.widgets.TextInput(name="n", value="2")
    result = pn.pane.HTML("")

    def update(*_events) -> None:
        n = float(field.value_input or field.value)
        result.object = f"<p id='result'>{n * 360:g}</p>"
        source.data = {"x": list(range(360)), "y": [n * x for x in range(360)]}

    field.param.watch(update, ["value", "value_input"])
    update()
    pn.Column(field, result, plot, sizing_mode="stretch_width").servable()
