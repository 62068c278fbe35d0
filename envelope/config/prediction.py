"""The layers that guess further tokens (MTP), kept apart from the model."""

from __future__ import annotations

from dataclasses import replace

from envelope.config.families import Family
from envelope.config.keys import Keys
from envelope.model import CompressedAttention, Dense, HeadAttention, LayerGroup, MixtureOfExperts
from envelope.units import counted

DEPTH = ("num_nextn_predict_layers", "num_mtp_layers", "mtp_num_hidden_layers", "mtp_num_layers")
MODULES = ("num_mtp_modules", "mtp_transformer_layers", "use_mtp")
BLOCKS = ("mtp_hybrid_override_pattern", "mtp_layers_block_type")  # prediction layers of one part each
# Attention and mixtures are all that the public implementation (vLLM's `nemotron_h_mtp.py`) builds there.
_BLOCK_WORDS = {"*": "attention", "attention": "attention", "E": "moe", "moe": "moe"}

# Prediction layers, their own weights beside layers, and their copies of embedding and head.
Prediction = tuple[tuple[LayerGroup, ...], int, int]
NONE: Prediction = ((), 0, 0)


def prediction(keys: Keys, family: Family, groups: tuple[LayerGroup, ...], hidden: int, vocabulary: int) -> Prediction:
    """Return prediction layers, their own weights beside layers, and their copies of embedding and head.

    Each is fed by a projection of two hidden vectors with a norm for each, and as a rule one norm at the end (DeepSeek
    V3 technical report, section 2.2). How its layer is built and what it repeats is the family's.
    """
    depth = keys.optional(*DEPTH, high=100)
    modules = keys.has("num_mtp_modules") and keys.optional("num_mtp_modules", high=100)
    keys.pass_over(*MODULES, *BLOCKS, "mtp_use_dedicated_embeddings")
    if not depth and not modules:
        if family.prediction and not keys.has(*DEPTH):
            keys.log.assume(keys.name(DEPTH[0]), 0, "absent: no prediction layers (MTP)")
        return NONE
    found = _described(keys, family, groups, depth, hidden, vocabulary) if depth else NONE
    if found[0]:
        return found
    declared = counted(depth or modules, "prediction layers")
    keys.log.note(f"The file declares {declared} (MTP) whose weights are not described: left out.")
    return NONE


def _described(keys: Keys, family: Family, groups: tuple[LayerGroup, ...], depth: int, hidden: int, vocabulary: int) -> Prediction:
    project, norm = 2 * hidden * hidden, hidden
    if family.prediction == "blocks":
        return (_blocks(keys, groups) if depth == 1 else ()), project + 3 * norm, 0
    if family.prediction == "dense":
        # ERNIE (vLLM's `ernie_mtp.py`): a dense layer and no norm at the end; embedding and head are the model's.
        return (_dense(keys, _last(groups), depth),), depth * (project + 2 * norm), 0
    if family.prediction == "typed":
        return _typed(keys, groups, depth), depth * (project + 3 * norm), depth * vocabulary * hidden
    if not family.prediction:
        return NONE
    last = _last(groups)
    attention = last.attention
    if isinstance(attention, CompressedAttention):
        attention = replace(attention, ratio=0, reads=0, indexer=None, compressor=0, index_compressor=0, state=0)
    copies = family.prediction == "copies" or (
        keys.has("mtp_use_dedicated_embeddings") and keys.flag("mtp_use_dedicated_embeddings")
    )
    group = replace(last, count=depth, attention=attention, positions=())
    return (group,), depth * (project + 3 * norm), depth * 2 * vocabulary * hidden if copies else 0


def _last(groups: tuple[LayerGroup, ...]) -> LayerGroup:
    end = sum(group.count for group in groups) - 1
    return next(group for group in groups if end in group.positions)


def _dense(keys: Keys, like: LayerGroup, count: int) -> LayerGroup:
    width = keys.whole("intermediate_size")
    return replace(like, count=count, feed_forward=Dense(width), beside=None, positions=())


def _blocks(keys: Keys, groups: tuple[LayerGroup, ...]) -> tuple[LayerGroup, ...]:
    """Layers of one part each, as a pattern names them, alike to those of the model; none where one is not described."""
    key, pattern = keys.state(*BLOCKS)
    words = [_BLOCK_WORDS.get(word) for word in pattern if isinstance(word, str)] if isinstance(pattern, str | list) else []
    if not words or len(words) > 16 or len(words) != len(pattern) or None in words or keys.has("mtp_n_routed_experts"):
        return ()
    alike = {
        "attention": next((group for group in groups if isinstance(group.attention, HeadAttention)), None),
        "moe": next((group for group in groups if group.attention is None and isinstance(group.feed_forward, MixtureOfExperts)), None),
    }
    found = [alike[word] for word in words]
    return () if None in found else tuple(replace(group, count=1, positions=()) for group in found)


def _typed(keys: Keys, groups: tuple[LayerGroup, ...], depth: int) -> tuple[LayerGroup, ...]:
    """Dense layers whose kind of attention `layer_types` goes on to name (Step, vLLM's `step3p5_mtp.py`)."""
    layers = sum(group.count for group in groups)
    stated = keys.listed("layer_types")
    kinds = stated[1][layers:] if stated else []
    slides = {bool(group.attention.window): group for group in groups if isinstance(group.attention, HeadAttention)}
    words = {"sliding_attention": slides.get(True), "full_attention": slides.get(False)}
    chosen = keys.values.get("moe_layers_enum")
    routed = {part.strip() for part in chosen.split(",")} if isinstance(chosen, str) else set()
    if len(kinds) != depth or any(str(layers + index) in routed for index in range(depth)):
        return ()
    found = [words.get(kind) if isinstance(kind, str) else None for kind in kinds]
    return () if None in found else tuple(_dense(keys, group, 1) for group in found)
