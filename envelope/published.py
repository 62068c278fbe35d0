"""From a catalogue entry to the architecture the formulas use."""

from __future__ import annotations

from functools import cache

from envelope import catalog, config
from envelope.records import ModelPreset, Shape
from envelope.model import HeadAttention, LayerGroup, MixtureOfExperts, Model


@cache
def reading(slug: str) -> config.Reading | None:
    """What the reader makes of a preset's config file, or None where it has none."""
    preset = catalog.model(slug)
    return config.read(preset.config) if preset.config is not None else None


@cache
def architecture(slug: str) -> Model | None:
    """A preset's model: from its config file, else from its card's shapes; None where it states only a cache."""
    preset = catalog.model(slug)
    found = reading(slug)
    if found is not None:
        return found.model
    return _from_card(preset.shape, preset) if preset.shape else None


def _from_card(shape: Shape, preset: ModelPreset) -> Model:
    """Build a model of one mixture and two attentions from a card that states no norms."""
    full = HeadAttention(shape.q_heads, shape.kv_heads, shape.head_dim, shape.head_dim, gate=shape.attention_output_gate)
    sliding = HeadAttention(
        shape.q_heads, shape.kv_heads, shape.head_dim, shape.head_dim, shape.window, gate=shape.attention_output_gate
    )
    moe = MixtureOfExperts(shape.experts, shape.top_k, shape.expert_width, shape.expert_matrices, shape.latent_width)
    rest = tuple(layer for layer in range(shape.layers) if layer not in shape.global_layers)
    return Model(
        shape.hidden,
        shape.vocabulary,
        (
            LayerGroup(len(shape.global_layers), full, moe, positions=shape.global_layers),
            LayerGroup(len(rest), sliding, moe, positions=rest),
        ),
        tied=shape.tied,
        towers=(("vision", shape.vision_tower), ("audio", shape.audio_tower)),
        max_context=int(preset.max_context.value) if preset.max_context else 0,
    )
