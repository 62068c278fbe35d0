"""What a session keeps in memory: values per token, per window, and fixed state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from envelope.model import (
    CompressedAttention,
    HeadAttention,
    LatentAttention,
    LayerGroup,
    LinearAttention,
    Model,
)


@dataclass(frozen=True)
class LayerCache:
    """What each of `count` layers keeps, in stored values.

    `growing` per token of context (`indexer` of them the indexer's keys), `windowed` per token of the last `window`
    tokens, `state` per session whatever its length. `heads` is how many KV heads a tensor-parallel layout may split,
    1 for one record that every rank keeps whole.
    """

    kind: str
    count: int
    growing: Fraction = Fraction(0)
    indexer: Fraction = Fraction(0)
    windowed: int = 0
    window: int = 0
    state: int = 0
    heads: int = 1

    def values(self, context: int) -> Fraction:
        """Values one session of `context` tokens keeps in one such layer."""
        return self.growing * context + self.windowed * min(context, self.window) + self.state


def layer_cache(group: LayerGroup) -> LayerCache:
    """Describe what each layer of a group keeps. `kind` is the word shown to people."""
    a = group.attention
    if isinstance(a, HeadAttention):
        return _heads(a, group.count)
    if isinstance(a, LatentAttention):
        index = Fraction(a.indexer.head_dim if a.indexer and a.indexer.owns else 0)
        kind = "latent with indexer" if index else "latent"
        return LayerCache(kind, group.count, Fraction(a.kv_rank + a.rope_dim) + index, index)
    if isinstance(a, CompressedAttention):
        if not a.ratio:
            # The public implementation keeps the one tensor twice here, as keys and as values.
            return LayerCache("sliding", group.count, windowed=2 * a.head_dim, window=a.window, state=a.state)
        index = Fraction(a.indexer.head_dim if a.indexer and a.indexer.owns else 0, a.ratio)
        growing = Fraction(a.head_dim, a.ratio) + index
        return LayerCache("compressed", group.count, growing, index, a.head_dim, a.window, a.state)
    if isinstance(a, LinearAttention):
        return LayerCache("linear", group.count, state=a.recurrent_elements + a.conv_elements, heads=max(1, a.heads))
    return LayerCache("none", group.count)


def _heads(a: HeadAttention, count: int) -> LayerCache:
    per_token = a.kv_heads * (a.key_dim + a.value_dim)
    if a.cross:
        return LayerCache("cross", count, heads=a.kv_heads)
    if not a.owns_cache:
        return LayerCache("shared", count, heads=a.kv_heads)
    if a.window:
        kind = "chunked" if a.chunked else "sliding"
        return LayerCache(kind, count, windowed=per_token, window=a.window, heads=a.kv_heads)
    index = Fraction(a.indexer.head_dim if a.indexer and a.indexer.owns else 0)
    kind = "full with indexer" if index else "full"
    return LayerCache(kind, count, per_token + index, index, heads=a.kv_heads)


@lru_cache(maxsize=64)
def layer_caches(model: Model) -> tuple[LayerCache, ...]:
    """Describe what each group of layers keeps, in the model's order."""
    return tuple(layer_cache(group) for group in model.groups)


@lru_cache(maxsize=64)
def growing_per_token(model: Model) -> Fraction:
    """Values all layers together keep for each token of context, for as long as the session lasts."""
    return sum((cache.growing * cache.count for cache in layer_caches(model)), Fraction(0))


def windowed_per_token(model: Model) -> int:
    """Values all windowed layers together keep for each token inside their window."""
    return sum(cache.windowed * cache.count for cache in layer_caches(model))


@lru_cache(maxsize=64)
def _bounded(model: Model) -> tuple[tuple[tuple[int, int], ...], int]:
    """((values per token, window) of each kind of windowed layer, fixed state), over all layers."""
    caches = layer_caches(model)
    windows = tuple((cache.windowed * cache.count, cache.window) for cache in caches if cache.windowed)
    return windows, sum(cache.state * cache.count for cache in caches)


def group_values(model: Model, mix: Sequence[tuple[int, int]]) -> Fraction:
    """Values one whole group of a mix of (context, count) keeps: growing, windows and state."""
    windows, state = _bounded(model)
    tokens = bounded = 0
    for context, count in mix:
        tokens += context * count
        bounded += (sum(values * min(context, window) for values, window in windows) + state) * count
    over, under = growing_per_token(model).as_integer_ratio()
    return Fraction(over * tokens + under * bounded, under)


def session_values(model: Model, context: int) -> Fraction:
    """Values one session of `context` tokens keeps: growing, windows and state."""
    return group_values(model, ((context, 1),))
