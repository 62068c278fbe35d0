"""Weights beside attention and feed-forward: per-layer embeddings, residual schemes, padded tables."""

from __future__ import annotations

from dataclasses import dataclass

from envelope.config.families import Family
from envelope.config.keys import Keys


@dataclass(frozen=True)
class Extras:
    """Parameters per layer and outside layers. `looked_up` are tables of which a token reads one row."""

    layer: int = 0
    layer_norms: int = 0
    other: int = 0
    final: int = 0
    looked_up: int = 0
    embedding_rows: int = 0


def extras(keys: Keys, family: Family, hidden: int, vocabulary: int, layers: int) -> Extras:
    """Return what a model holds beyond the usual parts, by the keys that describe it."""
    layer, norms, other, final, looked_up = family.layer_vectors * hidden, 0, 0, 0, 0
    if width := keys.optional("hidden_size_per_layer_input"):
        # Gemma 3n and 4: a table per layer, looked up, and a gate and a projection in every layer.
        rows = keys.whole("vocab_size_per_layer_input")
        looked_up = rows * layers * width
        other += layers * width * hidden
        final += width
        layer += 2 * hidden * width
        norms += hidden
    if inputs := keys.optional("altup_num_inputs"):
        # Gemma 3n: alternating updates over several residual streams (`modeling_gemma3n.py`).
        correct = hidden if keys.flag("altup_correct_scale") else 0
        layer += correct + inputs * inputs + inputs**3 + inputs * hidden
        norms += hidden
        other += 2 * (inputs - 1) * hidden * hidden
    if rank := keys.optional("laurel_rank"):
        layer += 2 * rank * hidden
        norms += hidden
    if streams := keys.optional("hc_mult", high=64):
        # DeepSeek V4: hyper-connections around attention and feed-forward, and one before the head.
        mixed = (2 + streams) * streams
        layer += 2 * (mixed * streams * hidden + mixed + 3)
        other += streams * streams * hidden + streams + 1
    if keys.optional("attn_res_block_size"):
        # Kimi-K3: mixing weights and a norm before attention and before the feed-forward, and once before the head.
        norms += 2 * hidden
        layer += 2 * hidden
        other += 2 * hidden
    # Llama 3.2 Vision keeps 8 more rows for image tokens in its input table (`modeling_mllama.py`).
    rows = vocabulary + 8 if keys.stated_or_default("cross_attention_layers") else 0
    return Extras(layer, norms, other, final, looked_up, rows)
