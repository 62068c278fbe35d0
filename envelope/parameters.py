"""Counts of parameters by part, resident and read per token, from one table of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from envelope.model import (
    Attention,
    CompressedAttention,
    Dense,
    HeadAttention,
    Indexer,
    LatentAttention,
    LayerGroup,
    LinearAttention,
    MixtureOfExperts,
    Model,
)

PARTS = (
    "embeddings", "attention", "latent_projections", "dense", "routed_experts", "shared_experts",
    "router", "norms", "head", "towers", "prediction", "other",
)  # fmt: skip


@dataclass(frozen=True)
class Tensor:
    """One kind of weight in one group of layers.

    `rows` outputs by `columns` inputs (columns 0: a vector of `rows`), `copies` per layer, of which a token
    multiplies `read`. `module` is the Hugging Face module name within a layer, so that a quantization's exclusions
    can be matched. `group` is the index of its layer group, -1 outside layers.
    """

    part: str
    module: str
    rows: int
    columns: int
    layers: int = 1
    copies: int = 1
    read: int = 1
    group: int = -1

    @property
    def elements(self) -> int:
        """Parameters of one copy."""
        return self.rows * (self.columns or 1)

    @property
    def resident(self) -> int:
        """Parameters held in memory."""
        return self.elements * self.copies * self.layers

    @property
    def active(self) -> int:
        """Parameters one token passes through."""
        return self.elements * self.read * self.layers


Shape = tuple[str, str, int, int]


def _head_attention(a: HeadAttention, hidden: int) -> Iterator[Shape]:
    yield "attention", "self_attn.q_proj", a.query_heads * a.key_dim, hidden
    if a.projects_kv:
        yield "attention", "self_attn.k_proj", a.kv_heads * a.key_dim, hidden
        if a.value_dim and not a.shares_kv_projection:
            yield "attention", "self_attn.v_proj", a.kv_heads * a.value_dim, hidden
    yield "attention", "self_attn.o_proj", hidden, a.query_heads * a.output_dim
    yield from _gate(a.gate, a.query_heads, a.output_dim, hidden)
    if a.indexer and a.indexer.owns:
        yield "attention", "self_attn.indexer.q_proj", a.indexer.heads * a.indexer.head_dim, hidden
        yield "attention", "self_attn.indexer.k_proj", a.indexer.head_dim, hidden
        yield "attention", "self_attn.indexer.vectors", a.indexer.vectors, 0
    yield "attention", "self_attn.vectors", a.vectors, 0


def _gate(gate: str, heads: int, width: int, hidden: int) -> Iterator[Shape]:
    if gate == "full":
        yield "attention", "self_attn.gate_proj", heads * width, hidden
    elif gate == "head":
        yield "attention", "self_attn.g_proj", heads, hidden


def _indexer(indexer: Indexer, hidden: int, query_rank: int) -> Iterator[Shape]:
    if not indexer.owns:
        return
    yield "attention", "self_attn.indexer.wq_b", indexer.heads * indexer.head_dim, query_rank or hidden
    yield "attention", "self_attn.indexer.weights_proj", indexer.heads, hidden
    yield "attention", "self_attn.indexer.vectors", indexer.vectors, 0


def _latent_attention(a: LatentAttention, hidden: int) -> Iterator[Shape]:
    query = a.query_heads * (a.nope_dim + a.rope_dim)
    if a.query_rank:
        yield "attention", "self_attn.q_a_proj", a.query_rank, hidden
        yield "attention", "self_attn.q_b_proj", query, a.query_rank
    else:
        yield "attention", "self_attn.q_proj", query, hidden
    yield "attention", "self_attn.kv_a_proj_with_mqa", a.kv_rank + a.rope_dim, hidden
    yield "attention", "self_attn.kv_b_proj", a.query_heads * (a.nope_dim + a.value_dim), a.kv_rank
    yield "attention", "self_attn.o_proj", hidden, a.query_heads * a.value_dim
    yield from _gate(a.gate, a.query_heads, a.value_dim, hidden)
    if a.indexer:
        yield from _indexer(a.indexer, hidden, a.query_rank)
        if a.indexer.owns:
            yield "attention", "self_attn.indexer.wk", a.indexer.head_dim, hidden
    yield "attention", "self_attn.vectors", a.vectors, 0


def _compressed_attention(a: CompressedAttention, hidden: int) -> Iterator[Shape]:
    output = a.query_heads * a.head_dim
    yield "attention", "self_attn.q_a_proj", a.query_rank or output, hidden
    if a.query_rank:
        yield "attention", "self_attn.q_b_proj", output, a.query_rank
    yield "attention", "self_attn.kv_proj", a.head_dim, hidden
    yield "attention", "self_attn.o_a_proj", a.output_groups * a.output_rank, output // a.output_groups
    yield "attention", "self_attn.o_b_proj", hidden, a.output_groups * a.output_rank
    yield "attention", "self_attn.compressor", a.compressor, 0
    if a.indexer:
        yield from _indexer(a.indexer, hidden, a.query_rank)
        yield "attention", "self_attn.indexer.compressor", a.index_compressor, 0
    yield "attention", "self_attn.vectors", a.vectors, 0


def _linear_attention(a: LinearAttention, hidden: int) -> Iterator[Shape]:
    """Yield the matrices that follow from a recurrence's heads, under their names in the public implementation."""
    keys, values = a.key_heads * a.key_dim, a.heads * a.value_dim
    if a.flavour == "gated_delta":
        yield "attention", "linear_attn.in_proj_qkv", 2 * keys + values, hidden
        yield "attention", "linear_attn.in_proj_z", values, hidden
        yield "attention", "linear_attn.in_proj_ba", 2 * a.heads, hidden
        yield "attention", "linear_attn.out_proj", hidden, values
    elif a.flavour == "kda":
        yield "attention", "self_attn.qkv_proj", 2 * keys + values, hidden
        yield "attention", "self_attn.f_a_proj", a.value_dim, hidden
        yield "attention", "self_attn.f_b_proj", keys, a.value_dim
        if a.full_gate:
            yield "attention", "self_attn.g_proj", values, hidden
        else:
            yield "attention", "self_attn.g_a_proj", a.value_dim, hidden
            yield "attention", "self_attn.g_b_proj", values, a.value_dim
        yield "attention", "self_attn.b_proj", a.heads, hidden
        yield "attention", "self_attn.o_proj", hidden, values
    elif a.flavour == "mamba2":
        yield "attention", "mamba.in_proj", values + a.conv_channels + a.heads, hidden
        yield "attention", "mamba.out_proj", hidden, values
    elif a.flavour == "mamba":
        yield "attention", "mamba.in_proj", 2 * a.value_dim, hidden
        yield "attention", "mamba.out_proj", hidden, a.value_dim
    elif a.flavour == "lightning":
        yield "attention", "self_attn.qkv_proj", 3 * values, hidden
        yield "attention", "self_attn.output_gate", values, hidden
        yield "attention", "self_attn.out_proj", hidden, values
    elif a.flavour == "short_conv":
        yield "attention", "conv.in_proj", 3 * a.conv_channels, hidden
        yield "attention", "conv.out_proj", hidden, a.conv_channels


def _attention(attention: Attention, hidden: int) -> Iterator[Shape]:
    if isinstance(attention, HeadAttention):
        yield from _head_attention(attention, hidden)
    elif isinstance(attention, LatentAttention):
        yield from _latent_attention(attention, hidden)
    elif isinstance(attention, CompressedAttention):
        yield from _compressed_attention(attention, hidden)
    elif isinstance(attention, LinearAttention):
        yield from _linear_attention(attention, hidden)
        yield "attention", "linear_attn.projections", attention.projections, 0
        yield "attention", "linear_attn.vectors", attention.vectors, 0


def _dense(part: str, prefix: str, width: int, matrices: int, hidden: int) -> Iterator[Shape]:
    if matrices == 3:
        yield part, f"{prefix}.gate_proj", width, hidden
    yield part, f"{prefix}.up_proj", width, hidden
    yield part, f"{prefix}.down_proj", hidden, width


def _layer(group: LayerGroup, hidden: int) -> Iterator[tuple[Shape, int, int]]:
    """Yield (shape, copies per layer, copies read per token)."""
    for shape in _attention(group.attention, hidden):
        yield shape, 1, 1
    for block in (group.feed_forward, group.beside):
        if isinstance(block, Dense):
            for shape in _dense("dense", "mlp", block.width, block.matrices, hidden):
                yield shape, 1, 1
            yield ("dense", "mlp.vectors", block.vectors, 0), 1, 1
        elif isinstance(block, MixtureOfExperts):
            yield from _mixture(block, hidden)
    yield ("norms", "layernorm", group.norms, 0), 1, 1
    yield ("other", "other", group.other, 0), 1, 1


def _mixture(moe: MixtureOfExperts, hidden: int) -> Iterator[tuple[Shape, int, int]]:
    width = moe.latent or hidden
    # Identity experts hold nothing; on average they take their share of the choices.
    read = moe.top_k * moe.experts // (moe.experts + moe.zero_experts)
    yield ("router", "mlp.gate", moe.experts + moe.zero_experts, hidden), 1, 1
    yield ("router", "mlp.gate.vectors", moe.router_vectors, 0), 1, 1
    if moe.latent:
        yield ("latent_projections", "mlp.latent_down_proj", moe.latent, hidden), 1, 1
        yield ("latent_projections", "mlp.latent_up_proj", hidden, moe.latent), 1, 1
    for shape in _dense("routed_experts", "mlp.experts", moe.width, moe.matrices, width):
        yield shape, moe.experts, read
    yield ("routed_experts", "mlp.experts.vectors", moe.expert_vectors, 0), moe.experts, read
    if moe.shared_width:
        for shape in _dense("shared_experts", "mlp.shared_experts", moe.shared_width, moe.matrices, hidden):
            yield shape, 1, 1
        if moe.shared_gate:
            yield ("shared_experts", "mlp.shared_expert_gate", 1, hidden), 1, 1
    yield ("other", "mlp.vectors", moe.vectors, 0), 1, 1


def _outside(model: Model) -> Iterator[Tensor]:
    rows = model.embedding_rows or model.vocabulary
    # A token looks up one row of the table; only a tied table is read whole, as the head.
    yield Tensor("embeddings", "embed_tokens", rows, model.hidden, read=int(model.tied))
    if not model.tied:
        yield Tensor("head", "lm_head", model.head_rows or model.vocabulary, model.hidden)
    yield Tensor("head", "lm_head.vectors", model.head_vectors, 0)
    yield Tensor("norms", "norm", model.final, 0)
    yield Tensor("other", "other", model.other, 0)
    yield Tensor("embeddings", "embed_tokens_per_layer", model.looked_up, 0, read=0)
    for name, size in model.towers:
        yield Tensor("towers", name, size, 0, read=0)


@lru_cache(maxsize=64)
def tensors(model: Model) -> tuple[Tensor, ...]:
    """List every weight of a model once. Empty vectors are left out. Prediction layers carry `read` 0."""
    table = list(_outside(model))
    for index, group in enumerate(model.groups):
        for (part, module, rows, columns), copies, read in _layer(group, model.hidden):
            table.append(Tensor(part, module, rows, columns, group.count, copies, read, index))
    for group in model.prediction:
        for (_, module, rows, columns), copies, _read in _layer(group, model.hidden):
            table.append(Tensor("prediction", module, rows, columns, group.count, copies, 0))
    table.append(Tensor("prediction", "prediction.own", model.prediction_extra, 0, read=0))
    table.append(Tensor("prediction", "prediction.copies", model.prediction_copies, 0, read=0))
    return tuple(tensor for tensor in table if tensor.rows)


def resident_by_part(model: Model) -> dict[str, int]:
    """Parameters held, by part."""
    return dict(_by_part(model, "resident"))


def active_by_part(model: Model) -> dict[str, int]:
    """Parameters one token multiplies, by part: no input embedding (one row), no towers, no prediction layers."""
    return dict(_by_part(model, "active"))


@lru_cache(maxsize=128)
def _by_part(model: Model, count: str) -> dict[str, int]:
    totals = dict.fromkeys(PARTS, 0)
    for tensor in tensors(model):
        totals[tensor.part] += getattr(tensor, count)
    return totals


def resident(model: Model) -> int:
    """Parameters of the main model, towers included, prediction layers left out."""
    parts = resident_by_part(model)
    return sum(parts.values()) - parts["prediction"]


# The block parts whose weights cost a token work: what a headline "active" counts, with routers, without norms.
ACTIVE_PARTS = ("attention", "latent_projections", "dense", "routed_experts", "shared_experts", "router")


def active(model: Model) -> int:
    """Parameters a token multiplies in its layers: attention, latent projections, feed-forward and routers."""
    parts = active_by_part(model)
    return sum(parts[part] for part in ACTIVE_PARTS)


def active_with_head(model: Model) -> int:
    """`active` and the matrix that turns the last hidden state into a vocabulary's scores."""
    parts = active_by_part(model)
    return active(model) + parts["head"] + parts["embeddings"]


def active_with_embeddings(model: Model) -> int:
    """Everything a token passes through: layers with norms, head, and the whole embedding table."""
    parts = active_by_part(model)
    resident_parts = resident_by_part(model)
    return (
        sum(parts[part] for part in ACTIVE_PARTS)
        + parts["norms"]
        + parts["other"]
        + parts["head"]
        + resident_parts["embeddings"]
    )
