"""Cost per turn: what a conversation bills, what it rents, what is left."""

from __future__ import annotations

from fractions import Fraction

from envelope import benchmark, catalog
from envelope.decisions.words import NONE, applying, asked, needed, provenance
from envelope.evaluation import Envelope
from envelope.quantities.benchmark import workload
from envelope.quantities.cost import SMALLEST
from envelope.quantities.turn import bill
from envelope.records import Price
from envelope.scenario import BY_KEY
from envelope.sections import Content, Section, Table
from envelope.units import money, shorten

_RULES = frozenset({"margin_negative", "list_is_a_ceiling", "rental_moves"})


def answer(envelope: Envelope) -> str:
    """`a conversation bills $0.26 and rents $0.024: a margin of 91% at most`; how many pay the rent, without a rate."""
    start = f"a conversation bills {_fine(needed(envelope, 'turn_bill'))}"
    margin, rental = envelope["turn_margin"], envelope.value("turn_rental")
    if margin.value is not None and rental is not None:
        return f"{start} and rents {money(rental)}: a margin of {_percent(margin.value)} at most"
    enough = envelope.value("turn_breakeven_conversations")
    if enough is not None:
        start += f", so {shorten(float(enough))} per GPU hour pay {money(envelope.scenario['gpu_hour'])} of rent"
    labels = " and ".join(BY_KEY[key].label for key in margin.missing)
    return f"{start}; enter {labels} for the margin" if labels else f"{start}; {margin.reason}"


def _fine(value: Fraction) -> str:
    return f"${float(value):.4f}" if value < 1 else money(value)


def _percent(value: Fraction) -> str:
    return f"{float(value):.0%}".replace("-", "−")


def content(envelope: Envelope) -> Content:
    """The bill by kind, the margin by rental, and the same conversation at other list prices."""
    return Content(
        quantities=(
            "turn_bill", "turn_share_cached", "turn_share_fresh", "turn_share_output", "turn_conversations_per_gpu_hour",
            "turn_breakeven_conversations", "turn_rental", "turn_margin",
        ),
        tables=(_bill(envelope), *((_rentals(envelope),) if envelope.scenario.machine.rental else ()), _prices(envelope)),
        charts=("margin",),
        inputs=applying(envelope, "input_price", "cached_price", "output_price", "gpu_hour", "turns", "first_turn", "new_tokens", "output_tokens", "total_tokens_per_gpu_s"),
        paragraphs=("List prices are not contract prices, and hosts do not run at full use: every margin is a ceiling on what list traffic earns.",),
    )  # fmt: skip


def _bill(envelope: Envelope) -> Table:
    e = envelope.evaluation
    found, as_fresh = bill(e)
    one, scenario = workload(e), envelope.scenario
    cached = scenario["input_price"] if as_fresh else scenario["cached_price"]
    parts = (("cached input", one.hits, cached, found.cached), ("fresh input", one.fresh, scenario["input_price"], found.fresh), ("output", one.output, scenario["output_price"], found.output))
    rows = tuple((name, f"{tokens:,}", f"${shorten(float(price), 4)}", _fine(usd), f"{float(usd / found.total):.1%}" if found.total else NONE) for name, tokens, price, usd in parts)
    rows = (*rows, ("all", f"{one.total:,}", "", _fine(found.total), ""))
    note = "No price of its own is named for cached input: billed as fresh." if as_fresh else ""
    return Table("One conversation's bill", ("What", "Tokens", "Per million", "USD", "Share"), rows, note)


def _rentals(envelope: Envelope) -> Table:
    each, revenue = envelope.value("turn_conversations_per_gpu_hour"), needed(envelope, "turn_bill")
    rows = []
    for row in envelope.scenario.machine.rental:
        rent = Fraction(str(row.usd_per_gpu_hour))
        margin = _percent(benchmark.margin(rent, each, revenue)) if each and revenue else NONE
        rows.append((f"{money(rent)}, {row.basis}", money(rent / each) if each else NONE, margin, provenance(row)))
    return Table("Margin by rental", ("Rental per GPU hour", "Per conversation", "Margin, at most", "Source"), tuple(rows))


def _prices(envelope: Envelope) -> Table:
    slug = envelope.scenario.preset.slug if envelope.scenario.preset else None
    rows = tuple(_price_row(envelope, one) for one in catalog.all_prices() if one.slug in (slug, SMALLEST))
    return Table("The same conversation at other list prices", ("Model", "Provider", "Bill", "Margin, at most", "Source"), rows, "On this machine and at this state's conversations per GPU hour.")


def _price_row(envelope: Envelope, price: Price) -> tuple[str, ...]:
    cached = price.input if price.cached is None else price.cached
    usd = (Fraction(str(value)) for value in (price.input, cached, price.output))
    total = benchmark.bill(workload(envelope.evaluation), *usd).total

    def margin(e) -> Fraction:
        return benchmark.margin(Fraction(e.needed("gpu_hour", "no rental")), e["turn_conversations_per_gpu_hour"], total)

    return (price.model, price.provider, _fine(total), asked(envelope, margin, _percent) if total else NONE, provenance(price))


SECTION = Section("turn", "Cost per turn", answer, content, _RULES)
