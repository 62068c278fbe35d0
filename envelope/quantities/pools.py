"""The two memory pools of an engine that keeps sliding layers apart."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import pools
from envelope.cache import layer_caches
from envelope.fields.base import decimal_text
from envelope.quantities.capacity import chosen_ratio, need_of, pool_per_gpu, rank_costs, ratio_to_set, replica_sessions
from envelope.quantities.registry import SEED, Found, Registry, Unavailable
from envelope.units import shorten, text, token_text

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

_registry = Registry("pools")
_quantity = _registry.quantity


def cost_and_need(e: Evaluation) -> tuple[pools.TokenCost, pools.Demand]:
    """What the first rank with two pools pays and what one group of sessions asks for. Raises Unavailable without one."""
    cost = two_pool_cost(e)
    return cost, need_of(e, cost.window)


def two_pool_cost(e: Evaluation) -> pools.TokenCost:
    """What the first rank with two pools pays. Raises Unavailable without one."""
    return e.once(_two_pool_cost)


def _two_pool_cost(e: Evaluation) -> pools.TokenCost:
    layout = e.scenario.layout
    if e.input("cache_bytes_per_token") is not None:
        raise Unavailable("a stated cache per token adds no window, so there is one pool and no ratio")
    costs = rank_costs(e, layout.tp, layout.pp)
    cost = next((cost for cost in costs if cost.sliding and cost.full), None)
    if cost is None:
        if any(cost.sliding for cost in costs) and any(cost.full for cost in costs):
            raise Unavailable("each pipeline stage keeps one span, so no rank has two pools and there is no ratio")
        if any(cost.state for cost in costs) and any(cost.full for cost in costs):
            raise Unavailable("no layer keeps a window of tokens, so there is one pool and no ratio")
        raise Unavailable("every layer keeps the same span, so there is one pool and no ratio")
    return cost


@_quantity("best_pool_ratio", "Best pool ratio", "ratio", "sum of min(L, window + chunk) / sum of L over the sessions held", SEED)
def best_pool_ratio(e: Evaluation) -> Found:
    e.input("context")
    _, need = cost_and_need(e)
    best = pools.best_ratio(need)
    return Found(best, lambda: f"{need.sliding_tokens:,} / {need.full_tokens:,} = {decimal_or_fraction(best)}")


def decimal_or_fraction(value: Fraction) -> str:
    """Write an exact ratio: 0.078125, or to six digits where decimals do not end."""
    reduced = value.denominator
    for prime in (2, 5):
        while reduced % prime == 0:
            reduced //= prime
    return decimal_text(value) if reduced == 1 and value.denominator < 10**9 else shorten(float(value), 6)


@_quantity("pool_ratio", "Pool ratio", "ratio", "as given, or best_pool_ratio × (1 + headroom)", SEED)
def pool_ratio(e: Evaluation) -> Found:
    given = e.input("pool_ratio")
    _, need = cost_and_need(e)
    if given != "best":
        return Found(Fraction(given), lambda: "as given")
    chosen = chosen_ratio(e, need)
    return Found(chosen, lambda: f"{e.quantity('best_pool_ratio').working}, with {float(e.input('headroom')):.0%} headroom")


@_quantity("recommended_pool_ratio", "Ratio to set", "ratio", "the best ratio with headroom, rounded up at the printed digits", SEED)
def recommended_pool_ratio(e: Evaluation) -> Found:
    cost, need = cost_and_need(e)
    rounded = ratio_to_set(e, cost.window)
    return Found(rounded, lambda: f"{decimal_or_fraction(chosen_ratio(e, need))} rounded up, since a ratio below the best starves the sliding pool")


@_quantity("sliding_share", "Sliding layers' share", "share", "ratio × S / (F + ratio × S)", SEED)
def sliding_share(e: Evaluation) -> Found:
    cost, ratio = two_pool_cost(e), e["pool_ratio"]
    return Found(
        pools.sliding_share(cost, ratio),
        lambda: f"{shorten(float(ratio), 5)} × {text(cost.sliding, 'bytes', 4)} / ({text(cost.full, 'bytes', 4)} + {shorten(float(ratio), 5)} × {text(cost.sliding, 'bytes', 4)})",
    )


def sessions_at(e: Evaluation, ratio: Fraction, mix=None) -> int:
    """Sessions of all replicas at a ratio."""
    layout = e.scenario.layout
    return layout.dp * replica_sessions(e, pool_per_gpu(e), layout.tp, layout.pp, ratio, mix)


@_quantity("sessions_recommended_ratio", "Sessions at the ratio to set", "sessions", "sessions at recommended_pool_ratio", SEED)
def sessions_recommended_ratio(e: Evaluation) -> Found:
    ratio = e["recommended_pool_ratio"]
    found = sessions_at(e, ratio)
    return Found(found, lambda: f"at {decimal_text(ratio)}: {found:,}")


def default_ratio(e: Evaluation) -> Fraction:
    """The pool ratio SGLang starts this model with when nobody sets one."""
    return e.once(_default_ratio)


def _default_ratio(e: Evaluation) -> Fraction:
    return pools.sglang_default_ratio(layer_caches(e.model))


def default_share(e: Evaluation) -> float:
    """The share of the memory that ratio gives to sliding layers."""
    return e.once(_default_share)


def _default_share(e: Evaluation) -> float:
    return float(pools.sliding_share(two_pool_cost(e), default_ratio(e)))


@_quantity("sessions_default_ratio", "Sessions at SGLang's default ratio", "sessions", "sessions at ratio 0.8; 0.1 for compressed caches (DeepSeek V4)", SEED)
def sessions_default_ratio(e: Evaluation) -> Found:
    two_pool_cost(e)
    ratio = default_ratio(e)
    found = sessions_at(e, ratio)
    return Found(found, lambda: f"{decimal_text(ratio)} gives sliding layers {default_share(e):.1%} of the memory: {found:,}")


@_quantity("pool_binds", "What binds", "text", "the pool that runs out first at the ratio; both at the best ratio")
def pool_binds(e: Evaluation) -> Found:
    try:
        cost, need = cost_and_need(e)
    except Unavailable:
        return Found("memory", lambda: "one pool: memory runs out")
    ratio = e["pool_ratio"]
    found = pools.binding_pool(cost, need, ratio)
    return Found(found, lambda: f"the full pool holds N / {token_text(need.full_tokens)}, the sliding pool {shorten(float(ratio), 4)} × N / {token_text(need.sliding_tokens)}")


DEFINITIONS = _registry.definitions
