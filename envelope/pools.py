"""How many sessions a cache budget holds: the ceiling, two pools at a ratio, and mixes of lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor, lcm, log10
from typing import NamedTuple

from envelope.cache import LayerCache
from envelope.ranks import heads_share

# SGLang's swa_full_tokens_ratio when nobody sets it (0.5.5 to 0.5.23, arg_groups/fields/schedule.py).
SGLANG_DEFAULT_RATIO = Fraction(8, 10)
# The same for compressed caches (DeepSeek V4), which SGLang overrides (0.5.23, arg_groups/model_overrides/deepseek_v4.py).
SGLANG_COMPRESSED_RATIO = Fraction(1, 10)


def sglang_default_ratio(caches: Sequence[LayerCache]) -> Fraction:
    """SGLang's swa_full_tokens_ratio for a model with these layers when nobody sets it."""
    compressed = any(cache.kind == "compressed" for cache in caches)
    return SGLANG_COMPRESSED_RATIO if compressed else SGLANG_DEFAULT_RATIO


@dataclass(frozen=True)
class TokenCost:
    """Bytes one rank pays: `full` per token in the full pool, `sliding` per token in the sliding pool, `state` per session."""

    full: Fraction
    sliding: Fraction
    state: Fraction
    window: int

    @cached_property
    def whole(self) -> tuple[int, int, int, int]:
        """(full, sliding, state, scale): the three costs times the scale that makes all of them whole."""
        scale = lcm(self.full.denominator, self.sliding.denominator, self.state.denominator)
        return (*(int(cost * scale) for cost in (self.full, self.sliding, self.state)), scale)


def token_cost(caches: Sequence[LayerCache], tp: int, bytes_per_value: Fraction) -> TokenCost:
    """Sum what one of `tp` ranks stores for these layers. The longest window stands for all."""
    full = sliding = state = Fraction(0)
    for cache in caches:
        each = cache.count * heads_share(cache, tp) * bytes_per_value
        full += cache.growing * each
        sliding += cache.windowed * each
        state += cache.state * each
    return TokenCost(full, sliding, state, max((cache.window for cache in caches), default=0))


class Demand(NamedTuple):
    """What one whole group of sessions asks for: tokens in each pool, and how many sessions it is."""

    full_tokens: int
    sliding_tokens: int
    sessions: int


def demand(mix: Sequence[tuple[int, int]], window: int, chunk: int) -> Demand:
    """Add up one group of a mix of (context, count): each session slides over its window plus one prefill chunk.

    The engine holds the chunk being prefilled beside the window, so a session needs min(L, W + C). Source: first seed.
    """
    full = sliding = sessions = 0
    held = window + chunk if window else 0
    for length, count in mix:
        full += length * count
        sliding += min(length, held) * count
        sessions += count
    return Demand(full, sliding, sessions)


def best_ratio(need: Demand) -> Fraction:
    """Sliding tokens over full tokens at which neither pool strands memory: sum of min(L, W+C) over sum of L."""
    return Fraction(need.sliding_tokens, need.full_tokens)


def session_bytes(cost: TokenCost, need: Demand, ratio: Fraction) -> Fraction:
    """Bytes one group of sessions takes at a ratio, what the tighter pool strands included."""
    if not cost.sliding or not need.sliding_tokens:
        return cost.full * need.full_tokens + cost.state * need.sessions
    if not cost.full:
        # Nothing grows: one pool of sliding tokens, and the ratio has no meaning.
        return cost.sliding * need.sliding_tokens + cost.state * need.sessions
    slots = max(Fraction(need.full_tokens), need.sliding_tokens / ratio)
    return slots * (cost.full + ratio * cost.sliding) + cost.state * need.sessions


def sessions(pool: Fraction, cost: TokenCost, need: Demand, ratio: Fraction) -> int:
    """Whole sessions that fit in `pool` bytes of one rank at a ratio; whole groups where `need` is a mix."""
    # In whole numbers: a Fraction reduces after every step, and an edit asks some twenty times.
    full, sliding, state, scale = cost.whole
    over, under = 1, 1
    if not sliding or not need.sliding_tokens:
        each = full * need.full_tokens
    elif not full:
        each = sliding * need.sliding_tokens
    else:
        over, under = ratio.as_integer_ratio()
        each = max(need.full_tokens * over, need.sliding_tokens * under) * (full * under + sliding * over)
    each += state * need.sessions * over * under
    if pool <= 0 or not each:
        return 0
    return pool.numerator * scale * over * under // (pool.denominator * each) * need.sessions


def sliding_share(cost: TokenCost, ratio: Fraction) -> Fraction:
    """Share of the cache memory a ratio gives to sliding layers: rS / (F + rS)."""
    full, sliding, _, _ = cost.whole
    over, under = ratio.as_integer_ratio()
    total = full * under + sliding * over
    return Fraction(sliding * over, total) if total else Fraction(0)


def sliding_tokens(pool: Fraction, cost: TokenCost, ratio: Fraction) -> int:
    """Whole tokens the sliding pool holds where a ratio divides `pool` bytes of one rank: r x pool / (F + rS)."""
    full, sliding, _, scale = cost.whole
    over, under = ratio.as_integer_ratio()
    return pool.numerator * scale * over // (pool.denominator * (full * under + sliding * over))


def binding_pool(cost: TokenCost, need: Demand, ratio: Fraction) -> str:
    """Name what runs out first at a ratio: `full`, `sliding`, `both` or `memory` where there is one pool."""
    if not cost.sliding or not cost.full or not need.sliding_tokens:
        return "memory"
    over, under = ratio.as_integer_ratio()
    sliding_asks, full_asks = need.sliding_tokens * under, need.full_tokens * over
    if sliding_asks == full_asks:
        return "both"
    return "sliding" if sliding_asks > full_asks else "full"


def round_up(ratio: Fraction) -> Fraction:
    """Round a recommended ratio up at the digits people print: three significant, four decimals, two at the least.

    A ratio rounded down starves the sliding pool: 0.078125 printed as 0.0781 would fit 257 sessions, 0.0782 fits 258.
    """
    if ratio <= 0:
        return Fraction(0)
    magnitude = floor(log10(ratio)) + 1
    decimals = max(min(4, 3 - magnitude), 2 - magnitude)
    scale = 10**decimals
    return Fraction(-(-ratio.numerator * scale // ratio.denominator), scale)
