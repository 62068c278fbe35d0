"""What one rank stores for each kind of layer: bytes per token, per window, per state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from envelope.model import (
    Attention,
    CompressedAttention,
    HeadAttention,
    LatentAttention,
    LayerGroup,
    LinearAttention,
    Model,
    keeps_whole_context,
)

# Engines keep convolution states in the model's own 16-bit format.
_CONV_BYTES = 2


class NotLaidOut(ValueError):
    """The engine does not start with this model and these options; the message says why."""


@dataclass(frozen=True)
class CacheFormat:
    """How a rank stores cached values: the format, whether FP8 carries a scale per token and head, the state's width.

    `per_head_scales` adds one FP32 for keys and one for values: 8 bytes per token and head (vLLM's
    `fp8_per_token_head`); plain `fp8` scales per tensor and adds nothing. Source: vLLM `v1/kv_cache_interface.py`.
    """

    key: str = "bf16"
    per_head_scales: bool = False
    state_bytes: int = 4

    @property
    def value_bytes(self) -> Fraction:
        """Bytes of one plain value, its share of a block's scale included."""
        return {
            "bf16": Fraction(2), "fp8": Fraction(1), "fp32": Fraction(4),
            "nvfp4": Fraction(9, 16), "mxfp8": Fraction(33, 32),
        }[self.key]  # fmt: skip


@dataclass(frozen=True)
class Stored:
    """What each of a run of like layers keeps on one rank.

    `kind` is full, sliding, chunked, latent, indexer, state or compressed; `places` are the layers' positions.
    `token_bytes` per token and layer, `state_bytes` per session and layer, `window` the sliding window or the chunk.
    `draft` marks layers that only speculation uses; `compressed` is the
    model's own attention where a policy needs more of it.
    """

    kind: str
    places: tuple[int, ...] = ()
    token_bytes: int = 0
    window: int = 0
    state_bytes: int = 0
    draft: bool = False
    compressed: CompressedAttention | None = None

    @property
    def count(self) -> int:
        """Number of layers."""
        return len(self.places)

    @property
    def grows(self) -> bool:
        """True where every token of context stays."""
        return self.kind in ("full", "latent", "indexer", "compressed")


def heads_on_rank(kv_heads: int, tp: int) -> int:
    """KV heads one tensor-parallel rank holds: split, never below one (vLLM `config/model.py`, SGLang alike)."""
    return max(1, kv_heads // tp)


def head_bytes(a: HeadAttention, tp: int, cache: CacheFormat) -> int:
    """Bytes per token and layer of keys and values on one rank."""
    heads = heads_on_rank(a.kv_heads, tp)
    scales = 8 if cache.per_head_scales and cache.key == "fp8" else 0
    return _whole(heads * ((a.key_dim + a.value_dim) * cache.value_bytes + scales))


def latent_bytes(a: LatentAttention, cache: CacheFormat) -> int:
    """Bytes per token and layer of one latent record, whole on every tensor-parallel rank.

    Beside a sparse indexer, FP8 is packed as `fp8_ds_mla`: the rank in FP8, one FP32 scale per 128 of it, the rope
    part in BF16; 512 + 16 + 128 = 656. NVFP4 likewise: 256 + 32 + 64 = 352.
    """
    if a.indexer is not None and cache.key == "fp8":
        return a.kv_rank + -(-a.kv_rank // 128) * 4 + 2 * a.rope_dim
    if a.indexer is not None and cache.key == "nvfp4":
        return a.kv_rank // 2 + -(-a.kv_rank // 16) + a.rope_dim
    return _whole((a.kv_rank + a.rope_dim) * cache.value_bytes)


def indexer_bytes(head_dim: int) -> int:
    """Bytes per token of one indexer key: FP8 and one FP32 scale per 128 values: 128 + 4 = 132, whatever the cache."""
    return head_dim + -(-head_dim // 128) * 4


def state_bytes(a: LinearAttention, tp: int, cache: CacheFormat, draft_tokens: int) -> int:
    """Bytes one session's state takes per layer and rank: convolution and recurrent state.

    The convolution keeps kernel - 1 steps, and one more per draft token. Source: vLLM
    `model_executor/layers/mamba/mamba_utils.py`; SGLang `configs/mamba_utils.py` alike.
    """
    steps = a.conv_kernel - 1 + draft_tokens if a.conv_kernel else 0
    channels = -(-_conv_channels(a, tp) // tp)
    recurrent = -(-a.heads // tp) * a.key_dim * a.value_dim
    return steps * channels * _CONV_BYTES + recurrent * cache.state_bytes


def _conv_channels(a: LinearAttention, tp: int) -> int:
    """Convolution channels over all ranks; Mamba-2 groups that `tp` does not divide are copied to `tp` of them."""
    if a.flavour != "mamba2" or not a.key_heads or a.key_heads % tp == 0:
        return a.conv_channels
    inner = a.heads * a.value_dim
    per_group = (a.conv_channels - inner) // a.key_heads
    return inner + per_group * max(tp, a.key_heads)


def _whole(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def stored_by(model: Model, tp: int, cache: CacheFormat, draft: tuple[LayerGroup, ...] = (), draft_tokens: int = 0) -> tuple[Stored, ...]:
    """Describe what one of `tp` ranks stores: the model's layers, then the draft's, like layers merged in their order."""
    found: dict[Stored, list[int]] = {}
    start = 0
    for group in model.groups:
        places = group.positions or range(start, start + group.count)
        start += group.count
        for one in _layer(group.attention, tp, cache, draft_tokens):
            found.setdefault(one, []).extend(places)
    for group in draft:
        for one in _layer(group.attention, tp, cache, 0):
            found.setdefault(replace(one, draft=True), []).extend(range(start, start + group.count))
        start += group.count
    return tuple(replace(one, places=tuple(sorted(places))) for one, places in found.items())


def _layer(a: Attention, tp: int, cache: CacheFormat, draft_tokens: int) -> tuple[Stored, ...]:
    """What one layer stores; a layer that reads another's cache stores nothing."""
    if isinstance(a, HeadAttention):
        if not a.owns_cache or a.cross:
            return ()
        kind = "chunked" if a.chunked else "sliding" if a.window else "full"
        return (Stored(kind, token_bytes=head_bytes(a, tp, cache), window=a.window),)
    if isinstance(a, LatentAttention):
        latent = Stored("latent", token_bytes=latent_bytes(a, cache))
        if a.indexer is None or not a.indexer.owns:
            return (latent,)
        return latent, Stored("indexer", token_bytes=indexer_bytes(a.indexer.head_dim))
    if isinstance(a, CompressedAttention):
        return (Stored("compressed", window=a.window, compressed=a),)
    if isinstance(a, LinearAttention):
        return (Stored("state", state_bytes=state_bytes(a, tp, cache, draft_tokens)),)
    return ()


def draft_layers(model: Model, count: int) -> tuple[LayerGroup, ...]:
    """The first `count` prediction (MTP) layers of a model, the last one repeated where more are asked for.

    A model without any is speculated with by layers like its own last one, as EAGLE drafts are (SGLang sizes them so).
    """
    if not count:
        return ()
    own = model.prediction or (_last(model),)
    found: list[LayerGroup] = []
    left = count
    for group in own:
        take = min(left, group.count)
        if take:
            found.append(replace(group, count=take, positions=()))
        left -= take
    if left:
        found[-1] = replace(found[-1], count=found[-1].count + left)
    return tuple(found)


def _last(model: Model) -> LayerGroup:
    """The last kind of layer that keeps the whole context, one layer of it."""
    kept = [group for group in model.groups if keeps_whole_context(group.attention)]
    if not kept:
        raise NotLaidOut("no layer keeps the whole context, so no draft layer can be like one")
    last = max(kept, key=lambda group: max(group.positions, default=0))
    return replace(last, count=1, positions=())
