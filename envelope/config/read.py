"""From the text of a config file to a `Reading`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from envelope.config import attention, feed_forward, layout, towers
from envelope.config.defaults import CLASS_DEFAULTS
from envelope.config.families import FAMILIES, Family
from envelope.config.keys import Keys, Log, Refused, parse
from envelope.config.prediction import prediction
from envelope.config.reading import Reading
from envelope.model import LayerGroup, Model

TEXT_SECTIONS = ("text_config", "llm_config", "language_config")
ORIGIN = "absent: class default of the public implementation"


def read(config: str | bytes | Mapping, quant: str | None = None, index: str | None = None) -> Reading:
    """Read a `config.json`, and `hf_quant_config.json` and `model.safetensors.index.json` where given.

    Raises Refused, naming the key, for a file that cannot be sized; raises nothing else.
    """
    values = parse(config)
    log = Log()
    text, top = _text(values, log)
    model_type, family, known = _family(text, top)
    keys = Keys(text, log, CLASS_DEFAULTS.get(model_type), f"{ORIGIN} of {model_type}", known=known)
    try:
        model = replace(_model(keys, family, Keys(top, log)), towers=_towers(top, log, keys))
    except Refused:
        raise
    except ValueError as error:
        raise Refused("config.json", str(error), "shapes that fit together") from None
    return Reading(
        model, model_type, assumed=tuple(log.assumed.values()), notes=tuple(log.notes), max_context=model.max_context
    )


def _text(values: dict, log: Log) -> tuple[dict, dict]:
    """Return the language model's object and the outer one, the same when nothing is nested."""
    top = Keys(values, log)
    section = top.section(*TEXT_SECTIONS)
    return (section, values) if section is not None else (values, values)


def _family(text: dict, top: dict) -> tuple[str, Family, bool]:
    for owner in (text, top):
        name = owner.get("model_type")
        if isinstance(name, str) and name in FAMILIES:
            return name, FAMILIES[name], True
    name = text.get("model_type") or top.get("model_type")
    return (name if isinstance(name, str) else ""), Family(), False


def _towers(top: dict, log: Log, keys: Keys) -> tuple[tuple[str, int], ...]:
    outer, hidden, found = Keys(top, log), keys.whole("hidden_size"), []
    vision, audio = outer.section("vision_config"), outer.section("audio_config")
    if vision is not None and str(vision.get("model_type")).startswith("muse_"):
        found.append(("vision", towers.muse_vision(Keys(vision, log, path="vision_config."), outer, hidden)))
    if audio is not None and str(audio.get("model_type")).startswith("muse_"):
        found.append(("audio", towers.muse_audio(Keys(audio, log, path="audio_config."), hidden)))
    return tuple(found)


def _model(keys: Keys, family: Family, top: Keys) -> Model:
    layers = keys.whole(*layout.LAYERS, high=10_000)
    hidden = keys.whole("hidden_size")
    vocabulary = keys.whole("vocab_size")
    kinds = layout.kinds(keys, family, layers)
    built = {kind: attention.build(keys, family, kind, hidden) for kind in dict.fromkeys(kinds)}
    blocks = feed_forward.blocks(keys, family, layers, hidden)
    groups: dict[tuple, list[int]] = {}
    for layer, kind in enumerate(kinds):
        groups.setdefault((kind, blocks.per_layer[layer]), []).append(layer)
    norms = family.norms * family.norm_vectors * hidden
    made = []
    for (kind, block), places in groups.items():
        moe_norms = blocks.norms if isinstance(block, feed_forward.MixtureOfExperts) else 0
        made.append(
            LayerGroup(
                len(places), built[kind].attention, block, norms + built[kind].norms + moe_norms,
                family.layer_vectors * hidden, tuple(places),
            )
        )
    last = next(group for group in made if layers - 1 in group.positions)
    guess, own, copies = prediction(keys, last, hidden, vocabulary)
    return Model(
        hidden,
        vocabulary,
        tuple(made),
        tied=top.flag("tie_word_embeddings", default=False),
        final=hidden * family.norm_vectors,
        prediction=guess,
        prediction_extra=own,
        prediction_copies=copies,
        max_context=keys.optional("max_position_embeddings", high=10**12),
    )
