"""Where everything of a chart stands: its frame, ticks, lines and labels. figures.py draws it live, picture.py as SVG.

Nothing here depends on how wide the chart is shown: what moves with the width is a share of the frame, all else is
pixels, and the labels are placed so that they keep clear of each other at every width from NARROW to WIDE.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import ceil, floor, log, log10
from typing import NamedTuple

from envelope.chart import Chart, Mark, Series
from envelope.units import shorten, text, token_text

from app.theme import HEIGHT

NARROW, WIDE = 300, 760  # pixels of a chart with its margins: in a post on a phone, and alone on a desk
TOP, RIGHT, BOTTOM = 8, 16, 44  # margins around the frame; the left one depends on the ticks
INSIDE = HEIGHT - TOP - BOTTOM
GAP, LINE = 8, 15  # from a point to its label, and a line of text
_ROOM = 1.18  # above the highest point, for the labels
_LONGEST, _SHORT = 170, 100  # pixels; a label wider than this takes more lines, and where it hides lines otherwise, than that
_COLUMNS, _ROW = 64, 4  # the cells that tell where lines run: shares of the frame across, and pixels up
_ROWS = 4  # of cells that a line of text takes
_PIECES = 16  # of a line, to see which cells it passes
_PHONE, _DESK = 358, 472  # pixels of a chart on a phone and beside another, where labels should hide little of the lines
_TICKS = {
    "ratio": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1),
    "tokens": (1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304),
    "requests": (1, 4, 16, 64, 256, 1024),
}  # fmt: skip
_NICE = (1, 2, 2.5, 5, 10)

# Where a label may stand beside its point, the liked places first: alignment, and pixels from point to middle, upwards.
_NEAR = tuple((side, lift) for lift in (12, -12) for side in ("left", "right")) + (("center", 16), ("center", -16))
_NEAR += tuple((side, lift) for lift in (20, -20) for side in ("left", "right"))
_FAR = tuple((side, sign * lift) for lift in (27, 42, 60, 81, 105, 132, 165) for sign in (1, -1) for side in ("left", "right", "center"))
_SHIFTS = {"left": GAP, "right": -GAP, "center": 0}
_BEFORE = {"left": 0, "right": 1, "center": 0.5}  # the part of a label that stands before its anchor
_LEADS = 24  # pixels; from here on a line leads from the point to its label
_NAMED_AT = (0.5, 0.7, 0.3, 0.9, 0.1)  # parts of a line where its name may stand
_FOLDED, _DISLIKE, _CELL, _DOT = 2.0, 0.5, 0.3, 8.0  # what each less liked place costs, a column in which a line is hidden, and a hidden point

# Widths of letters at 12 px, on the wide side of the fonts that FONT may stand for.
_WIDTH = defaultdict(lambda: 7.7, {**dict.fromkeys("iIjl.,:;'|()ftr /-", 4.6), **dict.fromkeys("mMwWGOQ%@×", 11.0)})


@dataclass(frozen=True)
class Curve:
    """One line. `kind` is `main`, `other` or `pinned`."""

    series: Series
    kind: str


@dataclass(frozen=True)
class Label:
    """Words beside a point, in lines. `kind` is that of the mark, or `name` for a line's name.

    `share` is the point's place across the frame; the rest are pixels: `left` and `right` from the point, `lift` from
    the point up to the words' middle, `middle` from the frame's lower edge.
    """

    lines: tuple[str, ...]
    x: float
    y: float
    kind: str
    align: str
    lift: float
    share: float
    left: float
    right: float
    middle: float

    @property
    def shift(self) -> int:
        """From the point to where the text is anchored."""
        return _SHIFTS[self.align]

    @property
    def height(self) -> int:
        """What the lines take."""
        return LINE * len(self.lines)

    @cached_property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.middle - self.height / 2

    @cached_property
    def top(self) -> float:
        """Its upper edge."""
        return self.middle + self.height / 2

    @property
    def leads(self) -> bool:
        """Whether it stands so far off that a line has to lead to it."""
        return abs(self.lift) - self.height / 2 > _LEADS - LINE / 2

    @property
    def foot(self) -> float:
        """How far up that line ends: beside the words at their middle, or at the near edge of centred ones."""
        if self.align != "center":
            return self.middle
        return self.bottom if self.lift > 0 else self.top


@dataclass(frozen=True)
class Plan:
    """A chart laid out. Ticks are pairs of value and text."""

    low: float
    high: float
    top: float
    log_x: bool
    left: int
    x_label: str
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    curves: tuple[Curve, ...]
    marks: tuple[Mark, ...]
    labels: tuple[Label, ...] = ()

    @property
    def default(self) -> float | None:
        """Where the engine's default stands on the x axis."""
        return next((float(mark.x) for mark in self.marks if mark.kind == "default"), None)

    def across(self, x: float) -> float:
        """Share of the frame's width from its left edge."""
        start, length = self._ends
        return ((log(x) if self.log_x else x) - start) / length

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """Where the frame starts and how long it is, in the x axis's own measure."""
        start, end = (log(self.low), log(self.high)) if self.log_x else (self.low, self.high)
        return start, end - start

    def up(self, y: float) -> float:
        """Pixels from the frame's lower edge."""
        return float(y) / self.top * INSIDE

    def value_at(self, pixels: float) -> float:
        """The y value that stands so many pixels above the frame's lower edge."""
        return pixels / INSIDE * self.top

    def inside(self, width: int) -> int:
        """Pixels of the frame in a chart of this width."""
        return width - self.left - RIGHT

    @cached_property
    def frames(self) -> tuple[int, int, int, int]:
        """Pixels of the frame at the widths that labels are placed for."""
        return self.inside(NARROW), self.inside(WIDE), self.inside(_PHONE), self.inside(_DESK)


def lay_out(chart: Chart, pinned: Chart | None = None) -> Plan:
    """Lay out a chart that has series, and behind it the main line of the pinned state."""
    main = main_series(chart)
    before = [one for one in (pinned.series if pinned else ()) if one.role == "main"]
    curves = [Curve(one, "main" if one is main else "other") for one in chart.series] + [Curve(one, "pinned") for one in before]
    marks = chart.marks + _pinned_marks(chart, pinned if before else None)
    xs, ys = [*(mark.x for mark in marks)], [*(mark.y for mark in marks)]
    low, high = min([*xs, *(min(one.series.x) for one in curves)]), max([*xs, *(max(one.series.x) for one in curves)])
    top = max([*ys, *(max(one.series.y) for one in curves)]) or 1
    y_ticks = _labelled(_even(0, top), chart.y_unit)
    left = 8 * ceil(max(text_width(words) for _, words in y_ticks) / 8) + 16
    x_ticks = _labelled(_spread(chart, low, high), chart.x_unit)
    while sum(text_width(words) + 12 for _, words in x_ticks) > NARROW - left:
        x_ticks = x_ticks[::2]
    plan = Plan(float(low), float(high), float(top) * _ROOM, chart.log_x, left, chart.x_label, x_ticks, y_ticks, tuple(curves), marks)
    return replace(plan, labels=tuple(_placed(plan)))


def main_series(chart: Chart) -> Series:
    """The line of this state, in a chart that has any."""
    return next((one for one in chart.series if one.role == "main"), chart.series[0])


def _pinned_marks(chart: Chart, pinned: Chart | None) -> tuple[Mark, ...]:
    """The best point of the pinned state, unless it is a point of this one."""
    here = {(mark.x, mark.y) for mark in chart.marks}
    best = [mark for mark in (pinned.marks if pinned else ()) if mark.kind == "best" and (mark.x, mark.y) not in here]
    return tuple(Mark(f"A: {mark.label}", mark.x, mark.y, "a") for mark in best)


def _placed(plan: Plan) -> list[Label]:
    """Every label at its best place. One that finds none is left out: its point stands, and the table has its words."""
    rows = _rows(plan)
    dots = [(plan.across(float(mark.x)), plan.up(mark.y)) for mark in plan.marks]
    taken: list[Label] = []
    for words, kind, points in _wanted(plan):
        label = _best(plan, words, kind, points, taken, rows, dots)
        if label:
            taken.append(label)
    return taken


Points = list[tuple[float, float]]


def _wanted(plan: Plan) -> Iterator[tuple[str, str, Points]]:
    """What asks for a label: words, kind, and the points they may stand at. The marks, then lines that no mark names."""
    marked = [(float(mark.x), float(mark.y)) for mark in plan.marks]
    for mark, point in zip(plan.marks, marked, strict=True):
        yield mark.label, mark.kind, [point]
    for one in plan.curves:
        if one.kind == "other":
            xs, ys = one.series.x, one.series.y
            if set(marked).isdisjoint(zip(xs, ys, strict=True)):
                yield one.series.label, "name", [(xs[at], ys[at]) for at in (round(part * (len(xs) - 1)) for part in _NAMED_AT)]


class _Site(NamedTuple):
    """One side of one point, as a place for a label: all that does not depend on how far up it stands.

    `phone` and `desk` are the columns it would take at those widths, `spans` the heights of the labels, and `dots` those
    of the points, that it would meet there.
    """

    x: float
    y: float
    share: float
    up: float
    left: float
    right: float
    phone: int
    desk: int
    spans: list[tuple[float, float]]
    dots: list[float]


def _sites(plan: Plan, side: str, width: float, points: Points, taken: list[Label], dots: Points) -> Iterator[_Site]:
    """One side of each point, but where a label would stick out: what is inside a narrow frame is in any."""
    narrow, wide, phone, desk = plan.frames
    left = _SHIFTS[side] - _BEFORE[side] * width
    right = left + width
    for x, y in points:
        share = plan.across(x)
        if share * narrow + left < 0 or share * narrow + right > narrow:
            continue
        spans = [(one.bottom, one.top) for one in taken if _meet(share, left, right, one, narrow, wide)]
        first, last = share + (left - 3) / narrow, share + (right + 3) / narrow
        yield _Site(
            x, y, share, plan.up(y), left, right,
            _columns(share + left / phone, share + right / phone), _columns(share + left / desk, share + right / desk),
            spans, [height for at, height in dots if first < at < last],
        )  # fmt: skip


def _best(plan: Plan, words: str, kind: str, points: Points, taken: list[Label], rows: list[int], dots: Points) -> Label | None:
    """The label at the place that costs least, each place costing a little more than those before it."""
    best, least = None, float("inf")
    for longest, dislike in ((_LONGEST, 0.0),) if kind == "name" else ((_LONGEST, 0.0), (_SHORT, _FOLDED)):
        if dislike >= least:
            break
        lines = _lines(words, longest)
        half = LINE * len(lines) / 2
        width = max(text_width(line) for line in lines)
        sites: dict[str, list[_Site]] = {}
        for side, lift in _NEAR + _FAR:
            if dislike >= least:
                break
            if side not in sites:
                sites[side] = list(_sites(plan, side, width, points, taken, dots))
            rise = lift + (half - LINE / 2 if lift > 0 else LINE / 2 - half)
            for site in sites[side]:
                dislike += _DISLIKE
                bottom, top = site.up + rise - half, site.up + rise + half
                if bottom < 0 or top > INSIDE or site.spans and any(low < top and high > bottom for low, high in site.spans):
                    continue
                lines_here = 0
                for row in rows[int(bottom / _ROW) : int(top / _ROW) : _ROWS]:
                    lines_here |= row
                cost = dislike + _CELL * ((lines_here & site.phone).bit_count() + (lines_here & site.desk).bit_count())
                if site.dots:
                    cost += _DOT * sum(bottom < up < top for up in site.dots)
                if cost < least:
                    best, least = (lines, site, side, rise), cost
    if best is None:
        return None
    lines, site, side, rise = best
    return Label(lines, site.x, site.y, kind, side, rise, site.share, site.left, site.right, site.up + rise)


def _rows(plan: Plan) -> list[int]:
    """Where lines run: for a line of text that starts in a row of cells, from below, the columns as bits where it would hide any.

    The first column is the lowest bit. Each piece of a line takes the cells of the rectangle around it.
    """
    rows, per_cell = [0] * (INSIDE // _ROW + 1), INSIDE / _ROW / plan.top
    for curve in plan.curves:
        xs, ys = curve.series.x, curve.series.y
        every = max(len(xs) // _PIECES, 1)
        shares = [plan.across(x) for x in xs[::every]]
        heights = [int(y * per_cell) for y in ys[::every]]
        for start, end, low, high in zip(shares, shares[1:], heights, heights[1:], strict=False):
            passed = _columns(start, end)
            for row in range(low, high + 1) if low < high else range(high, low + 1):
                rows[row] |= passed
    return [a | b | c | d for a, b, c, d in zip(rows, rows[1:], rows[2:], rows[3:], strict=False)]


def _columns(left: float, right: float) -> int:
    """The columns of cells between two shares of the frame as bits."""
    return (2 << int(right * _COLUMNS)) - (1 << int(left * _COLUMNS))


def _meet(share: float, left: float, right: float, other: Label, narrow: int, wide: int) -> bool:
    """Whether two labels at one height meet at any width: their distance grows evenly with it, so both ends decide."""
    away = other.share - share
    near, far = (away * narrow, away * wide) if away > 0 else (away * wide, away * narrow)
    return near + other.left < right and far + other.right > left


@lru_cache(maxsize=256)
def _lines(words: str, longest: int) -> tuple[str, ...]:
    """A label as it stands: in as few lines as it needs, each about as long."""
    whole = text_width(words)
    each = whole / ceil(whole / longest)
    lines = [""]
    for word in words.split(" "):
        if lines[-1] and text_width(f"{lines[-1]} {word}") > max(each, text_width(word)) + 20:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
    return tuple(lines)


@lru_cache(maxsize=1024)
def text_width(words: str) -> float:
    """Pixels that words take at 12 px in a wide font."""
    return sum(map(_WIDTH.__getitem__, words))


def _spread(chart: Chart, low: float, high: float) -> list[float]:
    return [tick for tick in _TICKS.get(chart.x_unit, ()) if low <= tick <= high] if chart.log_x else _even(low, high)


def _labelled(ticks: list[float], unit: str) -> tuple[tuple[float, str], ...]:
    return tuple((tick, tick_text(tick, unit)) for tick in ticks)


@lru_cache(maxsize=1024)  # the ticks mostly stay from keystroke to keystroke
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
