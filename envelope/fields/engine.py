"""Inputs that fix what one engine does with memory. They change `engine_*` quantities only, never the plain ones."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from envelope import catalog, groups, published
from envelope.engines.releases import NEWEST, Release, release
from envelope.fields.base import BYTES, CHOICE, COUNT, TOKENS, UNSET, Default, Field, Kind, Known, constant
from envelope.fields.deployment import ENGINE, has_window
from envelope.model import CompressedAttention, LatentAttention, LinearAttention, Model

# vLLM keeps a second state block per session once prefix caching is on for state hybrids (0.27.1), Mamba-2 a third
# for prefill checkpoints (0.32.0).
STATES_CACHED = Release((0, 27, 1))
MAMBA2_CHECKPOINTS = Release((0, 32, 0))
# Cards of 160 GiB and more are let run 1,024 requests, as those of 70 GiB were before.
_MANY, _FEW = 1024, 256


def _read_release(text: str) -> str:
    release(text)
    return text.strip().partition(" ")[0]


def _read_draft(text: str) -> str:
    draft_architecture(text.strip())
    return text.strip()


@cache
def draft_architecture(text: str) -> Model:
    """A draft model named by a catalogue slug or written as layers. Raises ValueError."""
    if text in catalog.slugs():
        found = published.architecture(text)
        if found is None:
            raise ValueError(f"{text} states no shapes, so it cannot be a draft")
        return found
    return groups.read(text)


RELEASE = Kind("release", _read_release, str, str)
DRAFT = Kind("text", _read_draft, str, str)


def lays_out(known: Known) -> bool:
    """True where the chosen engine's layout is known and the model's layers are."""
    return known.model is not None and known["engine"] in NEWEST


def _vllm(known: Known) -> bool:
    return lays_out(known) and known["engine"] == "vllm"


def _attentions(known: Known, kind: type) -> list[object]:
    found = [group.attention for group in known.model.groups] if known.model else []
    return [attention for attention in found if isinstance(attention, kind)]


def _has_state(known: Known) -> bool:
    return lays_out(known) and bool(_attentions(known, LinearAttention))


def _newest(known: Known) -> Default:
    return Default(NEWEST.get(str(known["engine"])), source="the newest release whose source was read")


def _longest(known: Known) -> Default:
    mix = known["mix"] or ((known["context"], 1),)
    return Default(max(length for length, _ in mix), source="the longest session asked for")


def _max_num_seqs(known: Known) -> Default:
    if known["engine"] != "vllm":
        return UNSET
    large = known["hbm"] >= 70 * 2**30 and not str(known["machine"]).startswith(("a100", "dgx-spark"))
    return Default(_MANY if large else _FEW, source="vLLM arg_utils.py: 1,024 from 70 GiB on (not A100, GB10), else 256")


def _block_size(known: Known) -> Default:
    if known["engine"] not in NEWEST:
        return UNSET
    if _attentions(known, CompressedAttention):
        return Default(256, source="what compressed attention needs")
    latent = _attentions(known, LatentAttention)
    if latent and (known["engine"] == "vllm" or any(one.indexer for one in latent)):
        return Default(64, source="what the latent attention kernels prefer")
    return Default(16 if known["engine"] == "vllm" else 1, source="the engine's default")


def _state_blocks(known: Known) -> Default:
    if not _has_state(known) or known["engine"] != "vllm":
        return UNSET
    chosen = release(str(known["engine_version"]))
    draft = known["verify_tokens"] - 1 if known["mtp_layers"] or known["draft_model"] else 0
    cached = chosen >= STATES_CACHED
    if "prefix_caching" in known.given:
        cached = known["prefix_caching"] == "on"
    blocks = 2 if cached else 1
    if cached and chosen >= MAMBA2_CHECKPOINTS and any(one.flavour == "mamba2" for one in _attentions(known, LinearAttention)):
        blocks += 1
    return Default(blocks + draft, source="vLLM v1/kv_cache_interface.py, prefix caching as the release has it by default")


_ON_OFF = (("on", "on"), ("off", "off"))

# What a running engine's log settles.
_DETAILS = (
    Field("engine_version", "Engine version", RELEASE, ENGINE, "The release; memory rules and log lines changed between them.", _newest, applies=lays_out),
    Field("max_model_len", "Longest request", TOKENS, ENGINE, "max_model_len (vLLM), context-length (SGLang): what one request may grow to.", _longest, bounds=(1, 10**9)),
    Field("max_num_seqs", "Requests at once", COUNT, ENGINE, "max_num_seqs, max_running_requests: a cap beside memory.", _max_num_seqs, bounds=(1, 10**6)),
    Field("block_size", "Block", TOKENS, ENGINE, "Tokens per block (vLLM) or page (SGLang).", _block_size, bounds=(1, 10**6), applies=lays_out),
    Field("kv_memory_per_rank", "Cache memory per rank", BYTES, ENGINE,
          "As the log prints it: available KV cache memory (vLLM), K size + V size (SGLang). Bypasses the fit check.",
          UNSET, bounds=(1, 10**14), follows="kv_memory_per_rank"),
    Field("weights_per_rank", "Weights per rank", BYTES, ENGINE, "As the log prints it after loading.", UNSET, bounds=(1, 10**14), follows="engine_weights_per_rank"),
    Field("activation_reserve", "Activations", BYTES, ENGINE, "Peak of one step beside weights and cache, per rank.", UNSET, bounds=(0, 10**14), follows="engine_activations"),
    Field("graph_reserve", "Graphs", BYTES, ENGINE, "Captured CUDA graphs, per rank.", UNSET, bounds=(0, 10**14), follows="engine_graphs"),
    Field("dcp", "DCP", COUNT, ENGINE, "Decode context parallelism: tensor-parallel ranks that share one token's cache between them.",
          constant(1, source="off"), bounds=(1, 1024), applies=lays_out),
    Field("hybrid_manager", "Sliding layers apart", CHOICE, ENGINE,
          "Off where the engine keeps every token in sliding layers too: vLLM's flag, SGLang for Gemma 2 and 3, EXAONE 4 and OLMo 2 and 3.",
          constant("on", source="the engine's default"), choices=lambda known: _ON_OFF, applies=lambda known: lays_out(known) and has_window(known)),
    Field("mtp_layers", "MTP layers", COUNT, ENGINE, "Prediction layers loaded to speculate with, or an EAGLE head's layers; their cache shares the pool.",
          constant(0, source="no speculation"), bounds=(0, 64), applies=lays_out),
    Field("draft_model", "Draft model", DRAFT, ENGINE, "An EAGLE or DFlash draft: a model of the catalogue, or its layers as text.", UNSET, applies=lays_out),
    Field("cache_scales", "FP8 scales", CHOICE, ENGINE, "One per tensor adds nothing; one per token and head adds 8 bytes (fp8_per_token_head).",
          constant("tensor", source="plain fp8"), choices=lambda known: (("tensor", "per tensor"), ("head", "per token and head")),
          applies=lambda known: _vllm(known) and known["cache_format"] == "fp8"),
    Field("state_format", "State format", CHOICE, ENGINE, "How recurrent states are kept: mamba_ssm_dtype of the config.",
          constant("fp32", why="what configs of state hybrids commonly declare"), choices=lambda known: (("fp32", "FP32"), ("bf16", "BF16")), applies=_has_state),
    Field("state_blocks", "State blocks", COUNT, ENGINE,
          "Blocks one session holds per group of state layers: 1, 2 with prefix caching, one more per draft token and per prefill checkpoint.",
          _state_blocks, bounds=(1, 10**4), applies=lambda known: _has_state(known) and _vllm(known)),
)  # fmt: skip

FIELDS = tuple(replace(field, rare=True) for field in _DETAILS)
