"""The layers that guess further tokens (MTP), kept apart from the model."""

from __future__ import annotations

from dataclasses import replace

from envelope.config.keys import Keys
from envelope.model import LayerGroup

DEPTH = ("num_nextn_predict_layers", "num_mtp_layers", "mtp_num_hidden_layers")


def prediction(
    keys: Keys, last: LayerGroup, hidden: int, vocabulary: int
) -> tuple[tuple[LayerGroup, ...], int, int]:
    """Return prediction layers, their own weights beside layers, and their copies of embedding and head.

    Each is a layer like the model's last, fed by a projection of two hidden vectors with a norm for each and one
    norm at the end (DeepSeek V3 technical report, section 2.2). Files carry a copy of embedding and head per layer.
    """
    depth = keys.optional(*DEPTH, high=100)
    if not depth:
        return (), 0, 0
    group = replace(last, count=depth, positions=())
    return (group,), depth * (2 * hidden * hidden + 3 * hidden), depth * 2 * vocabulary * hidden
