"""What a verify cycle costs and yields, timed; and what its bytes alone would allow."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


def bytes_bound(advanced: float, bytes_ratio: float) -> float:
    """Speed-up if bytes read were all a step costs: tokens advanced / how many times more bytes a verify step reads.

    It is not a verdict: at low concurrency latency and launches bound a step and measured gains lie above it, at high
    concurrency it rises while measured gains fall. Source: first seed.
    """
    return advanced / bytes_ratio


@dataclass(frozen=True)
class Cycle:
    """Measured seconds of one speculative cycle, and of the plain decode step it replaces. Source: second seed."""

    draft: Fraction
    verify: Fraction
    other: Fraction
    step: Fraction

    @property
    def seconds(self) -> Fraction:
        """Seconds of one cycle."""
        return self.draft + self.verify + self.other

    @property
    def breakeven(self) -> Fraction:
        """Tokens a cycle must advance to be as fast as plain steps."""
        return self.seconds / self.step

    def seconds_per_token(self, advanced: Fraction) -> Fraction:
        """Seconds each token takes when a cycle advances `advanced` tokens, bonus included."""
        return self.seconds / advanced

    def speedup(self, advanced: Fraction) -> Fraction:
        """Times faster than plain steps; below 1 it is slower."""
        return self.step / self.seconds_per_token(advanced)
