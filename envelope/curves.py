"""Chart data: plain numbers, a title that states the finding, and marks; made only when a chart is asked for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from envelope import curves_decisions, experts, pools
from envelope.chart import Chart, Mark, Series, draw, spread
from envelope.checkpoint import Split
from envelope.evaluation import weights_read
from envelope.fields.base import decimal_text
from envelope.model import MixtureOfExperts, Model
from envelope.quantities.capacity import chosen_ratio, rank_costs
from envelope.quantities.pools import cost_and_need, default_ratio, sessions_at
from envelope.units import shorten, text, token_text

if TYPE_CHECKING:
    from envelope.evaluation import Envelope, Evaluation


Ratios = list[tuple[int, int]]


def pool_ratio(envelope: Envelope) -> Chart:
    """Sessions by pool ratio, at this state's context and its neighbours."""
    return draw(envelope, "pool-ratio", "The pool ratio", _pool_ratio)


def _pool_ratio(e: Evaluation) -> Chart:
    cost, need = cost_and_need(e)
    e["pool_bytes"]
    mixed = e.input("mix") is not None
    context = e.input("context")
    chosen, best, started_with = e["pool_ratio"], e["best_pool_ratio"], default_ratio(e)
    low = min(float(min(chosen, best)) / 4, 0.004)
    points = sorted({*spread(low, 1.0), float(best), float(chosen), float(started_with)})
    mine = "this mix" if mixed else token_text(context)
    others = [] if mixed else [length for length in (context // 4, context * 8) if length]
    series = [_series(e, mine, None, points, "main")]
    marks = [_mark(e, None, mine, best, "best")]
    for length in others:
        mix = ((length, 1),)
        ratio = pools.best_ratio(pools.demand(mix, cost.window, e.input("chunk")))
        series.append(_series(e, token_text(length), mix, sorted({*points, float(ratio)}), "other"))
        marks.append(_mark(e, mix, token_text(length), ratio, "plain"))
    if chosen not in (best, started_with):
        marks.append(_mark(e, None, "chosen", chosen, "chosen"))
    default = sessions_at(e, started_with)
    marks.append(Mark(f"{default:,} at the default {decimal_text(started_with)}", float(started_with), default, "default"))
    top = sessions_at(e, chosen_ratio(e, need)) or 1
    title = f"The default ratio fits {default:,} of {top:,} sessions" if default < top else "The default ratio fits as many as any"
    return Chart("pool-ratio", title, "sessions by ratio of sliding to full pool tokens", "pool ratio (log)", "sessions", "ratio", "sessions", tuple(series), tuple(marks))


def _series(e: Evaluation, label: str, mix, points, role: str) -> Series:
    layout = e.scenario.layout
    per_gpu = e["pool_bytes"] / layout.gpus
    costs = rank_costs(e, layout.tp, layout.pp)
    needs = [pools.demand(mix or e.scenario.mix, cost.window, e.input("chunk")) for cost in costs]
    shown, _ = cost_and_need(e)
    asked = pools.demand(mix or e.scenario.mix, shown.window, e.input("chunk"))
    # 49 points on three lines: whole numbers, since a Fraction reduces after every step.
    ratios = [point.as_integer_ratio() for point in points]
    ranks = [_held(per_gpu, cost, need, ratios) for cost, need in zip(costs, needs, strict=True)]
    counts = tuple(layout.dp * min(held) for held in zip(*ranks, strict=True))
    return Series(label, tuple(points), counts, role, _binding(asked, ratios))


def _held(pool: Fraction, cost: pools.TokenCost, need: pools.Demand, ratios: Ratios) -> list[int]:
    """`pools.sessions` of one rank at each ratio `over / under`, in whole numbers."""
    if pool <= 0 or not cost.sliding or not cost.full or not need.sliding_tokens:
        return [pools.sessions(pool, cost, need, Fraction(1))] * len(ratios)
    full, sliding, state, scale = cost.whole
    memory, fixed = pool.numerator * scale, state * need.sessions
    # All divided by the pool's denominator, taken over to the other side.
    full, sliding, fixed = (value * pool.denominator for value in (full, sliding, fixed))
    found = []
    for over, under in ratios:
        # Slots are full_tokens, or sliding_tokens × under / over where the sliding pool is the tighter.
        longer, wider = need.full_tokens * over, need.sliding_tokens * under
        each = (longer if longer > wider else wider) * (full * under + sliding * over) + fixed * over * under
        found.append(memory * over * under // each * need.sessions)
    return found


def _binding(need: pools.Demand, ratios: Ratios) -> tuple[str, ...]:
    """`pools.binding_pool` where there are two pools, at each of the rising ratios, in words."""

    def side(ratio: tuple[int, int]) -> int:
        over, under = ratio
        full, sliding = need.full_tokens * over, need.sliding_tokens * under
        return (full > sliding) - (full < sliding)

    below, upto = bisect_left(ratios, 0, key=side), bisect_right(ratios, 0, key=side)
    return ("sliding pool binds",) * below + ("both pool binds",) * (upto - below) + ("full pool binds",) * (len(ratios) - upto)


def _mark(e: Evaluation, mix, label: str, ratio: Fraction, kind: str) -> Mark:
    shown = pools.round_up(ratio)
    held = sessions_at(e, ratio, mix)
    return Mark(f"{label}: {held:,} at {shorten(float(shown), 3)}", float(ratio), held, kind)


def expert_coverage(envelope: Envelope) -> Chart:
    """Distinct experts read per layer by tokens in one step, with the weight bytes a step then reads."""
    return draw(envelope, "experts", "Expert coverage", _expert_coverage)


def _expert_coverage(e: Evaluation) -> Chart:
    needed = e["experts_tokens_90"]
    _, mixture = min(e.model.mixtures(), key=lambda pair: Fraction(pair[1].top_k, pair[1].experts + pair[1].zero_experts))
    return _coverage(e.model, e.split, mixture, needed, e.input("batch"))


@lru_cache(maxsize=16)  # most edits leave this chart as it is
def _coverage(model: Model, split: Split, mixture: MixtureOfExperts, needed: float, batch: int) -> Chart:
    high = max(8 * needed, 2 * batch)
    points = tuple(sorted({*spread(1, high), 1.0, float(batch), float(round(needed))}))

    chosen = mixture.experts + mixture.zero_experts

    def read(tokens: float) -> float:
        return experts.touched(chosen, mixture.top_k, tokens) * mixture.experts / chosen

    def weight_bytes(tokens: float) -> float:
        return sum(weights_read(model, split, tokens).values())

    def mark(tokens: int, kind: str) -> Mark:
        return Mark(f"{tokens:,}: {read(tokens):,.0f}, {text(weight_bytes(tokens), 'bytes')}", tokens, read(tokens), kind)

    hover = tuple(text(weight_bytes(point), "bytes") for point in points)
    marks = {1: mark(1, "plain"), 32: mark(32, "plain"), round(needed): mark(round(needed), "best")}
    marks[batch] = mark(batch, "chosen")
    line = Series("experts read", points, tuple(read(point) for point in points), "main", hover)
    title = f"{needed:,.0f} tokens in a step read nine tenths of the experts"
    return Chart("experts", title, "distinct experts per layer, and weight bytes, by tokens in the step", "tokens in one step (log)", "experts", "tokens", "experts", (line,), tuple(marks.values()))


CHARTS: dict[str, Callable[[Envelope], Chart]] = {"pool-ratio": pool_ratio, "experts": expert_coverage, **curves_decisions.CHARTS}
