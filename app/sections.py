"""The decisions and checks: folded, each with its answer in its header; content is made only when one is open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from envelope import export
from envelope.chart import Chart
from envelope.scenario import BY_KEY
from envelope.sections import Section, Table, sections

from app import charts, findings, inputs, link, quantities
from app.markup import Markup, button, join, tag, unbroken
from app.state import State

LAYERS, ALL_NUMBERS = "layers", "all-numbers"  # the folds that are no sections: the layer table and the last
SHOWN = "section-"  # before a section's key where a name may also be a chart's
MAIN_CHARTS = ("pool-ratio", "experts")  # always on the page


class Charts(Protocol):
    """The charts of one state by key; `mount` is the place for one."""

    def __getitem__(self, key: str) -> Chart: ...

    def mount(self, key: str) -> Markup | None: ...


def keys() -> tuple[str, ...]:
    """The names of everything that folds here, in the order of the page."""
    return (LAYERS, *(one.key for one in sections()), ALL_NUMBERS)


def asked(other: Mapping[str, str]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Take from a link what is open, `open=pools,turn` or `show=section-pools`, with a sentence for each that is not known here.

    `open=layers` opens the layer table where a narrow page has it folded; a wide page has it open whatever the link says.
    """
    names = [key for key in other.get("open", "").split(",") if key]
    if other.get("show", "").startswith(SHOWN):
        names.append(other["show"].removeprefix(SHOWN))
    known = frozenset(names) & frozenset(keys())
    return known, tuple(link.unknown((name for name in names if name not in known), "There is no section {} here; it was not opened."))


def open_query(opened: frozenset[str]) -> dict[str, str]:
    """What a link says of the sections that are open. Of the layer table it says nothing: how wide a page is decides."""
    names = ",".join(key for key in keys() if key in opened and key != LAYERS)
    return {"open": names} if names else {}


def folded(state: State, opened: frozenset[str], drawn: Charts) -> Markup:
    """Every section, and after them all the numbers there are."""
    return join((_section(state, one, one.key in opened, drawn) for one in sections()), _all_numbers(state, ALL_NUMBERS in opened))


def _section(state: State, section: Section, opened: bool, drawn: Charts) -> Markup:
    return fold(section.key, section.title, section.answer(state.envelope), content(state, section, drawn) if opened else None)


def _all_numbers(state: State, opened: bool) -> Markup:
    content = quantities.everything(state.envelope) if opened else None
    return fold(ALL_NUMBERS, "All numbers", "every quantity with its working", content)


def fold(key: str, title: str, answer: str, content: Markup | None) -> Markup:
    """A folding part: its answer in its header, and its content while it is open."""
    return tag(
        "details",
        tag("summary", tag("h3", title), tag("span", answer, class_="answer")),
        tag("div", content, class_="content") if content is not None else None,
        open=content is not None,
        data_fold=key,
        class_="section",
        id=SHOWN + key,
    )


def content(state: State, section: Section, drawn: Charts) -> Markup:
    """What an open section shows: its findings, words, its inputs, its numbers with formula and working, tables and charts."""
    shown, found = section.content(state.envelope), section.findings(state.envelope)
    return join(
        tag("ul", findings.listed(found), class_="findings", aria_label=f"Findings: {section.title}") if found else None,
        (tag("p", words) for words in shown.paragraphs),
        tag(
            "div",
            (inputs.row(state, BY_KEY[key], section.key) for key in shown.inputs if state.envelope.scenario.applies(key)),
            class_="some-inputs",
            id=f"{section.key}-inputs",
        ) if shown.inputs else None,
        quantities.explained(state.envelope, shown.quantities) if shown.quantities else None,
        (_table(one) for one in shown.tables),
        (_chart(drawn, key) for key in shown.charts),
    )


_WORDY = 60  # letters of a table's widest cells together; one with more stands cell under cell where it is narrow


def _table(table: Table) -> Markup:
    wordy = sum(max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)) > _WORDY and not table.order
    labels = table.columns if wordy else ()
    return join(
        tag("h4", table.title),
        tag(
            "table",
            tag("thead", tag("tr", (_head(name, table) for name in table.columns))),
            tag("tbody", (_row(cells, order, labels) for cells, order in zip(table.rows, table.order or ((),) * len(table.rows), strict=True))),
            class_="rows stacked" if wordy else "rows",
            data_sortable=table.title if table.order else None,
        ),
        tag("p", table.note, class_="note") if table.note else None,
    )


def _head(name: str, table: Table) -> Markup:
    """A column's head; one that can be put in order is a button, which the page's script answers."""
    return tag("th", tag("button", name, type="button", class_="plain", data_sort=True) if table.order else name, scope="col")


def _row(cells: tuple[str, ...], order: tuple[float | None, ...] = (), labels: tuple[str, ...] = ()) -> Markup:
    first, *rest = zip((unbroken(cell) for cell in cells), order or (None,) * len(cells), labels or (None,) * len(cells), strict=True)
    return tag("tr", tag("th", first[0], scope="row", data_order=first[1]), (tag("td", cell, data_order=number, data_label=label) for cell, number, label in rest))


def _chart(drawn: Charts, key: str) -> Markup:
    if key in MAIN_CHARTS:
        return tag("p", tag("a", drawn[key].title, href=f"#chart-{key}"), " (the chart above)", class_="note")
    return tag("figure", charts.heading(drawn[key]), drawn.mount(key), charts.more(drawn[key], False), class_="chart", id=f"chart-{key}")


def compared(state: State) -> Markup | None:
    """Both states' headline numbers side by side, with difference and ratio; None while nothing is pinned."""
    if state.pinned is None:
        return None
    a, b = state.pinned, state.envelope
    return join(
        tag("h3", "A and B"),
        tag(
            "table",
            tag("thead", tag("tr", (tag("th", words, scope="col") for words in ("Quantity", f"A: {export.headline(a)}", f"B: {export.headline(b)}", "B − A", "B / A")))),
            tag("tbody", (_row(cells) for cells in export.comparison(a, b))),
            class_="rows compared",
        ),
        tag("p", button("Swap A and B", "swap"), " ", button("Stop comparing", "unpin")),
    )
