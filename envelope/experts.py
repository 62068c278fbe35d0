"""How many distinct experts a number of tokens touch, and how many tokens touch nearly all."""

from __future__ import annotations

from math import expm1, log1p


def touched(experts: int, top_k: int, tokens: float) -> float:
    """Expected distinct experts of one layer that `tokens` independent tokens read.

    E x (1 - (1 - k/E)^n). Real routing is skewed and correlated, so this is an upper bound. Source: the first seed.
    """
    if top_k >= experts:
        return float(experts)
    return -experts * expm1(tokens * log1p(-top_k / experts))


def tokens_to_touch(experts: int, top_k: int, share: float) -> float:
    """Tokens in one step that read `share` of the experts: ln(1 - share) / ln(1 - k/E). Source: the first seed."""
    if top_k >= experts:
        return 1.0
    return log1p(-share) / log1p(-top_k / experts)
