"""Share of the bandwidth bound that public decode measurements reached, one figure per measured point.

Computed by this package's own bound at full bandwidth; the tests compute them again from the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Run:
    """One public run without speculation: what ran where, and the share of the bound at each measured point."""

    what: str
    source: str
    shares: tuple[float, ...]


RUNS = (
    Run("Kimi-K2.6 INT4, 16 RTX PRO 6000, TP 16", "voipmonitor/rtx6kpro models/kimi-k26.md", (0.087, 0.314, 0.389, 0.067, 0.156, 0.055)),
    Run("Qwen3-235B FP8, 8 L40S, TP 8", "a public repository file on vLLM 0.10.2", (0.127, 0.343, 0.386)),
    Run("MiniMax-M2.5 INT4, 2 RTX PRO 6000, TP 2", "voipmonitor/rtx6kpro models/minimax-m25.md", (0.202, 0.549, 0.419)),
)  # fmt: skip


def shares() -> tuple[float, ...]:
    """Every measured point, lowest first."""
    return tuple(sorted(share for run in RUNS for share in run.shares))


def typical() -> float:
    """The median point."""
    return median(shares())
