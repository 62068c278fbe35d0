"""Pools for a mix of lengths, and the host memory behind them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import pools, pricing
from envelope.quantities.capacity import pool_per_gpu
from envelope.quantities.pools import default_ratio, sessions_at, two_pool_cost
from envelope.quantities.registry import SEED, Found, Registry, Unavailable
from envelope.quantities.speed import node_cost
from envelope.units import counted, shorten, text, token_text

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

_registry = Registry("pools")
_quantity = _registry.quantity

Mix = tuple[tuple[int, int], ...]


def mix_of(e: Evaluation) -> Mix:
    """The mix to answer for: the one given, else as many sessions of a quarter of the context as of the whole."""
    if e.input("mix") is not None:
        return e.scenario.mix
    context = e.input("context")
    if context < 4:
        raise Unavailable("the context is too short to mix")
    return ((context // 4, 1), (context, 1))


def mix_words(mix: Mix) -> str:
    """Say a mix: `equal 32K and 128K sessions`, `3 of 32K and 1 of 128K`."""
    lengths = [token_text(length) for length, _ in mix]
    if len(mix) > 1 and len({count for _, count in mix}) == 1:
        return f"equal {', '.join(lengths[:-1])} and {lengths[-1]} sessions"
    return " and ".join(f"{count} of {length}" for length, (_, count) in zip(lengths, mix, strict=True))


def mix_best(e: Evaluation, mix: Mix) -> Fraction:
    """The best ratio of a mix. Raises Unavailable without two pools."""
    cost = two_pool_cost(e)
    return pools.best_ratio(pools.demand(mix, cost.window, e.input("chunk")))


@_quantity("pool_mix_ratio", "Best ratio of the mix", "ratio", "sum of min(L, window + chunk) / sum of L over the mix; without a mix, equal numbers of context/4 and context", SEED)
def pool_mix_ratio(e: Evaluation) -> Found:
    mix = mix_of(e)
    best = mix_best(e, mix)
    return Found(best, lambda: f"{mix_words(mix)}: {shorten(float(best), 5)}")


@_quantity("pool_mix_sessions", "Sessions of the mix", "sessions", "whole groups of the mix at pool_mix_ratio", SEED, "what an engine reserves beyond window and chunk")
def pool_mix_sessions(e: Evaluation) -> Found:
    return _mixed(e, e["pool_mix_ratio"])


@_quantity("pool_mix_sessions_long", "… at the longest's ratio", "sessions", "whole groups of the mix at the best ratio of its longest sessions alone", SEED)
def pool_mix_sessions_long(e: Evaluation) -> Found:
    return _mixed(e, mix_best(e, ((max(length for length, _ in mix_of(e)), 1),)))


@_quantity("pool_mix_sessions_default", "… at SGLang's default", "sessions", "whole groups of the mix at SGLang's default ratio", SEED)
def pool_mix_sessions_default(e: Evaluation) -> Found:
    return _mixed(e, default_ratio(e))


def _mixed(e: Evaluation, ratio: Fraction) -> Found:
    mix = mix_of(e)
    count = sessions_at(e, ratio, mix)
    return Found(count, lambda: f"{mix_words(mix)} at ratio {shorten(float(ratio), 5)}: {count:,}, in groups of {sum(n for _, n in mix)}")


@_quantity("pool_least_ratio", "Least ratio that starts", "ratio", "wanted × F / (pool of one rank − wanted × S), wanted = window + chunk", SEED,
           "page alignment; below it the scheduler cannot place one prompt's window and chunk")  # fmt: skip
def pool_least_ratio(e: Evaluation) -> Found:
    cost = two_pool_cost(e)
    per_gpu, wanted = pool_per_gpu(e), cost.window + e.input("chunk")
    left = per_gpu - wanted * cost.sliding
    if left <= 0:
        raise Unavailable("one window and one chunk do not fit at any ratio")
    return Found(wanted * cost.full / left, lambda: f"{wanted:,} × {text(cost.full, 'bytes', 4)} / ({text(per_gpu, 'bytes', 4)} − {wanted:,} × {text(cost.sliding, 'bytes', 4)})")


def _host_cache(e: Evaluation) -> Fraction:
    if e.scenario.machine.unified:
        raise Unavailable("GPU and host share one memory")
    return Fraction(e.needed("host_cache_per_rank", "no host cache is set (host_cache_per_rank)"))


def pool_count(e: Evaluation) -> int:
    """Pools the engine keeps: two where some layers slide and others do not, else one."""
    try:
        two_pool_cost(e)
    except Unavailable:
        return 1
    return 2


@_quantity("host_cache_bytes", "Host cache in all", "bytes", "host_cache_per_rank × ranks", "SGLang 0.5.23: the size is per rank and divided over its pools",
           "indexer and draft pools, which come on top")  # fmt: skip
def host_cache_bytes(e: Evaluation) -> Found:
    each, ranks = _host_cache(e), e.input("gpus")
    return Found(each * ranks, lambda: f"{text(each, 'bytes')} × {counted(ranks, 'ranks')}")


@_quantity("host_cache_bytes_each_pool", "… where each pool takes it", "bytes", "host_cache_per_rank × ranks × pools", "SGLang 0.5.10: every pool took the full size")
def host_cache_bytes_each_pool(e: Evaluation) -> Found:
    total, count = e["host_cache_bytes"], pool_count(e)
    return Found(total * count, lambda: f"{text(total, 'bytes')} × {count} pool{'s' if count > 1 else ''}")


@_quantity("host_memory_share", "Of the host's memory", "share", "host_cache_bytes / (host_memory × nodes)")
def host_memory_share(e: Evaluation) -> Found:
    memory = e.needed("host_memory", f"the host memory of {e.scenario.machine.short_name} is not known")
    per_node = e.scenario.machine.gpus_per_node
    nodes = -(-e.input("gpus") // per_node.value) if per_node else 1
    if not memory:
        raise Unavailable("the host has no memory")
    total = e["host_cache_bytes"]
    return Found(total / (Fraction(memory) * nodes), lambda: f"{text(total, 'bytes')} / ({text(memory, 'bytes')} × {nodes} node{'s' if nodes > 1 else ''})")


@_quantity("host_sessions", "Idle sessions it holds", "sessions", "floor(host_cache_bytes / (cache_bytes_per_session × copies of the cache))")
def host_sessions(e: Evaluation) -> Found:
    total, each = e["host_cache_bytes"], e["cache_bytes_per_session"]
    copies = Fraction(e["cache_copies"]) if e.scenario.model is not None and e.input("cache_bytes_per_token") is None else Fraction(1)
    if not each:
        raise Unavailable("a session keeps nothing")
    return Found(total // (each * copies), lambda: f"{text(total, 'bytes')} / ({text(each, 'bytes')} × {shorten(float(copies))})")


@_quantity("host_reload_seconds", "Reloading a cache, at least", "seconds", "cache_bytes_per_session / (gpus × host_link)", SEED, "latency, and links shared between GPUs")
def host_reload_seconds(e: Evaluation) -> Found:
    if e.scenario.machine.unified:
        raise Unavailable("GPU and host share one memory")
    link = e.needed("host_link", f"the host link of {e.scenario.machine.short_name} is not known")
    each, gpus = e["cache_bytes_per_session"], e.input("gpus")
    return Found(each / (gpus * link), lambda: f"{text(each, 'bytes')} / ({gpus} × {text(link, 'bytes/s')})")


@_quantity("host_breakeven_seconds", "Holding pays for, host included", "seconds", "cached_price × (pool_bytes + host_cache_bytes) / (cache_bytes_per_token × node cost per second)", SEED,
           "what the host memory costs beyond the node's rent")  # fmt: skip
def host_breakeven_seconds(e: Evaluation) -> Found:
    price = e.needed("cached_price", "no cached-token price is known for this model")
    held, each, node = e["pool_bytes"] + e["host_cache_bytes"], e["cache_bytes_per_token"], node_cost(e)
    if not each or not node:
        raise Unavailable("nothing grows per token" if not each else "the machine costs nothing, so holding a cache always pays")
    found = pricing.breakeven_seconds(float(price), float(held), float(each), node)
    return Found(found, lambda: f"${shorten(float(price))} per 1,000,000 tokens × {text(held, 'bytes')} / ({text(each, 'bytes')} × {text(node * 3600, 'USD')} per hour)")


DEFINITIONS = _registry.definitions
