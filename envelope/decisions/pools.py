"""Pools: the ratio for a mix, what published ratios fit, and the host memory behind the GPUs."""

from __future__ import annotations

from fractions import Fraction

from envelope import catalog, pools
from envelope.decisions.words import advice, applying, needed, provenance
from envelope.evaluation import Envelope
from envelope.fields.base import decimal_text
from envelope.quantities.pool_mix import mix_best, mix_of, mix_words, pool_count
from envelope.quantities.pools import default_ratio, sessions_at
from envelope.quantities.registry import Unavailable
from envelope.sections import Content, Section, Table
from envelope.units import shorten, text, token_text

_RULES = frozenset({
    "default_pool_ratio", "pool_ratio_off", "sliding_pool_too_small", "sliding_pool_below_chunk", "mix_sized_for_one_length",
    "pool_holds_more", "cache_could_be_fp8", "host_memory_exceeded",
})  # fmt: skip
_LENGTHS = (8_192, 32_768, 131_072, 524_288, 1_048_576)
_HEADROOMS = (Fraction(0), Fraction(1, 10), Fraction(1, 5))


def answer(envelope: Envelope) -> str:
    """`equal 32K and 128K sessions: ratio 0.125 fits 370`."""
    e = envelope.evaluation
    if pool_count(e) == 1:
        return envelope["best_pool_ratio"].reason
    needed(envelope, "pool_bytes")
    mix = mix_of(e)
    ratio = pools.round_up(needed(envelope, "pool_mix_ratio"))
    return f"{mix_words(mix)}: ratio {decimal_text(ratio)} fits {sessions_at(e, ratio, mix):,}"


def content(envelope: Envelope) -> Content:
    """Ratios, mixes, lengths and headroom where there are two pools; the host tier everywhere."""
    host = ("host_cache_bytes", "host_cache_bytes_each_pool", "host_memory_share", "host_sessions", "host_reload_seconds", "host_breakeven_seconds")
    tier = (advice("host_cache_per_rank"), "One request must fit on the GPUs whatever the host tier holds.")
    host_inputs = ("host_cache_per_rank", "host_memory", "host_link")
    try:
        needed(envelope, "pool_ratio")
    except Unavailable as one_pool:
        return Content(quantities=host, inputs=applying(envelope, *host_inputs), paragraphs=(f"No ratio to set: {one_pool}.", *tier))
    least = needed(envelope, "pool_least_ratio")
    start = f"Below ratio {shorten(float(least), 2)} the sliding pool holds less than one window and one chunk, and no prompt can start."
    return Content(
        quantities=("pool_mix_ratio", "pool_mix_sessions", "pool_mix_sessions_long", "pool_mix_sessions_default", "pool_least_ratio", *host),
        tables=(_published(envelope), _lengths(envelope), _headroom(envelope)),
        charts=("pool-mix",),
        inputs=applying(envelope, "mix", "pool_ratio", "headroom", "chunk", *host_inputs),
        paragraphs=(advice("pool_headroom"), start, *tier),
    )


def _published(envelope: Envelope) -> Table:
    e = envelope.evaluation
    best = needed(envelope, "recommended_pool_ratio")
    most = sessions_at(e, best)
    rows = [("best, with headroom", decimal_text(best), f"{most:,}", "100%", "this state")]
    for one in catalog.traffic().pool_ratios:
        held = sessions_at(e, Fraction(str(one.value)))
        rows.append((one.label, f"{one.value:g}", f"{held:,}", f"{held / most:.0%}" if most else "", provenance(one)))
    lengths = mix_words(e.scenario.mix) if e.input("mix") else f"{token_text(e.input('context'))} sessions"
    return Table(f"What each published ratio fits: {lengths}", ("Where", "Ratio", "Sessions", "Of the best", "Source"), tuple(rows))


def _lengths(envelope: Envelope) -> Table:
    e = envelope.evaluation
    mine, started_with = needed(envelope, "pool_ratio"), default_ratio(e)
    rows = []
    for length in sorted({*_LENGTHS, e.input("context")}):
        mix = ((length, 1),)
        best = pools.round_up(mix_best(e, mix))
        most, held, default = (sessions_at(e, ratio, mix) for ratio in (best, mine, started_with))
        lost = f"{1 - held / most:.0%}" if most else ""
        rows.append((token_text(length), decimal_text(best), f"{most:,}", f"{held:,}", lost, f"{default:,}"))
    shown = shorten(float(mine), 3)
    return Table("One ratio at other lengths", ("Context", "Best ratio", "Sessions", f"At {shown}", "Lost", f"At {decimal_text(started_with)}"), tuple(rows), "Ratios are rounded up as printed, and the sessions counted with the printed value.")


def _headroom(envelope: Envelope) -> Table:
    e = envelope.evaluation
    rows = []
    for headroom in _HEADROOMS:
        ratio = pools.round_up(min(Fraction(1), needed(envelope, "best_pool_ratio") * (1 + headroom)))
        rows.append((f"{float(headroom):.0%}", decimal_text(ratio), f"{sessions_at(e, ratio):,}"))
    spare = text(needed(envelope, "window_bytes_per_session"), "bytes")
    return Table("Headroom on the sliding pool", ("Headroom", "Ratio", "Sessions"), tuple(rows), f"It keeps the windows of returning agents, {spare} each, beside those that run.")


SECTION = Section("pools", "Pools", answer, content, _RULES)
