"""The layers that guess further tokens (MTP), kept apart from the model."""

from __future__ import annotations

from dataclasses import replace

from envelope.config.families import Family
from envelope.config.keys import Keys
from envelope.model import CompressedAttention, LayerGroup

DEPTH = ("num_nextn_predict_layers", "num_mtp_layers", "mtp_num_hidden_layers", "mtp_num_layers")
MODULES = ("num_mtp_modules", "mtp_transformer_layers", "use_mtp", "mtp_layers_block_type", "mtp_hybrid_override_pattern")


def prediction(
    keys: Keys, family: Family, last: LayerGroup, hidden: int, vocabulary: int
) -> tuple[tuple[LayerGroup, ...], int, int]:
    """Return prediction layers, their own weights beside layers, and their copies of embedding and head.

    Each is a layer like the model's last, fed by a projection of two hidden vectors with a norm for each and one
    norm at the end (DeepSeek V3 technical report, section 2.2); some files repeat embedding and head for each.
    """
    depth = keys.optional(*DEPTH, high=100)
    modules = keys.has("num_mtp_modules") and keys.optional("num_mtp_modules", high=100)
    keys.pass_over(*MODULES, "mtp_use_dedicated_embeddings")
    if not depth and not modules:
        if family.prediction and not keys.has(*DEPTH):
            keys.log.assume(keys.name(DEPTH[0]), 0, "absent: no prediction layers (MTP)")
        return (), 0, 0
    if not depth or not family.prediction:
        keys.log.note(f"The file declares {depth or modules} prediction layers (MTP) whose weights are not described: left out.")
        return (), 0, 0
    attention = last.attention
    if isinstance(attention, CompressedAttention):
        attention = replace(
            attention, ratio=0, reads=0, indexer=None, compressor=0, index_compressor=0, state=0
        )
    group = replace(last, count=depth, attention=attention, positions=())
    copies = family.prediction == "copies" or (
        keys.has("mtp_use_dedicated_embeddings") and keys.flag("mtp_use_dedicated_embeddings")
    )
    return (group,), depth * (2 * hidden * hidden + 3 * hidden), depth * 2 * vocabulary * hidden if copies else 0
