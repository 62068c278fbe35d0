"""Speculation: the bytes a verify step reads, the timed cycle, and what the drafter takes from the sessions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import catalog, pools, speculation
from envelope.quantities.capacity import chosen_ratio, need_of, rank_costs
from envelope.quantities.registry import SECOND, SEED, Found, Registry, Unavailable
from envelope.units import shorten, text

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

_registry = Registry("speculation")
_quantity = _registry.quantity

_UNIFORM = "skew and correlation of real routing: tokens of one sequence pick the same experts, so fewer are read"


def expert_ratio(e: Evaluation, requests: int) -> float:
    """Expert bytes of a verify step over those of a plain step at a number of requests."""
    block = e.input("verify_tokens")
    plain, verify = (_expert_bytes(e, tokens) for tokens in (requests, requests * block))
    if not plain:
        raise Unavailable("the model has no routed experts: a verify step reads the weights of a plain one")
    return verify / plain


def _expert_bytes(e: Evaluation, tokens: int) -> float:
    return sum(size for (part, _), size in e.read(tokens).items() if part == "routed_experts")


def all_bytes(e: Evaluation, requests: int) -> tuple[float, float]:
    """Bytes of a verify and of a plain step: weights, and each request's cache once."""
    caches = requests * float(e["cache_bytes_per_session"])
    verify = sum(e.read(requests * e.input("verify_tokens")).values())
    return verify + caches, sum(e.read(requests).values()) + caches


@_quantity("spec_expert_ratio", "Expert bytes, verify over plain", "ratio", "experts read by batch × verify_tokens / experts read by batch", SEED, _UNIFORM)
def spec_expert_ratio(e: Evaluation) -> Found:
    batch, block = e.input("batch"), e.input("verify_tokens")
    found = expert_ratio(e, batch)
    return Found(found, lambda: f"{text(_expert_bytes(e, batch * block), 'bytes')} at {batch * block:,} tokens / {text(_expert_bytes(e, batch), 'bytes')} at {batch:,}")


@_quantity("spec_bytes_ratio", "All bytes, verify over plain", "ratio", "(weights at batch × verify_tokens + caches) / (weights at batch + caches)", SEED, _UNIFORM)
def spec_bytes_ratio(e: Evaluation) -> Found:
    verify, plain = all_bytes(e, e.input("batch"))
    return Found(verify / plain, lambda: f"{text(verify, 'bytes')} / {text(plain, 'bytes')}")


def _advanced(e: Evaluation) -> Fraction:
    return Fraction(e.needed("acceptance", "no tokens per cycle are given (acceptance); measure them on your traffic"))


@_quantity("spec_bytes_bound", "Bytes-only bound", "ratio", "acceptance / spec_bytes_ratio", SEED,
           "latency, launches and compute: not a verdict. Measured gains lie above it at few requests and fall with concurrency while it rises")  # fmt: skip
def spec_bytes_bound(e: Evaluation) -> Found:
    advanced, ratio = _advanced(e), e["spec_bytes_ratio"]
    return Found(speculation.bytes_bound(float(advanced), ratio), lambda: f"{shorten(float(advanced))} tokens per cycle / {shorten(ratio)}")


def cycle(e: Evaluation) -> speculation.Cycle:
    """The timed cycle in seconds. Raises Unavailable where a time is missing."""
    verify = e.needed("verify_ms", "no verify step has been timed (verify_ms)")
    step = e.needed("step_ms", "no plain step has been timed (step_ms)")
    parts = (e.input("draft_ms"), verify, e.input("other_ms"), step)
    found = speculation.Cycle(*(Fraction(part) / 1000 for part in parts))
    if not found.seconds:
        raise Unavailable("a cycle of no time is no measurement")
    return found


@_quantity("spec_cycle_seconds", "Cycle", "seconds", "draft + verify + other, as measured", SECOND)
def spec_cycle_seconds(e: Evaluation) -> Found:
    timed = cycle(e)
    return Found(timed.seconds, lambda: f"{text(timed.draft, 'seconds')} + {text(timed.verify, 'seconds')} + {text(timed.other, 'seconds')}")


@_quantity("spec_breakeven_tokens", "Tokens per cycle to break even", "tokens per cycle", "cycle / plain step", SECOND)
def spec_breakeven_tokens(e: Evaluation) -> Found:
    timed = cycle(e)
    return Found(timed.breakeven, lambda: f"{text(timed.seconds, 'seconds')} / {text(timed.step, 'seconds')}")


@_quantity("spec_seconds_per_token", "Per token", "seconds", "cycle / acceptance", SECOND)
def spec_seconds_per_token(e: Evaluation) -> Found:
    timed, advanced = cycle(e), _advanced(e)
    return Found(timed.seconds_per_token(advanced), lambda: f"{text(timed.seconds, 'seconds')} / {shorten(float(advanced))} tokens")


@_quantity("spec_speedup", "Speed-up", "ratio", "plain step × acceptance / cycle", SECOND, "what another concurrency, prompt length or short outputs would measure")
def spec_speedup(e: Evaluation) -> Found:
    timed, advanced = cycle(e), _advanced(e)
    return Found(timed.speedup(advanced), lambda: f"{text(timed.step, 'seconds')} × {shorten(float(advanced))} / {text(timed.seconds, 'seconds')}")


@_quantity("spec_verdict", "Keep the drafter?", "text", "by the timed cycle, else by published guidance; never by the bytes-only bound", SECOND)
def spec_verdict(e: Evaluation) -> Found:
    advice, batch = catalog.traffic().guidance["drop_drafter"], e.input("batch")
    try:
        gain = e["spec_speedup"]
    except Unavailable as unavailable:
        missing = str(unavailable)
        e.rest_on(advice.tier)
        if advice.high is not None and batch > advice.high:
            return Found("drop it", lambda: f"{batch:,} requests: {advice.text} {advice.source}")
        return Found("time a cycle", lambda: f"{missing}; {advice.text} {advice.source}")
    return Found("keep it" if gain > 1 else "drop it", lambda: f"{shorten(float(gain))} times the speed of plain steps, timed at your concurrency")


@_quantity("spec_sessions", "Sessions beside the drafter", "sessions", "sessions with draft_weight_bytes off the pool and draft_cache_bytes_per_token on each token", SECOND, "verification buffers and graphs")
def spec_sessions(e: Evaluation) -> Found:
    weights, each = e.input("draft_weight_bytes"), e.input("draft_cache_bytes_per_token")
    if weights is None and each is None:
        raise Unavailable("no drafter's weights or cache are given", "draft_weight_bytes", "draft_cache_bytes_per_token")
    layout = e.scenario.layout
    per_gpu = (e["pool_bytes"] - Fraction(weights or 0)) / layout.gpus
    more = Fraction(each or 0) / (layout.tp * layout.pp)
    fewest = []
    for cost in rank_costs(e, layout.tp, layout.pp):
        need = need_of(e, cost.window)
        ratio = chosen_ratio(e, need) if e.input("pool_ratio") == "best" else Fraction(e.input("pool_ratio"))
        fewest.append(pools.sessions(per_gpu, replace(cost, full=cost.full + more), need, ratio))
    found = layout.dp * min(fewest)
    return Found(found, lambda: f"{text(per_gpu, 'bytes', 4)} per GPU after the drafter's weights, {shorten(float(more), 4)} more bytes per token and rank: {found:,} of {e['sessions']:,}")


DEFINITIONS = _registry.definitions
