"""Chart data as Bokeh figures: made once, then updated in place, laid out as plan.py says."""

from __future__ import annotations

from array import array

from bokeh.core.property.validation import without_property_validation
from bokeh.core.property.vectorization import value
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, LabelSet, LinearAxis, LogAxis, Range1d, Span
from bokeh.plotting import figure

from envelope.chart import Chart

from app.plan import BOTTOM, RIGHT, TOP, Plan, lay_out, main_series, tick_text
from app.theme import FONT, HEIGHT, Palette

# Pixels. What Bokeh draws across a chart's left edge stays there, half a pixel wide, until the next full size; in a page
# that is being laid out a chart is 56 pixels wide for a moment, and the name of its x axis crosses the edge.
_LEAST = 240
_WIDTHS, _DASHES = {"main": 2.2, "other": 1.5, "pinned": 1.8}, {"pinned": "dashed"}
_EMPTY_LINES = {"xs": [], "ys": [], "color": [], "width": [], "dash": []}
_EMPTY_POINTS = {"x": [], "y": [], "said": []}
_EMPTY_MARKS = {"x": [], "y": [], "color": []}
_EMPTY_LABELS = {"x": [], "y": [], "label": [], "color": [], "align": [], "shift": [], "lift": [], "end": []}


class Figure:
    """One chart on the page: `model` is its Bokeh figure, `draw` puts new data and colours into it."""

    def __init__(self, key: str, chart: Chart) -> None:
        self.lines = ColumnDataSource(dict(_EMPTY_LINES), name=f"{key}-lines")
        self.points = ColumnDataSource(dict(_EMPTY_POINTS), name=f"{key}-points")
        self.marks = ColumnDataSource(dict(_EMPTY_MARKS), name=f"{key}-marks")
        self.labels = ColumnDataSource(dict(_EMPTY_LABELS), name=f"{key}-labels")
        self._colors: Palette | None = None
        self._drawn: tuple[Chart, Chart | None, Palette] | None = None
        self._framed: Plan | None = None
        self._explained: Chart | None = None
        self._default = Span(dimension="height", line_dash="dashed", line_width=1.2, visible=False)
        self._words = LabelSet(
            x="x", y="y", text="label", source=self.labels, text_align={"field": "align"}, text_baseline="middle", text_font=value(FONT),
            text_font_size=value("12px"), text_color={"field": "color"}, x_offset={"field": "shift"}, y_offset={"field": "lift"}, background_fill_alpha=0.8,
        )  # fmt: skip
        log_x = chart.log_x or not chart.series
        self.model = plot = figure(
            name=f"chart-{key}", height=HEIGHT, min_width=_LEAST, sizing_mode="stretch_width", toolbar_location=None, tools="",
            x_axis_type="log" if log_x else "linear", x_range=Range1d(1, 10), y_range=Range1d(0, 1),
            outline_line_color=None, min_border_top=TOP, min_border_right=RIGHT, min_border_bottom=BOTTOM,
        )  # fmt: skip
        self._leaders = plot.segment("x", "y", "x", "end", source=self.labels, line_width=1)
        plot.multi_line("xs", "ys", source=self.lines, line_color="color", line_width="width", line_dash="dash", line_join="round")
        hit = plot.scatter("x", "y", source=self.points, size=6, alpha=0, hover_alpha=0.9)
        plot.scatter("x", "y", source=self.marks, size=7, color="color", line_color=None, level="guide")  # glyphs end at the frame, guides do not
        plot.add_layout(self._default)
        plot.add_layout(self._words)
        plot.add_tools(HoverTool(renderers=[hit], mode="vline", tooltips="@said", point_policy="snap_to_data", attachment="vertical"))
        plot.xgrid.grid_line_color = None
        for axis in plot.axis:
            axis.axis_line_color = None
            axis.major_tick_line_color = axis.minor_tick_line_color = None
            axis.major_label_text_font = axis.axis_label_text_font = FONT
            axis.major_label_text_font_size = axis.axis_label_text_font_size = "12px"
            axis.axis_label_text_font_style = "normal"
            axis.ticker = FixedTicker(ticks=[])

    @without_property_validation  # what plan.py gives is right; looking at each number took a third of drawing
    def draw(self, chart: Chart, colors: Palette, pinned: Chart | None = None) -> None:
        """Show a chart, and behind it that of the pinned state."""
        if (chart, pinned, colors) == self._drawn:
            return
        self._drawn = chart, pinned, colors
        self._paint(colors)
        if not chart.series:
            self.lines.data, self.marks.data, self.labels.data = dict(_EMPTY_LINES), dict(_EMPTY_MARKS), dict(_EMPTY_LABELS)
            return
        plan = lay_out(chart, pinned)
        self._frame(plan)
        self._trace(plan, colors)
        self._mark(plan, colors)

    def _frame(self, plan: Plan) -> None:
        """Set what is new of the frame: Bokeh looks at each value for 0.1 ms before it finds it the same."""
        plot, before = self.model, self._framed
        self._framed = plan
        if not before or (plan.left, plan.x_label) != (before.left, before.x_label):
            plot.min_border_left, plot.xaxis[0].axis_label = plan.left, plan.x_label
        if not before or plan.low != before.low:
            plot.x_range.start = plan.low
        if not before or plan.high != before.high:
            plot.x_range.end = plan.high
        if not before or plan.top != before.top:
            plot.y_range.end = plan.top
        if not before or plan.x_ticks != before.x_ticks:
            _label(plot.xaxis[0], plan.x_ticks)
        if not before or plan.y_ticks != before.y_ticks:
            _label(plot.yaxis[0], plan.y_ticks)
        if not before or plan.default != before.default:
            self._default.update(location=plan.default, visible=plan.default is not None)

    def _trace(self, plan: Plan, colors: Palette) -> None:
        color = {"main": colors.accent, "other": colors.other, "pinned": colors.quiet}
        self.lines.data = {
            "xs": [_floats(one.series.x) for one in plan.curves], "ys": [_floats(one.series.y) for one in plan.curves],
            "color": [color[one.kind] for one in plan.curves], "width": [_WIDTHS[one.kind] for one in plan.curves],
            "dash": [_DASHES.get(one.kind, "solid") for one in plan.curves],
        }  # fmt: skip

    def _mark(self, plan: Plan, colors: Palette) -> None:
        color = {"best": colors.accent, "chosen": colors.accent, "default": colors.warning, "a": colors.quiet}
        self.marks.data = {
            "x": [float(mark.x) for mark in plan.marks], "y": [float(mark.y) for mark in plan.marks],
            "color": [color.get(mark.kind, colors.other) for mark in plan.marks],
        }  # fmt: skip
        words = plan.labels
        self.labels.data = {
            "x": [one.x for one in words], "y": [one.y for one in words], "label": ["\n".join(one.lines) for one in words],
            "color": [colors.quiet if one.kind == "name" else colors.ink for one in words], "align": [one.align for one in words],
            "shift": [one.shift for one in words], "lift": [one.lift for one in words],
            "end": [plan.value_at(one.foot) if one.leads else one.y for one in words],
        }  # fmt: skip

    def explain(self) -> None:
        """Put in what the pointer asks of the drawn chart; nobody sees it, so it may come after the lines."""
        chart = self._drawn[0] if self._drawn else None
        if chart is self._explained:
            return
        self._explained = chart
        if not chart.series:
            self.points.data = dict(_EMPTY_POINTS)
            return
        main = main_series(chart)
        more = main.hover or ("",) * len(main.x)
        points = list(zip(main.x, main.y, more, strict=True))
        said = [_said(chart, x, y, words) for x, y, words in points]
        self.points.data = {"x": _floats(main.x), "y": _floats(main.y), "said": said}

    def _paint(self, colors: Palette) -> None:
        if colors is self._colors:
            return
        self._colors = colors
        plot = self.model
        plot.update(background_fill_color=colors.ground, border_fill_color=colors.ground)
        for axis in plot.axis:
            axis.update(major_label_text_color=colors.quiet, axis_label_text_color=colors.quiet)
        plot.ygrid.grid_line_color = colors.line
        self._words.background_fill_color = colors.ground
        self._leaders.glyph.line_color = colors.quiet
        self._default.line_color = colors.warning


def _floats(values: tuple[float, ...]) -> array:
    """As one block of memory, which passes to the page twenty times faster than a list."""
    return array("d", (float(one) for one in values))


def _label(axis: LinearAxis | LogAxis, ticks: tuple[tuple[float, str], ...]) -> None:
    axis.ticker.ticks = [tick for tick, _ in ticks]
    axis.major_label_overrides = dict(ticks)


def _said(chart: Chart, x: float, y: float, more: str) -> str:
    words = [f"{chart.x_label.removesuffix(' (log)')} {tick_text(x, chart.x_unit)}", f"{tick_text(y, chart.y_unit)} {chart.y_label}"]
    return " · ".join([*words, *([more] if more else [])])
