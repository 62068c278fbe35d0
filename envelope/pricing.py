"""What a token costs to make and to keep."""

from __future__ import annotations


def node_usd_per_second(gpus: int, gpu_hour: float) -> float:
    """Rent of all GPUs in USD per second."""
    return gpus * gpu_hour / 3600


def per_million(node_usd_s: float, step_seconds: float, batch: int) -> float:
    """USD per million output tokens when `batch` sessions advance one token each step."""
    return node_usd_s * step_seconds / batch * 1e6


def breakeven_seconds(cached_price: float, pool: float, bytes_per_token: float, node_usd_s: float) -> float:
    """Seconds for which holding a session's cache pays: p x M / (bytes per token x node cost).

    `cached_price` in USD per million cached tokens. Context cancels; the window state shortens it slightly for short
    contexts and is left out. Source: the first seed.
    """
    return cached_price / 1e6 * pool / (bytes_per_token * node_usd_s)
