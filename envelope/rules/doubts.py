"""Rules about what the arithmetic itself may have wrong: the first seed's doubts, where this state leans on one."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import catalog, pools
from envelope.fields.base import decimal_text
from envelope.findings import Finding
from envelope.formats import FORMATS
from envelope.quantities.capacity import pool_per_gpu, rank_costs
from envelope.quantities.parallelism import exchanged_format, mixture
from envelope.quantities.pools import cost_and_need
from envelope.rules.decisions import MEASURED, SPECULATES
from envelope.units import counted, money, shorten, text

if TYPE_CHECKING:
    from envelope.evaluation import Envelope

_PRICES = frozenset({"input_price", "cached_price", "output_price"})


def routing_is_not_uniform(envelope: Envelope) -> Finding | None:
    """Bytes of a batch that uniform routing makes an upper bound."""
    scenario = envelope.scenario
    batch = scenario["batch"]
    if "batch" not in scenario.given or batch == 1 or scenario.model is None or not scenario.model.mixtures():
        return None
    e = envelope.evaluation
    least, most = (sum(e.read(tokens).values()) for tokens in (1, batch))
    if most < 1.1 * least:
        return None
    words = f"{text(most, 'bytes')} a step at batch {batch:,} is an upper bound: it takes routing as uniform. If all tokens chose alike it would be {text(least, 'bytes')}; real routers lie between."
    return Finding("routing_is_not_uniform", "note", words, {}, 0.02)


def pool_holds_more(envelope: Envelope) -> Finding | None:
    """A drafter whose tokens the sliding pool must hold too."""
    scenario = envelope.scenario
    if SPECULATES.isdisjoint(scenario.given) or scenario["pool_ratio"] != "best" or scenario["headroom"]:
        return None
    e = envelope.evaluation
    cost, need = cost_and_need(e)
    block = scenario["verify_tokens"]
    more = pools.Demand(need.full_tokens, need.sliding_tokens + block * need.sessions, need.sessions)
    ratio, wider = e["recommended_pool_ratio"], pools.round_up(pools.best_ratio(more))
    layout = scenario.layout
    per_gpu = pool_per_gpu(e)
    held = layout.dp * min(pools.sessions(per_gpu, one, more, ratio) for one in rank_costs(e, layout.tp, layout.pp))
    mine = e["sessions_recommended_ratio"]
    if held >= mine and wider == ratio:
        return None
    words = (
        f"If the engine holds the {block:,} verified tokens of each session in the sliding pool as well, ratio "
        f"{decimal_text(ratio)} fits {counted(held, 'sessions')}, not {mine:,}; {decimal_text(wider)} would be right."
    )
    return Finding("pool_holds_more", "note", words, {"pool_ratio": decimal_text(wider)}, 0.02)


def little_kept_back(envelope: Envelope) -> Finding | None:
    """Less memory kept back than engines' own commands do."""
    scenario = envelope.scenario
    fraction = scenario["memory_fraction"]
    advice = catalog.traffic().guidance["memory_kept_back"]
    if "memory_fraction" not in scenario.given or advice.low is None or 1 - fraction >= Fraction(str(advice.low)):
        return None
    kept, other = scenario["hbm"] * (1 - fraction), 1 - Fraction(str(advice.high))
    fewer = envelope.with_(memory_fraction=other).value("sessions")
    mine = envelope.value("sessions")
    ending = f"; at {float(other):.0%} used, {counted(fewer, 'sessions')} instead of {mine:,}" if fewer is not None and mine is not None else ""
    words = f"{text(kept, 'bytes')} per GPU are kept back for activations, graphs and a drafter. SGLang's GB300 commands keep {advice.low:.0%} to {advice.high:.0%}{ending}."
    return Finding("little_kept_back", "warning", words, {"memory_fraction": decimal_text(1 - Fraction(str(advice.low)))}, 0.08)


def exchange_below_peak(envelope: Envelope) -> Finding | None:
    """The exchange judged at a rate that matrices over so few tokens do not reach."""
    scenario = envelope.scenario
    if "batch" not in scenario.given or scenario.model is None or not scenario.model.mixtures():
        return None
    e = envelope.evaluation
    if e["parallel_exchange_hides"] == "can hide":
        return None
    moe, key = mixture(e), exchanged_format(e)
    each = e.input("batch") * moe.top_k / moe.experts
    rate = scenario.machine.rate(key)
    # 2 FLOP per parameter and token against its bytes: the tokens at which multiplying takes as long as reading.
    ridge = float(rate.value) * float(FORMATS[key].bytes_per_value) / (2 * float(e.input("bandwidth"))) if rate else 0.0
    if each >= ridge:
        return None
    words = (
        f"At batch {e.input('batch'):,} an expert sees {shorten(each)} of the {ridge:,.0f} tokens that peak rate takes: the exchange "
        f"is easier to hide than {float(e['parallel_machine_balance']):,.0f} FLOP per byte suggests."
    )
    return Finding("exchange_below_peak", "note", words, {}, 0.01)


def turn_is_steady_state(envelope: Envelope) -> Finding | None:
    """A turn time from totals that say nothing of think time."""
    given = envelope.scenario.given
    if MEASURED.isdisjoint(given) or "think_s" in given:
        return None
    wait = envelope.evaluation["bench_wait_seconds"]
    if wait <= 0:
        return None
    words = f"The turn time is a steady state: if the benchmark's clients think between turns, part of the {float(wait):.1f} s before the first token is theirs. State think_s."
    return Finding("turn_is_steady_state", "note", words, {}, 0.05)


def rental_moves(envelope: Envelope) -> Finding | None:
    """A cost at one rental where known ones lie far apart."""
    scenario = envelope.scenario
    rent, rows = scenario["gpu_hour"], scenario.machine.rental
    if "gpu_hour" not in scenario.given or not rent or len(rows) < 2:
        return None
    low, high = min(row.usd_per_gpu_hour for row in rows), max(row.usd_per_gpu_hour for row in rows)
    if high < 1.05 * low:
        return None
    cost = envelope.evaluation["cost_per_million_output"]
    span = [money(cost * figure / float(rent)) for figure in (low, high)]
    words = f"Rentals of {scenario.machine.short_name} run from {money(low)} to {money(high)} per GPU hour: {span[0]} to {span[1]} per million output tokens, not only {money(cost)}."
    return Finding("rental_moves", "note", words, {}, 0.03)


def list_is_a_ceiling(envelope: Envelope) -> Finding | None:
    """A margin from list prices and full use."""
    given = envelope.scenario.given
    if _PRICES.isdisjoint(given) and MEASURED.isdisjoint(given):
        return None
    margin = envelope.evaluation["turn_margin"]
    if margin <= 0:
        return None
    half = 1 - 2 * (1 - margin)
    words = f"The margin of {float(margin):.0%} is a ceiling: list prices are not contract prices, and at half use it is {float(half):.0%}.".replace("-", "−")
    return Finding("list_is_a_ceiling", "note", words, {}, 0.03)


RULES = (
    routing_is_not_uniform, pool_holds_more, little_kept_back, exchange_below_peak, turn_is_steady_state, rental_moves,
    list_is_a_ceiling,
)  # fmt: skip
