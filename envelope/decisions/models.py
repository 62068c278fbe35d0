"""Models side by side: every preset, and the model at hand where it is none, by what they hold and keep."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from envelope import catalog
from envelope.decisions.words import NONE, said
from envelope.evaluation import Envelope, evaluate
from envelope.sections import Content, Section, Table
from envelope.units import text

if TYPE_CHECKING:
    from fractions import Fraction

_SHORT, _LONG = 131_072, 1_048_576  # the contexts at which whole sessions are set side by side
_COLUMNS = ("Model", "Total", "Active", "Cache format", "Cache per token", "Cache at 128K", "Cache at 1M", "90% of experts at", "Crossover, decode")
_KEYS = ("resident_parameters", "active_parameters", "cache_bytes_per_token", "experts_tokens_90", "crossover_decode")


@cache
def _preset(slug: str, context: int) -> Envelope:
    """A preset as it comes. Kept, since it follows from nothing that a reader changes."""
    return evaluate(slug, context=context)


def _own(envelope: Envelope) -> bool:
    """Whether the model at hand is none of the presets: pasted, or edited."""
    return envelope.scenario.preset is None or envelope.scenario.model_edited


def _all(envelope: Envelope, context: int) -> tuple[Envelope, ...]:
    """Every preset at a context, then the model at hand with its own cache format."""
    presets = tuple(_preset(slug, context) for slug in catalog.slugs())
    if not _own(envelope):
        return presets
    alone = envelope.scenario.with_(context=context, mix=None, prompt_reserve=None, output_reserve=None)
    return (*presets, evaluate(alone))


def spread(envelopes: tuple[Envelope, ...]) -> tuple[Envelope, Envelope, Fraction] | None:
    """(least, most, ratio) of the bytes a token keeps; None where fewer than two models keep any."""
    kept = [(one["cache_bytes_per_token"].value, one) for one in envelopes]
    kept = sorted(((value, one) for value, one in kept if value), key=lambda pair: pair[0])
    if len(kept) < 2:
        return None
    (least, small), (most, large) = kept[0], kept[-1]
    return small, large, most / least


def answer(envelope: Envelope) -> str:
    """`cache per token spreads 368×: 890.0 B for DeepSeek V4.1-Flash, 327.7 kB for Llama 3.1 70B`."""
    found = spread(_all(envelope, _SHORT))
    if found is None:
        return "no two models keep a cache that grows"
    small, large, ratio = found
    each = (f"{text(one['cache_bytes_per_token'].value, 'bytes', 4)} for {one.scenario.name}" for one in (small, large))
    return f"cache per token spreads {float(ratio):,.0f}×: {', '.join(each)}"


def content(envelope: Envelope) -> Content:
    """One row per model; each column can be put in order."""
    return Content(tables=(_table(envelope),), paragraphs=("Presets stand as they come, each with its own cache format; a model that was pasted or edited here stands below them.",))


def _table(envelope: Envelope) -> Table:
    rows, order = [], []
    for short, long in zip(_all(envelope, _SHORT), _all(envelope, _LONG), strict=True):
        total, active, token, tokens_90 = (said(short, key, 4) for key in _KEYS[:4])
        crossover = _number(short, "crossover_decode")
        rows.append((
            short.scenario.name, total, active, str(short.scenario["cache_format"] or NONE), token,
            said(short, "cache_bytes_per_session"), said(long, "cache_bytes_per_session"), tokens_90, f"{crossover:,.0f} tokens" if crossover else NONE,
        ))  # fmt: skip
        sizes = [_number(short, key) for key in _KEYS]
        order.append((None, *sizes[:2], None, sizes[2], _number(short, "cache_bytes_per_session"), _number(long, "cache_bytes_per_session"), *sizes[3:]))
    return Table("Models side by side", _COLUMNS, tuple(rows), "A dash: the model has no such figure, or its shapes are not published.", tuple(order))


def _number(envelope: Envelope, key: str) -> float | None:
    value = envelope[key].value
    return None if value is None else float(value)


SECTION = Section("models", "Models side by side", answer, content)
