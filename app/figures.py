"""Chart data as Bokeh figures: made once, then updated in place."""

from __future__ import annotations

from array import array
from dataclasses import replace
from math import ceil, floor, log, log10

from bokeh.core.property.vectorization import value
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, LabelSet, LinearAxis, LogAxis, Range1d, Span
from bokeh.plotting import figure

from envelope.chart import Chart, Mark, Series
from envelope.units import shorten, text, token_text

from app.theme import FONT, HEIGHT, Palette

_ROOM = 1.18  # above the highest point, for the labels
_WEIGHED = 4  # one point in four is asked whether a label hides it
_HOVERED = 3  # one point in three answers the pointer: some ten pixels apart
_TICKS = {
    "ratio": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1),
    "tokens": (1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304),
    "requests": (1, 4, 16, 64, 256, 1024),
}  # fmt: skip
_NICE = (1, 2, 2.5, 5, 10)
_EMPTY_LINES = {"xs": [], "ys": [], "color": [], "width": [], "dash": []}
_EMPTY_MARKS = {"x": [], "y": [], "label": [], "color": [], "align": [], "shift": [], "lift": []}
_EMPTY_POINTS = {"x": [], "y": [], "said": []}

# Pixels, for placing labels: the plot's inside on a phone and on a desk, a letter's width, a line's height.
_INSIDE = 380, 190
_LETTER, _LINE = 6.3, 15
# Sides a label may take, the liked ones first: alignment, x offset, y offset.
_SIDES = (("left", 8, 5), ("right", -8, 5), ("left", 8, -19), ("right", -8, -19), ("left", 8, 20), ("right", -8, 20))


class Figure:
    """One chart on the page: `model` is its Bokeh figure, `draw` puts new data and colours into it."""

    def __init__(self, key: str, chart: Chart) -> None:
        self.lines = ColumnDataSource(dict(_EMPTY_LINES), name=f"{key}-lines")
        self.points = ColumnDataSource(dict(_EMPTY_POINTS), name=f"{key}-points")
        self.marks = ColumnDataSource(dict(_EMPTY_MARKS), name=f"{key}-marks")
        self._colors: Palette | None = None
        self._drawn: tuple[Chart, Chart | None, Palette] | None = None
        self._explained: Chart | None = None
        self._default = Span(dimension="height", line_dash="dashed", line_width=1.2, visible=False)
        self._labels = LabelSet(
            x="x", y="y", text="label", source=self.marks, text_align={"field": "align"}, text_font=value(FONT), text_font_size=value("12px"),
            x_offset={"field": "shift"}, y_offset={"field": "lift"}, background_fill_alpha=0.8,
        )  # fmt: skip
        self._log_x = chart.log_x or not chart.series
        self.model = plot = figure(
            name=f"chart-{key}", height=HEIGHT, sizing_mode="stretch_width", toolbar_location=None, tools="",
            x_axis_type="log" if self._log_x else "linear", x_range=Range1d(1, 10), y_range=Range1d(0, 1),
            outline_line_color=None, min_border_left=8, min_border_right=8,
        )  # fmt: skip
        plot.multi_line("xs", "ys", source=self.lines, line_color="color", line_width="width", line_dash="dash", line_join="round")
        hit = plot.scatter("x", "y", source=self.points, size=6, alpha=0, hover_alpha=0.9)
        plot.scatter("x", "y", source=self.marks, size=7, color="color", line_color=None)
        plot.add_layout(self._default)
        plot.add_layout(self._labels)
        plot.add_tools(HoverTool(renderers=[hit], mode="vline", tooltips="@said", point_policy="snap_to_data", attachment="vertical"))
        plot.xgrid.grid_line_color = None
        for axis in plot.axis:
            axis.axis_line_color = None
            axis.major_tick_line_color = axis.minor_tick_line_color = None
            axis.major_label_text_font = axis.axis_label_text_font = FONT
            axis.major_label_text_font_size = axis.axis_label_text_font_size = "12px"
            axis.axis_label_text_font_style = "normal"
            axis.ticker = FixedTicker(ticks=[])

    def draw(self, chart: Chart, colors: Palette, pinned: Chart | None = None) -> None:
        """Show a chart, and behind it that of the pinned state."""
        if (chart, pinned, colors) == self._drawn:
            return
        self._drawn = chart, pinned, colors
        self._paint(colors)
        if not chart.series:
            self.lines.data, self.marks.data = dict(_EMPTY_LINES), dict(_EMPTY_MARKS)
            return
        main = _main(chart)
        before = [one for one in (pinned.series if pinned else ()) if one.role == "main"]
        styles = [(one, colors.accent, 2.2, "solid") if one is main else (one, colors.other, 1.5, "solid") for one in chart.series]
        styles += [(one, colors.quiet, 1.8, "dashed") for one in before]
        self.lines.data = {
            "xs": [_floats(one.x) for one, *_ in styles], "ys": [_floats(one.y) for one, *_ in styles],
            "color": [color for _, color, *_ in styles], "width": [width for *_, width, _ in styles], "dash": [dash for *_, dash in styles],
        }  # fmt: skip
        self._frame(chart, [one for one, *_ in styles])
        a = tuple(replace(mark, label=f"A: {mark.label}", kind="a") for mark in (pinned.marks if before else ()) if mark.kind == "best")
        self._mark(chart.marks + tuple(mark for mark in a if (mark.x, mark.y) not in {(one.x, one.y) for one in chart.marks}), colors)

    def explain(self) -> None:
        """Put in what the pointer asks of the drawn chart; nobody sees it, so it may come after the lines."""
        chart = self._drawn[0] if self._drawn else None
        if chart is self._explained:
            return
        self._explained = chart
        if not chart.series:
            self.points.data = dict(_EMPTY_POINTS)
            return
        main = _main(chart)
        more = main.hover or ("",) * len(main.x)
        points = list(zip(main.x, main.y, more, strict=True))[::_HOVERED]
        said = [_said(chart, x, y, words) for x, y, words in points]
        self.points.data = {"x": _floats(main.x[::_HOVERED]), "y": _floats(main.y[::_HOVERED]), "said": said}

    def _frame(self, chart: Chart, series: list[Series]) -> None:
        low, high = min(min(one.x) for one in series), max(max(one.x) for one in series)
        top = max(max(one.y) for one in series) or 1
        plot = self.model
        plot.x_range.update(start=float(low), end=float(high))
        plot.y_range.update(start=0, end=float(top) * _ROOM)
        ticks = [tick for tick in _TICKS.get(chart.x_unit, ()) if low <= tick <= high] if self._log_x else _even(low, high)
        _label(plot.xaxis[0], ticks, chart.x_unit)
        _label(plot.yaxis[0], _even(0, top), chart.y_unit)
        plot.xaxis[0].axis_label = chart.x_label

    def _mark(self, marks: tuple[Mark, ...], colors: Palette) -> None:
        color = {"best": colors.accent, "chosen": colors.accent, "default": colors.warning, "a": colors.quiet}
        sides = self._sides(marks)
        self.marks.data = {
            "x": [float(mark.x) for mark in marks], "y": [float(mark.y) for mark in marks], "label": [mark.label for mark in marks],
            "color": [color.get(mark.kind, colors.other) for mark in marks],
            "align": [align for align, _, _ in sides], "shift": [shift for _, shift, _ in sides], "lift": [lift for _, _, lift in sides],
        }  # fmt: skip
        default = next((mark for mark in marks if mark.kind == "default"), None)
        self._default.update(location=float(default.x) if default else None, visible=default is not None)

    def _sides(self, marks: tuple[Mark, ...]) -> list[tuple[str, int, int]]:
        """For each label the side of its point where it hides least: inside the plot, off the lines, off other labels."""
        width, height = _INSIDE
        low, high, top = self.model.x_range.start, self.model.x_range.end, self.model.y_range.end

        def across(x: float) -> float:
            return (log(x / low) / log(high / low) if self._log_x else (x - low) / (high - low)) * width

        drawn = zip(self.lines.data["xs"], self.lines.data["ys"], strict=True)
        points = [(across(x), y / top * height) for xs, ys in drawn for x, y in zip(xs[::_WEIGHED], ys[::_WEIGHED], strict=True)]
        taken: list[tuple[float, float, float, float]] = []
        chosen = []
        for mark in marks:
            x, y = across(float(mark.x)), float(mark.y) / top * height
            boxes = [_box(x, y, len(mark.label) * _LETTER, side) for side in _SIDES]
            costs = [_hidden(box, points, taken, width, height) for box in boxes]
            best = costs.index(min(costs))
            taken.append(boxes[best])
            chosen.append(_SIDES[best])
        return chosen

    def _paint(self, colors: Palette) -> None:
        if colors is self._colors:
            return
        self._colors = colors
        plot = self.model
        plot.update(background_fill_color=colors.ground, border_fill_color=colors.ground)
        for axis in plot.axis:
            axis.update(major_label_text_color=colors.quiet, axis_label_text_color=colors.quiet)
        plot.ygrid.grid_line_color = colors.line
        self._labels.update(text_color=colors.ink, background_fill_color=colors.ground)
        self._default.line_color = colors.warning


def _main(chart: Chart) -> Series:
    return next((one for one in chart.series if one.role == "main"), chart.series[0])


def _floats(values: tuple[float, ...]) -> array:
    """As one block of memory, which passes to the page twenty times faster than a list."""
    return array("d", (float(one) for one in values))


Box = tuple[float, float, float, float]  # left, bottom, right, top


def _box(x: float, y: float, width: float, side: tuple[str, int, int]) -> Box:
    align, shift, lift = side
    left = x + shift - (width if align == "right" else 0)
    return left, y + lift, left + width, y + lift + _LINE


def _hidden(box: Box, points: list[tuple[float, float]], taken: list[Box], width: int, height: int) -> float:
    """What a label in this box would hide: points of lines, and, far worse, other labels or what is cut off."""
    left, bottom, right, top = box
    hidden = sum(left < x < right and bottom < y < top for x, y in points)
    labels = sum(left < other[2] and right > other[0] and bottom < other[3] and top > other[1] for other in taken)
    return hidden + 40 * labels + 100 * (left < 0 or right > width) + 100 * (bottom < 0 or top > height)


def _label(axis: LinearAxis | LogAxis, ticks: list[float], unit: str) -> None:
    axis.ticker.ticks = ticks
    axis.major_label_overrides = {tick: tick_text(tick, unit) for tick in ticks}


def tick_text(number: float, unit: str) -> str:
    """A number as a tick has it: 32K, 0.03, 600."""
    if unit == "tokens":
        return token_text(number)
    if unit in ("ratio", "share", ""):
        return shorten(number)
    if unit in ("sessions", "experts", "count", "requests", "GPUs"):
        return shorten(number, 9 if float(number).is_integer() else 3)
    return text(number, unit)


def _even(low: float, high: float) -> list[float]:
    """Four to six round steps between two values."""
    rough = float(high - low) / 4 or 1.0
    power = 10.0 ** floor(log10(rough))
    step = min((power * nice for nice in _NICE), key=lambda one: abs(log(one / rough)))
    first, last = ceil(float(low) / step), floor(float(high) / step + 1e-9)
    return [step * index for index in range(first, last + 1)]


def _said(chart: Chart, x: float, y: float, more: str) -> str:
    words = [f"{chart.x_label.removesuffix(' (log)')} {tick_text(x, chart.x_unit)}", f"{tick_text(y, chart.y_unit)} {chart.y_label}"]
    return " · ".join([*words, *([more] if more else [])])
