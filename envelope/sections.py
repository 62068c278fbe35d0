"""The decisions and checks: each a folded section with its answer in a sentence and, when opened, its content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envelope.quantities.registry import Unavailable

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
    """One decision or check. `answer` is the header's sentence; `content` is made only when the section is open."""

    key: str
    title: str
    find_answer: Callable[[Envelope], str]
    find_content: Callable[[Envelope], Content]

    def answer(self, envelope: Envelope) -> str:
        """The header's sentence, or why there is none."""
        try:
            return envelope.once(("answer", self.key), self.find_answer)
        except Unavailable as unavailable:
            return f"no answer: {unavailable}"

    def content(self, envelope: Envelope) -> Content:
        """What the open section shows; where something is missing, the sentence that says so."""
        try:
            return self.find_content(envelope)
        except Unavailable as unavailable:
            return Content(paragraphs=(f"Not shown: {unavailable}.",))


def sections() -> tuple[Section, ...]:
    """Every section in the order of the page."""
    from envelope.decisions import ALL

    return ALL
