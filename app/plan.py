"""Where everything of a chart stands: its frame, ticks, lines and labels. figures.py draws it live, picture.py as SVG.

Nothing here depends on how wide the chart is shown: what moves with the width is a share of the frame, all else is
pixels, and the labels are placed so that they keep clear of each other at every width from NARROW to WIDE.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, floor, log, log10

from envelope.chart import Chart, Mark, Series
from envelope.units import shorten, text, token_text

from app.theme import HEIGHT

NARROW, WIDE = 300, 760  # pixels of a chart with its margins: in a post on a phone, and alone on a desk
TOP, RIGHT, BOTTOM = 8, 16, 44  # margins around the frame; the left one depends on the ticks
INSIDE = HEIGHT - TOP - BOTTOM
GAP, LINE = 8, 15  # from a point to its label, and a line of text
_ROOM = 1.18  # above the highest point, for the labels
_LONGEST = 170  # pixels; a label wider than this takes more lines
_WEIGHED = 4  # one point in four is asked whether a label hides it
_USUAL = 470  # pixels of a chart beside another, where labels should hide as little of the lines as in a narrow one
_TICKS = {
    "ratio": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1),
    "tokens": (1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304),
    "requests": (1, 4, 16, 64, 256, 1024),
}  # fmt: skip
_NICE = (1, 2, 2.5, 5, 10)

# Where a label may stand beside its point, the liked places first: alignment, and pixels from point to middle, upwards.
_NEAR = tuple((side, lift) for lift in (12, -12) for side in ("left", "right")) + (("center", 16), ("center", -16))
_FAR = tuple((side, sign * lift) for lift in range(27, INSIDE, 12) for sign in (1, -1) for side in ("left", "right", "center"))
_SHIFTS = {"left": GAP, "right": -GAP, "center": 0}
_LEADS = 24  # from here on a line leads from the point to its label
_NAMED_AT = (0.5, 0.7, 0.3, 0.9, 0.1)  # parts of a line where its name may stand
_DISLIKE, _BIT, _DOT = 0.4, 0.3, 8.0  # what each less liked place costs, a hidden bit of line, and a hidden point

# Widths of letters at 12 px, on the wide side of the fonts that FONT may stand for.
_SLIM, _BROAD = frozenset("iIjl.,:;'|()ftr /-"), frozenset("mMwWGOQ%@×")


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

    @property
    def leads(self) -> bool:
        """Whether it stands so far off that a line has to lead to it."""
        return abs(self.lift) - self.height / 2 > _LEADS - LINE / 2


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
        return log(x / self.low) / log(self.high / self.low) if self.log_x else (x - self.low) / (self.high - self.low)

    def up(self, y: float) -> float:
        """Pixels from the frame's lower edge."""
        return float(y) / self.top * INSIDE

    def value_at(self, pixels: float) -> float:
        """The y value that stands so many pixels above the frame's lower edge."""
        return pixels / INSIDE * self.top

    def inside(self, width: int) -> int:
        """Pixels of the frame in a chart of this width."""
        return width - self.left - RIGHT


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
    drawn = [point for one in plan.curves for point in list(zip(one.series.x, one.series.y, strict=True))[::_WEIGHED]]
    bits = [(plan.across(x), plan.up(y)) for x, y in drawn]
    dots = [(plan.across(float(mark.x)), plan.up(mark.y)) for mark in plan.marks]
    taken: list[Label] = []
    for words, kind, points in _wanted(plan):
        label = _best(plan, words, kind, points, taken, bits, dots)
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
            points = list(zip(one.series.x, one.series.y, strict=True))
            if not set(marked) & set(points):
                yield one.series.label, "name", [points[round(part * (len(points) - 1))] for part in _NAMED_AT]


def _best(plan: Plan, words: str, kind: str, points: Points, taken: list[Label], bits: Points, dots: Points) -> Label | None:
    lines = _lines(words)
    width, height = max(text_width(line) for line in lines), LINE * len(lines)
    frame, usual, wide = (plan.inside(width) for width in (NARROW, _USUAL, WIDE))
    sides = {side: (shift - part * width, shift - part * width + width) for (side, shift), part in zip(_SHIFTS.items(), (0, 1, 0.5), strict=True)}
    more = (height - LINE) / 2
    places = [(x, y, plan.across(x), plan.up(y)) for x, y in points]
    best, least, dislike = None, float("inf"), 0.0
    for side, lift in _NEAR + _FAR:
        left, right = sides[side]
        rise = lift + (more if lift > 0 else -more)
        for x, y, share, up in places:
            dislike += _DISLIKE
            if dislike >= least:
                return best
            bottom, top = up + rise - height / 2, up + rise + height / 2
            # What stays inside a narrow frame does in any.
            if share * frame + left < 0 or share * frame + right > frame or bottom < 0 or top > INSIDE:
                continue
            if not all(_apart((share, left, right, bottom, top), other, frame, wide) for other in taken):
                continue
            cost = dislike + _DOT * _hidden(dots, share + (left - 3) / frame, share + (right + 3) / frame, bottom, top)
            cost += _BIT * sum(_hidden(bits, share + left / pixels, share + right / pixels, bottom, top) for pixels in (frame, usual))
            if cost < least:
                best, least = Label(lines, x, y, kind, side, rise, share, left, right, up + rise), cost
    return best


def _hidden(points: Points, left: float, right: float, bottom: float, top: float) -> int:
    return sum(1 for x, y in points if left < x < right and bottom < y < top)


def _apart(box: tuple[float, float, float, float, float], other: Label, narrow: int, wide: int) -> bool:
    """Whether two labels keep clear at every width: their distance grows evenly with it, so both ends decide."""
    share, left, right, bottom, top = box
    if bottom >= other.middle + other.height / 2 or top <= other.middle - other.height / 2:
        return True
    ends = (other.share - share) * narrow, (other.share - share) * wide
    return min(ends) + other.left >= right or max(ends) + other.right <= left


def _lines(words: str) -> tuple[str, ...]:
    """A label as it stands: in as few lines as it needs, each about as long."""
    whole = text_width(words)
    each = whole / ceil(whole / _LONGEST)
    lines = [""]
    for word in words.split(" "):
        if lines[-1] and text_width(f"{lines[-1]} {word}") > max(each, text_width(word)) + 20:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
    return tuple(lines)


def text_width(words: str) -> float:
    """Pixels that words take at 12 px in a wide font."""
    return sum(4.6 if letter in _SLIM else 11 if letter in _BROAD else 7.7 for letter in words)


def _spread(chart: Chart, low: float, high: float) -> list[float]:
    return [tick for tick in _TICKS.get(chart.x_unit, ()) if low <= tick <= high] if chart.log_x else _even(low, high)


def _labelled(ticks: list[float], unit: str) -> tuple[tuple[float, str], ...]:
    return tuple((tick, tick_text(tick, unit)) for tick in ticks)


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
