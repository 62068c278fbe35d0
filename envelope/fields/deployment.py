"""Inputs that say how the model is stored, on what machine and under which engine."""

from __future__ import annotations

from fractions import Fraction

from envelope import catalog
from envelope.checkpoint import Split, uniform
from envelope.fields.base import (
    BYTES, CHOICE, COUNT, NUMBER, RATE, RATIO, SHARE, TEXT, TOKENS, UNSET, Default, Field, Known, constant, exact,
)  # fmt: skip
from envelope.formats import CACHE_FORMATS, FORMATS, WEIGHT_FORMATS
from envelope.model import CompressedAttention, is_windowed
from envelope.ranks import keeps_one_record

CHECKPOINT, MACHINE, ENGINE = "Checkpoint", "Machine", "Engine"
ENGINES = (("sglang", "SGLang"), ("vllm", "vLLM"), ("sglang-unified", "SGLang unified"), ("plain", "Other engine"))

# Parts a conversion to fewer bits commonly leaves alone, as the exclusions of published files show.
KEPT = ("embeddings", "head", "router", "towers")


def _weight_formats(known: Known) -> tuple[tuple[str, str], ...]:
    published = {one.key: f"{FORMATS[one.key].label if one.key in FORMATS else one.label}" for one in known.preset.checkpoints} if known.preset else {}
    # A config may declare any format there is; a preset's file comes in those published, and in what people convert to.
    others = {key: FORMATS[key].label for key in (WEIGHT_FORMATS if known.preset else FORMATS) if key not in published}
    return (*published.items(), *others.items())


def _weight_format(known: Known) -> Default:
    if known.preset is None or known.preset.weight_format is None:
        return Default("bf16", tier="C", why="the config declares no quantization")
    checkpoint = known.preset.checkpoint()
    return Default(checkpoint.key, checkpoint.tier, checkpoint.source)


def split_for(known: Known) -> Default:
    """How the chosen format stores each part: as published, else every matrix but the ones commonly kept."""
    chosen = known["weight_format"]
    for checkpoint in known.preset.checkpoints if known.preset else ():
        if checkpoint.key == chosen:
            return Default(checkpoint.split, checkpoint.tier, checkpoint.source)
    made = uniform(chosen, KEPT)
    if made == Split("bf16"):
        return Default(str(made), source="BF16 stores every weight alike")
    return Default(str(made), "C", why="no published file: every matrix but embeddings, head, routers and towers is converted")


def _machines(known: Known) -> tuple[tuple[str, str], ...]:
    return tuple((key, machine.short_name) for key, machine in catalog.machines().items())


def _gpus(known: Known) -> Default:
    per_node = known.machine.gpus_per_node
    if per_node is None:
        return Default(1, source="one card; the machine names no node")
    return Default(per_node.value, per_node.tier, per_node.source)


def _tp(known: Known) -> Default:
    rest = known["gpus"] // known["pp"]
    if known["dp"] is not None:
        return Default(max(1, rest // known["dp"]), source="gpus / (pp × dp)")
    if known.model and keeps_one_record(known.model):
        return Default(1, source="one latent record per token gains nothing from tensor parallelism")
    return Default(max(1, rest), source="every GPU of the node")


def _ep(known: Known) -> Default:
    routed = known.model is not None and bool(known.model.mixtures())
    return Default(known["gpus"] if routed else 1, source="experts spread over every GPU" if routed else "no experts")


def _hbm(known: Known) -> Default:
    memory = known.machine.memory
    return Default(exact(memory.value), memory.tier, memory.source)


def _bandwidth(known: Known) -> Default:
    bandwidth = known.machine.bandwidth
    return Default(exact(bandwidth.value), bandwidth.tier, bandwidth.source)


def _cache_format(known: Known) -> Default:
    if known.preset and known.preset.cache_format:
        return Default(known.preset.cache_format, source="the model's recipes")
    return Default("bf16", tier="C", why="no cache format is declared")


def has_window(known: Known) -> bool:
    """True where some layers keep a window, so that an engine may keep two pools."""
    if known.model is None or known["cache_bytes_per_token"] is not None:
        return False
    return any(is_windowed(g.attention) or isinstance(g.attention, CompressedAttention) for g in known.model.groups)


def _has_model(known: Known) -> bool:
    return known.model is not None


def _has_experts(known: Known) -> bool:
    return known.model is not None and bool(known.model.mixtures())


_FRACTION = Default(Fraction(9, 10), source="first seed", why="the share engines are commonly given; measure what yours keeps back")

FIELDS = (
    Field("weight_format", "Weights", CHOICE, CHECKPOINT, "The format of the file's largest tensors.", _weight_format, choices=_weight_formats, applies=_has_model),
    Field("split", "Split", TEXT, CHECKPOINT, "What is stored how: a base format, then <part or module>.<format>[.at<layers>].", split_for, applies=_has_model),
    Field("weight_bytes", "Weight bytes", BYTES, CHECKPOINT, "The file's size, when you know better than the split.", UNSET, bounds=(1, 10**16), follows="weight_bytes"),
    Field("machine", "Machine", CHOICE, MACHINE, "Whose GPUs.", constant("hgx-b300"), choices=_machines),
    Field("gpus", "GPUs", COUNT, MACHINE, "GPUs in all; may exceed a node.", _gpus, bounds=(1, 100_000)),
    Field("pp", "PP", COUNT, MACHINE, "Pipeline-parallel stages.", constant(1, source="one stage"), bounds=(1, 1000), applies=_has_model),
    Field("dp", "DP", COUNT, MACHINE, "Data-parallel replicas of the attention; each holds its own sessions.", UNSET, bounds=(1, 100_000), applies=_has_model),
    Field("tp", "TP", COUNT, MACHINE, "Tensor-parallel ranks that split one attention.", _tp, bounds=(1, 100_000), applies=_has_model),
    Field("ep", "EP", COUNT, MACHINE, "GPUs that divide the routed experts.", _ep, bounds=(1, 100_000), applies=_has_experts),
    Field("hbm", "HBM per GPU", BYTES, MACHINE, "Memory of one GPU.", _hbm, bounds=(10**6, 10**14)),
    Field("bandwidth", "Bandwidth", RATE, MACHINE, "Memory bandwidth of one GPU.", _bandwidth, bounds=(10**6, 10**16)),
    Field("engine", "Engine", CHOICE, ENGINE, "Whose memory rules and flags.", constant("sglang"), choices=lambda known: ENGINES),
    Field("memory_fraction", "Memory fraction", SHARE, ENGINE, "Share of HBM for weights and cache; the rest is kept back for activations and graphs.",
          _FRACTION, bounds=(Fraction(1, 100), 1)),
    Field("cache_format", "Cache format", CHOICE, ENGINE, "How one cached value is stored.", _cache_format, choices=lambda known: tuple((key, FORMATS[key].label) for key in CACHE_FORMATS)),
    Field("cache_bytes_per_token", "Cache per token", NUMBER, ENGINE, "Bytes one token of context takes in all layers, when you know better than the shapes. No window is added.",
          lambda known: _stated_cache(known), bounds=(Fraction(1, 1000), 10**9), follows="cache_bytes_per_token"),
    Field("chunk", "Prefill chunk", TOKENS, ENGINE, "Tokens prefilled in one step: chunked_prefill_size, max_num_batched_tokens.",
          constant(8192, source="the size the seed's recipes run with"), bounds=(1, 10**8)),
    Field("pool_ratio", "Pool ratio", RATIO, ENGINE, "Sliding-pool tokens over full-pool tokens (swa_full_tokens_ratio): a number, or `best`.",
          constant("best", source="what fits most sessions"), bounds=(Fraction(1, 10**6), 10), applies=has_window),
    Field("headroom", "Headroom", SHARE, ENGINE, "What to add to the best ratio, so that returning agents keep their window.", constant(Fraction(0), source="none"), bounds=(0, 10), applies=has_window),
)  # fmt: skip


def _stated_cache(known: Known) -> Default:
    stated = known.preset.stated_cache if known.preset else None
    if stated is None:
        return UNSET
    return Default(exact(stated.value), stated.tier, stated.source)
