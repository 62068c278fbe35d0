"""What a chart is: plain numbers, a title that states the finding, and marks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from envelope.quantities.registry import Unavailable

if TYPE_CHECKING:
    from envelope.evaluation import Envelope, Evaluation


@dataclass(frozen=True)
class Series:
    """One line. `role` is `main` for this state, `other` for comparison."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    role: str = "other"
    hover: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mark:
    """A labelled point. `kind` is `best`, `chosen`, `default` or `plain`."""

    label: str
    x: float
    y: float
    kind: str = "plain"


@dataclass(frozen=True)
class Chart:
    """One chart. Where it does not apply, `reason` says so in a sentence and there are no series."""

    key: str
    title: str
    subtitle: str
    x_label: str
    y_label: str
    x_unit: str
    y_unit: str
    series: tuple[Series, ...] = ()
    marks: tuple[Mark, ...] = ()
    log_x: bool = True
    reason: str = ""


_STEPS = 49  # points a curve: ten pixels apart where it is 480 wide; straight lines leave a curve by a third of a pixel


@lru_cache(maxsize=32)  # an edit asks for the same as the one before
def spread(low: float, high: float, steps: int = _STEPS) -> tuple[float, ...]:
    """`steps` values from low to high, evenly spaced in the logarithm."""
    return tuple(low * (high / low) ** (step / (steps - 1)) for step in range(steps))


def draw(envelope: Envelope, key: str, title: str, make: Callable[[Evaluation], Chart]) -> Chart:
    """Make a chart, or one that says why it does not apply."""
    try:
        return envelope.evaluation.once(make)
    except Unavailable as unavailable:
        return Chart(key, title, "", "", "", "", "", reason=f"Not drawn: {unavailable}.")
