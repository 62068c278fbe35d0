"""A model's architecture: shapes only, no bytes and no machine."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import ClassVar

# A shape beyond this is a slip: the largest published matrices are under 2^20 wide.
LARGEST = 10**8
MOST_LAYERS = 100_000


def _check(owner: object, **bounds: tuple[int, int]) -> None:
    """Raise ValueError naming the first field of `owner` outside its inclusive bounds."""
    for name, (low, high) in bounds.items():
        value = getattr(owner, name)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"{name} must be a whole number, not {value!r:.40}")
        if not low <= value <= high:
            raise ValueError(f"{name} {value:,} must be {low:,} to {high:,}")


@dataclass(frozen=True)
class Indexer:
    """The small scorer that picks which positions sparse attention reads.

    `owns` is False where a layer uses another layer's choice, and so has no matrices and no index cache.
    `reads` is how many positions attention then reads.
    """

    heads: int
    head_dim: int
    reads: int
    owns: bool = True
    vectors: int = 0

    def __post_init__(self) -> None:
        _check(self, heads=(1, LARGEST), head_dim=(1, LARGEST), reads=(1, 10**12), vectors=(0, 10**12))


@dataclass(frozen=True)
class HeadAttention:
    """MHA, GQA or MQA: keys and values per head, cached per token.

    `window` tokens are kept when not 0: the last ones (sliding) or, when `chunked`, the current aligned chunk.
    `value_dim` 0 means keys and values are one tensor of `key_dim`. `gate` is the output gate: `full` (a projection
    as wide as the output) or `head` (one value per head). `projects_kv` is False where the layer reads another
    layer's cache and has no key and value matrices; `owns_cache` is False where it keeps none of its own.
    `shares_kv_projection`: one matrix serves keys and values, both cached. `cross`: keys come from another modality,
    so text adds nothing. `indexer` scores positions, or blocks of them, for sparse reading. `vectors` counts biases,
    head norms and sinks.
    """

    query_heads: int
    kv_heads: int
    key_dim: int
    value_dim: int
    window: int = 0
    chunked: bool = False
    gate: str = ""
    owns_cache: bool = True
    projects_kv: bool = True
    shares_kv_projection: bool = False
    cross: bool = False
    indexer: Indexer | None = None
    vectors: int = 0
    kind: ClassVar[str] = "heads"

    def __post_init__(self) -> None:
        _check(
            self,
            query_heads=(1, LARGEST),
            kv_heads=(1, self.query_heads),
            key_dim=(1, LARGEST),
            value_dim=(0, LARGEST),
            window=(0, 10**12),
            vectors=(0, 10**12),
        )
        if self.query_heads % self.kv_heads:
            raise ValueError(f"query_heads {self.query_heads} must be a multiple of kv_heads {self.kv_heads}")
        if self.gate not in ("", "full", "head"):
            raise ValueError(f"gate {self.gate!r:.40} must be full, head or empty")

    @property
    def output_dim(self) -> int:
        """Width of one head's output: the value width, or the key's where both are one tensor."""
        return self.value_dim or self.key_dim


@dataclass(frozen=True)
class LatentAttention:
    """Multi-head latent attention (MLA): one compressed key-value record per token, shared by all heads.

    `query_rank` 0 means the query is projected directly. The cache holds `kv_rank + rope_dim` values per token.
    """

    query_heads: int
    kv_rank: int
    nope_dim: int
    rope_dim: int
    value_dim: int
    query_rank: int = 0
    gate: str = ""
    indexer: Indexer | None = None
    vectors: int = 0
    kind: ClassVar[str] = "latent"

    def __post_init__(self) -> None:
        _check(
            self,
            query_heads=(1, LARGEST),
            kv_rank=(1, LARGEST),
            nope_dim=(0, LARGEST),
            rope_dim=(0, LARGEST),
            value_dim=(1, LARGEST),
            query_rank=(0, LARGEST),
            vectors=(0, 10**12),
        )
        if self.gate not in ("", "full", "head"):
            raise ValueError(f"gate {self.gate!r:.40} must be full, head or empty")


@dataclass(frozen=True)
class CompressedAttention:
    """A window of raw tokens beside a cache that keeps one record per `ratio` tokens (the DeepSeek V4 kind).

    `ratio` 0 is the window alone. Keys and values are one tensor of `head_dim`. `compressor` counts the compressor's parameters, `state` its
    running values per sequence. Queries and outputs are low rank: `query_rank`, and `output_rank` in
    `output_groups` groups.
    """

    query_heads: int
    head_dim: int
    ratio: int
    window: int
    query_rank: int
    output_rank: int
    output_groups: int
    reads: int = 0
    indexer: Indexer | None = None
    compressor: int = 0
    index_compressor: int = 0
    state: int = 0
    vectors: int = 0
    kind: ClassVar[str] = "compressed"

    def __post_init__(self) -> None:
        _check(
            self,
            query_heads=(1, LARGEST),
            head_dim=(1, LARGEST),
            ratio=(0, LARGEST),
            window=(0, 10**12),
            query_rank=(0, LARGEST),
            output_rank=(0, LARGEST),
            output_groups=(1, self.query_heads),
            reads=(0, 10**12),
            compressor=(0, 10**12),
            index_compressor=(0, 10**12),
            state=(0, 10**12),
            vectors=(0, 10**12),
        )


@dataclass(frozen=True)
class LinearAttention:
    """Recurrent or linear attention: a record of fixed size per sequence, whatever the context.

    `flavour` is `mamba`, `mamba2`, `gated_delta`, `kda` or `lightning`. The recurrent state holds
    `heads x key_dim x value_dim` values, the convolution `conv_channels x conv_kernel` (engines keep one step less).
    `key_heads` matter for how engines split the convolution (groups, in Mamba 2). The input and output matrices follow
    from these (`full_gate`: KDA's output gate is one matrix, not low rank); `projections` counts the parameters of further ones and `vectors` the rest, the convolution included.
    """

    flavour: str
    heads: int
    key_dim: int
    value_dim: int
    conv_channels: int = 0
    conv_kernel: int = 0
    key_heads: int = 0
    full_gate: bool = False
    projections: int = 0
    vectors: int = 0
    kind: ClassVar[str] = "linear"

    FLAVOURS: ClassVar[tuple[str, ...]] = ("mamba", "mamba2", "gated_delta", "kda", "lightning", "short_conv")

    def __post_init__(self) -> None:
        if self.flavour not in self.FLAVOURS:
            raise ValueError(f"flavour {self.flavour!r:.40} must be one of {', '.join(self.FLAVOURS)}")
        _check(
            self,
            heads=(0, LARGEST),
            key_dim=(0, LARGEST),
            value_dim=(0, LARGEST),
            conv_channels=(0, LARGEST),
            conv_kernel=(0, 10**4),
            key_heads=(0, LARGEST),
            projections=(0, 10**15),
            vectors=(0, 10**12),
        )

    @property
    def recurrent_elements(self) -> int:
        """Values of the recurrent state per sequence and layer."""
        return self.heads * self.key_dim * self.value_dim

    @property
    def conv_elements(self) -> int:
        """Values of the convolution state per sequence and layer."""
        return self.conv_channels * self.conv_kernel


Attention = HeadAttention | LatentAttention | CompressedAttention | LinearAttention | None


@dataclass(frozen=True)
class Dense:
    """A feed-forward block of 2 (up, down) or 3 (gate, up, down) matrices `width` wide. `vectors` counts biases."""

    width: int
    matrices: int = 3
    vectors: int = 0
    kind: ClassVar[str] = "dense"

    def __post_init__(self) -> None:
        _check(self, width=(1, LARGEST), matrices=(2, 3), vectors=(0, 10**12))


@dataclass(frozen=True)
class MixtureOfExperts:
    """Routed experts, each of `matrices` matrices `width` wide, `top_k` of `experts` read per token.

    `latent` is the width tokens are squeezed to before the experts (0: the hidden size), by two projections per
    layer. `shared_width` is the width of all always-on experts together. `zero_experts` are identities without
    weights that also take part in the choice. `expert_vectors` counts one expert's biases, `router_vectors` the
    router's, and `router_buffers` the values that balance its choices: in the file, but no parameters. `shared_gate`: one row that scales the shared expert.
    """

    experts: int
    top_k: int
    width: int
    matrices: int = 3
    latent: int = 0
    shared_width: int = 0
    shared_gate: bool = False
    zero_experts: int = 0
    expert_vectors: int = 0
    router_vectors: int = 0
    router_buffers: int = 0
    vectors: int = 0
    kind: ClassVar[str] = "moe"

    def __post_init__(self) -> None:
        _check(
            self,
            experts=(1, 10**6),
            top_k=(1, LARGEST),
            width=(1, LARGEST),
            matrices=(2, 3),
            latent=(0, LARGEST),
            shared_width=(0, LARGEST),
            zero_experts=(0, 10**6),
            expert_vectors=(0, 10**12),
            router_vectors=(0, 10**12),
            router_buffers=(0, 10**12),
            vectors=(0, 10**12),
        )
        if self.top_k > self.experts + self.zero_experts:
            raise ValueError(f"top_k {self.top_k} of {self.experts + self.zero_experts} experts is impossible")


FeedForward = Dense | MixtureOfExperts | None


@dataclass(frozen=True)
class LayerGroup:
    """`count` layers that share one attention and one feed-forward.

    `positions` are their places in the model, counted from 0, or empty where the order is not known. `beside` is a
    dense block run beside the feed-forward in the same layer. `norms` and `other` count parameters per layer;
    `other_part` names the part `other` belongs to.
    """

    count: int
    attention: Attention
    feed_forward: FeedForward
    norms: int = 0
    other: int = 0
    positions: tuple[int, ...] = ()
    beside: Dense | None = None

    def __post_init__(self) -> None:
        _check(self, count=(1, MOST_LAYERS), norms=(0, 10**12), other=(0, 10**12))
        if self.positions and len(self.positions) != self.count:
            raise ValueError(f"{len(self.positions)} positions do not place {self.count} layers")


@dataclass(frozen=True)
class Model:
    """A decoder: widths, vocabulary and groups of layers.

    `embedding_rows` and `head_rows` differ from `vocabulary` where files pad one of them. `looked_up` counts
    per-layer embedding tables, of which a token reads one row; `final` the norms and other weights outside layers;
    `towers` (name, parameters) what encodes images or audio; `prediction` the layers that guess further tokens and
    `prediction_extra` their own weights beside layers (projection, norms, copies of embedding and head).
    """

    hidden: int
    vocabulary: int
    groups: tuple[LayerGroup, ...]
    tied: bool = False
    embedding_rows: int = 0
    head_rows: int = 0
    final: int = 0
    other: int = 0
    looked_up: int = 0
    head_vectors: int = 0
    towers: tuple[tuple[str, int], ...] = ()
    prediction: tuple[LayerGroup, ...] = ()
    prediction_extra: int = 0
    prediction_copies: int = 0
    max_context: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        _check(
            self,
            hidden=(1, LARGEST),
            vocabulary=(1, LARGEST),
            embedding_rows=(0, LARGEST),
            head_rows=(0, LARGEST),
            final=(0, 10**12),
            other=(0, 10**15),
            looked_up=(0, 10**15),
            head_vectors=(0, 10**12),
            prediction_extra=(0, 10**15),
            prediction_copies=(0, 10**15),
            max_context=(0, 10**12),
        )
        if not self.groups:
            raise ValueError("a model needs at least one layer")
        if self.layers > MOST_LAYERS:
            raise ValueError(f"layers {self.layers:,} must be at most {MOST_LAYERS:,}")
        placed = [position for group in self.groups for position in group.positions]
        if placed and sorted(placed) != list(range(self.layers)):
            raise ValueError(f"positions must place each of the {self.layers} layers once")

    @cached_property
    def _hash(self) -> int:
        # Counts are kept per model, and a hash of every layer at every look-up cost a tenth of an edit.
        return hash(tuple(getattr(self, one.name) for one in fields(self) if one.compare))

    def __hash__(self) -> int:
        return self._hash

    @property
    def layers(self) -> int:
        """Number of layers, prediction layers apart."""
        return sum(group.count for group in self.groups)

    def mixtures(self) -> tuple[tuple[int, MixtureOfExperts], ...]:
        """(layers, experts) of each group that routes."""
        return tuple(
            (group.count, group.feed_forward)
            for group in self.groups
            if isinstance(group.feed_forward, MixtureOfExperts)
        )


def keeps_whole_context(attention: Attention) -> bool:
    """True where the cache grows with every token of text."""
    if isinstance(attention, HeadAttention):
        return not attention.window and attention.owns_cache and not attention.cross
    return isinstance(attention, LatentAttention) or (isinstance(attention, CompressedAttention) and attention.ratio > 0)


def is_windowed(attention: Attention) -> bool:
    """True where the layer caches a bounded run of recent tokens and nothing else."""
    if isinstance(attention, CompressedAttention):
        return attention.ratio == 0
    return isinstance(attention, HeadAttention) and bool(attention.window) and attention.owns_cache
