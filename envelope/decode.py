"""Bandwidth-bound speed of decoding: an upper bound, since compute, launches and collectives come on top."""

from __future__ import annotations


def step_seconds(weights: float, caches: float, gpus: int, bandwidth: float, share: float) -> float:
    """Seconds of one decode step that reads `weights` and `caches` bytes at `share` of the machine's bandwidth."""
    return (weights + caches) / (gpus * bandwidth * share)
