"""Shape fields as views of a model's layers: read one where all layers agree, change it everywhere at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from envelope.model import HeadAttention, LayerGroup, MixtureOfExperts, Model, is_windowed, keeps_whole_context


def read(model: Model, key: str) -> int | None:
    """Return a shape's value, or None where the model has none or its layers differ."""
    return _READ[key](model)


def change(model: Model, edits: dict[str, int]) -> Model:
    """Return the model with shapes changed, all at once, so that no order of typing matters.

    Raises ShapeError naming the field where a change is ambiguous or impossible.
    """
    for key in edits:
        if read(model, key) is None:
            raise ShapeError(key, "does not describe this model's layers; edit groups instead")
    model = _recount(model, edits)
    heads = _renamed(edits, {"q_heads": ("query_heads",), "kv_heads": ("kv_heads",), "head_dim": ("key_dim", "value_dim")})
    mixture = _renamed(edits, {"experts": ("experts",), "top_k": ("top_k",), "expert_width": ("width",), "latent_width": ("latent",)})
    key = next((key for key in ("kv_heads", "q_heads", "top_k", "experts") if key in edits), next(iter(edits)))
    try:
        groups = tuple(_reshape(group, heads, edits.get("window"), mixture) for group in model.groups)
        whole = _renamed(edits, {"hidden": ("hidden",), "vocabulary": ("vocabulary",)})
        padding = {"embedding_rows": 0, "head_rows": 0} if "vocabulary" in edits else {}
        return replace(model, groups=groups, **whole, **padding)
    except ValueError as error:
        raise ShapeError(key, f"is impossible: {error}") from None


class ShapeError(ValueError):
    """A shape that cannot be: the field to blame and why."""

    def __init__(self, key: str, message: str) -> None:
        self.key = key
        super().__init__(message)


def _renamed(edits: dict[str, int], names: dict[str, tuple[str, ...]]) -> dict[str, int]:
    return {name: edits[key] for key, targets in names.items() if key in edits for name in targets}


def _reshape(group: LayerGroup, heads: dict[str, int], window: int | None, mixture: dict[str, int]) -> LayerGroup:
    attention, feed_forward = group.attention, group.feed_forward
    if isinstance(attention, HeadAttention):
        slides = {"window": window} if window is not None and attention.window else {}
        attention = replace(attention, **heads, **slides)
    if isinstance(feed_forward, MixtureOfExperts):
        feed_forward = replace(feed_forward, **mixture)
    return replace(group, attention=attention, feed_forward=feed_forward)


def _recount(model: Model, edits: dict[str, int]) -> Model:
    """Give groups new counts. The order of the layers is then not known and taken group by group."""
    if not {"layers", "global_layers"} & edits.keys():
        return model
    layers = edits.get("layers", model.layers)
    if len(model.groups) == 1:
        counts = [layers]
    else:
        kept = edits.get("global_layers", _global_layers(model))
        if kept is None:
            raise ShapeError("layers", "is ambiguous for this model's several kinds of layer; edit groups instead")
        if kept > layers:
            key = "global_layers" if "global_layers" in edits else "layers"
            raise ShapeError(key, f"cannot be: {kept} global layers of {layers} layers")
        counts = [kept if keeps_whole_context(group.attention) else layers - kept for group in model.groups]
    groups, start = [], 0
    for group, count in zip(model.groups, counts, strict=True):
        if count:
            groups.append(replace(group, count=count, positions=tuple(range(start, start + count))))
            start += count
    return replace(model, groups=tuple(groups))


def _one(values: set[int]) -> int | None:
    return values.pop() if len(values) == 1 else None


def _heads(model: Model) -> list[HeadAttention]:
    return [group.attention for group in model.groups if isinstance(group.attention, HeadAttention)]


def _mixtures(model: Model) -> list[MixtureOfExperts]:
    return [mixture for _, mixture in model.mixtures()]


def _of_heads(name: str) -> Callable[[Model], int | None]:
    def view(model: Model) -> int | None:
        if any(group.attention and not isinstance(group.attention, HeadAttention) for group in model.groups):
            return None
        return _one({getattr(attention, name) for attention in _heads(model)})

    return view


def _of_mixtures(name: str) -> Callable[[Model], int | None]:
    return lambda model: _one({getattr(mixture, name) for mixture in _mixtures(model)})


def _window(model: Model) -> int | None:
    return _one({attention.window for attention in _heads(model) if attention.window})


def _head_dim(model: Model) -> int | None:
    found = _one({(attention.key_dim, attention.value_dim) for attention in _heads(model)})
    return found[0] if found and found[0] == found[1] and _of_heads("key_dim")(model) else None


def _latent_width(model: Model) -> int | None:
    return _of_mixtures("latent")(model) or None


def _global_layers(model: Model) -> int | None:
    """Layers whose cache grows, in a model of two kinds: whole-context heads and one window."""
    kinds = {(keeps_whole_context(group.attention), is_windowed(group.attention)) for group in model.groups}
    if kinds != {(True, False), (False, True)} or len(model.groups) != 2:
        return None
    return next(group.count for group in model.groups if keeps_whole_context(group.attention))


_READ: dict[str, Callable[[Model], int | None]] = {
    "layers": lambda model: model.layers,
    "global_layers": _global_layers,
    "window": _window,
    "q_heads": _of_heads("query_heads"),
    "kv_heads": _of_heads("kv_heads"),
    "head_dim": _head_dim,
    "hidden": lambda model: model.hidden,
    "experts": _of_mixtures("experts"),
    "top_k": _of_mixtures("top_k"),
    "expert_width": _of_mixtures("width"),
    "latent_width": _latent_width,
    "vocabulary": lambda model: model.vocabulary,
}

KEYS = tuple(_READ)
