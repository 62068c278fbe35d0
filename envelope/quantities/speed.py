"""Bandwidth-bound speed, the prefill floor, and what tokens cost. All speeds are upper bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import checkpoint, parameters, pricing
from envelope.quantities.model import longest, prefill_work, step_at
from envelope.quantities.registry import SEED, Found, Registry, Unavailable
from envelope.units import counted, shorten, text

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

_registry = Registry("speed")
_quantity = _registry.quantity

_BOUND = "compute, kernel launches, collectives and scheduling, which only make a step longer"


def _step_working(e: Evaluation, batch: int) -> str:
    weights = sum(e.read(batch).values())
    caches = batch * float(e["cache_bytes_per_session"])
    rate = e.input("gpus") * float(e.input("bandwidth"))
    return f"({text(weights, 'bytes')} + {text(caches, 'bytes')}) / ({text(rate, 'bytes/s')} × {shorten(float(e.input('bandwidth_share')), 6)}) = {text(step_at(e, batch), 'seconds')}"


@_quantity("step_seconds", "Step time, at least", "seconds", "(bytes_per_step + batch × cache_bytes_per_session) / (gpus × bandwidth × bandwidth_share)", SEED, _BOUND)
def step_seconds(e: Evaluation) -> Found:
    batch = e.input("batch")
    return Found(step_at(e, batch), lambda: _step_working(e, batch))


@_quantity("tokens_per_second_per_user", "Speed per user, at most", "tokens/s", "1 / step_seconds", SEED, _BOUND)
def tokens_per_second_per_user(e: Evaluation) -> Found:
    step = e["step_seconds"]
    return Found(1 / step, lambda: f"1 / {text(step, 'seconds')}")


@_quantity("output_tokens_per_second", "Output in all, at most", "tokens/s", "batch / step_seconds", SEED, _BOUND)
def output_tokens_per_second(e: Evaluation) -> Found:
    step, batch = e["step_seconds"], e.input("batch")
    return Found(batch / step, lambda: f"{batch:,} / {text(step, 'seconds')}")


def _full_batch(e: Evaluation) -> int:
    count = e["sessions"]
    if not count:
        raise Unavailable("no session of this length fits")
    return count


@_quantity("capacity_tokens_per_second_per_user", "Speed per user when full, at most", "tokens/s", "1 / step time at batch = sessions", SEED, _BOUND)
def capacity_tokens_per_second_per_user(e: Evaluation) -> Found:
    batch = _full_batch(e)
    return Found(1 / step_at(e, batch), lambda: f"1 / [{_step_working(e, batch)}] at {counted(batch, 'sessions')}")


@_quantity("capacity_output_tokens_per_second", "Output when full, at most", "tokens/s", "sessions / step time at batch = sessions", SEED, _BOUND)
def capacity_output_tokens_per_second(e: Evaluation) -> Found:
    batch = _full_batch(e)
    return Found(batch / step_at(e, batch), lambda: f"{batch:,} / [{_step_working(e, batch)}]")


@_quantity("capacity_output_tokens_per_second_per_gpu", "Output per GPU when full, at most", "tokens/s", "capacity_output_tokens_per_second / gpus", SEED, _BOUND)
def capacity_output_tokens_per_second_per_gpu(e: Evaluation) -> Found:
    output, gpus = e["capacity_output_tokens_per_second"], e.input("gpus")
    return Found(output / gpus, lambda: f"{text(output, 'tokens/s')} / {counted(gpus, 'GPUs')}")


@_quantity("bytes_per_output_token", "Bytes per output token", "bytes", "(bytes_per_step + batch × cache_bytes_per_session) / batch", SEED)
def bytes_per_output_token(e: Evaluation) -> Found:
    batch = e.input("batch")
    weights, caches = sum(e.read(batch).values()), float(e["cache_bytes_per_session"])
    return Found(weights / batch + caches, lambda: f"{text(weights, 'bytes')} / {batch:,} + {text(caches, 'bytes')}")


@_quantity("prefill_seconds_floor", "Prefill of the context, at least", "seconds", "prefill FLOP of the context, the longest of a mix / (gpus × dense rate of each part's stored format, BF16's where the machine does not multiply it)", SEED,
           "anything below peak rate: real prefill takes longer")  # fmt: skip
def prefill_seconds_floor(e: Evaluation) -> Found:
    tokens, gpus = longest(e), e.input("gpus")
    given, rates, attention_rate = e.once(_prefill_rates)
    seconds: dict[str, float] = {}
    for key, (rate, matrices) in rates.items():
        total, together = 0.0, gpus * rate
        for work in matrices:
            total += work * tokens * given / together
        seconds[key] = total
    work = prefill_work(e)
    attention = float(work.growing + work.bounded) / (gpus * attention_rate)
    total = sum(seconds.values()) + attention

    def working() -> str:
        terms = [f"{key} matrices {text(size, 'seconds')} at {text(rates[key][0], 'FLOP/s')}" for key, size in seconds.items()]
        return " + ".join([*terms, f"attention {text(attention, 'seconds')}"]) + f" = {text(total, 'seconds')}"

    return Found(total, working)


def _prefill_rates(e: Evaluation) -> tuple[float, dict[str, tuple[float, tuple[int, ...]]], float]:
    """The share of the matrices' work that is done, each format's rate and matrices, and the rate of attention."""
    # Where the active parameters are given, the matrices keep their shares of the work.
    given = float(e["active_parameters"]) / (parameters.active(e.model) or 1)
    work = checkpoint.matrix_work(e.model, e.split)
    return given, {key: (_rate(e, key), matrices) for key, matrices in work.items()}, _rate(e, "bf16")


def _rate(e: Evaluation, format: str) -> float:
    """Dense FLOP/s of one GPU for a stored format, the BF16 rate where it has to be converted."""
    machine = e.scenario.machine
    rate = machine.rate(format) or machine.bf16
    if rate is None:
        raise Unavailable(f"no matrix rate is known for {machine.short_name}: {machine.absent.get('bf16', 'none is published')}")
    e.rest_on(rate.tier)
    return rate.value


def node_cost(e: Evaluation) -> float:
    """Rent of all GPUs in USD per second. Raises Unavailable where no price is known."""
    rent = e.needed("gpu_hour", f"no rental price is known for {e.scenario.machine.short_name}")
    return pricing.node_usd_per_second(e.input("gpus"), float(rent))


@_quantity("cost_per_million_output", "Per million output tokens", "USD", "gpus × gpu_hour / 3600 × step time at batch / batch × 1,000,000, batch = min(ceiling_sessions, max_batch)", SEED,
           "prefill, idle time and everything a bandwidth bound leaves out")  # fmt: skip
def cost_per_million_output(e: Evaluation) -> Found:
    batch = min(e["ceiling_sessions"], e.input("max_batch"))
    if not batch:
        raise Unavailable("no session of this length fits")
    node = node_cost(e)
    step = step_at(e, batch)
    return Found(pricing.per_million(node, step, batch), lambda: f"{text(node * 3600, 'USD')} per hour × {text(step, 'seconds')} / {batch:,} sessions × 1,000,000 tokens")


@_quantity("cache_breakeven_seconds", "Holding a cache pays for", "seconds", "cached_price × pool_bytes / (cache_bytes_per_token × node cost per second)", SEED,
           "the window state, which shortens it for short contexts")  # fmt: skip
def cache_breakeven_seconds(e: Evaluation) -> Found:
    price = e.needed("cached_price", "no cached-token price is known for this model")
    pool, each = e["pool_bytes"], e["cache_bytes_per_token"]
    if not each:
        raise Unavailable("no layer's cache grows, so nothing is priced per token")
    node = node_cost(e)
    if not node:
        raise Unavailable("the machine costs nothing, so holding a cache always pays")
    found = pricing.breakeven_seconds(float(price), float(pool), float(each), node)
    return Found(found, lambda: f"${shorten(float(price))} per 1,000,000 tokens × {text(pool, 'bytes', 4)} / ({text(each, 'bytes', 4)} × {text(node * 3600, 'USD')} per hour) = {text(found, 'seconds')}")


@_quantity("cache_breakeven_with_window_seconds", "… with the window counted", "seconds", "cached_price × mean length × sessions that fit / node cost per second", SEED)
def cache_breakeven_with_window_seconds(e: Evaluation) -> Found:
    price = e.needed("cached_price", "no cached-token price is known for this model")
    mix = e.scenario.mix
    mean = Fraction(sum(length * count for length, count in mix), sum(count for _, count in mix))
    pool, each = e["pool_bytes"], e["cache_bytes_per_session"] / mean
    if not each:
        raise Unavailable("a session keeps nothing in memory, so holding it costs nothing")
    node = node_cost(e)
    if not node:
        raise Unavailable("the machine costs nothing, so holding a cache always pays")
    found = pricing.breakeven_seconds(float(price), float(pool), float(each), node)
    return Found(found, lambda: f"${shorten(float(price))} per 1,000,000 tokens × {text(pool, 'bytes', 4)} / ({text(each, 'bytes', 4)} per token with windows × {text(node * 3600, 'USD')} per hour)")


DEFINITIONS = _registry.definitions
