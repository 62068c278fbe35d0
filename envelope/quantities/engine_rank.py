"""One rank of the chosen engine: what its layers store and the layout its release gives them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import checkpoint, parallelism, parameters, pools
from envelope.engines import compressed, residue, sglang, vllm, vllm_groups
from envelope.engines.releases import Release, release
from envelope.engines.stored import CacheFormat, NotLaidOut, Stored, draft_layers, stored_by
from envelope.fields.engine import draft_architecture
from envelope.quantities.capacity import need_of, ratio_to_set
from envelope.quantities.registry import Unavailable

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

_STATE_BYTES = {"fp32": 4, "bf16": 2}


@dataclass(frozen=True)
class Rank:
    """What one rank of one replica stores. `draft_tokens` are speculated per step beyond the certain one."""

    engine: str
    release: Release | None
    layers: tuple[Stored, ...]
    dcp: int
    draft_tokens: int


def rank(e: Evaluation) -> Rank:
    """Describe the fullest rank. Raises Unavailable where the layers are unknown."""
    return e.once(_rank)


def _rank(e: Evaluation) -> Rank:
    if e.input("cache_bytes_per_token") is not None:
        raise Unavailable("a stated cache per token hides the layers an engine lays out")
    model, layout, engine = e.model, e.scenario.layout, e.input("engine")
    mtp, named, dcp = e.input("mtp_layers"), e.input("draft_model"), e.input("dcp")
    if layout.tp % dcp:
        raise Unavailable(f"DCP {dcp} does not divide the {layout.tp} tensor-parallel ranks")
    speculates = bool(mtp or named)
    draft_tokens = e.input("verify_tokens") - 1 if speculates else 0
    if any(group.attention is not None and group.attention.kind == "linear" for group in model.groups):
        state_bytes = _STATE_BYTES[e.input("state_format")]
    else:
        state_bytes = 4
    cache = CacheFormat(e.input("cache_format"), e.scenario["cache_scales"] == "head", state_bytes)
    try:
        draft = draft_layers(model, mtp) + (draft_architecture(named).groups if named else ())
        # SGLang keeps a verified step's states beside the pool, vLLM widens the convolution state.
        steps = draft_tokens if engine == "vllm" else 0
        layers = stored_by(model, layout.tp, cache, draft, steps)
    except NotLaidOut as refusal:
        raise Unavailable(str(refusal)) from None
    chosen = release(e.input("engine_version")) if e.input("engine_version") else None
    return Rank(engine, chosen, layers, dcp, draft_tokens)


def vllm_plan(e: Evaluation, length: int | None = None) -> vllm.Plan:
    """vLLM's layout of the rank. Raises Unavailable with the reason it would not start."""
    return e.once(_vllm_plan, length)


def _vllm_plan(e: Evaluation, length: int | None) -> vllm.Plan:
    one = rank(e)
    options = vllm.Options(
        one.release, length or e.input("max_model_len"), e.input("chunk"), e.input("block_size"), one.dcp, _stages(e),
        e.input("state_blocks") or 1, e.input("hybrid_manager") == "on",
    )  # fmt: skip
    try:
        return vllm_groups.plan(one.layers, options)
    except NotLaidOut as refusal:
        raise Unavailable(str(refusal)) from None


def _stages(e: Evaluation) -> tuple[range, ...]:
    """Layer positions of each pipeline stage, draft layers on the last; empty with one stage."""
    pp = e.scenario.layout.pp
    if pp == 1:
        return ()
    size, extra = divmod(e.model.layers, pp)
    found, start = [], 0
    for stage in range(pp):
        end = start + size + (stage < extra)
        found.append(range(start, end if stage < pp - 1 else 10**9))
        start = end
    return tuple(found)


def is_compressed(one: Rank) -> bool:
    """True for DeepSeek V4's caches."""
    return any(layer.compressed for layer in one.layers)


def sglang_cell(e: Evaluation) -> sglang.Cell:
    """Bytes per token on the rank of the widest pipeline stage."""
    return e.once(_sglang_cell)


def _sglang_cell(e: Evaluation) -> sglang.Cell:
    one = rank(e)
    stages = _stages(e) or (None,)
    cells = []
    for stage in stages:
        inside = tuple(_on_stage(layer, stage) for layer in one.layers)
        cells.append(sglang.cell(tuple(layer for layer in inside if layer.count), one.release, e.input("hybrid_manager") == "on", one.dcp))
    return max(cells, key=lambda cell: cell.per_full_token(pools.SGLANG_DEFAULT_RATIO))


def _on_stage(layer: Stored, stage: range | None) -> Stored:
    return layer if stage is None else replace(layer, places=tuple(place for place in layer.places if place in stage))


def sglang_ratio(e: Evaluation, window: int) -> Fraction:
    """The ratio SGLang is started with: as given, or the best for the sessions asked for, rounded up as it is printed."""
    return e.once(_sglang_ratio, window)


def _sglang_ratio(e: Evaluation, window: int) -> Fraction:
    given = e.input("pool_ratio")
    if given != "best":
        return Fraction(given)
    return min(Fraction(1), ratio_to_set(e, window)) if need_of(e, window).sliding_tokens else pools.SGLANG_DEFAULT_RATIO


def sglang_pools(e: Evaluation) -> sglang.Pools:
    """Tokens of both pools on one rank, for the target's caches."""
    return e.once(_sglang_pools)


def _sglang_pools(e: Evaluation) -> sglang.Pools:
    memory, one, page = e["kv_memory_per_rank"], rank(e), e.input("block_size")
    window = max((layer.window for layer in one.layers), default=0)
    ratio = sglang_ratio(e, window)
    if is_compressed(one):
        each = compressed_bytes_per_token(one, ratio)
        full = int(memory // each) // page * page
        return sglang.Pools(full, int(full * ratio) // page * page)
    cell = sglang_cell(e)
    try:
        if one.engine == "sglang-unified":
            return sglang.unified(memory * draft_share(e, cell), cell, ratio, page)
        return sglang.pools(memory, cell, ratio, page)
    except NotLaidOut as refusal:
        raise Unavailable(str(refusal)) from None


def compressed_bytes_per_token(one: Rank, ratio: Fraction) -> Fraction:
    """Bytes per token of the full pool for DeepSeek V4. Raises Unavailable for ratios that engines do not lay out."""
    try:
        return compressed.sglang_bytes_per_token(one.layers, ratio, bool(one.draft_tokens), one.release)
    except NotLaidOut as refusal:
        raise Unavailable(str(refusal)) from None


def draft_share(e: Evaluation, cell: sglang.Cell) -> Fraction:
    """All cache bytes over the target's own: 1 without a draft, or where its pool is not in the budget."""
    if not cell.draft_full and not cell.draft_sliding:
        return Fraction(1)
    ratio = sglang_ratio(e, cell.window)
    target = cell.per_full_token(ratio)
    if not target or rank(e).release < sglang.DRAFT_IN_CELL:
        return Fraction(1)
    return (target + cell.draft_per_full_token(ratio)) / target


def weights(e: Evaluation) -> Fraction:
    """Weight bytes of the fullest rank; prediction layers only where they speculate, a draft model in BF16 beside."""
    total, layout = Fraction(e["weight_bytes"]), e.scenario.layout
    if e.scenario.split is None:
        return e["rank_weight_bytes"]
    model, split = e.model, e.split
    if not e.input("mtp_layers") and model.prediction:
        loaded = replace(model, prediction=(), prediction_extra=0, prediction_copies=0)
        total = total * checkpoint.total_bytes(loaded, split) / checkpoint.total_bytes(model, split)
        model = loaded
    named = e.input("draft_model")
    draft = Fraction(2 * parameters.resident(draft_architecture(named)), layout.tp) if named else Fraction(0)
    return parallelism.placement(model, split, layout, total).fullest.total + draft


def activations(e: Evaluation) -> residue.Estimate:
    """Peak of one step on one rank."""
    e.rest_on("C")
    return residue.activations(e.model, e.input("chunk"), e.input("max_num_seqs") or e.input("max_batch"), e.scenario.layout.tp)


def graphs(e: Evaluation) -> residue.Estimate:
    """Captured graphs on one rank, where the engine subtracts them."""
    e.rest_on("C")
    return residue.graphs(release(e.input("engine_version")) if e.input("engine") == "vllm" else None)
