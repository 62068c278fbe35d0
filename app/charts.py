"""Chart data as Bokeh figures: made once, then updated in place."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from bokeh.core.property.vectorization import value
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, LabelSet, LinearAxis, LogAxis, Range1d, Span
from bokeh.plotting import figure

from envelope.curves import Chart, Mark
from envelope.units import shorten, text, token_text

from app.markup import Markup, button, join, tag
from app.theme import FONT, HEIGHT, Palette

_ROOM = 1.18  # above the highest point, for the labels
_TICKS = {
    "ratio": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1),
    "tokens": (1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304),
}  # fmt: skip
_NICE = (1, 2, 2.5, 5, 10)


@dataclass
class Figure:
    """One chart on the page. `draw` puts new data and colours into it."""

    key: str

    def __post_init__(self) -> None:
        self.lines = ColumnDataSource({"xs": [], "ys": [], "color": [], "width": [], "dash": []}, name=f"{self.key}-lines")
        self.points = ColumnDataSource({"x": [], "y": [], "said": []}, name=f"{self.key}-points")
        self.marks = ColumnDataSource({"x": [], "y": [], "label": [], "color": [], "align": [], "shift": [], "lift": []}, name=f"{self.key}-marks")
        self.default = Span(dimension="height", line_dash="dashed", line_width=1.2, visible=False)
        self.labels = LabelSet(
            x="x", y="y", text="label", source=self.marks, text_align={"field": "align"}, text_font=value(FONT), text_font_size=value("12px"),
            x_offset={"field": "shift"}, y_offset={"field": "lift"},
            background_fill_alpha=0.8,
        )  # fmt: skip
        self.model = None

    def build(self, log_x: bool) -> figure:
        """The Bokeh figure, empty."""
        plot = figure(
            name=f"chart-{self.key}", height=HEIGHT, sizing_mode="stretch_width", toolbar_location=None, tools="",
            x_axis_type="log" if log_x else "linear", x_range=Range1d(1, 10), y_range=Range1d(0, 1),
            outline_line_color=None, min_border_left=8, min_border_right=8,
        )  # fmt: skip
        plot.multi_line("xs", "ys", source=self.lines, line_color="color", line_width="width", line_dash="dash", line_join="round")
        hit = plot.scatter("x", "y", source=self.points, size=6, alpha=0, hover_alpha=0.9)
        plot.scatter("x", "y", source=self.marks, size=7, color="color", line_color=None)
        plot.add_layout(self.default)
        plot.add_layout(self.labels)
        plot.add_tools(HoverTool(renderers=[hit], mode="vline", tooltips="@said", point_policy="snap_to_data", attachment="vertical"))
        plot.xgrid.grid_line_color = None
        for axis in plot.axis:
            axis.axis_line_color = None
            axis.major_tick_line_color = axis.minor_tick_line_color = None
            axis.major_label_text_font = axis.axis_label_text_font = FONT
            axis.major_label_text_font_size = axis.axis_label_text_font_size = "12px"
            axis.axis_label_text_font_style = "normal"
            axis.ticker = FixedTicker(ticks=[])
        self.model = plot
        return plot

    def draw(self, chart: Chart, colors: Palette, pinned: Chart | None = None) -> None:
        """Show a chart, and behind it that of the pinned state."""
        if self.model is None:
            self.build(chart.log_x)
        self._paint(colors)
        if chart.reason:
            self.lines.data = {"xs": [], "ys": [], "color": [], "width": [], "dash": []}
            return
        series = [(one, colors.accent if one.role == "main" else colors.other, 2.2 if one.role == "main" else 1.5, "solid") for one in chart.series]
        series += [(one, colors.warning, 1.8, "dashed") for one in (pinned.series if pinned else ()) if one.role == "main"]
        self.lines.data = {
            "xs": [one.x for one, *_ in series], "ys": [one.y for one, *_ in series],
            "color": [color for _, color, *_ in series], "width": [width for *_, width, _ in series], "dash": [dash for *_, dash in series],
        }  # fmt: skip
        main = next((one for one in chart.series if one.role == "main"), chart.series[0])
        hover = main.hover or [""] * len(main.x)
        self.points.data = {"x": main.x, "y": main.y, "said": [_said(chart, x, y, more) for x, y, more in zip(main.x, main.y, hover, strict=True)]}
        self._frame(chart, [one for one, *_ in series])
        self._mark(chart, colors)

    def _frame(self, chart: Chart, series: list) -> None:
        low, high = min(min(one.x) for one in series), max(max(one.x) for one in series)
        top = max(max(one.y) for one in series) or 1
        plot = self.model
        plot.x_range.update(start=low, end=high)
        plot.y_range.update(start=0, end=top * _ROOM)
        ticks = [tick for tick in _TICKS.get(chart.x_unit, ()) if low <= tick <= high] if chart.log_x else _even(low, high)
        _label(plot.xaxis[0], ticks, chart.x_unit)
        _label(plot.yaxis[0], _even(0, top), chart.y_unit)
        plot.xaxis[0].axis_label = chart.x_label

    def _mark(self, chart: Chart, colors: Palette) -> None:
        plot = self.model
        color = {"best": colors.accent, "chosen": colors.accent, "default": colors.warning}
        sides = [_side(plot, chart, mark) for mark in chart.marks]
        self.marks.data = {
            "x": [mark.x for mark in chart.marks], "y": [mark.y for mark in chart.marks], "label": [mark.label for mark in chart.marks],
            "color": [color.get(mark.kind, colors.other) for mark in chart.marks],
            "align": [align for align, _, _ in sides], "shift": [shift for _, shift, _ in sides], "lift": [lift for _, _, lift in sides],
        }  # fmt: skip
        default = next((mark for mark in chart.marks if mark.kind == "default"), None)
        self.default.update(location=default.x if default else None, visible=default is not None)

    def _paint(self, colors: Palette) -> None:
        plot = self.model
        if plot.background_fill_color == colors.ground:
            return
        plot.update(background_fill_color=colors.ground, border_fill_color=colors.ground)
        for axis in plot.axis:
            axis.update(major_label_text_color=colors.quiet, axis_label_text_color=colors.quiet)
        plot.ygrid.grid_line_color = colors.line
        self.labels.update(text_color=colors.ink, background_fill_color=colors.ground)
        self.default.line_color = colors.warning


def _label(axis: LinearAxis | LogAxis, ticks: list[float], unit: str) -> None:
    axis.ticker.ticks = ticks
    axis.major_label_overrides = {tick: tick_text(tick, unit) for tick in ticks}


def tick_text(value: float, unit: str) -> str:
    """A tick as people write it: 32K, 0.03, 600."""
    if unit == "tokens":
        return token_text(value)
    if unit in ("ratio", "share", ""):
        return shorten(value)
    if unit in ("sessions", "experts", "count", "requests", "GPUs"):
        return shorten(value, 9)
    return text(value, unit)


def _even(low: float, high: float) -> list[float]:
    """Four to five round steps between two values."""
    rough = (high - low) / 4 or 1
    power = 10.0 ** len(str(int(rough))) / 10 if rough >= 1 else 1.0
    while power > rough:
        power /= 10
    step = next(power * nice for nice in _NICE if power * nice >= rough)
    first = -(-low // step)
    return [step * index for index in range(int(first), int(high // step) + 1)]


def _side(plot: figure, chart: Chart, mark: Mark) -> tuple[str, int, int]:
    """Which side of its point a label goes, so that it stays inside: align, x offset, y offset."""
    low, high = plot.x_range.start, plot.x_range.end
    middle = (low * high) ** 0.5 if chart.log_x else (low + high) / 2
    return ("right", -8, 5) if mark.x > middle else ("left", 8, 5)


def _said(chart: Chart, x: float, y: float, more: str) -> str:
    words = [f"{chart.x_label.removesuffix(' (log)')} {tick_text(x, chart.x_unit)}", f"{tick_text(y, chart.y_unit)} {chart.y_label}"]
    return " · ".join([*words, *([more] if more else [])])


def heading(chart: Chart) -> Markup:
    """The title that states the finding, and what the axes are, or why there is no chart."""
    return join(tag("h3", chart.title), tag("p", chart.reason or chart.subtitle, class_="note" if chart.reason else "subtitle"))


def more(chart: Chart, table_open: bool) -> Markup | None:
    """What else can be had of a chart: the data as a table, and files."""
    if chart.reason:
        return None
    return tag(
        "details",
        tag("summary", "data"),
        tag(
            "div",
            tag("p", button("CSV", "csv", data_chart=chart.key), " ", button("PNG", "picture", data_chart=chart.key)),
            table(chart) if table_open else None,
        ),
        data_fold=f"table-{chart.key}",
        class_="data",
        open=table_open,
    )


def table(chart: Chart) -> Markup:
    """A chart's marks and main line as a table, every tenth point."""
    rows = [(mark.label, tick_text(mark.x, chart.x_unit), tick_text(mark.y, chart.y_unit)) for mark in chart.marks]
    for one in chart.series:
        rows += [(one.label, tick_text(x, chart.x_unit), tick_text(y, chart.y_unit)) for x, y in list(zip(one.x, one.y, strict=True))[::12]]
    return tag(
        "table",
        tag("caption", chart.title, class_="unseen"),
        tag("thead", tag("tr", (tag("th", name, scope="col") for name in ("", chart.x_label, chart.y_label)))),
        tag("tbody", (tag("tr", tag("th", label, scope="row"), tag("td", x, class_="number"), tag("td", y, class_="number")) for label, x, y in rows)),
        class_="rows",
    )


def as_csv(chart: Chart) -> str:
    """A chart's data in base units: one row a point."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(["series", chart.x_label.removesuffix(" (log)"), chart.y_label, "note"])
    for one in chart.series:
        for x, y, more in zip(one.x, one.y, one.hover or [""] * len(one.x), strict=True):
            write([one.label, x, y, more])
    return out.getvalue()
