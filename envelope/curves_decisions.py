"""Charts of the decisions: cost by context, speculation by concurrency, margin by rental, pools over mixes, expert balance."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import benchmark, catalog, pools, speculation
from envelope.chart import Chart, Mark, Series, draw, spread
from envelope.fields.base import decimal_text
from envelope.quantities.capacity import rank_costs, replica_sessions
from envelope.quantities.cost import SMALLEST, cost_at, cost_of, smallest_cache
from envelope.quantities.model import session_bytes
from envelope.quantities.parallelism import balance, mixture
from envelope.quantities.pool_mix import mix_best, mix_of
from envelope.quantities.pools import cost_and_need, default_ratio
from envelope.quantities.registry import Unavailable
from envelope.quantities.speculation import all_bytes, expert_ratio
from envelope.units import money, shorten, token_text

if TYPE_CHECKING:
    from envelope.evaluation import Envelope, Evaluation
    from envelope.records import SpeculationPoint


def cost_context(envelope: Envelope) -> Chart:
    """Cost per million output tokens by context, against the list price and with the smallest published cache."""
    return draw(envelope, "cost-context", "Cost by context", _cost_context)


def _cost_context(e: Evaluation) -> Chart:
    context, rent = e.input("context"), e.needed("gpu_hour", "no rental price is known")
    high = max(2**20, 2 * context)
    points = tuple(sorted({*(round(point) for point in spread(4096, high)), context}))
    priced = [(point, found) for point in points if (found := cost_at(e, point)) is not None]
    if not priced:
        raise Unavailable("no session of any length fits")
    hover = tuple(f"{batch:,} sessions" for _, (_, batch) in priced)
    main = Series("at the ceiling", tuple(x for x, _ in priced), tuple(cost for _, (cost, _) in priced), "main", hover)
    series = [main, _engine_costs(e, points), _small_cache_costs(e, points)]
    marks = [Mark(f"{token_text(context)}: {money(found[0])}", context, found[0], "chosen")] if (found := cost_at(e, context)) else []
    for one in series[1:]:
        if one.x:
            at = len(one.x) * 7 // 8  # where the lines lie apart
            name = one.label.removeprefix("with the ").partition(" of ")[0]
            marks.append(Mark(f"{name}: {money(one.y[at])}", one.x[at], one.y[at]))
    price = e.input("output_price")
    title = f"A million output tokens cost {money(main.y[0])} at {token_text(main.x[0])}, {money(main.y[-1])} at {token_text(main.x[-1])}"
    if price is not None:
        series.append(Series("list price", (main.x[0], main.x[-1]), (float(price), float(price))))
        marks.append(Mark(f"list price {money(price)}", main.x[0], float(price)))
        crossing = _crossing(e)
        if crossing and crossing <= main.x[-1]:
            marks.append(Mark(about(crossing), crossing, float(price), "best"))
            title = f"Decoding costs more than its list price from {about(crossing)} tokens on"
    subtitle = f"USD per million output tokens at {money(rent)} per GPU hour, at least: a bandwidth bound, batch at most {e.input('max_batch'):,}"
    return Chart("cost-context", title, subtitle, "context (log)", "per million output", "tokens", "USD", tuple(one for one in series if one.x), tuple(marks))


def about(tokens: int) -> str:
    """Say a length that is no round number: `about 313K`, in thousands."""
    return f"about {tokens / 1000:,.0f}K" if tokens >= 10_000 else f"about {tokens:,}"


def _crossing(e: Evaluation) -> int | None:
    try:
        return e["cost_crossing_context"]
    except Unavailable:
        return None


def _engine_costs(e: Evaluation, points: tuple[int, ...]) -> Series:
    layout, limit = e.scenario.layout, e.input("max_batch")
    per_gpu, ratio = e["pool_bytes"] / layout.gpus, e.input("pool_ratio")
    xs, ys = [], []
    for point in points:
        batch = min(limit, layout.dp * replica_sessions(e, per_gpu, layout.tp, layout.pp, ratio, ((point, 1),)))
        if batch:
            xs.append(point)
            ys.append(cost_of(e, batch, Fraction(session_bytes(e, point))))
    return Series("engine's sessions", tuple(xs), tuple(ys))


def _small_cache_costs(e: Evaluation, points: tuple[int, ...]) -> Series:
    each = smallest_cache(e)
    priced = [(point, found[0]) for point in points if (found := cost_at(e, point, each)) is not None]
    label = f"with the {shorten(float(each))}-byte cache of {catalog.model(SMALLEST).name}"
    return Series(label, tuple(x for x, _ in priced), tuple(y for _, y in priced))


def speculation_bytes(envelope: Envelope) -> Chart:
    """Byte ratios of a verify step by concurrency, the bytes-only bound, and measured gains beside them."""
    return draw(envelope, "speculation", "Speculation by concurrency", _speculation_bytes)


def advanced(e: Evaluation) -> tuple[tuple[float, ...], str]:
    """Tokens per cycle to draw the bound with, and whose: the reader's, else those measured for this model, else the
    lowest and the highest published for any."""
    given = e.input("acceptance")
    if given is not None:
        return (float(given),), e.input("acceptance_is")
    slug = e.scenario.preset.slug if e.scenario.preset else None
    published = [one for one in catalog.traffic().acceptances if one.acceptance_is == "measured"]
    for one in published:
        e.rest_on(one.tier)
        if one.model == slug:
            return (one.value,), f"measured: {one.traffic}"
    values = [one.value for one in published]
    return (min(values), max(values)), "published for other models"


def measured_on(e: Evaluation) -> str:
    """Where the gains beside the bound were measured: `on MI355X`, `with Kimi-K2.6-NVFP4 on 4x GB200, TP 4`."""
    one = measured_gains(e)[0]
    mine = e.scenario.preset is not None and one.model == e.scenario.preset.slug
    return f"on {one.machine}" if mine else f"with {one.model.rpartition('/')[2]} on {one.machine}"


def measured_gains(e: Evaluation) -> list[SpeculationPoint]:
    """Measured speed-ups to set beside the bound: this model's, else those of the model measured at most concurrencies."""
    slug, points = e.scenario.preset.slug if e.scenario.preset else None, catalog.traffic().speculation
    mine = [one for one in points if one.model == slug]
    if mine:
        return mine
    runs: dict[tuple[str, str], list[SpeculationPoint]] = {}
    for one in points:
        runs.setdefault((one.model, one.drafter), []).append(one)
    return max(runs.values(), key=len)


def _speculation_bytes(e: Evaluation) -> Chart:
    batch, block = e.input("batch"), e.input("verify_tokens")
    points = tuple(sorted({*(round(point) for point in spread(1, max(256, 2 * batch), 33)), 4, 32, batch}))
    ratios = tuple(expert_ratio(e, point) for point in points)
    whole = tuple(verify / plain for verify, plain in (all_bytes(e, point) for point in points))
    series = [Series("expert bytes, verify over plain", points, ratios, "main"), Series("all bytes, verify over plain", points, whole)]
    rates, whose = advanced(e)
    for rate in rates:
        bound = tuple(speculation.bytes_bound(rate, ratio) for ratio in whole)
        series.append(Series(f"bytes-only bound at {shorten(rate)} tokens per cycle ({whose})", points, bound))
    marks = [Mark(f"{shorten(expert_ratio(e, point), 2)}× at {point}", point, expert_ratio(e, point), "chosen" if point == batch else "plain") for point in sorted({1, 4, 32, batch})]
    at = points.index(32)
    marks += [Mark("all bytes", points[2], whole[2]), Mark("bytes-only bound", points[at], series[-1].y[at])]
    measured = measured_gains(e)
    marks += [Mark(f"measured {shorten(one.speedup)}×", one.concurrency, one.speedup, "best") for one in measured]
    title = f"Verifying {block} tokens reads {shorten(expert_ratio(e, 1), 2)} times the expert bytes at 1 request, {shorten(expert_ratio(e, 32), 2)} at 32"
    subtitle = f"by requests in flight; the bound counts bytes alone and rises while gains measured {measured_on(e)} fall, so it is no verdict"
    return Chart("speculation", title, subtitle, "requests (log)", "times", "requests", "ratio", tuple(series), tuple(marks))


def margin_rental(envelope: Envelope) -> Chart:
    """Gross margin of the benchmark's conversations by rental price."""
    return draw(envelope, "margin", "Margin by rental", _margin_rental)


def _margin_rental(e: Evaluation) -> Chart:
    each, revenue = e["turn_conversations_per_gpu_hour"], e["turn_bill"]
    if not revenue:
        raise Unavailable("the conversation bills nothing")
    rentals = [Fraction(str(row.usd_per_gpu_hour)) for row in e.scenario.machine.rental]
    given = e.input("gpu_hour")
    known = [*rentals, *([Fraction(given)] if given is not None else [])]
    earned = each * revenue
    top = float(min(earned, 2 * max(known))) if known else float(earned)
    points = tuple(top * step / 40 for step in range(41))

    def at(rent: float) -> float:
        return float(benchmark.margin(Fraction(rent), each, revenue))

    kept = {min(known): "plain", max(known): "plain"} if known else {}
    if given is not None:
        kept[Fraction(given)] = "chosen"
    marks = tuple(Mark(f"{money(rent)}: {at(rent):.0%}", float(rent), at(rent), kind) for rent, kind in kept.items() if rent <= top)
    title = f"A GPU hour earns {money(earned)} at list prices, so rent below that leaves a margin"
    line = Series("margin, at most", points, tuple(max(0.0, at(point)) for point in points), "main")
    return Chart("margin", title, "gross margin by rental, at most: list prices and full use", "USD per GPU hour", "margin", "USD", "share", (line,), marks, log_x=False)


def pool_mixes(envelope: Envelope) -> Chart:
    """Sessions over mixes of a short and a long length: at the mix's ratio, the longest's, and the default."""
    return draw(envelope, "pool-mix", "Pools over mixes", _pool_mixes)


def _pool_mixes(e: Evaluation) -> Chart:
    cost_and_need(e)
    mix = mix_of(e)
    short, long = min(length for length, _ in mix), max(length for length, _ in mix)
    if short == long:
        raise Unavailable("the mix has one length")
    shares = tuple(step / 20 for step in range(21))
    mixes = [tuple((length, count) for length, count in ((short, 20 - step), (long, step)) if count) for step in range(21)]
    longest = mix_best(e, ((long, 1),))
    held = {
        "its own best ratio": [_unrounded(e, one, mix_best(e, one)) for one in mixes],
        f"the ratio for {token_text(long)} alone": [_unrounded(e, one, longest) for one in mixes],
        f"SGLang's default {decimal_text(default_ratio(e))}": [_unrounded(e, one, default_ratio(e)) for one in mixes],
    }
    series = tuple(Series(label, shares, tuple(ys), "main" if index == 0 else "other") for index, (label, ys) in enumerate(held.items()))
    marks = tuple(Mark(f"{label}: {int(ys[10]):,}", 0.5, ys[10], "best" if index == 0 else "plain") for index, (label, ys) in enumerate(held.items()))
    title = f"Equal {token_text(short)} and {token_text(long)} sessions: {int(marks[0].y):,} at their own ratio, {int(marks[1].y):,} at the one for {token_text(long)}"
    return Chart("pool-mix", title, f"sessions, before rounding to whole groups, by share of {token_text(long)} sessions; the rest hold {token_text(short)}", f"share of {token_text(long)} sessions", "sessions", "share", "sessions", series, marks, log_x=False)


def _unrounded(e: Evaluation, mix: tuple[tuple[int, int], ...], ratio: Fraction) -> float:
    """Sessions of a mix on all GPUs before rounding down: a group of twenty would hide what differs."""
    layout = e.scenario.layout
    per_gpu = e["pool_bytes"] / layout.gpus
    fewest = []
    for cost in rank_costs(e, layout.tp, layout.pp):
        need = pools.demand(mix, cost.window, e.input("chunk"))
        fewest.append(per_gpu / pools.session_bytes(cost, need, ratio) * need.sessions)
    return float(layout.dp * min(fewest))


def expert_balance(envelope: Envelope) -> Chart:
    """How much more the busiest expert-parallel rank reads than the mean, by tokens in one step."""
    return draw(envelope, "expert-balance", "Expert load balance", _expert_balance)


def _expert_balance(e: Evaluation) -> Chart:
    moe, batch = mixture(e), e.input("batch")
    points = tuple(sorted({*(round(point) for point in spread(1, max(1024, 2 * batch))), batch, 32}))
    ratios = tuple(balance(e, point).value for point in points)
    at = dict(zip(points, ratios, strict=True))
    marks = tuple(Mark(f"{point:,}: {shorten(at[point])}×", point, at[point], "chosen" if point == batch else "plain") for point in sorted({32, batch}))
    title = f"With 32 tokens in a step the busiest of {e.scenario.layout.ep} ranks reads {shorten(at[32])} times the mean"
    subtitle = f"experts read on the busiest rank over the mean, {moe.top_k} of {moe.experts} chosen uniformly; skewed routing is worse"
    return Chart("expert-balance", title, subtitle, "tokens in one step (log)", "times the mean", "tokens", "ratio", (Series("busiest rank", points, ratios, "main"),), marks)


CHARTS: dict[str, Callable[[Envelope], Chart]] = {
    "cost-context": cost_context, "speculation": speculation_bytes, "margin": margin_rental, "pool-mix": pool_mixes,
    "expert-balance": expert_balance,
}  # fmt: skip
