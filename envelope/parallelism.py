"""How ranks share the weights, how evenly they share the experts, and what the expert exchange asks of the links."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, floor, lcm, lgamma, log, log1p, sqrt

from envelope.checkpoint import Piece, Split, pieces, total_bytes
from envelope.model import HeadAttention, Model
from envelope.parameters import Tensor
from envelope.ranks import Layout, layers_by_stage

# An all-reduce after attention and one after the feed-forward.
COLLECTIVES_PER_LAYER = 2

# Low-rank projections and indexers that engines keep whole on every tensor-parallel rank.
_WHOLE = ("self_attn.q_a_proj", "self_attn.kv_a_proj_with_mqa", "self_attn.kv_proj", "self_attn.compressor")
_COPIED_PARTS = ("router", "norms", "towers", "other")
# Stored as one long vector in the table of tensors, matrices in truth.
_DIVIDED_VECTORS = ("linear_attn.projections", "embed_tokens_per_layer", "prediction.own", "prediction.copies")


@dataclass(frozen=True)
class RankWeights:
    """Bytes one rank holds: its share of the routed experts, what tensor parallelism divides, what every rank copies."""

    experts: Fraction = Fraction(0)
    divided: Fraction = Fraction(0)
    copied: Fraction = Fraction(0)

    @property
    def other(self) -> Fraction:
        """Everything but routed experts."""
        return self.divided + self.copied

    @property
    def total(self) -> Fraction:
        """Everything on the rank."""
        return self.experts + self.other


def expert_ranks(layout: Layout) -> int:
    """Ranks that hold one copy of a stage's experts: whole experts over ep, their matrices over what tp is left."""
    return min(lcm(layout.ep, layout.tp), layout.gpus // layout.pp)


@lru_cache(maxsize=32)
def rank_weights(model: Model, split: Split, layout: Layout) -> tuple[RankWeights, ...]:
    """What one rank of each pipeline stage holds.

    Attention, dense, shared and latent matrices, embedding and head are divided over tp and copied over dp; routers,
    norms, towers, low-rank projections and indexers are whole on every rank; KV projections stop dividing at one
    head. Where a split stores some layers differently, stages are taken to hold them in proportion.
    """
    stages = layers_by_stage(model, layout.pp)
    totals = [[Fraction(0)] * 3 for _ in stages]
    for piece in pieces(model, split):
        kind, share = _placed(piece, model, layout)
        for index, stage in enumerate(stages):
            part = _stage_share(piece.tensor, model, stage, index, len(stages))
            if part:
                totals[index][kind] += piece.bytes * share * part
    return tuple(RankWeights(*total) for total in totals)


@dataclass(frozen=True)
class PartPlacement:
    """One part of the file on the ranks: `kind` is experts, divided or copied; bytes of the fullest rank and of all."""

    part: str
    kind: str
    file: Fraction
    rank: Fraction
    cluster: Fraction


KINDS = ("experts", "divided", "copied")


def parts_on_ranks(model: Model, split: Split, layout: Layout) -> tuple[PartPlacement, ...]:
    """What is split and what is replicated, the largest part of the fullest stage first. Sizes follow the split."""
    stages = layers_by_stage(model, layout.pp)
    fullest = max(range(len(stages)), key=lambda index: rank_weights(model, split, layout)[index].total)
    found: dict[tuple[str, int], list[Fraction]] = {}
    for piece in pieces(model, split):
        kind, share = _placed(piece, model, layout)
        sizes = found.setdefault((piece.tensor.part, kind), [Fraction(0)] * 3)
        held = piece.bytes * share
        sizes[0] += piece.bytes
        sizes[1] += held * _stage_share(piece.tensor, model, stages[fullest], fullest, len(stages))
        sizes[2] += held * (layout.gpus // layout.pp)
    rows = (PartPlacement(part, KINDS[kind], *sizes) for (part, kind), sizes in found.items())
    return tuple(sorted(rows, key=lambda one: -one.rank))


@dataclass(frozen=True)
class Placement:
    """The fullest rank, and the bytes of all ranks together."""

    fullest: RankWeights
    cluster: Fraction


@lru_cache(maxsize=32)
def placement(model: Model, split: Split, layout: Layout, file_bytes: Fraction) -> Placement:
    """Weights by rank in the proportion of the file's true size, `file_bytes`."""
    stages = rank_weights(model, split, layout)
    scale = file_bytes / total_bytes(model, split)
    fullest = max(stages, key=lambda stage: stage.total)
    scaled = RankWeights(fullest.experts * scale, fullest.divided * scale, fullest.copied * scale)
    cluster = sum((stage.total for stage in stages), Fraction(0)) * (layout.gpus // layout.pp) * scale
    return Placement(scaled, cluster)


def _placed(piece: Piece, model: Model, layout: Layout) -> tuple[int, Fraction]:
    """Which of experts (0), divided (1), copied (2) a tensor is, and the share of it one rank holds."""
    tensor = piece.tensor
    if tensor.part == "routed_experts" or (tensor.part == "prediction" and tensor.module.startswith("mlp.experts")):
        return 0, Fraction(1, expert_ranks(layout))
    if tensor.part in _COPIED_PARTS or tensor.module.startswith((*_WHOLE, "self_attn.indexer")):
        return 2, Fraction(1)
    if not tensor.columns and tensor.module not in _DIVIDED_VECTORS:
        return 2, Fraction(1)
    if tensor.module in ("self_attn.k_proj", "self_attn.v_proj") and tensor.group >= 0:
        attention = model.groups[tensor.group].attention
        if isinstance(attention, HeadAttention):
            return 1, Fraction(max(1, -(-attention.kv_heads // layout.tp)), attention.kv_heads)
    return 1, Fraction(1, layout.tp)


def _stage_share(tensor: Tensor, model: Model, stage: dict[int, int], index: int, stages: int) -> Fraction:
    """Share of a tensor's layers in one stage; embedding and towers sit in the first, head and prediction in the last."""
    if tensor.group >= 0:
        return Fraction(stage.get(tensor.group, 0), model.groups[tensor.group].count)
    first = tensor.part in ("embeddings", "towers")
    return Fraction(index == (0 if first else stages - 1))


def exchange_intensity(matrices: int, width: int, sent: Fraction, returned: Fraction) -> Fraction:
    """Expert FLOP per exchanged byte: 2 × matrices × width / (bytes sent + bytes returned per value).

    Each copy of a token makes 2 × matrices × its width × the expert's FLOP and sends and returns its width in values,
    so the token's width cancels. Source: first seed, after DeepSeek's V4 report.
    """
    return 2 * matrices * width / (sent + returned)


def without_local(intensity: Fraction, ranks: int) -> Fraction:
    """The same where one expert in `ranks` is on the rank itself and needs no exchange."""
    return intensity / (1 - Fraction(1, ranks))


def idle_share(experts: int, top_k: int, held: int, tokens: int) -> float:
    """Chance that none of `tokens` independent tokens picks any of the `held` experts of one rank."""
    others = experts - held
    if others < top_k:
        return 0.0
    # One token: C(experts − held, top_k) / C(experts, top_k), in logarithms since both overflow.
    chance = lgamma(others + 1) - lgamma(others - top_k + 1) - lgamma(experts + 1) + lgamma(experts - top_k + 1)
    return exp(tokens * chance)


def busiest(held: int, chance: float, ranks: int) -> float:
    """Expected experts read on the busiest of `ranks`, each holding `held` experts read with `chance`.

    E[max] of independent binomials, the sum over x of 1 − P(one rank reads at most x)^ranks; ranks share a fixed
    number of choices, so the true maximum is slightly lower.
    """
    if chance >= 1:
        return float(held)
    # Beyond twelve deviations from the mean the sum's terms are 1 below and 0 above, to the last digit.
    mean = held * chance
    reach = 12 * sqrt(mean * (1 - chance)) + 12
    low, high = max(0, floor(mean - reach)), min(held, floor(mean + reach))
    ways = lgamma(held + 1) - lgamma(low + 1) - lgamma(held - low + 1)
    term = exp(ways + low * log(chance) + (held - low) * log1p(-chance))
    below, found = 0.0, float(low)
    for reads in range(low, high):
        below += term
        found += 1 - min(1.0, below) ** ranks
        term *= (held - reads) / (reads + 1) * chance / (1 - chance)
    return found
