"""A plain layout for engines that are not modelled: every layer's own bytes, no blocks, no padding, one pool."""

from __future__ import annotations

from envelope.engines.stored import Stored


def session_bytes(layers: tuple[Stored, ...], length: int) -> int:
    """Bytes a session of `length` tokens keeps on one rank: growing layers, windows as far as they fill, states."""
    return sum(
        one.count * (one.token_bytes * (min(length, one.window) if one.window else length) + one.state_bytes)
        for one in layers
    )


def growth(layers: tuple[Stored, ...]) -> int:
    """Bytes each further token takes on one rank once the windows are full."""
    return sum(one.count * one.token_bytes for one in layers if one.grows)
