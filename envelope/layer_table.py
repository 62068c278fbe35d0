"""A model's layers as a table that can be edited cell by cell, under the names that configs give the sizes.

Sizes that follow from others follow an edit: values as wide as keys stay as wide, and a recurrence's convolution keeps
carrying its keys and values. Biases and norms, which no cell shows, stay as they were read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from envelope import units
from envelope.cache import LayerCache, layer_caches
from envelope.formats import FORMATS
from envelope.model import CompressedAttention, Dense, HeadAttention, LatentAttention, LayerGroup, LinearAttention, MixtureOfExperts, Model

_KEY = re.compile(r"layers-([0-9]{1,5})-([a-z_]+)-([a-z_]+)")
_TOKENS = ("sliding_window", "attention_chunk_size")


@dataclass(frozen=True)
class Cell:
    """One size: its key on the page, its name in a config, its value. An optional one may be empty, which is 0."""

    key: str
    name: str
    value: int
    optional: bool = False

    @property
    def text(self) -> str:
        """The value as a person types it."""
        return "" if self.optional and not self.value else str(self.value)


@dataclass(frozen=True)
class Row:
    """A group of layers: its cells, and the bytes all its layers keep per token, per session and as fixed state."""

    kind: str
    feed_forward: str
    count: Cell
    attention: tuple[Cell, ...]
    widths: tuple[Cell, ...]
    per_token: Fraction
    per_session: Fraction
    state: Fraction


class CellError(ValueError):
    """A cell that cannot be: its key and what is wrong."""

    def __init__(self, key: str, message: str) -> None:
        self.key = key
        super().__init__(message)


# Name in a config -> the attributes it sets, all to the same value. Names that end in `?` may be empty.
_Names = dict[str, tuple[str, ...]]
_INDEXER: _Names = {"index_n_heads": ("heads",), "index_head_dim": ("head_dim",), "index_topk": ("reads",)}
_LATENT: _Names = {
    "num_attention_heads": ("query_heads",), "q_lora_rank?": ("query_rank",), "kv_lora_rank": ("kv_rank",),
    "qk_rope_head_dim": ("rope_dim",), "qk_nope_head_dim": ("nope_dim",), "v_head_dim": ("value_dim",),
}  # fmt: skip
_COMPRESSED: _Names = {
    "num_attention_heads": ("query_heads",), "head_dim": ("head_dim",), "compress_ratio?": ("ratio",),
    "sliding_window": ("window",), "q_lora_rank?": ("query_rank",), "o_lora_rank": ("output_rank",), "o_groups": ("output_groups",),
}  # fmt: skip
_LINEAR: dict[str, _Names] = {
    "gated_delta": {
        "linear_num_value_heads": ("heads",), "linear_value_head_dim": ("value_dim",), "linear_num_key_heads": ("key_heads",),
        "linear_key_head_dim": ("key_dim",), "linear_conv_kernel_dim": ("conv_kernel",),
    },
    "kda": {"num_heads": ("heads", "key_heads"), "head_dim": ("key_dim", "value_dim"), "short_conv_kernel_size": ("conv_kernel",)},
    "mamba2": {
        "mamba_num_heads": ("heads",), "mamba_head_dim": ("value_dim",), "ssm_state_size": ("key_dim",), "n_groups": ("key_heads",),
        "conv_kernel": ("conv_kernel",),
    },
    "mamba": {"mamba_d_state": ("key_dim",), "mamba_d_conv": ("conv_kernel",)},
    "lightning": {"num_attention_heads": ("heads",), "head_dim": ("key_dim", "value_dim")},
    "short_conv": {"conv_L_cache": ("conv_kernel",)},
}  # fmt: skip
_KINDS = {
    "none": "no attention", "latent": "latent (MLA)", "latent with indexer": "latent (MLA) with indexer",
    "shared": "reads another layer's cache", "cross": "cross-attention", "gated_delta": "gated delta",
    "kda": "Kimi delta", "mamba2": "Mamba 2", "mamba": "Mamba", "lightning": "lightning", "short_conv": "short convolution",
}  # fmt: skip
_DENSE: _Names = {"intermediate_size": ("width",)}
_CONVOLVED = ("gated_delta", "kda", "mamba2")  # the convolution runs over keys, queries and values


def _names(part: object) -> _Names:
    """The sizes of a part of a layer that have a cell."""
    if isinstance(part, HeadAttention):
        return _of_heads(part)
    if isinstance(part, LatentAttention):
        return _LATENT
    if isinstance(part, CompressedAttention):
        return _COMPRESSED
    if isinstance(part, LinearAttention):
        return _LINEAR[part.flavour]
    if isinstance(part, MixtureOfExperts):
        return _of_mixture(part)
    return _DENSE if isinstance(part, Dense) else {}


def _of_heads(a: HeadAttention) -> _Names:
    names: _Names = {
        "num_attention_heads": ("query_heads",), "num_key_value_heads": ("kv_heads",),
        "head_dim": ("key_dim", "value_dim") if a.key_dim == a.value_dim else ("key_dim",), "v_head_dim?": ("value_dim",),
    }  # fmt: skip
    if a.owns_cache and not a.cross and a.indexer is None:
        names["attention_chunk_size?" if a.chunked else "sliding_window?"] = ("window",)
    return names


def _of_mixture(moe: MixtureOfExperts) -> _Names:
    names: _Names = {
        "num_experts": ("experts",), "num_experts_per_tok": ("top_k",), "moe_intermediate_size": ("width",),
        "shared_expert_intermediate_size?": ("shared_width",),
    }  # fmt: skip
    names |= {"moe_latent_size?": ("latent",)} if moe.latent else {}
    return names | ({"zero_expert_num?": ("zero_experts",)} if moe.zero_experts else {})


def _parts(group: LayerGroup) -> Iterator[tuple[str, object]]:
    """(name, part) of each part of a layer that has cells."""
    yield "attention", group.attention
    indexer = getattr(group.attention, "indexer", None)
    if indexer is not None and indexer.owns:
        yield "indexer", indexer
    yield "feed_forward", group.feed_forward
    yield "beside", group.beside


def _sizes(part: str, record: object) -> _Names:
    return _INDEXER if part == "indexer" else _names(record)


def is_cell(key: str) -> bool:
    """True for the key of a cell, whether or not a model has it."""
    return _KEY.fullmatch(key) is not None


def rows(model: Model, context: int, cache_format: str) -> tuple[Row, ...]:
    """One row per group of layers; bytes of caches in `cache_format`, of one session of `context` tokens."""
    return tuple(
        Row(*cells, per_token, kept.values(context) * each, state) for cells, per_token, state, kept, each in _for_any_context(model, cache_format)
    )


_Cells = tuple[str, str, Cell, tuple[Cell, ...], tuple[Cell, ...]]


@lru_cache(maxsize=8)
def _for_any_context(model: Model, cache_format: str) -> tuple[tuple[_Cells, Fraction, Fraction, LayerCache, Fraction], ...]:
    """Per group what stands left of the bytes, bytes per token and of fixed state, what each layer keeps, and bytes of such a value in all."""
    found = []
    for index, (group, kept) in enumerate(zip(model.groups, layer_caches(model), strict=True)):
        each = FORMATS[cache_format].bytes_per_value * kept.count
        found.append((_row(index, group, kept), kept.growing * each, kept.state * each, kept, each))
    return tuple(found)


def _row(index: int, group: LayerGroup, kept: LayerCache) -> _Cells:
    cells = {part: _cells(index, part, record) for part, record in _parts(group)}
    return (
        _kind(group, kept),
        _feed_forward(group),
        Cell(f"layers-{index}-group-count", "layers", group.count),
        (*cells["attention"], *cells.get("indexer", ())),
        (*cells["feed_forward"], *cells["beside"]),
    )


def totals(table: tuple[Row, ...]) -> tuple[Fraction, Fraction, Fraction]:
    """Bytes of all rows together: per token, per session, fixed state."""
    return sum((row.per_token for row in table), Fraction(0)), sum((row.per_session for row in table), Fraction(0)), sum((row.state for row in table), Fraction(0))


def _cells(index: int, part: str, record: object) -> tuple[Cell, ...]:
    return tuple(
        Cell(f"layers-{index}-{part}-{attributes[0]}", name.rstrip("?"), getattr(record, attributes[0]), name.endswith("?"))
        for name, attributes in _sizes(part, record).items()
    )


def _kind(group: LayerGroup, kept: LayerCache) -> str:
    a = group.attention
    if isinstance(a, LinearAttention):
        return _KINDS[a.flavour]
    return _KINDS.get(kept.kind, kept.kind)


def _feed_forward(group: LayerGroup) -> str:
    f = group.feed_forward
    word = "experts" if isinstance(f, MixtureOfExperts) else "dense" if f else "none"
    return f"{word}, dense beside" if group.beside else word


def change(model: Model, typed: Mapping[str, str]) -> Model:
    """Return the model with cells changed, all at once, so that no order of typing matters.

    Cells that the model does not have are passed over. Raises CellError naming the cell to blame.
    """
    groups = tuple(_changed(index, group, typed) for index, group in enumerate(model.groups))
    if any(new.count != old.count for new, old in zip(groups, model.groups, strict=True)):
        groups = _in_order(groups)
    try:
        return replace(model, groups=groups)
    except ValueError as error:
        raise CellError(next(iter(typed)), str(error)) from None


def _changed(index: int, group: LayerGroup, typed: Mapping[str, str]) -> LayerGroup:
    changed = group
    for part, record in _parts(group):
        edits, blame = _read(index, part, record, typed)
        if not edits:
            continue
        new = _rebuilt(record, edits, blame)
        if part == "indexer":
            changed = replace(changed, attention=replace(changed.attention, indexer=new))
        elif part == "attention":
            changed = replace(changed, attention=new)
        else:
            changed = replace(changed, **{part: new})
    return _recounted(changed, f"layers-{index}-group-count", typed)


def _recounted(group: LayerGroup, key: str, typed: Mapping[str, str]) -> LayerGroup:
    if key not in typed:
        return group
    count = _whole(key, "layers", typed[key], optional=False)
    try:
        return group if count == group.count else replace(group, count=count, positions=())
    except ValueError as error:
        raise CellError(key, _in_words(str(error), {"count": "layers"})) from None


def _read(index: int, part: str, record: object, typed: Mapping[str, str]) -> tuple[dict[str, int], dict[str, tuple[str, str]]]:
    """({attribute: value}, {attribute: (cell's key, its name)}) of what was typed for one part."""
    edits: dict[str, int] = {}
    blame: dict[str, tuple[str, str]] = {}
    for name, attributes in _sizes(part, record).items():
        key = f"layers-{index}-{part}-{attributes[0]}"
        if key in typed:
            plain = name.rstrip("?")
            value = _whole(key, plain, typed[key], optional=name.endswith("?"))
            edits |= dict.fromkeys(attributes, value)
            blame |= dict.fromkeys(attributes, (key, plain))
    return edits, blame


def _whole(key: str, name: str, text: str, *, optional: bool) -> int:
    if optional and not text.strip():
        return 0
    try:
        return units.tokens(text) if name in _TOKENS else units.count(text)
    except ValueError as error:
        raise CellError(key, str(error)) from None


def _rebuilt(record: object, edits: dict[str, int], blame: dict[str, tuple[str, str]]) -> object:
    try:
        return _consistent(record, replace(record, **edits))
    except ValueError as error:
        message = str(error)
        names = {attribute: name for attribute, (_, name) in blame.items()}
        culprit = next((attribute for attribute in re.findall(r"[a-z_]+", message) if attribute in blame), next(iter(blame)))
        names |= {attributes[0]: name.rstrip("?") for name, attributes in _names(record).items() if attributes[0] not in names}
        raise CellError(blame[culprit][0], _in_words(message, names)) from None


def _consistent(old: object, new: object) -> object:
    """Let follow what follows: no chunks without a size; a convolution as wide as the keys, queries and values it carries."""
    if isinstance(new, HeadAttention) and new.chunked and not new.window:
        return replace(new, chunked=False)
    if not isinstance(new, LinearAttention) or old.flavour not in _CONVOLVED or old.conv_channels != _carried(old):
        return new
    channels = _carried(new)
    return replace(new, conv_channels=channels, vectors=new.vectors + channels * new.conv_kernel - old.conv_elements)


def _carried(a: LinearAttention) -> int:
    return 2 * a.key_heads * a.key_dim + a.heads * a.value_dim


def _in_words(message: str, names: Mapping[str, str]) -> str:
    return re.sub(r"[a-z_]+", lambda match: names.get(match[0], match[0]), message)


def _in_order(groups: tuple[LayerGroup, ...]) -> tuple[LayerGroup, ...]:
    """Place groups one after another: which of the layers were added or taken away is not known."""
    placed, start = [], 0
    for group in groups:
        placed.append(replace(group, positions=tuple(range(start, start + group.count))))
        start += group.count
    return tuple(placed)


def without(model: Model, index: int) -> Model:
    """The model without a group of layers; itself where that is the only one or there is none such."""
    kept = tuple(group for at, group in enumerate(model.groups) if at != index)
    return replace(model, groups=_in_order(kept)) if kept else model


def doubled(model: Model, index: int) -> Model:
    """The model with one more layer like those of a group, as a group of its own after it, to be changed."""
    if not 0 <= index < len(model.groups):
        return model
    one = replace(model.groups[index], count=1, positions=())
    groups = (*model.groups[: index + 1], one, *model.groups[index + 1 :])
    return replace(model, groups=_in_order(groups))
