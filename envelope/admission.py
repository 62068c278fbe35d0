"""How many requests one rank's memory admits, and how many a demand keeps in flight. GiB, as engines log."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from envelope.units import GIB, shorten


def gib(size: float, digits: int = 4) -> str:
    """Write bytes in GiB: `52 GiB`, `158.1 GiB`."""
    return f"{shorten(float(Fraction(size) / GIB), digits)} GiB"


@dataclass(frozen=True)
class Budget:
    """Bytes of the fullest rank: usable, and what is taken before any request. Source: second seed."""

    usable: Fraction
    weights: Fraction
    graphs: Fraction
    reserve: Fraction
    draft: Fraction = Fraction(0)

    @property
    def parts(self) -> tuple[tuple[str, Fraction], ...]:
        """What is taken, by name: weights, a drafter's, measured graphs and communication, the reserve for variation."""
        named = (("weights", self.weights), ("drafter's weights", self.draft), ("graphs and communication", self.graphs), ("reserve", self.reserve))
        return tuple((name, size) for name, size in named if size)

    @property
    def taken(self) -> Fraction:
        """All of it."""
        return sum((size for _, size in self.parts), Fraction(0))

    @property
    def state(self) -> Fraction:
        """Bytes left for request state; not above 0 where the rest does not fit."""
        return self.usable - self.taken


def live_tokens(state: Fraction, fixed: Fraction, per_token: Fraction) -> int:
    """Tokens that may be live at once: what is left after the fixed reserve over what one live token grows."""
    return max(0, (state - fixed) // per_token)


def requests(state: Fraction, per_token: Fraction, tokens: int, fixed: Fraction | None, bounded: Fraction) -> int:
    """Requests one rank admits, each with `tokens` reserved.

    `fixed` is a stated reserve for all bounded state; where None, each request brings its own `bounded` bytes.
    """
    each = per_token * tokens
    if fixed is None:
        return max(0, state // (each + bounded))
    return max(0, (state - fixed) // each)


def demand(arrivals_per_second: Fraction, residence: Fraction) -> Fraction:
    """Requests in flight by Little's law: arrival rate × residence time."""
    return arrivals_per_second * residence


def replicas(in_flight: Fraction, cap: int) -> int:
    """Complete replicas that hold the demand. Raises ValueError where a replica admits none."""
    if cap < 1:
        raise ValueError("a replica admits no request")
    return max(1, ceil(in_flight / cap))
