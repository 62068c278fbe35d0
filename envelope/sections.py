"""The decisions and checks: each a folded section with its answer in a sentence and, when opened, its content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from envelope.findings import Finding
from envelope.quantities.registry import Unavailable
from envelope.scenario import BY_KEY

if TYPE_CHECKING:
    from envelope.evaluation import Envelope


@dataclass(frozen=True)
class Table:
    """Rows of texts under column heads. `note` says what the reader should know of them.

    With `order` the rows can be put in order by any column: one entry per cell, its number, None to go by the text.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    order: tuple[tuple[float | None, ...], ...] = ()


@dataclass(frozen=True)
class Content:
    """What an open section shows, by the keys of quantities, charts and inputs, and its own tables."""

    quantities: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    paragraphs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """One decision or check. `answer` is the header's sentence; `content` is made only when the section is open.

    `rules` are the keys of the findings that belong to it.
    """

    key: str
    title: str
    find_answer: Callable[[Envelope], str]
    find_content: Callable[[Envelope], Content]
    rules: frozenset[str] = frozenset()

    def answer(self, envelope: Envelope) -> str:
        """The header's sentence, or what has to be entered for one."""
        try:
            return envelope.once(self.find_answer)
        except Unavailable as unavailable:
            return asks(str(unavailable), unavailable.inputs) if unavailable.inputs else f"no answer: {unavailable}"

    def content(self, envelope: Envelope) -> Content:
        """What the open section shows; where something is missing, the sentence that says so and the inputs for it."""
        missing: tuple[str, ...] = ()
        try:
            envelope.once(self.find_answer)
        except Unavailable as unavailable:
            missing = unavailable.inputs
        try:
            found = self.find_content(envelope)
        except Unavailable as unavailable:
            missing = unavailable.inputs
            found = Content(paragraphs=(f"Not shown: {asks(str(unavailable), missing)}.",))
        offered = (key for key in missing if envelope.scenario.applies(key))
        return replace(found, inputs=tuple(dict.fromkeys((*offered, *found.inputs))))

    def findings(self, envelope: Envelope) -> tuple[Finding, ...]:
        """What of the set-up's findings belongs here, the costliest first."""
        return tuple(one for one in envelope.findings if one.key in self.rules)


def asks(reason: str, missing: tuple[str, ...]) -> str:
    """Say why there is no value, and ask for the missing inputs by label: `… states no shapes: enter Weight bytes`."""
    for key in missing:
        reason = reason.replace(f" ({key})", "").removesuffix(f": give {key}")
    labels = " or ".join(BY_KEY[key].label for key in missing)
    return f"{reason}: enter {labels}" if labels else reason


def sections() -> tuple[Section, ...]:
    """Every section in the order of the page."""
    from envelope.decisions import ALL

    return ALL
