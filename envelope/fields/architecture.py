"""Inputs that say which model: a preset, its shapes, or the canonical text of another one."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from envelope import catalog, shape
from envelope.fields.base import CHOICE, COUNT, NUMBER, TEXT, TOKENS, UNSET, Default, Field, Known, constant
from envelope.model import LARGEST, MOST_LAYERS, Model

GROUP = "Model"
CUSTOM = "custom"


def _models(known: Known) -> tuple[tuple[str, str], ...]:
    return (*((slug, catalog.model(slug).name) for slug in catalog.slugs()), (CUSTOM, "From a config"))


def _has_model(known: Known) -> bool:
    return known.model is not None


@lru_cache(maxsize=256)
def _read(model: Model | None, key: str) -> Default:
    return Default(shape.read(model, key) if model else None, source="the model's layers")


def _view(key: str) -> Callable[[Known], Default]:
    return lambda known: _read(known.model, key)


def _applies(key: str) -> Callable[[Known], bool]:
    return lambda known: known.model is not None and shape.read(known.model, key) is not None


def _shape(key: str, label: str, help: str, kind=COUNT, bounds: tuple[int, int] = (1, LARGEST)) -> Field:
    return Field(key, label, kind, GROUP, help, _view(key), bounds=bounds, applies=_applies(key))


FIELDS = (
    Field("model", "Model", CHOICE, GROUP, "A model of the catalogue, or `custom` with `groups`.", constant("muse-spark-open"), choices=_models),
    Field("groups", "Layers as text", TEXT, GROUP, "The whole architecture in its canonical text; replaces the model's layers.", UNSET),
    Field("name", "Name", TEXT, GROUP, "What to call a model that is not in the catalogue.", UNSET, applies=lambda known: known.preset is None),
    _shape("layers", "Layers", "Decoder layers; those added or taken away are of the kind that slides, if there is one.", bounds=(1, MOST_LAYERS)),
    _shape("global_layers", "Global layers", "Layers that keep keys and values for the whole context.", bounds=(0, MOST_LAYERS)),
    _shape("window", "Window", "Tokens a sliding layer keeps.", TOKENS),
    _shape("q_heads", "Query heads", "Query heads of each layer."),
    _shape("kv_heads", "KV heads", "Key-value heads of each layer (GQA)."),
    _shape("head_dim", "Head dimension", "Width of one head's keys and values."),
    _shape("hidden", "Hidden size", "Width of the residual stream."),
    _shape("experts", "Experts", "Routed experts per layer."),
    _shape("top_k", "Top k", "Routed experts one token reads per layer."),
    _shape("expert_width", "Expert width", "Intermediate size of one routed expert."),
    _shape("latent_width", "Latent width", "Width tokens are squeezed to before the experts; 0 for none.", bounds=(0, LARGEST)),
    _shape("vocabulary", "Vocabulary", "Rows of the embedding and of the head."),
    Field(
        "active_parameters", "Active parameters", NUMBER, GROUP,
        "Parameters a token multiplies in its layers, when you know better than the shapes.",
        UNSET, bounds=(1, 10**15), applies=_has_model, follows="active_parameters",
    ),
)  # fmt: skip
