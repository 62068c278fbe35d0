"""A benchmark's headline taken apart: what is output, how long a turn takes, what one agent sees."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from envelope.benchmark import Load, Workload
from envelope.quantities.registry import SEED, Found, Registry, Unavailable
from envelope.units import shorten, text

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

_registry = Registry("benchmark")
_quantity = _registry.quantity

_STEADY = "think time that is not stated, which counts as the server's: a steady state by Little's law"


def workload(e: Evaluation) -> Workload:
    """One conversation."""
    shape = (e.input(key) for key in ("turns", "first_turn", "new_tokens", "output_tokens"))
    return Workload(*shape, cached=e.input("prefix_caching") == "on")


def load(e: Evaluation) -> Load:
    """The workload at its stated rate. Raises Unavailable where no benchmark is stated."""
    total = e.needed("total_tokens_per_gpu_s", "no benchmark of this model on this machine is stated (total_tokens_per_gpu_s)")
    sessions = e.input("sessions_load")
    return Load(workload(e), Fraction(total), e.input("gpus"), sessions or 1)


def loaded(e: Evaluation) -> Load:
    """The same where the sessions in flight are stated too."""
    one = load(e)
    e.needed("sessions_load", "the benchmark states no sessions in flight (sessions_load)")
    return one


def _rate(e: Evaluation, tokens: int) -> Found:
    one = load(e)
    each = one.conversations_per_gpu_second
    return Found(each * tokens, lambda: f"{shorten(float(one.total_per_gpu), 5)} tokens/s × {tokens:,} / {one.workload.total:,} tokens of a conversation")


def _share(e: Evaluation, tokens: int) -> Found:
    total = workload(e).total
    return Found(Fraction(tokens, total), lambda: f"{tokens:,} / {total:,} tokens of a conversation")


@_quantity("bench_hits_per_gpu", "Cache hits per GPU", "tokens/s", "total × hits / tokens of a conversation; every turn resends the conversation so far", SEED)
def bench_hits_per_gpu(e: Evaluation) -> Found:
    return _rate(e, workload(e).hits)


@_quantity("bench_fresh_per_gpu", "Fresh input per GPU", "tokens/s", "total × fresh input / tokens of a conversation", SEED)
def bench_fresh_per_gpu(e: Evaluation) -> Found:
    return _rate(e, workload(e).fresh)


@_quantity("bench_output_per_gpu", "Output per GPU", "tokens/s", "total × output / tokens of a conversation", SEED)
def bench_output_per_gpu(e: Evaluation) -> Found:
    return _rate(e, workload(e).output)


@_quantity("bench_hits_share", "Hits in the headline", "share", "hits / all tokens of a conversation", SEED)
def bench_hits_share(e: Evaluation) -> Found:
    return _share(e, workload(e).hits)


@_quantity("bench_fresh_share", "Fresh input in the headline", "share", "fresh input / all tokens of a conversation", SEED)
def bench_fresh_share(e: Evaluation) -> Found:
    return _share(e, workload(e).fresh)


@_quantity("bench_output_share", "Output in the headline", "share", "output / all tokens of a conversation", SEED)
def bench_output_share(e: Evaluation) -> Found:
    return _share(e, workload(e).output)


@_quantity("bench_turns_per_second", "Turns completed", "turns/s", "gpus × total / tokens of a conversation × turns", SEED)
def bench_turns_per_second(e: Evaluation) -> Found:
    one = load(e)
    return Found(one.turns_per_second, lambda: f"{one.gpus} × {shorten(float(one.total_per_gpu), 5)} / {one.workload.total:,} × {one.workload.turns}")


@_quantity("bench_turn_seconds", "Turn time", "seconds", "sessions_load / bench_turns_per_second, by Little's law", SEED, _STEADY)
def bench_turn_seconds(e: Evaluation) -> Found:
    one = loaded(e)
    return Found(one.turn_seconds, lambda: f"{one.sessions:,} sessions / {shorten(float(one.turns_per_second), 4)} turns/s")


@_quantity("bench_decode_seconds", "… decoding", "seconds", "output_tokens / user_tokens_s", SEED)
def bench_decode_seconds(e: Evaluation) -> Found:
    load(e)
    speed = e.needed("user_tokens_s", "the benchmark states no speed per user (user_tokens_s)")
    tokens = e.input("output_tokens")
    return Found(tokens / Fraction(speed), lambda: f"{tokens:,} tokens / {shorten(float(speed))} tokens/s")


@_quantity("bench_wait_seconds", "… queueing and prefill", "seconds", "bench_turn_seconds − bench_decode_seconds − think_s", SEED, _STEADY)
def bench_wait_seconds(e: Evaluation) -> Found:
    turn, decode, think = e["bench_turn_seconds"], e["bench_decode_seconds"], Fraction(e.input("think_s"))
    parts = [turn, decode, *([think] if think else [])]
    return Found(turn - decode - think, lambda: " − ".join(text(part, "seconds") for part in parts))


@_quantity("bench_agent_tokens_per_second", "What one agent sees", "tokens/s", "output_tokens / (bench_turn_seconds − think_s)", SEED, _STEADY)
def bench_agent_tokens_per_second(e: Evaluation) -> Found:
    turn, think, tokens = e["bench_turn_seconds"], Fraction(e.input("think_s")), e.input("output_tokens")
    if turn <= think:
        raise Unavailable("the whole turn is think time")
    return Found(tokens / (turn - think), lambda: f"{tokens:,} tokens / {text(turn - think, 'seconds')}")


DEFINITIONS = _registry.definitions
