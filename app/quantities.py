"""The headline numbers: a value, its unit, one line of meaning, and how it came about."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from envelope import Envelope
from envelope.evaluation import Quantity
from envelope.quantities import ALL
from envelope.units import people, text

from app.header import chip
from app.markup import Markup, button, join, part, tag
from app.pointing import pointing


def _said(e: Envelope, words: str, *keys: str) -> str:
    """Fill words with quantities; empty where one has no value."""
    values = [e[key] for key in keys]
    if any(quantity.value is None for quantity in values):
        return ""
    return words.format(*(text(quantity.value, quantity.unit) for quantity in values))


def _resident(e: Envelope) -> str:
    preset = e.scenario.preset
    stated = preset.published_total if preset else None
    return f"published: {text(stated.value, 'parameters', 4)}" if stated else e["resident_parameters"].note


def _experts(e: Envelope) -> str:
    top_k, experts = e.scenario["top_k"], e.scenario["experts"]
    return f"{top_k} of {experts:,} per token" if top_k and experts else ""


def _ceiling(e: Envelope) -> str:
    if e.value("pool_ratio") is None:
        return _said(e, "{} in this layout", "sessions")
    return _said(e, "{} in two pools", "sessions")


def _cached_price(e: Envelope) -> str:
    price = e.scenario["cached_price"]
    return f"at {text(price, 'USD')} per million cached tokens" if price is not None else ""


# Key, digits, and the line of meaning: other quantities and inputs of the same state, in words.
CARDS: tuple[tuple[str, int, Callable[[Envelope], str]], ...] = (
    ("resident_parameters", 4, _resident),
    ("active_parameters", 4, lambda e: _said(e, "{} of it attention", "active_attention_share")),
    ("bytes_per_step", 3, lambda e: _said(e, "{} of it BF16", "bytes_per_step_bf16_share")),
    ("cache_bytes_per_token", 3, lambda e: _said(e, "{} a session", "cache_bytes_per_session")),
    ("experts_tokens_90", 3, _experts),
    ("crossover_decode", 3, lambda e: _said(e, "decode; {} for prefill", "crossover_prefill")),
    ("ceiling_sessions", 3, _ceiling),
    ("cache_breakeven_seconds", 3, _cached_price),
)
_LABELS = {
    "experts_tokens_90": "90% of experts read at",
    "crossover_decode": "Attention crossover",
    "cache_bytes_per_token": "Cache per token",
    "cache_breakeven_seconds": "Holding a cache pays for",
}


def _label(e: Envelope, quantity: Quantity) -> str:
    if quantity.key == "bytes_per_step":
        return f"{quantity.label}, batch {e.scenario['batch']:,}"
    return _LABELS.get(quantity.key, quantity.label)


def cards(e: Envelope, open_keys: Iterable[str]) -> Markup:
    """The headline numbers; those in `open_keys` with formula and working below."""
    return join(e.once(_card, place, key in open_keys) for place, (key, _, _) in enumerate(CARDS))


def _card(e: Envelope, place: int, opened: bool) -> Markup:
    key, digits, say = CARDS[place]
    quantity, meaning = e[key], say(e)
    panel = f"how-{key}"
    card = part(tag(
        "div",
        tag("h3", _label(e, quantity)),
        button("how", "how", data_quantity=key, aria_expanded=str(opened).lower(), aria_controls=panel if opened else None,
               aria_label=f"How: {quantity.label}", class_="plain how", id=f"ask-{key}"),
        tag("p", value(quantity, digits), chip(quantity.tier), class_="value"),
        tag("p", meaning, class_="meaning") if meaning and quantity.value is not None else None,
        class_="card",
        data_quantity=key,
        id=f"card-{key}",
    ), "div", id=f"card-{key}")  # fmt: skip
    return join(card, tag("div", how(quantity), class_="panel", id=panel) if opened else None)


def value(quantity: Quantity, digits: int = 3) -> Markup:
    """A quantity's value and unit, or why there is none."""
    if quantity.value is None:
        return tag("span", pointing(quantity.reason), class_="reason")
    if quantity.unit == "text":
        return tag("b", str(quantity.value), class_="words")
    number, unit = people(quantity.value, quantity.unit, digits)
    return join(tag("b", number), tag("small", " ", unit) if unit else None)


def how(quantity: Quantity) -> Markup:
    """Formula, working with this state's numbers, source, tier, and what the number leaves out."""
    definition = quantity.definition
    rows = (
        ("Formula", definition.formula),
        ("Here", quantity.working or quantity.reason),
        ("Source", f"{definition.source}; tier {quantity.tier}"),
        ("Leaves out", definition.leaves_out),
        ("Note", quantity.note),
    )
    return join(
        tag("dl", ((tag("dt", name), tag("dd", words)) for name, words in rows if words)),
        tag(
            "p",
            button("Copy", "copy_quantity", data_quantity=quantity.key, aria_label=f"Copy {quantity.label} with its working"),
            " ",
            tag("a", "Method", href=f"method.html#{quantity.key}"),
        ),
    )


def as_text(quantity: Quantity) -> str:
    """A quantity with formula and working, to paste elsewhere."""
    shown = text(quantity.value, quantity.unit, 4) if quantity.value is not None and quantity.unit != "text" else str(quantity.value or quantity.reason)
    return f"{quantity.label}: {shown}\n{quantity.definition.formula}\n{quantity.working}".rstrip()


def table(e: Envelope, keys: Iterable[str]) -> Markup:
    """Quantities as rows: name, value, and how."""
    return _rows((e[key] for key in keys), lambda one: (one.working or one.definition.formula) if one.value is not None else None)


def explained(e: Envelope, keys: Iterable[str]) -> Markup:
    """The same with all there is to say of each: working, formula, source and tier, what it leaves out."""
    return _rows((e[key] for key in keys), _explanation)


def _rows(wanted: Iterable[Quantity], say: Callable[[Quantity], object]) -> Markup:
    return tag(
        "table",
        tag("thead", tag("tr", tag("th", "Quantity", scope="col"), tag("th", "Value", scope="col"), tag("th", "How", scope="col"))),
        tag("tbody", (_line(quantity, say(quantity)) for quantity in wanted)),
        class_="rows stacked",
    )


def _line(quantity: Quantity, how: object) -> Markup:
    return tag("tr", tag("th", quantity.label, scope="row"), tag("td", value(quantity, 4), chip(quantity.tier), class_="number"), tag("td", how))


def _explanation(quantity: Quantity) -> Markup:
    definition = quantity.definition
    rest = (definition.formula, f"{definition.source}; tier {quantity.tier}", definition.leaves_out and f"leaves out {definition.leaves_out}")
    return join(
        tag("p", quantity.working, class_="working") if quantity.working else None,
        tag("p", " · ".join(filter(None, rest)), " · ", tag("a", "Method", href=f"method.html#{quantity.key}", aria_label=f"Method: {quantity.label}"), class_="formula"),
    )


def everything(e: Envelope) -> Markup:
    """Every quantity there is, by group."""
    names = dict.fromkeys(definition.group for definition in ALL)
    return join((tag("h4", name.capitalize()), table(e, (one.key for one in ALL if one.group == name))) for name in names)
