"""Money per conversation: the bill at list prices, the rental behind it, the margin."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import benchmark
from envelope.quantities.benchmark import load, workload
from envelope.quantities.registry import SEED, Found, Registry, Unavailable
from envelope.units import shorten, text

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

_registry = Registry("turn")
_quantity = _registry.quantity

_CEILING = "contract prices, which large customers pay, and idle hours: it is a ceiling on what list traffic earns"


def bill(e: Evaluation) -> tuple[benchmark.Bill, bool]:
    """The bill of one conversation, and whether cached input is billed as fresh for want of a price of its own."""
    fresh = e.needed("input_price", "no input price is known for this model")
    output = e.needed("output_price", "no output price is known for this model")
    cached = e.input("cached_price")
    prices = (Fraction(fresh), Fraction(fresh if cached is None else cached), Fraction(output))
    return benchmark.bill(workload(e), *prices), cached is None


@_quantity("turn_bill", "Bill of a conversation", "USD", "hits × cached_price + fresh × input_price + output × output_price, per million", SEED)
def turn_bill(e: Evaluation) -> Found:
    found, as_fresh = bill(e)
    note = "no price of its own is named for cached input, so it is billed as fresh" if as_fresh else ""
    parts = (("cached", found.cached), ("fresh", found.fresh), ("output", found.output))
    return Found(found.total, lambda: " + ".join(f"{name} ${float(usd):.4f}" for name, usd in parts) + f" = ${float(found.total):.4f}", note)


def _share(e: Evaluation, part: str) -> Found:
    found, _ = bill(e)
    if not found.total:
        raise Unavailable("the conversation bills nothing")
    mine = getattr(found, part)
    return Found(mine / found.total, lambda: f"${float(mine):.4f} / ${float(found.total):.4f}")


@_quantity("turn_share_cached", "… from cached input", "share", "hits × cached_price / turn_bill", SEED)
def turn_share_cached(e: Evaluation) -> Found:
    return _share(e, "cached")


@_quantity("turn_share_fresh", "… from fresh input", "share", "fresh × input_price / turn_bill", SEED)
def turn_share_fresh(e: Evaluation) -> Found:
    return _share(e, "fresh")


@_quantity("turn_share_output", "… from output", "share", "output × output_price / turn_bill", SEED)
def turn_share_output(e: Evaluation) -> Found:
    return _share(e, "output")


@_quantity("turn_conversations_per_gpu_hour", "Conversations per GPU hour", "per hour", "3600 × total_tokens_per_gpu_s / tokens of a conversation", SEED)
def turn_conversations_per_gpu_hour(e: Evaluation) -> Found:
    one = load(e)
    return Found(3600 * one.conversations_per_gpu_second, lambda: f"3600 × {shorten(float(one.total_per_gpu), 5)} / {one.workload.total:,}")


@_quantity("turn_breakeven_conversations", "Conversations that pay the rent", "per hour", "gpu_hour / turn_bill, per GPU", SEED, "idle time and contract prices: more are needed")
def turn_breakeven_conversations(e: Evaluation) -> Found:
    rent = Fraction(e.needed("gpu_hour", f"no rental price is known for {e.scenario.machine.short_name}"))
    revenue = e["turn_bill"]
    if not revenue:
        raise Unavailable("the conversation bills nothing")
    return Found(rent / revenue, lambda: f"{text(rent, 'USD')} / ${shorten(float(revenue), 4)}")


@_quantity("turn_rental", "Rental per conversation", "USD", "gpu_hour / turn_conversations_per_gpu_hour", SEED)
def turn_rental(e: Evaluation) -> Found:
    rent = Fraction(e.needed("gpu_hour", f"no rental price is known for {e.scenario.machine.short_name}"))
    each = e["turn_conversations_per_gpu_hour"]
    return Found(rent / each, lambda: f"{text(rent, 'USD')} / {shorten(float(each), 4)}")


@_quantity("turn_margin", "Gross margin, at most", "share", "1 − gpu_hour / (turn_conversations_per_gpu_hour × turn_bill)", SEED, _CEILING)
def turn_margin(e: Evaluation) -> Found:
    rent = Fraction(e.needed("gpu_hour", f"no rental price is known for {e.scenario.machine.short_name}"))
    each, revenue = e["turn_conversations_per_gpu_hour"], e["turn_bill"]
    if not revenue:
        raise Unavailable("the conversation bills nothing")
    return Found(benchmark.margin(rent, each, revenue), lambda: f"1 − {text(rent, 'USD')} / ({shorten(float(each), 4)} × ${shorten(float(revenue), 4)})")


DEFINITIONS = _registry.definitions
