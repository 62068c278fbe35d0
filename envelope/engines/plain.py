"""A plain layout for engines that are not modelled: every layer's own bytes, no blocks, no padding, one pool."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from envelope.cache import LayerCache
from envelope.ranks import heads_share


def session_bytes(caches: Sequence[LayerCache], tp: int, value_bytes: Fraction, length: int) -> Fraction:
    """Bytes a session of `length` tokens keeps on one of `tp` ranks: growing layers, windows as they fill, states."""
    return sum((one.values(length) * one.count * heads_share(one, tp) * value_bytes for one in caches), Fraction(0))


def growth(caches: Sequence[LayerCache], tp: int, value_bytes: Fraction) -> Fraction:
    """Bytes each further token takes on one of `tp` ranks once the windows are full."""
    return sum((one.growing * one.count * heads_share(one, tp) * value_bytes for one in caches), Fraction(0))
