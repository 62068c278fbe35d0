"""Memory: what fits, on how many GPUs, and how many sessions at most."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import pools, ranks
from envelope.node import Budget
from envelope.quantities.model import group_bytes, step_at, value_bytes
from envelope.quantities.registry import SEED, Found, Registry, Unavailable
from envelope.units import counted, shorten, significant, text

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

_registry = Registry("capacity")
_quantity = _registry.quantity

# Machines come in nodes and racks; past 16,384 GPUs the answer is "not this machine".
_COUNTS = tuple(2**power for power in range(15))


def budget(e: Evaluation) -> Budget:
    """The memory of all GPUs."""
    return Budget(Fraction(e.input("hbm")), e.input("gpus"), Fraction(e.input("memory_fraction")), Fraction(e["weight_bytes"]))


@_quantity("pool_bytes", "Left for caches", "bytes", "gpus × hbm × memory_fraction − weight_bytes", SEED,
           "activations, graphs and buffers beyond the share kept back; weights that a layout copies")  # fmt: skip
def pool_bytes(e: Evaluation) -> Found:
    found = budget(e)
    if found.pool <= 0:
        raise Unavailable(
            f"the weights, {text(found.weights, 'bytes')}, exceed the {text(found.usable, 'bytes')} that {found.gpus} "
            f"GPU{'s' if found.gpus > 1 else ''} may use"
        )
    return Found(found.pool, lambda: f"{found.gpus} × {text(found.hbm, 'bytes', 4)} × {shorten(float(found.fraction), 6)} − {text(found.weights, 'bytes', 4)} = {text(found.pool, 'bytes', 4)}")


@_quantity("ceiling_sessions", "Ceiling", "sessions", "floor(pool_bytes / cache_bytes_per_session), the node as one pool", SEED,
           "how an engine divides memory between pools and ranks")  # fmt: skip
def ceiling_sessions(e: Evaluation) -> Found:
    e.input("context")
    mix = e.scenario.mix
    group = group_bytes(e)
    pool = e["pool_bytes"]
    if not group:
        raise Unavailable("a session keeps nothing in memory, so memory sets no ceiling")
    count = pool // group * sum(number for _, number in mix)
    return Found(count, lambda: f"{text(pool, 'bytes', 4)} / {text(group, 'bytes', 4)} = {count:,}")


def rank_costs(e: Evaluation, tp: int, pp: int) -> list[pools.TokenCost]:
    """What one rank of each pipeline stage that keeps anything pays per token and session."""
    return e.once(_rank_costs, tp, pp)


def _rank_costs(e: Evaluation, tp: int, pp: int) -> list[pools.TokenCost]:
    given = e.input("cache_bytes_per_token")
    if given is not None:
        # A stated size is that of one copy; ranks copy it as they do what the layers keep.
        stored = ranks.copies(e.model, tp) if e.scenario.model else 1
        share = Fraction(stored) / (tp * pp)
        return [pools.TokenCost(Fraction(given) * share, Fraction(0), Fraction(0), 0)]
    costs = [pools.token_cost(caches, tp, value_bytes(e)) for caches in ranks.stages(e.model, pp)]
    # A stage whose layers all read another's cache keeps none and limits nothing.
    return [cost for cost in costs if cost.full or cost.sliding or cost.state] or costs


def pool_per_gpu(e: Evaluation) -> Fraction:
    """Bytes for caches on each GPU."""
    return e.once(_pool_per_gpu)


def _pool_per_gpu(e: Evaluation) -> Fraction:
    return e["pool_bytes"] / e.scenario.layout.gpus


def replica_sessions(e: Evaluation, per_gpu: Fraction, tp: int, pp: int, ratio, mix=None) -> int:
    """Sessions one data-parallel replica holds: the fewest over its ranks. `ratio` may be `best`."""
    fewest = []
    for cost in rank_costs(e, tp, pp):
        need = pools.demand(mix, cost.window, e.input("chunk")) if mix else need_of(e, cost.window)
        # Asked of the type: a Fraction takes 2 µs to find that it is not a text.
        fewest.append(pools.sessions(per_gpu, cost, need, chosen_ratio(e, need) if isinstance(ratio, str) else ratio))
    return min(fewest)


def need_of(e: Evaluation, window: int) -> pools.Demand:
    """What one group of the sessions asked for needs where the longest window is this one."""
    return e.once(_need_of, window)


def _need_of(e: Evaluation, window: int) -> pools.Demand:
    return pools.demand(e.scenario.mix, window, e.input("chunk"))


def chosen_ratio(e: Evaluation, need: pools.Demand) -> Fraction:
    """The best ratio of a demand with the headroom on top, at most 1: a sliding pool never exceeds the full one."""
    best, headroom = pools.best_ratio(need), e.input("headroom")
    return min(Fraction(1), best * (1 + headroom)) if headroom else best


def ratio_to_set(e: Evaluation, window: int) -> Fraction:
    """The ratio chosen for the sessions asked for, rounded up at the printed digits."""
    return e.once(_ratio_to_set, window)


def _ratio_to_set(e: Evaluation, window: int) -> Fraction:
    return pools.round_up(chosen_ratio(e, need_of(e, window)))


@_quantity("sessions", "Sessions", "sessions", "dp × floor on the limiting rank of min(N / L, ratio × N / min(L, window + chunk)), N = pool / (F + ratio × S)", SEED,
           "what an engine reserves beyond window and chunk")  # fmt: skip
def sessions(e: Evaluation) -> Found:
    layout = e.scenario.layout
    per_gpu = pool_per_gpu(e)
    ratio = e.input("pool_ratio")
    each = replica_sessions(e, per_gpu, layout.tp, layout.pp, ratio)
    total = layout.dp * each

    def working() -> str:
        cost = rank_costs(e, layout.tp, layout.pp)[0]
        rank = f"each rank has {text(per_gpu, 'bytes', 4)} and pays {text(cost.full, 'bytes', 4)} per token"
        if cost.sliding:
            rank += f", {text(cost.sliding, 'bytes', 4)} per sliding token"
        return f"{rank}: {counted(each, 'sessions')} × dp {layout.dp} = {total:,}"

    return Found(total, working)


@_quantity("weights_per_gpu", "Weights per GPU", "bytes", "weight_bytes / gpus")
def weights_per_gpu(e: Evaluation) -> Found:
    found = budget(e)
    return Found(found.weights / found.gpus, lambda: f"{text(found.weights, 'bytes', 4)} / {found.gpus}")


@_quantity("kept_back_per_gpu", "Kept back per GPU", "bytes", "hbm × (1 − memory_fraction)")
def kept_back_per_gpu(e: Evaluation) -> Found:
    hbm, fraction = Fraction(e.input("hbm")), Fraction(e.input("memory_fraction"))
    return Found(hbm * (1 - fraction), lambda: f"{text(hbm, 'bytes', 4)} × {shorten(float(1 - fraction), 6)}")


@_quantity("cache_per_gpu", "Cache per GPU", "bytes", "pool_bytes / gpus")
def cache_per_gpu(e: Evaluation) -> Found:
    pool, gpus = e["pool_bytes"], e.input("gpus")
    return Found(pool / gpus, lambda: f"{text(pool, 'bytes', 4)} / {gpus}")


@_quantity("cache_copies", "Copies of the cache", "ratio", "tp × what the fullest rank stores / what one copy takes")
def cache_copies(e: Evaluation) -> Found:
    tp = e.scenario.layout.tp
    found = ranks.copies(e.model, tp)
    return Found(found, lambda: f"over {tp} tensor-parallel ranks each value is stored {significant(float(found))} times")


@_quantity("gpus_minimum", "GPUs at least", "GPUs", "the smallest of 1, 2, 4, 8 … that holds the weights and one session in the default layout", SEED)
def gpus_minimum(e: Evaluation) -> Found:
    one_record = e.scenario.model is not None and ranks.keeps_one_record(e.scenario.model)
    usable, weights, counts = e.once(_counts_that_hold)
    for gpus in counts:
        per_gpu, tp = usable - weights / gpus, 1 if one_record else gpus
        if replica_sessions(e, per_gpu, tp, 1, e.input("pool_ratio")) >= 1:
            return Found(gpus, lambda: f"{gpus} × {text(e.input('hbm'), 'bytes', 4)} × {shorten(float(e.input('memory_fraction')), 6)} hold the weights and one session; half of them do not")
    raise Unavailable(f"not even {_COUNTS[-1]:,} such GPUs hold the weights and one session")


def _counts_that_hold(e: Evaluation) -> tuple[Fraction, Fraction, tuple[int, ...]]:
    """Usable bytes of one GPU, bytes of the weights, and the counts of GPUs that hold them with room to spare."""
    usable, weights = e.input("hbm") * e.input("memory_fraction"), Fraction(e["weight_bytes"])
    too_few = next((place for place, gpus in enumerate(_COUNTS) if gpus * usable > weights), len(_COUNTS))
    return usable, weights, _COUNTS[too_few:]


def _batch_at_speed(e: Evaluation, speed: float, most: int) -> int:
    """The largest batch up to `most` whose step is short enough for every user's speed; 0 where one is too slow."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if step_at(e, middle) * speed <= 1 else (low, middle - 1)
    return low


@_quantity("sessions_at_speed", "Sessions per deployment at that speed", "sessions", "the largest batch that fits and whose step time is at most 1 / speed_wanted")
def sessions_at_speed(e: Evaluation) -> Found:
    fits, speed = e["sessions"], e.input("speed_wanted")
    if not fits:
        raise Unavailable("no session of this length fits")
    if speed is None:
        return Found(fits, lambda: "no speed is asked for: every session that fits")
    found = _batch_at_speed(e, float(speed), fits)
    if not found:
        alone = text(1 / step_at(e, 1), "tokens/s")
        raise Unavailable(f"one session alone reaches at most {alone} on {counted(e.input('gpus'), 'GPUs')}: more GPUs must share it")
    return Found(found, lambda: f"{found:,} sessions step in {text(step_at(e, found), 'seconds')}; {fits:,} fit")


@_quantity("machines_wanted", "Deployments for what is wanted", "count", "ceil(sessions_wanted / sessions_at_speed), each a whole copy of this layout")
def machines_wanted(e: Evaluation) -> Found:
    wanted = _wanted(e)
    each = e["sessions_at_speed"]
    return Found(-(-wanted // each), lambda: f"{wanted:,} / {each:,}, rounded up")


def _wanted(e: Evaluation) -> int:
    wanted = e.input("sessions_wanted")
    if wanted is None and e.input("speed_wanted") is None:
        raise Unavailable("no sessions or speed are asked for")
    return wanted or 1


@_quantity("gpus_for_wanted", "GPUs for what is wanted", "GPUs", "machines_wanted × gpus")
def gpus_for_wanted(e: Evaluation) -> Found:
    count, gpus = e["machines_wanted"], e.input("gpus")
    return Found(count * gpus, lambda: f"{count:,} × {gpus}")


@_quantity("wanted_binds", "What binds for what is wanted", "text", "bandwidth where speed_wanted allows fewer sessions than memory, else memory")
def wanted_binds(e: Evaluation) -> Found:
    _wanted(e)
    fits, fast = e["sessions"], e["sessions_at_speed"]
    return Found("bandwidth" if fast < fits else "memory", lambda: f"{counted(fits, 'sessions')} fit, {fast:,} are fast enough")


@_quantity("wanted_usd_per_hour", "Rent for what is wanted", "USD", "gpus_for_wanted × gpu_hour")
def wanted_usd_per_hour(e: Evaluation) -> Found:
    gpus = e["gpus_for_wanted"]
    rent = e.needed("gpu_hour", "no rental price is known for this machine")
    return Found(gpus * rent, lambda: f"{gpus} × {text(rent, 'USD')}")


DEFINITIONS = _registry.definitions
