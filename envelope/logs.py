"""A pasted start-up log beside a scenario: line by line what was measured, what is predicted, and why they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from envelope.engines.log_reading import LogReading, read
from envelope.evaluation import Envelope
from envelope.fields.base import InputError
from envelope.quantities.engine_rank import vllm_plan
from envelope.scenario import Scenario
from envelope.units import shorten

__all__ = ["LogReading", "Row", "adopted", "compare", "read", "report"]

_QUANTITIES = {
    "weights": "engine_weights_per_rank", "activations": "engine_activations", "graphs": "engine_graphs",
    "kv_memory": "kv_memory_per_rank", "bytes_per_token": "engine_kv_bytes_per_token", "tokens": "engine_kv_tokens",
    "full_tokens": "engine_full_pool_tokens", "swa_tokens": "engine_swa_pool_tokens",
    "concurrency": "engine_max_concurrency", "needed": "", "block": "", "largest": "engine_largest_model_len",
}  # fmt: skip
# Within this share two figures of a log agree: it prints memory with two decimals.
AGREES = 0.005
_LAYOUT = ("gpus", "tp", "pp", "dp")


@dataclass(frozen=True)
class Row:
    """One recognised line. `predicted` is this scenario's figure, `adopted` the one with the log's settings and memory.

    Values are in base units, `unit` as quantities have it; None where the scenario has no such figure.
    """

    key: str
    label: str
    unit: str
    measured: Fraction
    predicted: Fraction | None
    adopted: Fraction | None
    explanation: str
    line: str
    number: int

    @property
    def difference(self) -> float | None:
        """Predicted over measured, less one."""
        if self.predicted is None or not self.measured:
            return None
        return float(self.predicted / self.measured) - 1


def adopted(reading: LogReading, scenario: Scenario) -> Scenario:
    """The scenario with what the log says; what does not fit it is left out, one input after another."""
    changes: dict[str, str] = {key: text for key, text in reading.adopt.items() if _applies(scenario, key)}
    while changes:
        try:
            return scenario.with_(**changes)
        except InputError as error:
            refused = [error.key] if error.key in changes and error.key not in _LAYOUT else [key for key in _LAYOUT if key in changes]
            for key in refused or list(changes):
                changes.pop(key)
    return scenario


def _applies(scenario: Scenario, key: str) -> bool:
    """Whether to adopt an input at all: a pool ratio only where there are two pools."""
    return key != "pool_ratio" or scenario.applies(key)


def compare(reading: LogReading, scenario: Scenario) -> tuple[Row, ...]:
    """Set each measured figure beside this scenario's, and say what explains the difference where it is known."""
    mine, theirs = Envelope(scenario), Envelope(adopted(reading, scenario))
    rows = []
    for key in _QUANTITIES:
        line = reading.measured.get(key)
        if line is None or not isinstance(line.value, Fraction):
            continue
        predicted, with_log = _figure(mine, key), _figure(theirs, key)
        words = _explain(key, line.value, predicted, with_log, reading, mine, theirs)
        rows.append(Row(key, line.label, line.unit, line.value, predicted, with_log, words, line.text, line.number))
    return tuple(rows)


def _figure(envelope: Envelope, key: str) -> Fraction | None:
    """This scenario's figure for a log's key."""
    if _QUANTITIES[key]:
        value = envelope.value(_QUANTITIES[key])
        return None if value is None else Fraction(value)
    if envelope.scenario["engine"] != "vllm":
        return None
    plan = envelope.ask(vllm_plan)
    if plan is None:
        return None
    return Fraction(plan.options.block_size if key == "block" else plan.request_bytes(plan.options.max_model_len))


def _near(value: Fraction | None, measured: Fraction, key: str = "") -> bool:
    """True where two figures agree, within what the log's own rounding hides."""
    if value is None:
        return False
    rounding = 0.0051 if key == "concurrency" else 0
    return abs(float(value - measured)) <= max(AGREES * float(measured), rounding)


def _explain(
    key: str, measured: Fraction, predicted: Fraction | None, with_log: Fraction | None,
    reading: LogReading, mine: Envelope, theirs: Envelope,
) -> str:  # fmt: skip
    if _near(predicted, measured, key):
        return "agrees"
    if predicted is None and with_log is None:
        return "not predicted for this engine and model"
    if key == "weights":
        return _weights(measured, predicted)
    if key == "kv_memory":
        return _memory(reading, mine)
    if key in ("graphs", "activations"):
        return "this page's figure is an estimate; the log's is measured"
    if _near(with_log, measured, key):
        return "agrees once the log's memory and settings are adopted: the rule holds, the budget differed"
    return _variant(key, measured, theirs)


def _weights(measured: Fraction, predicted: Fraction | None) -> str:
    if predicted is None:
        return "the checkpoint's size is not known here"
    if measured > predicted:
        return "the engine holds more than the file's share: parts that tensor parallelism copies, or kept unquantized"
    return "less than the file's share: towers or prediction layers that this start did not load"


def _memory(reading: LogReading, mine: Envelope) -> str:
    """Name what the cache memory differs by: the GPU's own memory, the fraction, what else lives inside it."""
    found = []
    scenario, said = mine.scenario, adopted(reading, mine.scenario)
    if not _near(said["hbm"], scenario["hbm"]):
        found.append(f"the GPU has {_say(said['hbm'], 'bytes')}, not {_say(scenario['hbm'], 'bytes')}")
    if said["memory_fraction"] != scenario["memory_fraction"]:
        found.append(f"the fraction is {float(said['memory_fraction']):g}, not {float(scenario['memory_fraction']):g}")
    residue, assumed = reading.adopt.get("activation_reserve"), mine.value("engine_activations")
    if residue is not None and assumed is not None and reading.engine == "vllm":
        found.append(f"activations and buffers took {residue} where {_say(assumed, 'bytes')} was assumed")
    if not found:
        return "the weights, or what else used the GPU, differ; adopt the measured memory"
    return "; ".join(found)


# What a log may have run otherwise, tried in this order on the scenario that adopted everything else.
_VARIANTS: tuple[tuple[Mapping[str, str], str], ...] = (
    ({"engine_version": "0.20.0"}, "the line has its older meaning, blocks over groups, of releases before 0.20.2"),
    ({"engine_version": "0.25.1"}, "the line is concurrency × max_model_len, with one batch in flight, as in 0.20.2 to 0.25.1"),
    ({"engine_version": "0.33.0"}, "the line is concurrency × max_model_len, with two batches in flight, as from 0.27.1 on"),
    ({"cache_format": "bf16"}, "the cache is kept in BF16, whatever was asked for"),
    ({"cache_format": "fp8"}, "the cache is kept in FP8"),
    ({"hybrid_manager": "off"}, "sliding layers are kept whole"),
    ({"mtp_layers": "1", "verify_tokens": "2"}, "one prediction layer shares the pool"),
    ({"state_blocks": "1"}, "a session holds one state block: prefix caching is off"),
    ({"state_blocks": "2"}, "a session holds two state blocks: prefix caching is on"),
    ({"state_blocks": "3"}, "a session holds three state blocks: prefill checkpoints are kept"),
    ({"chunk": "2048"}, "a step takes 2,048 tokens"),
    ({"chunk": "16384"}, "a step takes 16,384 tokens"),
)

# What a log that states no layout may have run on, one replica of it.
_LAYOUTS = tuple(({"gpus": tp, "tp": tp, "dp": "1", "pp": "1", "ep": "1"}, f"it ran with TP {tp}, not the layout chosen here") for tp in ("1", "2", "4", "8", "16"))


def _variant(key: str, measured: Fraction, theirs: Envelope) -> str:
    """Find the one change that makes the rule print the line."""
    scenario = theirs.scenario
    tried = (*_VARIANTS, ({"dcp": scenario.text("tp")}, "decode context parallelism spans all ranks"), *_LAYOUTS)
    for change, words in tried:
        # A dense model has no expert layout to change with the rest.
        change = {name: text for name, text in change.items() if name != "ep" or scenario.applies("ep")}
        if not all(scenario.applies(name) for name in change):
            continue
        if "engine_version" in change and scenario["engine"] != "vllm":
            continue
        try:
            other = Envelope(scenario.with_(**change))
        except InputError:
            continue
        if _near(_figure(other, key), measured, key):
            return f"explained if {words}"
    return "no single setting explains it; check the model, the format and the layout"


def _say(value: Fraction | None, unit: str) -> str:
    """A figure as an engine prints it: GiB, tokens with commas, concurrency with two decimals."""
    if value is None:
        return "–"
    if unit == "bytes":
        return f"{float(value) / 2**30:,.2f} GiB" if value >= 2**20 else f"{shorten(float(value), 7)} bytes"
    return f"{int(value):,}" if unit in ("tokens", "count") else f"{float(value):,.2f}"


def report(text: str, scenario: Scenario) -> str:
    """A pasted log beside a scenario, as plain text for a terminal."""
    reading = read(text)
    if not reading.engine:
        return "No start-up line of vLLM, SGLang or TensorRT-LLM is recognised."
    names = {"vllm": "vLLM", "sglang": "SGLang", "tensorrt-llm": "TensorRT-LLM"}
    version = reading.measured.get("version")
    start = f"{names[reading.engine]}{' ' + str(version.value) if version else ''}, {len(reading.lines)} facts recognised"
    lines = [start + (", the rest beyond 2,000,000 characters unread" if reading.cut else ""), ""]
    table = [("line", "measured", "predicted", "with the log's settings", "difference")]
    rows = compare(reading, scenario)
    for row in rows:
        difference = "–" if row.difference is None else f"{row.difference:+.1%}"
        table.append((row.label, _say(row.measured, row.unit), _say(row.predicted, row.unit), _say(row.adopted, row.unit), difference))
    widths = [max(len(line[column]) for line in table) for column in range(5)]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table]
    lines += ["", *(f"{row.label}: {row.explanation}" for row in rows), "", "To adopt what the log says:"]
    lines += [f"  --set {key}={value!r}" if " " in value else f"  --set {key}={value}" for key, value in reading.adopt.items()]
    return "\n".join(lines)
