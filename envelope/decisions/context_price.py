"""Context and cache price: what a token costs by context, and how long holding a cache pays."""

from __future__ import annotations

from fractions import Fraction

from envelope.curves_decisions import about
from envelope.decisions.words import NONE, advice, applying, asked, needed, provenance
from envelope.evaluation import Envelope, evaluate
from envelope.quantities.cost import cost_at, smallest_cache
from envelope.sections import Content, Section, Table
from envelope.units import money, shorten, text, token_text

_RULES = frozenset({
    "costs_more_than_list", "every_layer_counted", "every_layer_global", "cache_expires_before_return", "prefix_caching_off",
    "rental_moves", "context_beyond_model",
})  # fmt: skip
_CONTEXTS = (8_192, 32_768, 131_072, 262_144, 524_288, 1_048_576)


def answer(envelope: Envelope) -> str:
    """`decoding costs more than the list price from about 313K on`; where that is not known, how long holding a cache pays."""
    crossing = envelope["cost_crossing_context"]
    if crossing.value is not None:
        return f"decoding costs more than the list price from {about(crossing.value)} on"
    cost, held = envelope.value("cost_per_million_output"), envelope.value("cache_breakeven_seconds")
    if cost is not None:
        return f"at least {money(cost)} per million output tokens at this context; {crossing.reason}"
    if held is None:
        needed(envelope, "cost_per_million_output" if envelope.scenario.model else "cache_breakeven_seconds")
    return f"holding a cache pays for {text(held, 'seconds')}; {crossing.reason}, so no token is priced"


def content(envelope: Envelope) -> Content:
    """Cost by context, beside another cache's, and the break-even at each known rental."""
    cap, expiry = advice("context_cap"), advice("cache_expiry")
    return Content(
        quantities=(
            "cost_per_million_output", "cost_engine_per_million_output", "cost_small_cache_per_million_output", "cost_crossing_context",
            "cache_breakeven_seconds", "cache_breakeven_with_window_seconds", "host_breakeven_seconds", "cost_hit_share", "cost_prefix_off_factor",
        ),
        tables=(
            *((_by_context(envelope),) if envelope.scenario.model else ()),
            *((_by_rental(envelope),) if envelope.scenario.machine.rental else ()),
        ),
        charts=("cost-context",),
        inputs=applying(envelope, "context", "max_batch", "gpu_hour", "output_price", "cached_price", "bandwidth_share", "prefix_caching"),
        paragraphs=(
            "Every cost here is a lower bound: bandwidth alone, a full batch at all times. Without window state the break-even does not depend on context; with it, short contexts pay slightly less long.",
            cap, expiry, advice("prefix_caching_off"),
        ),
    )  # fmt: skip


def _by_context(envelope: Envelope) -> Table:
    price = envelope.scenario["output_price"]
    small = envelope.ask(smallest_cache)
    rows = []
    for context in sorted({*_CONTEXTS, envelope.scenario["context"]}):
        found = envelope.ask(lambda e, context=context: cost_at(e, context))
        other = envelope.ask(lambda e, context=context: cost_at(e, context, small)) if small else None
        engine = _at(envelope, context)
        rows.append((
            token_text(context),
            f"{found[1]:,}" if found else NONE,
            money(found[0]) if found else NONE,
            asked(engine, lambda e: e["sessions"], lambda count: f"{count:,}") if engine else NONE,
            asked(engine, lambda e: e["cost_engine_per_million_output"], money) if engine else NONE,
            money(other[0]) if other else NONE,
            f"{found[0] / float(price):.0%}" if found and price else NONE,
        ))  # fmt: skip
    columns = ("Context", "Ceiling, at most max_batch", "Per million output", "Engine's sessions", "Per million with those", f"With {shorten(float(small))} bytes per token" if small else "Smallest cache", "Of the list price")
    return Table("Cost per million output tokens by context", columns, tuple(rows))


def _at(envelope: Envelope, context: int) -> Envelope:
    return evaluate(envelope.scenario.with_(context=context, mix=None, prompt_reserve=None, output_reserve=None))


def _by_rental(envelope: Envelope) -> Table:
    rows = []
    for row in envelope.scenario.machine.rental:
        at = evaluate(envelope.scenario, gpu_hour=Fraction(str(row.usd_per_gpu_hour)))
        rows.append((
            f"{money(row.usd_per_gpu_hour)}, {row.basis}",
            asked(at, lambda e: e["cache_breakeven_seconds"], lambda value: text(value, "seconds")),
            asked(at, lambda e: e["cost_per_million_output"], money),
            provenance(row),
        ))  # fmt: skip
    return Table("By rental per GPU hour", ("Rental", "Holding a cache pays for", "Per million output", "Source"), tuple(rows), "Rentals move from week to week; every dollar here moves with them.")


SECTION = Section("context-price", "Context and cache price", answer, content, _RULES)
