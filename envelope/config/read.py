"""From the text of a config file to a `Reading`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from envelope.config import attention, feed_forward, geometry, layout, legacy, linear
from envelope.config.defaults import CLASS_DEFAULTS
from envelope.config.extras import extras
from envelope.config.families import Family, find
from envelope.config.keys import Keys, Log, Refused, parse
from envelope.config.prediction import prediction
from envelope.config.quantization import quantization, total_size
from envelope.config.reading import Reading
from envelope.config.towers import towers
from envelope.config.unknown import unknown
from envelope.model import LayerGroup, LinearAttention, Model

TEXT_SECTIONS = ("text_config", "llm_config", "language_config")
OUTER_SECTIONS = ("thinker_config",)
ORIGIN = "absent: class default of the public implementation"
# What a file of its own always states: a default here would be some other model's size.
ESSENTIAL = ("hidden_size", "num_hidden_layers", "num_layers", "vocab_size", "num_attention_heads")


Source = str | bytes | Mapping


def read(config: Source, quant: Source | None = None, index: Source | None = None) -> Reading:
    """Read a `config.json`, and `hf_quant_config.json` and `model.safetensors.index.json` where given.

    Raises Refused, naming the key, for a file that cannot be sized; raises nothing else.
    """
    values = parse(config)
    log = Log()
    text, top = _text(values, log)
    _check_task(text.values, top.values, log)
    name, family, known = _family(text.values, top.values, log)
    nested = text.path != top.path
    defaults = CLASS_DEFAULTS.get(name, {})
    if not nested:
        defaults = {key: value for key, value in defaults.items() if key not in ESSENTIAL}
    keys = Keys(text.values, log, defaults, f"{ORIGIN} of {name}", text.path, known)
    if name in legacy.TRANSLATE:
        keys = keys.overlay(legacy.TRANSLATE[name](keys))
    try:
        model = _model(keys, family, top, nested)
        model = replace(model, towers=towers(top, model.hidden, nested))
    except Refused:
        raise
    except ValueError as error:
        raise Refused("config.json", str(error)[:200], "shapes that fit together") from None
    if not known:
        _check_name(keys, name, model)
    ignored = unknown(keys, top)
    declared = quantization(text.values, top.values, parse(quant, "hf_quant_config.json") if quant else None, name, log)
    return Reading(
        model,
        name or "unknown",
        name=_name(top.values),
        quantization=declared,
        assumed=tuple(log.assumed.values()),
        ignored=ignored,
        notes=tuple(log.notes),
        total_size=total_size(parse(index, "model.safetensors.index.json")) if index else 0,
        max_context=model.max_context,
    )


def _text(values: dict, log: Log) -> tuple[Keys, Keys]:
    """Return the language model's object and the outer one, which are the same when nothing is nested."""
    top = Keys(values, log)
    for name in OUTER_SECTIONS:
        section = top.section(name)
        if section is not None:
            for other, value in values.items():
                if other != name and isinstance(value, Mapping) and isinstance(other, str) and other.endswith("_config"):
                    log.assume(other[:80], "left out", "a part beside the language model: not in the total")
            top = Keys(section, log, path=f"{name}.")
    for name in TEXT_SECTIONS:
        section = top.section(name)
        if section is not None:
            return Keys(section, log, path=f"{top.path}{name}."), top
    return top, top


def _family(text: Mapping, top: Mapping, log: Log) -> tuple[str, Family, bool]:
    for owner in (text, top):
        found = find(owner.get("model_type"))
        if found:
            _compare_architecture(found, top, log)
            return (*found, True)
    stated = text.get("model_type") or top.get("model_type")
    for owner in (text, top):
        for architecture in owner.get("architectures") or () if isinstance(owner.get("architectures"), list) else ():
            found = find(_from_architecture(architecture))
            if found and not stated:
                log.assume("model_type", found[0], f"absent: from architectures, which names {architecture[:60]}")
                return (*found, True)
    if stated is not None and not isinstance(stated, str):
        raise Refused("model_type", stated, "a text")
    name = (stated or "")[:60]
    log.assume(
        "model_type",
        name or "nothing",
        "a family nobody has described here: read by its keys, with the common choices for norms and biases",
    )
    return name, Family(), False


# Classes that read or score text and do not write it.
_ENCODERS = ("ForMaskedLM", "ForPreTraining", "ForNextSentencePrediction", "ForMultipleChoice")
_OTHER_HEADS = ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering", "RewardModel")


def _check_task(text: Mapping, top: Mapping, log: Log) -> None:
    """Refuse what is no decoder, and say where a model's head is not the vocabulary's."""
    for owner in (text, top):
        if owner.get("is_encoder_decoder") is True:
            raise Refused("is_encoder_decoder", True, "a decoder: an encoder's layers and cross-attention are not sized")
        named = owner.get("architectures")
        for architecture in named if isinstance(named, list) else ():
            if isinstance(architecture, str) and architecture.endswith(_ENCODERS):
                raise Refused("architectures", architecture[:60], "a model that writes text token by token")
            if isinstance(architecture, str) and architecture.endswith(_OTHER_HEADS):
                log.assume("architectures", "a vocabulary's head", f"names {architecture[:60]}, whose head has other rows: counted as if it wrote text")


def _compare_architecture(found: tuple[str, Family], top: Mapping, log: Log) -> None:
    """Say so where architectures names a family with other facts than model_type does."""
    stated = top.get("architectures")
    named = find(_from_architecture(stated[0])) if isinstance(stated, list) and stated else None
    if named and named[1] != found[1]:
        log.assume("architectures", f"{found[0]}, as model_type says", f"names {named[0]}, whose norms or biases differ")


def _from_architecture(name: object) -> str:
    """Turn `MiniCPM3ForCausalLM` into `minicpm3`."""
    if not isinstance(name, str) or len(name) > 100:
        return ""
    stem = name.split("For")[0]
    words = re.sub(r"(?<=[^A-Z])(?=[A-Z])", "_", stem)
    return words.lower().replace("mini_cpm", "minicpm")


_RECURRENT_NAME = re.compile(r"linear|mamba|rwkv|ssm|hyena|retnet|griffin|recurr|hybrid|delta|lightning|lstm|hgrn|gla(_|$)")


def _check_name(keys: Keys, name: str, model: Model) -> None:
    """Refuse an unknown family named after a recurrence where no key tells of one: it is none of full attention."""
    if _RECURRENT_NAME.search(name.lower()) and not any(isinstance(group.attention, LinearAttention) for group in model.groups):
        raise Refused(keys.name("model_type"), name, "keys that say which layers are recurrent, and how large their state is")


def _name(top: Mapping) -> str:
    name = top.get("_name_or_path")
    return name[:200] if isinstance(name, str) else ""


def _model(keys: Keys, family: Family, top: Keys, nested: bool) -> Model:
    layers = layout.count(keys)
    hidden = keys.whole("hidden_size", "d_model")
    vocabulary = keys.whole("vocab_size")
    own = layout.own_blocks(keys, family, layers)
    kinds = ["none" if block in ("dense", "moe") else block for block in own] if own else layout.kinds(keys, family, layers)
    groups = _groups(keys, family, kinds, own, hidden, vocabulary)
    extra = extras(keys, family, hidden, vocabulary, layers)
    guess, guess_own, copies = prediction(keys, family, groups, hidden, vocabulary)
    return Model(
        hidden,
        vocabulary,
        groups,
        tied=_tied(keys, top, nested),
        embedding_rows=extra.embedding_rows,
        final=hidden * family.norm_vectors + extra.final,
        other=extra.other,
        looked_up=extra.looked_up,
        head_vectors=vocabulary if keys.stated_or_default("lm_head_bias") and keys.flag("lm_head_bias") else 0,
        prediction=guess,
        prediction_extra=guess_own,
        prediction_copies=copies,
        max_context=_max_context(keys),
    )


def _groups(
    keys: Keys, family: Family, kinds: list[str], own: list[str] | None, hidden: int, vocabulary: int
) -> tuple[LayerGroup, ...]:
    """Build every layer and put alike ones together, in the order of their first."""
    layers = len(kinds)
    if keys.known:
        _pass_over_absent(keys, family, kinds)
    views = geometry.views(keys, family, kinds)
    blocks = feed_forward.blocks(keys, views, family, hidden, own)
    extra = extras(keys, family, hidden, vocabulary, layers)
    shared = geometry.shared_caches(keys, layers)
    indexed = attention.indexed_layers(keys, layers)
    norm_count = keys.whole("norm_count", default=family.norms)
    norms = norm_count * family.norm_vectors * hidden + extra.layer_norms
    built: dict[tuple, attention.Built] = {}
    places: dict[tuple, list[int]] = {}
    parallel = family.both or "both" in kinds
    step = 2 if parallel or family.twice else 1

    def attend(layer: int, kind: str) -> attention.Built:
        key = (id(views[layer]), kind, shared[layer], indexed[layer])
        if key not in built:
            built[key] = attention.build(views[layer], family, kind, hidden, shared[layer], indexed[layer])
        return built[key]

    for layer, kind in enumerate(kinds):
        block = blocks[layer]
        if kind == "both" or family.both:
            # Attention and recurrence side by side: two groups, of which the first holds the feed-forward.
            a, m = attend(layer, "full"), attend(layer, "linear")
            places.setdefault((a, block, norms), []).append(2 * layer)
            places.setdefault((m, feed_forward.Block(None), 0), []).append(2 * layer + 1)
        elif family.twice:
            a, dense = attend(layer, kind), feed_forward.dense_block(views[layer], family, hidden)
            first = replace(block, beside=dense.feed_forward)
            places.setdefault((a, first, norms), []).append(2 * layer)
            places.setdefault((a, dense, norms), []).append(2 * layer + 1)
        else:
            # A layer without attention or without feed-forward lacks that part's norm (Nemotron-NAS).
            half = not own and (kind == "none" or block.feed_forward is None)
            places.setdefault((attend(layer, kind), block, norms // 2 if half else norms), []).append(layer)
    if step == 2:
        keys.log.note(f"Each of the {layers} layers holds two attentions or recurrences: shown as two.")
    return tuple(
        LayerGroup(
            len(at), a.attention, block.feed_forward, norm + a.norms + block.norms, a.other + extra.layer, tuple(at), block.beside
        )
        for (a, block, norm), at in places.items()
    )


def _pass_over_absent(keys: Keys, family: Family, kinds: list[str]) -> None:
    """Remember the keys that describe a kind of layer this file has none of."""
    if "linear" not in kinds and not family.both:
        keys.pass_over(*linear.KEYS)
    if not set(kinds) - {"linear", "none"} and not family.both:
        keys.pass_over(*attention.HEADS, *attention.KV_HEADS, *attention.HEAD_DIM)
    if "indexed" not in kinds:
        keys.pass_over(*attention.BLOCK_INDEX)


def _tied(keys: Keys, top: Keys, nested: bool) -> bool:
    """Return whether the head is the embedding. The outer object decides where both state it."""
    if keys.has("use_embedding_sharing"):
        return keys.flag("use_embedding_sharing")
    if nested and top.has("tie_word_embeddings"):
        keys.pass_over("tie_word_embeddings")
        return top.flag("tie_word_embeddings")
    if keys.has("tie_word_embeddings") or "tie_word_embeddings" in keys.defaults:
        return keys.flag("tie_word_embeddings")
    keys.log.assume(keys.name("tie_word_embeddings"), False, "absent: a head of its own, as most models have")
    return False


def _max_context(keys: Keys) -> int:
    names = ("max_position_embeddings", "model_max_length", "seq_length", "max_sequence_length")
    name = next((name for name in names if keys.has(name)), names[0])
    return keys.optional(name, high=10**12)
