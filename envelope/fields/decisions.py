"""Inputs of the decisions and checks: a drafter, a benchmark, a score, a budget, a host's memory."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from envelope import benchmark, catalog, units
from envelope.admission import gib
from envelope.fields.base import (
    BYTES, CHOICE, COUNT, NUMBER, RATE, SECONDS, SPEED, TOKENS, UNSET, Default, Field, InputError, Kind, Known, Value,
    constant, decimal_text, exact,
)  # fmt: skip
from envelope.records import Replay

CHECKPOINT, HOST, SPECULATION = "Checkpoint", "Host memory", "Speculation"
ACCURACY, BENCHMARK, ADMISSION = "Accuracy", "Benchmark", "Admission"

# The replay every default of a benchmark comes from: the one whose workload is published in full.
REPLAY = "openhands"
REFERENCE = "GSM8K"


def _read_ms(text: str) -> Value:
    scales = {"": 1, "ms": 1, "s": 1000, "us": Fraction(1, 1000), "µs": Fraction(1, 1000), "min": 60_000}
    return units.number(text, scales, "milliseconds such as 42, or a time such as 42 ms or 0.042 s")


def _read_percent(text: str) -> Value:
    return units.number(text, {"": 1, "%": 1}, "a score in percent such as 97.8")


def _read_label(text: str) -> Value:
    if len(text.strip()) > 60:
        raise ValueError("accepts a name of at most 60 characters")
    return text.strip()


def _number_echo(unit: str) -> Callable[[Value], str]:
    return lambda value: f"{units.shorten(float(value), 6)}{unit}"


MILLISECONDS = Kind("ms", _read_ms, decimal_text, _number_echo(" ms"))
PERCENT = Kind("percent", _read_percent, decimal_text, _number_echo("%"))
PER_SECOND = Kind("1/s", units.real, decimal_text, _number_echo(" per second"))
LABEL = Kind("text", _read_label, str, str)


def replay() -> Replay:
    """The published benchmark that the defaults describe."""
    return catalog.traffic().replays[REPLAY]


def measured_here(known: Known) -> bool:
    """True where the replay ran this model on this machine, so that its measured rates may stand as defaults."""
    published = replay()
    return (
        known.preset is not None
        and known.preset.slug == published.model
        and not known.model_edited
        and known.machine.id == published.machine
        and known["gpus"] == published.gpus
    )


def _workload(name: str) -> Callable[[Known], Default]:
    return lambda known: _published(name)


@cache
def _published(name: str) -> Default:
    published = replay()
    return Default(getattr(published, name), published.tier, f"{published.name}: {published.source}")


def _measured(name: str) -> Callable[[Known], Default]:
    return lambda known: _published(name) if measured_here(known) else UNSET


def _has_benchmark(known: Known) -> bool:
    return known["total_tokens_per_gpu_s"] is not None


def _published_total(known: Known) -> Default:
    stated = known.preset.published_total if known.preset else None
    return Default(stated.value, stated.tier, stated.source) if stated else UNSET


def _machine_value(name: str) -> Callable[[Known], Default]:
    def default(known: Known) -> Default:
        found = getattr(known.machine, name)
        return Default(exact(found.value), found.tier, found.source) if found else UNSET

    return default


@cache
def _reference(slug: str) -> tuple[Default, Default]:
    """The published score of a model and its harness."""
    scores = catalog.traffic().scores
    found = next((one for one in scores if one.model == slug and one.benchmark == REFERENCE and one.low == one.high), None)
    if found is None:
        return UNSET, UNSET
    score = Default(exact(str(found.low)), found.tier, f"{found.benchmark}, {found.harness}: {found.source}")
    return score, Default(found.harness, found.tier, found.source)


def _reference_score(known: Known) -> Default:
    return _reference(known.preset.slug)[0] if known.preset else UNSET


def _reference_harness(known: Known) -> Default:
    return _reference(known.preset.slug)[1] if known.preset else UNSET


def _timed(known: Known) -> bool:
    return known["verify_ms"] is not None


_INSIDE_THE_SHARE = Default(Fraction(0), source="inside the share that memory_fraction keeps back")
_NOT_NAMED = Default(Fraction(0), "C", why="no measurement was named")


def _unmeasured(known: Known) -> Default:
    return _INSIDE_THE_SHARE if known["usable_per_rank"] is None else _NOT_NAMED


def _longest(known: Known) -> int:
    return max(length for length, _ in known["mix"] or ((known["context"], 1),))


def _output_reserve(known: Known) -> Default:
    return Default(min(known["output_tokens"], max(0, _longest(known) - 1)), "B", "output_tokens of the workload")


def _prompt_reserve(known: Known) -> Default:
    return Default(max(1, _longest(known) - known["output_reserve"]), source="the longest context less output_reserve")


def _has_model(known: Known) -> bool:
    return known.model is not None


def _has_host(known: Known) -> bool:
    return not known.machine.unified


def _has_host_cache(known: Known) -> bool:
    return _has_host(known) and known["host_cache_per_rank"] is not None


_CACHING = (("on", "on"), ("off", "off"))
_TIME = (0, 10**7)

FIELDS: tuple[Field, ...] = (
    Field("published_total", "Published total", NUMBER, CHECKPOINT, "Parameters the publisher states, to check the rebuilt count against.",
          _published_total, bounds=(1, 10**16), applies=_has_model),
    Field("host_cache_per_rank", "Host cache per rank", BYTES, HOST, "Pinned host memory each rank takes for idle caches (SGLang hicache_size).",
          UNSET, bounds=(0, 10**15), applies=_has_host),
    Field("host_memory", "Host memory", BYTES, HOST, "Memory of the host, all GPUs of a node together.", _machine_value("host_memory"), bounds=(0, 10**16), applies=_has_host_cache),
    Field("host_link", "Host link", RATE, HOST, "Bytes per second between one GPU and the host, one direction.", _machine_value("host_link"), bounds=(10**6, 10**15), applies=_has_host),
    Field("draft_weight_bytes", "Drafter's weights", BYTES, SPECULATION, "Bytes of the draft model or prediction heads, on all GPUs.", UNSET, bounds=(0, 10**15)),
    Field("draft_cache_bytes_per_token", "Drafter's cache per token", NUMBER, SPECULATION, "Bytes the drafter keeps per token of context.", UNSET, bounds=(0, 10**9)),
    Field("step_ms", "Plain step", MILLISECONDS, SPECULATION, "Measured milliseconds of a decode step without the drafter, at your concurrency.", UNSET, bounds=(Fraction(1, 10**6), 10**7)),
    Field("verify_ms", "Verify step", MILLISECONDS, SPECULATION, "Measured milliseconds of one verify step.", UNSET, bounds=_TIME),
    Field("draft_ms", "Drafting", MILLISECONDS, SPECULATION, "Measured milliseconds of drafting, per cycle.", constant(Fraction(0), why="no drafting time was named"), bounds=_TIME, applies=_timed),
    Field("other_ms", "Other", MILLISECONDS, SPECULATION, "Measured milliseconds of everything else in a cycle.", constant(Fraction(0), why="no other time was named"), bounds=_TIME, applies=_timed),
    Field("score", "Your score", PERCENT, ACCURACY, "Score of your deployment, percent.", UNSET, bounds=(0, 100)),
    Field("harness", "Your harness", LABEL, ACCURACY, "What measured your score.", UNSET),
    Field("reference_score", "Reference score", PERCENT, ACCURACY, "Score of the reference, percent.", _reference_score, bounds=(0, 100)),
    Field("reference_harness", "Reference's harness", LABEL, ACCURACY, "What measured the reference.", _reference_harness),
    Field("turns", "Turns", COUNT, BENCHMARK, "Turns of one conversation.", _workload("turns"), bounds=(1, 10**6)),
    Field("first_turn", "First turn", TOKENS, BENCHMARK, "Input tokens of the first turn.", _workload("first_turn_tokens"), bounds=(1, 10**9)),
    Field("new_tokens", "New per turn", TOKENS, BENCHMARK, "Input tokens each later turn adds.", _workload("new_tokens"), bounds=(0, 10**9)),
    Field("output_tokens", "Output per turn", TOKENS, BENCHMARK, "Tokens each turn generates.", _workload("output_tokens"), bounds=(1, 10**9)),
    Field("prefix_caching", "Prefix caching", CHOICE, BENCHMARK, "Whether a turn finds the conversation so far in the cache.", constant("on", source="engines' default"), choices=lambda known: _CACHING),
    Field("total_tokens_per_gpu_s", "Total per GPU", SPEED, BENCHMARK, "Input, cached and output tokens per second and GPU, as benchmarks headline them.", _measured("total_tokens_per_gpu_second"), bounds=(Fraction(1, 1000), 10**9)),
    Field("sessions_load", "Sessions in flight", COUNT, BENCHMARK, "Conversations in flight on all GPUs of the benchmark.", _measured("sessions"), bounds=(1, 10**7), applies=_has_benchmark),
    Field("user_tokens_s", "Speed per user", SPEED, BENCHMARK, "Tokens per second one user sees while decoding.", _measured("tokens_per_second_per_user"), bounds=(Fraction(1, 1000), 10**6), applies=_has_benchmark),
    Field("think_s", "Think time", SECONDS, BENCHMARK, "Seconds a client waits between turns.", constant(Fraction(0), why="the benchmark states no think time between turns"), bounds=(0, 10**7), applies=_has_benchmark),
    Field("usable_per_rank", "Usable per rank", BYTES, ADMISSION, "Memory of one rank that the engine may use; overrides hbm × memory_fraction.", UNSET, bounds=(1, 10**14), follows="admit_usable_bytes"),
    Field("graph_bytes", "Graphs and communication", BYTES, ADMISSION, "Measured bytes per rank after graph capture.", _unmeasured, bounds=(0, 10**14)),
    Field("reserve_bytes", "Reserve", BYTES, ADMISSION, "Bytes per rank kept for variation.", _unmeasured, bounds=(0, 10**14)),
    Field("state_reserve", "Fixed state", BYTES, ADMISSION, "Bytes per rank for bounded per-sequence state at the proposed concurrency; overrides what windows and state take.", UNSET, bounds=(0, 10**14), follows="admit_fixed_bytes"),
    Field("output_reserve", "Output reserved", TOKENS, ADMISSION, "Output tokens reserved for each request.", _output_reserve, bounds=(0, 10**9)),
    Field("prompt_reserve", "Prompt reserved", TOKENS, ADMISSION, "Prompt tokens reserved for each request.", _prompt_reserve, bounds=(1, 10**9)),
    Field("arrival_per_s", "Arrivals", PER_SECOND, ADMISSION, "Requests that arrive per second.", UNSET, bounds=(0, 10**7)),
    Field("residence_s", "Residence", SECONDS, ADMISSION, "Seconds a request stays in the engine.", UNSET, bounds=(0, 10**7)),
)  # fmt: skip

_BENCH_KEYS = ("think_s", "user_tokens_s", "sessions_load", "total_tokens_per_gpu_s", "output_tokens", "new_tokens", "first_turn", "turns")


def inconsistent(known: Known) -> list[InputError]:
    """Find values of a decision that are fine alone and impossible together, each named with the sum."""
    errors = (_impossible_turn(known), _impossible_budget(known), _impossible_acceptance(known))
    return [error for error in errors if error is not None]


def _impossible_turn(known: Known) -> InputError | None:
    """A turn that decodes and thinks for longer than Little's law gives it."""
    key = next((key for key in _BENCH_KEYS if key in known.given), None)
    needed = [known[name] for name in ("total_tokens_per_gpu_s", "sessions_load", "user_tokens_s")]
    if key is None or None in needed:
        return None
    total, sessions, speed = needed
    workload = benchmark.Workload(known["turns"], known["first_turn"], known["new_tokens"], known["output_tokens"])
    load = benchmark.Load(workload, Fraction(total), known["gpus"], sessions)
    decode, think, turn = workload.output_tokens / Fraction(speed), Fraction(known["think_s"]), load.turn_seconds
    if decode + think <= turn:
        return None
    seconds = [units.text(value, "seconds") for value in (decode, think, decode + think, turn)]
    return InputError(
        key, known[key],
        f"does not add up: decoding {seconds[0]} + thinking {seconds[1]} = {seconds[2]}, but {sessions:,} sessions at "
        f"{units.shorten(float(load.turns_per_second))} turns/s leave {seconds[3]} a turn",
    )  # fmt: skip


def _impossible_budget(known: Known) -> InputError | None:
    """Graphs and reserves beyond the memory they are taken from."""
    usable = known["usable_per_rank"]
    if usable is None:
        return None
    parts = [("graph_bytes", known["graph_bytes"]), ("reserve_bytes", known["reserve_bytes"]), ("state_reserve", known["state_reserve"] or 0)]
    total = sum(size for _, size in parts)
    if total < usable:
        return None
    key = max(parts, key=lambda part: part[1])[0]
    terms = " + ".join(gib(size) for _, size in parts if size)
    return InputError(key, known[key], f"does not add up: {terms} = {gib(total)} leave nothing of the usable {gib(usable)}")


def _impossible_acceptance(known: Known) -> InputError | None:
    """More tokens advanced than a block and its bonus hold."""
    advanced, block = known["acceptance"], known["verify_tokens"]
    if advanced is None or advanced <= block + 1:
        return None
    return InputError("acceptance", advanced, f"exceeds a verify block of {block:,} and its bonus: at most {block + 1:,} tokens advance in a cycle")
