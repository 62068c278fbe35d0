"""Benchmark: what a headline of total tokens is made of, and what a day-zero benchmark should report."""

from __future__ import annotations

from envelope.decisions.words import NONE, applying, needed, said
from envelope.evaluation import Envelope
from envelope.fields.decisions import replay
from envelope.quantities.benchmark import workload
from envelope.scenario import BY_KEY
from envelope.sections import Content, Section, Table
from envelope.units import shorten, text, token_text

_RATES = ("bench_hits_per_gpu", "bench_fresh_per_gpu", "bench_output_per_gpu", "bench_hits_share", "bench_fresh_share", "bench_output_share")
_RULES = frozenset({"total_is_not_output", "turn_is_steady_state", "conversation_outgrows_context", "prefix_caching_off"})
_TIMES = ("bench_turns_per_second", "bench_turn_seconds", "bench_decode_seconds", "bench_wait_seconds", "bench_agent_tokens_per_second")


def answer(envelope: Envelope) -> str:
    """`80.3K tokens/s per GPU is 0.27% output; an agent waits 12.4 of 16.0 s`; what is known without a rate, else."""
    total, output = envelope.scenario["total_tokens_per_gpu_s"], shorten(float(needed(envelope, "bench_output_share")) * 100, 2)
    if total is None:
        hits = float(needed(envelope, "bench_hits_share"))
        start = f"{output}% of a conversation's tokens are output and {hits:.0%} cache hits"
    else:
        start = f"{_thousands(float(total))} tokens/s per GPU is {output}% output"
    wait = envelope["bench_wait_seconds"]
    if wait.value is None:
        labels = " and ".join(BY_KEY[key].label for key in wait.missing)
        return f"{start}; enter {labels} for the turn time" if labels else start
    return f"{start}; an agent waits {float(wait.value):.1f} of {float(needed(envelope, 'bench_turn_seconds')):.1f} s"


def _thousands(value: float) -> str:
    return f"{shorten(value / 1000)}K" if value >= 1000 else shorten(value)


def content(envelope: Envelope) -> Content:
    """The headline's parts, the turn, and the checklist."""
    published = replay()
    source = f"Defaults: {published.name}, {published.machine} × {published.gpus}, {published.source} (tier {published.tier}); {published.note}."
    steady = "The turn time is a steady state by Little's law: think time between turns that nobody states counts as waiting."
    return Content(
        quantities=(*_RATES, *_TIMES),
        tables=(_conversation(envelope), _checklist(envelope)),
        inputs=applying(
            envelope, "turns", "first_turn", "new_tokens", "output_tokens", "prefix_caching", "total_tokens_per_gpu_s", "gpus",
            "sessions_load", "user_tokens_s", "think_s",
        ),
        paragraphs=(source, steady),
    )  # fmt: skip


def _conversation(envelope: Envelope) -> Table:
    one = workload(envelope.evaluation)
    rows = tuple((name, f"{tokens:,}", f"{tokens / one.total:.2%}") for name, tokens in (("cache hits", one.hits), ("fresh input", one.fresh), ("output", one.output), ("all", one.total)))
    return Table(f"One conversation of {one.turns} turns", ("Tokens", "Count", "Share"), rows, f"It holds {one.longest:,} tokens at its end.")


def _checklist(envelope: Envelope) -> Table:
    """What a day-zero benchmark should report, and what of it the inputs hold."""
    scenario, one = envelope.scenario, workload(envelope.evaluation)
    pace = f"{one.turns} turns, first {one.first_turn:,}, then {one.new_tokens:,} new tokens; {float(needed(envelope, 'cost_hit_share')):.0%} of input resent"
    think = f"{text(scenario['think_s'], 'seconds')} between turns" if "think_s" in scenario.given else "not stated"
    advanced = scenario["acceptance"]
    rows = (
        ("output tokens/s per GPU", said(envelope, "bench_output_per_gpu"), _state(envelope, "bench_output_per_gpu")),
        ("turn time", f"mean {said(envelope, 'bench_turn_seconds')}", _state(envelope, "bench_turn_seconds", "derived; the 90th percentile is not stated")),
        ("time to first token", f"mean at most {said(envelope, 'bench_wait_seconds')}", _state(envelope, "bench_wait_seconds", "derived; the 90th percentile is not stated")),
        ("prefix structure and timing of the traffic", pace, "stated" if think != "not stated" else "timing not stated"),
        ("think time", think, "stated" if "think_s" in scenario.given else "missing"),
        ("the drafter's real tokens per cycle", shorten(float(advanced)) if advanced is not None else NONE, str(scenario["acceptance_is"]) if advanced is not None else "missing"),
        ("the context that is admitted", token_text(scenario["context"]), "as set"),
    )  # fmt: skip
    return Table("What a day-zero benchmark should report", ("What", "Here", "State"), rows)


def _state(envelope: Envelope, key: str, found: str = "derived from the total") -> str:
    return found if envelope.value(key) is not None else "missing"


SECTION = Section("benchmark", "Benchmark", answer, content, _RULES)
