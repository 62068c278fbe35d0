"""Admission: what the fullest rank has left for requests, how many it admits, and what the demand asks for."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import admission
from envelope.admission import gib
from envelope.pools import TokenCost
from envelope.quantities.capacity import rank_costs
from envelope.quantities.registry import SECOND, Found, Registry, Unavailable
from envelope.units import shorten

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

_registry = Registry("admission")
_quantity = _registry.quantity

_MEASURE = "peaks a test never exercised: measure after loading, after graph capture and under the worst mix"


@_quantity("admit_usable_bytes", "Usable per rank", "bytes", "usable_per_rank, or hbm × memory_fraction", SECOND)
def admit_usable_bytes(e: Evaluation) -> Found:
    given = e.input("usable_per_rank")
    if given is not None:
        return Found(Fraction(given), lambda: "as given")
    hbm, fraction = Fraction(e.input("hbm")), Fraction(e.input("memory_fraction"))
    return Found(hbm * fraction, lambda: f"{gib(hbm)} × {shorten(float(fraction), 6)}")


def budget(e: Evaluation) -> admission.Budget:
    """The budget of the fullest rank."""
    graphs, reserve = Fraction(e.input("graph_bytes")), Fraction(e.input("reserve_bytes"))
    draft = Fraction(e.input("draft_weight_bytes") or 0) / e.scenario.layout.gpus
    return admission.Budget(e["admit_usable_bytes"], e["rank_weight_bytes"], graphs, reserve, draft)


@_quantity("admit_state_bytes", "Left for request state", "bytes", "usable − weights on the fullest rank − a drafter's − graphs and communication − reserve", SECOND, _MEASURE)
def admit_state_bytes(e: Evaluation) -> Found:
    one = budget(e)
    terms = [gib(size) for _, size in one.parts]
    if one.state <= 0:
        named = " + ".join(f"{name} {gib(size)}" for name, size in one.parts)
        total = f" = {gib(one.taken)}" if len(terms) > 1 else ""
        raise Unavailable(f"{named}{total} leave nothing of the usable {gib(one.usable)} per rank")
    return Found(one.state, lambda: " − ".join([gib(one.usable), *terms]) + f" = {gib(one.state)}")


def _cost(e: Evaluation) -> TokenCost:
    """What the rank that pays most per live token pays, a drafter's cache included."""
    layout = e.scenario.layout
    cost = max(rank_costs(e, layout.tp, layout.pp), key=lambda cost: cost.full)
    more = e.input("draft_cache_bytes_per_token")
    return cost if more is None else replace(cost, full=cost.full + Fraction(more) / (layout.tp * layout.pp))


@_quantity("admit_bytes_per_token", "Per live token", "bytes", "what one token of context grows on the limiting rank, a drafter's cache included", SECOND,
           "block overhead; compressed designs use documented allocations, and sparse attention attends to less but stores everything")  # fmt: skip
def admit_bytes_per_token(e: Evaluation) -> Found:
    cost, layout = _cost(e), e.scenario.layout
    if not cost.full:
        raise Unavailable("no layer's cache grows: a request takes a fixed record, whatever its length")
    return Found(cost.full, lambda: f"{shorten(float(cost.full), 6)} bytes on one of tp {layout.tp} × pp {layout.pp}")


@_quantity("admit_tokens_per_request", "Tokens reserved per request", "tokens", "prompt_reserve + output_reserve", SECOND)
def admit_tokens_per_request(e: Evaluation) -> Found:
    prompt, output = e.input("prompt_reserve"), e.input("output_reserve")
    return Found(prompt + output, lambda: f"{prompt:,} + {output:,}")


def _bounded(e: Evaluation) -> Fraction:
    """Bytes of window and recurrent state one request takes on the limiting rank."""
    return e.once(_find_bounded)


def _find_bounded(e: Evaluation) -> Fraction:
    cost = _cost(e)
    held = min(e["admit_tokens_per_request"], cost.window + e.input("chunk")) if cost.window else 0
    return cost.sliding * held + cost.state


@_quantity("admit_rank_cap", "Requests per rank", "requests", "floor((state − fixed) / (per live token × tokens reserved)); each request brings its own windows and state unless state_reserve stands for them", SECOND, _MEASURE)
def admit_rank_cap(e: Evaluation) -> Found:
    state, each, tokens = e["admit_state_bytes"], e["admit_bytes_per_token"], e["admit_tokens_per_request"]
    given = e.input("state_reserve")
    fixed = None if given is None else Fraction(given)
    found = admission.requests(state, each, tokens, fixed, _bounded(e))
    return Found(found, lambda: f"{e['admit_tokens']:,} live tokens / {tokens:,}")


@_quantity("admit_fixed_bytes", "Fixed reserve", "bytes", "state_reserve, or windows and recurrent state of the requests admitted", SECOND)
def admit_fixed_bytes(e: Evaluation) -> Found:
    given = e.input("state_reserve")
    if given is not None:
        return Found(Fraction(given), lambda: "as given")
    each, count = _bounded(e), e["admit_rank_cap"]
    return Found(each * count, lambda: f"{count:,} requests × {gib(each)} of windows and state")


@_quantity("admit_tokens", "Live tokens", "tokens", "floor((state − fixed reserve) / per live token)", SECOND, _MEASURE)
def admit_tokens(e: Evaluation) -> Found:
    state, fixed, each = e["admit_state_bytes"], e["admit_fixed_bytes"], e["admit_bytes_per_token"]
    return Found(admission.live_tokens(state, fixed, each), lambda: f"({gib(state)} − {gib(fixed)}) / {shorten(float(each), 6)} bytes")


@_quantity("admit_cap", "Requests admitted", "requests", "admit_rank_cap × dp, since each data-parallel rank holds its own requests", SECOND, _MEASURE)
def admit_cap(e: Evaluation) -> Found:
    each, dp = e["admit_rank_cap"], e.scenario.layout.dp
    return Found(each * dp, lambda: f"{each:,} × dp {dp}")


@_quantity("admit_next_tokens", "The next one would need", "tokens", "(admit_rank_cap + 1) × tokens reserved", SECOND)
def admit_next_tokens(e: Evaluation) -> Found:
    count, tokens = e["admit_rank_cap"], e["admit_tokens_per_request"]
    return Found((count + 1) * tokens, lambda: f"{count + 1:,} × {tokens:,}, with {e['admit_tokens']:,} live tokens in all")


@_quantity("admit_demand", "Demand", "requests in flight", "arrival_per_s × residence_s, by Little's law", SECOND, "bursts: the mean, not the peak")
def admit_demand(e: Evaluation) -> Found:
    arrivals = Fraction(e.needed("arrival_per_s", "no arrival rate is given (arrival_per_s)"))
    residence = Fraction(e.needed("residence_s", "no residence time is given (residence_s)"))
    return Found(admission.demand(arrivals, residence), lambda: f"{shorten(float(arrivals), 4)} per second × {shorten(float(residence), 4)} s")


@_quantity("admit_replicas", "Replicas for the demand", "replicas", "ceil(admit_demand / admit_cap)", SECOND, _MEASURE)
def admit_replicas(e: Evaluation) -> Found:
    wanted, cap = e["admit_demand"], e["admit_cap"]
    if not cap:
        raise Unavailable("a replica admits no request of this length")
    return Found(admission.replicas(wanted, cap), lambda: f"{shorten(float(wanted), 4)} / {cap:,}")


DEFINITIONS = _registry.definitions
