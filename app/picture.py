"""A chart as SVG for the first view, before any script runs: what figures.py draws, at any width, in both lights.

What moves with the width is a percentage of the frame, and the colours are base.css's, so one picture does for all.
"""

from __future__ import annotations

from envelope.chart import Chart

from app.markup import Markup, tag
from app.plan import BOTTOM, INSIDE, LINE, RIGHT, TOP, Curve, Label, Plan, lay_out

_ACROSS = 1000  # steps of a curve's x axis, stretched to the frame
_ASIDE, _BELOW, _AXIS = 11, 15, 34  # from the frame to a tick's words at its left, and to the middle of those below, as Bokeh has them


def picture(chart: Chart) -> Markup:
    """The picture of a chart that has series; its place is as high as the figure's."""
    plan = lay_out(chart)
    return tag(
        "div",
        tag(
            "svg",
            [tag("line", x1=0, x2="100%", y1=_down(y, plan), y2=_down(y, plan), class_="grid") for y, _ in plan.y_ticks],
            tag("g", [_y_tick(plan, y, words) for y, words in plan.y_ticks], [_x_tick(plan, x, words) for x, words in plan.x_ticks], class_="ticks"),
            tag("text", plan.x_label, x="50%", y=INSIDE + _AXIS, class_="ticks middle"),
            [_leader(plan, one) for one in plan.labels if one.leads],
            tag("svg", [_curve(plan, one) for one in plan.curves], viewBox=f"0 0 {_ACROSS} {INSIDE}", preserveAspectRatio="none"),
            [tag("circle", cx=_share(plan.across(float(mark.x))), cy=_down(mark.y, plan), r=3.5, class_=mark.kind) for mark in plan.marks],
            tag("line", x1=_share(plan.across(plan.default)), x2=_share(plan.across(plan.default)), y1=0, y2="100%", class_="default") if plan.default else None,
            [_words(one) for one in plan.labels],
            role="img",
            aria_label=chart.title,
        ),
        class_="picture",
        style=f"padding:{TOP}px {RIGHT}px {BOTTOM}px {plan.left}px",
    )


def _share(part: float) -> str:
    return f"{part * 100:.2f}%"


def _down(y: float, plan: Plan) -> str:
    return f"{INSIDE - plan.up(y):.1f}"


def _y_tick(plan: Plan, y: float, words: str) -> Markup:
    return tag("text", words, x=-_ASIDE, y=_down(y, plan), class_="right")


def _x_tick(plan: Plan, x: float, words: str) -> Markup:
    return tag("text", words, x=_share(plan.across(x)), y=INSIDE + _BELOW, class_="middle")


def _curve(plan: Plan, curve: Curve) -> Markup:
    """A line, in whole steps across and tenths of a pixel up."""
    points = [(round(plan.across(x) * _ACROSS), round(INSIDE - plan.up(y), 1)) for x, y in zip(curve.series.x, curve.series.y, strict=True)]
    return tag("polyline", points=" ".join(f"{x},{y:g}" for x, y in points), class_=curve.kind)


def _leader(plan: Plan, label: Label) -> Markup:
    x = _share(label.share)
    return tag("line", x1=x, x2=x, y1=_down(label.y, plan), y2=f"{INSIDE - label.foot:.1f}", class_="leader")


def _words(label: Label) -> Markup:
    x, top = _share(label.share), INSIDE - label.middle - (len(label.lines) - 1) * LINE / 2
    lines = (tag("tspan", words, x=x, dx=label.shift, y=f"{top + index * LINE:.1f}") for index, words in enumerate(label.lines))
    classes = {"left": "", "right": "right", "center": "middle"}[label.align]
    return tag("text", lines, class_=" ".join(filter(None, ("says", classes, "name" if label.kind == "name" else ""))))
