"""Read a pasted start-up log: which lines say something, and which inputs make a scenario what the log ran.

The text is whatever somebody pasted: it is cut to a bounded length, searched line by line with bounded patterns, and
only numbers and checked words leave this module as inputs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from envelope.engines.log_lines import PATTERNS, Pattern, word
from envelope.engines.releases import release
from envelope.units import GIB

LONGEST = 2_000_000  # characters read; a start-up log is under 200,000
_LINES = 40_000
_LINE = 20_000  # SGLang prints all its arguments in one line of about 10,000
_CONTROL = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Line:
    """One recognised line: what it measures, in base units, and the line itself, shortened."""

    key: str
    label: str
    value: Fraction | str
    unit: str
    text: str
    number: int


@dataclass(frozen=True)
class LogReading:
    """What a log says. `measured` holds one value per key (the weakest rank's memory, else the last said).

    `adopt` are inputs, as typed, that make a scenario what the log ran; `calibration` those of them that are measured
    rather than chosen.
    """

    engine: str = ""
    lines: tuple[Line, ...] = ()
    measured: Mapping[str, Line] = field(default_factory=dict)
    adopt: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False

    @property
    def calibration(self) -> Mapping[str, str]:
        """The measured inputs among those to adopt: what a page marks as calibrated from your log."""
        return {key: text for key, text in self.adopt.items() if key in CALIBRATED}

    def value(self, key: str) -> Fraction | None:
        """The measured number of a key, or None."""
        line = self.measured.get(key)
        return line.value if line is not None and isinstance(line.value, Fraction) else None


CALIBRATED = ("kv_memory_per_rank", "weights_per_rank", "activation_reserve", "graph_reserve", "hbm")


def read(text: str) -> LogReading:
    """Recognise the lines of a pasted log. Never raises; a text without such lines gives an empty reading."""
    cut = len(text) > LONGEST
    found: list[tuple[str, Line]] = []
    for number, raw in enumerate(text[:LONGEST].splitlines()[:_LINES], 1):
        line = _CONTROL.sub("", raw[:_LINE])
        for pattern in PATTERNS:
            if pattern.marker in line and (match := pattern.expression.search(line)):
                value = _value(pattern, match)
                if value is not None:
                    found.append((pattern.engine, Line(pattern.key, pattern.label, value, pattern.unit, _shorten(line, match), number)))
    engine = _engine([owner for owner, _ in found])
    lines = tuple(line for owner, line in found if owner in ("", engine)) if engine else ()
    measured = _measured(engine, lines)
    return LogReading(engine, lines, measured, _adopt(engine, measured), cut)


def _value(pattern: Pattern, match: re.Match[str]) -> Fraction | str | None:
    """A line's number, the sum where it states two; None for a version that is none."""
    groups = [group for group in match.groups() if group]
    if pattern.make is not word:
        return sum((pattern.make(group) for group in groups), Fraction(0))
    if pattern.key != "version":
        return word(groups[0])
    try:
        return str(release(groups[0]))
    except ValueError:
        return None


def _shorten(line: str, match: re.Match[str]) -> str:
    """The line around what was recognised, at most 200 characters."""
    if len(line) <= 200:
        return line.strip()
    start = max(0, match.start() - 60)
    return "… " + line[start : start + 190].strip() + " …"


def _engine(owners: list[str]) -> str:
    """Whose log it is: the engine with most lines, empty where none has any."""
    counts = {engine: owners.count(engine) for engine in ("vllm", "sglang", "tensorrt-llm")}
    best = max(counts, key=lambda engine: counts[engine])
    return best if counts[best] else ""


def _measured(engine: str, lines: tuple[Line, ...]) -> dict[str, Line]:
    """One line per key: the least cache memory (the weakest rank decides), the most weights, else the last said."""
    found: dict[str, Line] = {}
    for line in lines:
        known = found.get(line.key)
        if known is not None and line.key == "kv_memory" and known.value <= line.value:
            continue
        if known is not None and line.key == "weights" and known.value >= line.value:
            continue
        if known is not None and engine == "sglang" and line.key == "tokens" and "max_total" in known.text:
            continue
        found[line.key] = line
    if engine == "sglang":
        found |= _allocated(lines, "full_tokens" in found)
    return found


def _allocated(lines: tuple[Line, ...], two_pools: bool) -> dict[str, Line]:
    """SGLang's cache memory of the target on one rank: the first pool it prints, or both where it keeps two.

    Every rank prints its pools, and a draft prints its own after the target's.
    """
    pools = [line for line in lines if line.key == "allocated"]
    if not pools:
        return {}
    first = pools[0]
    total = first.value
    if two_pools:
        other = next((line for line in pools if line.value != first.value), first)
        total = first.value + other.value
    return {"kv_memory": Line("kv_memory", "cache allocated", total, "bytes", first.text, first.number)}


_INPUTS = {
    "version": "engine_version", "memory_fraction": "memory_fraction", "max_model_len": "max_model_len",
    "chunk": "chunk", "max_num_seqs": "max_num_seqs", "dcp": "dcp", "page": "block_size",
    "kv_memory": "kv_memory_per_rank", "weights": "weights_per_rank", "activations": "activation_reserve",
    "graphs": "graph_reserve", "pool_ratio": "pool_ratio",
}  # fmt: skip
_FORMATS = {"fp8": "fp8", "nvfp4": "nvfp4", "mxfp8": "mxfp8", "bfloat16": "bf16", "bf16": "bf16", "auto": "bf16"}


def _adopt(engine: str, measured: Mapping[str, Line]) -> dict[str, str]:
    """The inputs a log states or measures, as a person would type them."""
    if not engine:
        return {}
    found = {"engine": "plain" if engine == "tensorrt-llm" else engine}
    for key, name in _INPUTS.items():
        if key in measured:
            found[name] = _typed(measured[key])
    if engine == "tensorrt-llm":
        for name in ("engine_version", "memory_fraction", "block_size"):
            found.pop(name, None)
    if "kv_dtype" in measured:
        word = str(measured["kv_dtype"].value)
        if base := next((format for name, format in _FORMATS.items() if word.startswith(name)), ""):
            found["cache_format"] = base
    found |= _layout(engine, measured)
    residue = _residue(engine, measured)
    if residue is not None and "activation_reserve" not in found:
        found["activation_reserve"] = f"{float(residue / GIB):.2f} GiB"
    total = _total(measured)
    if total is not None:
        found["hbm"] = f"{float(total / GIB):.2f} GiB"
    return found


def _typed(line: Line) -> str:
    if isinstance(line.value, str):
        return line.value
    if line.unit == "bytes":
        return f"{float(line.value / GIB):.4f}".rstrip("0").rstrip(".") + " GiB"
    return str(line.value.numerator) if line.value.denominator == 1 else f"{float(line.value):g}"


def _layout(engine: str, measured: Mapping[str, Line]) -> dict[str, str]:
    """How many GPUs, and how they split one attention. SGLang's tp_size counts all attention replicas."""

    def said(key: str) -> int:
        return int(measured[key].value) if key in measured else 1

    tp, pp, dp = said("tp"), said("pp"), said("dp")
    if engine == "sglang":
        tp, dp = said("all_tp"), said("replicas")
        shared = said("attention_dp") if said("attention_dp") > 1 else dp if "dp_attention" in measured else 1
        if tp % shared:
            return {}
        tp, dp = tp // shared, shared if shared > 1 else dp
    if "tp" not in measured and "all_tp" not in measured:
        return {}
    return {"gpus": str(tp * pp * dp), "tp": str(tp), "dp": str(dp), "pp": str(pp)}


def _total(measured: Mapping[str, Line]) -> Fraction | None:
    """Memory of one GPU: as said, or the memory requested over its fraction."""
    if "total" in measured:
        return measured["total"].value
    if "requested" in measured and "memory_fraction" in measured and measured["memory_fraction"].value:
        return measured["requested"].value / measured["memory_fraction"].value
    return None


def _residue(engine: str, measured: Mapping[str, Line]) -> Fraction | None:
    """What a start kept besides weights, graphs and cache: activations and buffers. vLLM only; SGLang keeps them outside."""
    total = _total(measured)
    if engine != "vllm" or total is None or not {"memory_fraction", "weights", "kv_memory"} <= measured.keys():
        return None
    graphs = measured["graphs"].value if "graphs" in measured else Fraction(0)
    rest = total * measured["memory_fraction"].value - measured["weights"].value - measured["kv_memory"].value - graphs
    return rest if rest >= 0 else None
