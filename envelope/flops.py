"""Work per token and per position of context, and the context at which attention becomes the larger part."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from envelope.model import Attention, CompressedAttention, HeadAttention, LatentAttention, Model


@dataclass(frozen=True)
class AttentionCost:
    """FLOP of one layer's attention for one token: `slope` x context, and `spans` of bounded length.

    A span is (FLOP per position, positions at most): a window or a top-k read, which costs the same at any context
    that fills it. Linear layers' state updates are left out: below 1% of their projections, which the parameters count.
    """

    slope: Fraction = Fraction(0)
    spans: tuple[tuple[Fraction, int], ...] = ()

    @property
    def constant(self) -> Fraction:
        """FLOP of one token whose context fills every span."""
        return sum((each * span for each, span in self.spans), Fraction(0))

    def bounded(self, tokens: int) -> Fraction:
        """FLOP of a prompt's bounded attention: a token attends to those before it, until its span is full."""
        filling = ((each, min(span, tokens)) for each, span in self.spans)
        return sum((each * (reach * (2 * tokens - reach)) for each, reach in filling), Fraction(0)) / 2


def decode_cost(a: Attention) -> AttentionCost:
    """Cost of one token generated over a context: scores and weighted values, 2 FLOP a multiply-add.

    Full heads 2·h·(d_k + d_v) per position; MLA in absorbed form 2·h·(2·r_kv + d_rope); sparse attention scores every
    position with its indexer and reads its top-k. Source: the house definitions; MLA form as in DeepSeek-V2's report.
    """
    if isinstance(a, HeadAttention):
        return _heads(a)
    if isinstance(a, LatentAttention):
        each = 2 * a.query_heads * (2 * a.kv_rank + a.rope_dim)
        return _sparse(each, a)
    if isinstance(a, CompressedAttention):
        return _compressed(a)
    return AttentionCost()


def prefill_cost(a: Attention) -> AttentionCost:
    """Cost of one prompt token per position it attends to; MLA is expanded to heads: 2·h·(d_nope + d_rope + d_v)."""
    if isinstance(a, LatentAttention):
        return _sparse(2 * a.query_heads * (a.nope_dim + a.rope_dim + a.value_dim), a)
    return decode_cost(a)


def _heads(a: HeadAttention) -> AttentionCost:
    each = Fraction(2 * a.query_heads * (a.key_dim + a.output_dim))
    if a.cross:
        return AttentionCost()
    return AttentionCost(spans=((each, a.window),)) if a.window else _sparse(each, a)


def _sparse(each: int | Fraction, a: HeadAttention | LatentAttention) -> AttentionCost:
    if a.indexer is None:
        return AttentionCost(slope=Fraction(each))
    scoring = 2 * a.indexer.heads * a.indexer.head_dim if a.indexer.owns else 0
    return AttentionCost(Fraction(scoring), ((Fraction(each), a.indexer.reads),))


def _compressed(a: CompressedAttention) -> AttentionCost:
    each = 2 * a.query_heads * 2 * a.head_dim
    window = (Fraction(each), a.window)
    if not a.ratio:
        return AttentionCost(spans=(window,))
    if a.indexer is None:
        return AttentionCost(Fraction(each, a.ratio), (window,))
    scoring = Fraction(2 * a.indexer.heads * a.indexer.head_dim, a.ratio) if a.indexer.owns else Fraction(0)
    # One record stands for `ratio` tokens, so the top-k is full after that many times as many.
    return AttentionCost(scoring, (window, (Fraction(each, a.ratio), a.indexer.reads * a.ratio)))


@lru_cache(maxsize=128)
def attention_cost(model: Model, cost=decode_cost) -> AttentionCost:
    """Sum `cost` over all layers."""
    each = [(group.count, cost(group.attention)) for group in model.groups]
    return AttentionCost(
        sum((count * one.slope for count, one in each), Fraction(0)),
        tuple((count * cost, span) for count, one in each for cost, span in one.spans),
    )


def crossover_decode(model: Model, active_parameters: float) -> float | None:
    """Context at which growing attention costs a generated token as much as everything else.

    Slope x context = 2 x active parameters + constants. None where no layer's cost grows. Source: the first seed.
    """
    cost = attention_cost(model, decode_cost)
    if not cost.slope:
        return None
    return float((2 * Fraction(active_parameters) + cost.constant) / cost.slope)


def crossover_prefill(model: Model, active_parameters: float) -> float | None:
    """Prompt length at which growing attention costs as much as everything else; the mean position is half of it."""
    cost = attention_cost(model, prefill_cost)
    if not cost.slope:
        return None
    return float(2 * (2 * Fraction(active_parameters) + cost.constant) / cost.slope)


@dataclass(frozen=True)
class PrefillWork:
    """FLOP to prefill a prompt: growing attention, bounded attention, and matrices."""

    growing: Fraction
    bounded: Fraction
    matrices: Fraction

    @cached_property
    def total(self) -> Fraction:
        """All of it."""
        return self.growing + self.bounded + self.matrices

    @property
    def growing_share(self) -> Fraction:
        """Share spent on attention that grows with context."""
        return self.growing / self.total


def prefill_work(model: Model, active_parameters: float, tokens: int) -> PrefillWork:
    """Work to prefill `tokens`: each token attends to those before it, half the prompt on average."""
    cost = attention_cost(model, prefill_cost)
    return PrefillWork(
        growing=cost.slope * Fraction(tokens * tokens, 2),
        bounded=cost.bounded(tokens),
        matrices=Fraction(active_parameters) * (2 * tokens),
    )
