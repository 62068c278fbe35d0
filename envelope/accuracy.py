"""What a score says against a reference: within one harness something, across harnesses nothing."""

from __future__ import annotations

from fractions import Fraction

# A deployment further below its reference than this is broken, not quantized. Source: first seed.
TOLERANCE = Fraction(1)

FINE, BELOW, ABOVE, NOT_COMPARABLE = "fine", "kernel or configuration", "above the reference", "not comparable"


def same_harness(harness: str | None, reference: str | None) -> bool:
    """True where both are named and the same, whatever the case and spaces."""
    return bool(harness and reference) and _plain(str(harness)) == _plain(str(reference))


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())


def verdict(score: Fraction, reference: Fraction, harness: str | None, reference_harness: str | None) -> str:
    """Judge a score in percent against its reference: within a point fine, further below a fault, across harnesses nothing."""
    if not same_harness(harness, reference_harness):
        return NOT_COMPARABLE
    if score < reference - TOLERANCE:
        return BELOW
    return ABOVE if score > reference + TOLERANCE else FINE
