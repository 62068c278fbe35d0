"""What context costs: per output token, against the list price, with another model's cache, without a prefix cache."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from envelope import catalog, decode, pricing
from envelope.quantities.benchmark import workload
from envelope.quantities.model import session_bytes
from envelope.quantities.registry import SEED, Found, Registry, Unavailable
from envelope.quantities.speed import node_cost
from envelope.units import shorten, text

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

_registry = Registry("cost")
_quantity = _registry.quantity

_BOUND = "prefill, idle time and everything a bandwidth bound leaves out"
# The published cache that stores least per token, to price the same weights with.
SMALLEST = "deepseek-v4.1-flash"

# Cost per million output tokens, and the batch it is reached with; None where not one session fits.
Priced = tuple[float, int] | None


def cost_of(e: Evaluation, batch: int, session: Fraction) -> float:
    """USD per million output tokens with `batch` sessions of `session` bytes each."""
    share, rate = float(e.input("bandwidth_share")), float(e.input("bandwidth"))
    step = decode.step_seconds(sum(e.read(batch).values()), batch * float(session), e.input("gpus"), rate, share)
    return pricing.per_million(node_cost(e), step, batch)


def cost_at(e: Evaluation, context: int, each: Fraction | None = None) -> Priced:
    """Cost at a context and the batch behind it: the ceiling, at most max_batch; None where not one session fits.

    `each` bytes per token stand for another cache without windows.
    """
    session = Fraction(session_bytes(e, context)) if each is None else each * context
    limit = e.input("max_batch")
    batch = min(e["pool_bytes"] // session, limit) if session else limit
    return (cost_of(e, batch, session), batch) if batch else None


def smallest_cache(e: Evaluation) -> Fraction:
    """Bytes per token of the smallest published cache."""
    stated = catalog.model(SMALLEST).stated_cache
    if stated is None:
        raise Unavailable("no compressed cache is published")
    e.rest_on(stated.tier)
    return Fraction(stated.value)


@_quantity("cost_engine_per_million_output", "Per million output, engine's sessions", "USD", "cost_per_million_output with batch = min(sessions, max_batch)", SEED, _BOUND)
def cost_engine_per_million_output(e: Evaluation) -> Found:
    batch = min(e["sessions"], e.input("max_batch"))
    if not batch:
        raise Unavailable("no session of this length fits")
    found = cost_of(e, batch, e["cache_bytes_per_session"])
    return Found(found, lambda: f"{batch:,} sessions in the engine's pools instead of the ceiling {e['ceiling_sessions']:,}")


@_quantity("cost_small_cache_per_million_output", "… with the smallest published cache", "USD", "the same weights with the smallest published cache per token, and no window", SEED, _BOUND)
def cost_small_cache_per_million_output(e: Evaluation) -> Found:
    each, context = smallest_cache(e), e.input("context")
    priced = cost_at(e, context, each)
    if priced is None:
        raise Unavailable("no session of this length fits")
    return Found(priced[0], lambda: f"{priced[1]:,} sessions of {text(each * context, 'bytes')} each, the cache of {catalog.model(SMALLEST).name}")


@_quantity("cost_crossing_context", "Costs more than its list price from", "tokens", "the smallest context whose cost per million output tokens reaches output_price", SEED, _BOUND)
def cost_crossing_context(e: Evaluation) -> Found:
    price = float(e.needed("output_price", "no output price is known for this model"))
    low, high = (1, cost_at(e, 1)), (2**20, cost_at(e, 2**20))
    if low[1] is None:
        raise Unavailable("no session fits")
    while _below(high[1], price):
        if high[0] > 2**40:
            raise Unavailable("no context costs as much as the list price")
        low, high = high, (high[0] * 2, cost_at(e, high[0] * 2))
    if not _below(low[1], price):
        high = low
    # Cost never falls with context, since batches only shrink: narrow down between the last below and the first not.
    while high[0] - low[0] > 1:
        middle = _between(low, high, price)
        priced = cost_at(e, middle)
        low, high = ((middle, priced), high) if _below(priced, price) else (low, (middle, priced))
    context, reached = high
    if reached is None:
        raise Unavailable("up to the longest context that fits, decoding costs less than the list price")
    return Found(context, lambda: f"{text(reached[0], 'USD')} with {reached[1]:,} sessions, list price {text(price, 'USD')}")


def _below(priced: Priced, price: float) -> bool:
    return priced is not None and priced[0] < price


def _between(low: tuple[int, Priced], high: tuple[int, Priced], price: float) -> int:
    """The next length to price: where a straight line meets the price once both ends have one batch, else halfway."""
    (start, first), (end, last) = low, high
    if first is None or last is None or first[1] != last[1]:
        return (start + end) // 2
    meets = start + (price - first[0]) / (last[0] - first[0]) * (end - start)
    return min(end - 1, max(start + 1, ceil(meets)))


@_quantity("cost_hit_share", "Input found in the cache", "share", "input an earlier turn has sent / all input of a conversation", SEED)
def cost_hit_share(e: Evaluation) -> Found:
    load = workload(e)
    resent = load.input_tokens - load.new_input
    return Found(Fraction(resent, load.input_tokens), lambda: f"{resent:,} / {load.input_tokens:,} input tokens in {load.turns} turns")


@_quantity("cost_prefix_off_factor", "Prefill without prefix caching", "ratio", "all input of a conversation / input no earlier turn has sent", SEED)
def cost_prefix_off_factor(e: Evaluation) -> Found:
    load = workload(e)
    return Found(Fraction(load.input_tokens, load.new_input), lambda: f"{load.input_tokens:,} / {load.new_input:,} tokens = {shorten(load.input_tokens / load.new_input)} times more")


DEFINITIONS = _registry.definitions
