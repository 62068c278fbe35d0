"""The launch lines a state amounts to, with flags that exist in the release asked for.

Flags as read in vLLM 0.33.0 `engine/arg_utils.py` and SGLang 0.5.23 `srt/arg_groups/fields/`.
"""

from __future__ import annotations

import json
import shlex
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from envelope.engines.releases import NEWEST, Release, release
from envelope.fields.base import decimal_text
from envelope.pools import round_up
from envelope.quantities.engine_rank import sglang_ratio

if TYPE_CHECKING:
    from envelope.evaluation import Envelope
    from envelope.scenario import Scenario

# --attn-dp-size says what `--dp-size N --enable-dp-attention` said before.
_ATTENTION_DP = Release((0, 5, 23))
_VLLM_FORMATS = {"fp8": "fp8", "nvfp4": "nvfp4"}
_SGLANG_FORMATS = {"fp8": "fp8_e4m3", "nvfp4": "nvfp4", "mxfp8": "mxfp8"}

Flags = list[tuple[str, str | None]]


def _model(scenario: Scenario) -> str:
    """The repository to load: the chosen checkpoint's, else the model's, else a word to replace."""
    preset = scenario.preset
    if preset is None:
        return str(scenario["name"] or "MODEL").lstrip("-") or "MODEL"
    for one in preset.checkpoints:
        if one.key == scenario["weight_format"] and one.repo:
            return one.repo
    return preset.repo


def _line(start: str, flags: Flags) -> str:
    words = [flag if value is None else f"{flag} {shlex.quote(value)}" for flag, value in flags]
    return " \\\n  ".join([start, *words])


def _fraction(scenario: Scenario) -> str:
    """The memory fraction, never more than asked for: cut at four decimals."""
    return decimal_text(Fraction(floor(Fraction(scenario["memory_fraction"]) * 10**4), 10**4))


def _common(scenario: Scenario, key: str, flag: str, flags: Flags) -> None:
    """Add a flag for an input the reader gave."""
    if key in scenario.given:
        flags.append((flag, str(scenario[key])))


def _speculation(scenario: Scenario) -> tuple[int, str]:
    """(tokens drafted per step, draft model named), 0 where nothing speculates."""
    named = "draft_model" in scenario.given
    if not scenario["mtp_layers"] and not named:
        return 0, ""
    return max(1, scenario["verify_tokens"] - 1), "DRAFT_MODEL" if named else ""


def vllm_serve(envelope: Envelope) -> str:
    """The `vllm serve` line of this state."""
    scenario = envelope.scenario
    layout = scenario.layout
    flags: Flags = [("--tensor-parallel-size", str(layout.tp))]
    if layout.pp > 1:
        flags.append(("--pipeline-parallel-size", str(layout.pp)))
    if layout.dp > 1:
        flags.append(("--data-parallel-size", str(layout.dp)))
    if layout.ep > 1:
        flags.append(("--enable-expert-parallel", None))
    if scenario["dcp"] > 1:
        flags.append(("--decode-context-parallel-size", str(scenario["dcp"])))
    flags.append(("--max-model-len", str(scenario["max_model_len"])))
    flags.append(("--max-num-batched-tokens", str(scenario["chunk"])))
    _common(scenario, "max_num_seqs", "--max-num-seqs", flags)
    if "kv_memory_per_rank" in scenario.given:
        flags.append(("--kv-cache-memory-bytes", str(floor(scenario["kv_memory_per_rank"]))))
    else:
        flags.append(("--gpu-memory-utilization", _fraction(scenario)))
    if scenario["cache_format"] in _VLLM_FORMATS:
        per_head = scenario["cache_format"] == "fp8" and scenario["cache_scales"] == "head"
        flags.append(("--kv-cache-dtype", "fp8_per_token_head" if per_head else _VLLM_FORMATS[scenario["cache_format"]]))
    _common(scenario, "block_size", "--block-size", flags)
    if scenario["hybrid_manager"] == "off":
        flags.append(("--disable-hybrid-kv-cache-manager", None))
    if "state_format" in scenario.given and scenario.applies("state_format"):
        flags.append(("--mamba-ssm-cache-dtype", "bfloat16" if scenario["state_format"] == "bf16" else "float32"))
    drafted, named = _speculation(scenario)
    if drafted:
        config = {"model": named, "num_speculative_tokens": drafted} if named else {"method": "mtp", "num_speculative_tokens": drafted}
        flags.append(("--speculative-config", json.dumps(config)))
    return _line(f"vllm serve {shlex.quote(_model(scenario))}", flags)


def sglang_launch(envelope: Envelope) -> str:
    """The `sglang.launch_server` line of this state; the pool ratio is rounded up at its printed digits."""
    scenario = envelope.scenario
    layout = scenario.layout
    chosen = release(str(scenario["engine_version"] if scenario["engine"] in ("sglang", "sglang-unified") else NEWEST["sglang"]))
    shares = layout.dp > 1 and layout.ep > 1
    flags: Flags = [("--model-path", _model(scenario)), ("--tp-size", str(layout.tp * layout.dp if shares else layout.tp))]
    if shares and chosen >= _ATTENTION_DP:
        flags.append(("--attn-dp-size", str(layout.dp)))
    elif shares:
        flags += [("--dp-size", str(layout.dp)), ("--enable-dp-attention", None)]
    elif layout.dp > 1:
        flags.append(("--dp-size", str(layout.dp)))
    if layout.pp > 1:
        flags.append(("--pp-size", str(layout.pp)))
    if layout.ep > 1:
        flags.append(("--ep-size", str(layout.ep)))
    if scenario["dcp"] > 1:
        flags.append(("--dcp-size", str(scenario["dcp"])))
    flags.append(("--context-length", str(scenario["max_model_len"])))
    flags.append(("--chunked-prefill-size", str(scenario["chunk"] * (layout.dp if shares else 1))))
    _common(scenario, "max_num_seqs", "--max-running-requests", flags)
    flags.append(("--mem-fraction-static", _fraction(scenario)))
    if scenario["cache_format"] in _SGLANG_FORMATS:
        flags.append(("--kv-cache-dtype", _SGLANG_FORMATS[scenario["cache_format"]]))
    _common(scenario, "block_size", "--page-size", flags)
    _pools(envelope, flags)
    if "state_format" in scenario.given and scenario.applies("state_format"):
        flags.append(("--mamba-ssm-dtype", "bfloat16" if scenario["state_format"] == "bf16" else "float32"))
    drafted, named = _speculation(scenario)
    if drafted:
        flags.append(("--speculative-algorithm", "EAGLE" if named else "NEXTN"))
        if named:
            flags.append(("--speculative-draft-model-path", named))
        flags += [("--speculative-num-steps", str(drafted)), ("--speculative-eagle-topk", "1"), ("--speculative-num-draft-tokens", str(drafted + 1))]
    return _line("python3 -m sglang.launch_server", flags)


def _pools(envelope: Envelope, flags: Flags) -> None:
    """The pools' flags, where the model has layers that slide."""
    scenario = envelope.scenario
    if not scenario.applies("pool_ratio"):
        return
    if scenario["hybrid_manager"] == "off":
        flags.append(("--disable-hybrid-swa-memory", None))
        return
    window = max((group.attention.window for group in scenario.model.groups if getattr(group.attention, "window", 0)), default=0)
    ratio = envelope.ask(lambda e: sglang_ratio(e, window))
    if ratio is not None:
        flags.append(("--swa-full-tokens-ratio", decimal_text(round_up(ratio))))
    if scenario["engine"] == "sglang-unified":
        flags.append(("--enable-unified-memory", None))
