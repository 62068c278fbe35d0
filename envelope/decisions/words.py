"""How sections say things: a quantity as text, the inputs that apply, advice with its source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envelope import catalog
from envelope.evaluation import Envelope, Evaluation
from envelope.quantities.registry import Unavailable
from envelope.records import Provenance
from envelope.units import text

NONE = "–"


def said(envelope: Envelope, key: str, digits: int = 3) -> str:
    """A quantity as people write it, a dash where it has no value."""
    quantity = envelope[key]
    if quantity.value is None:
        return NONE
    return quantity.value if quantity.unit == "text" else text(quantity.value, quantity.unit, digits)


def asked(envelope: Envelope, find: Callable[[Evaluation], Any], write: Callable[[Any], str]) -> str:
    """What `find` gives, written; a dash where something it needs is missing."""
    found = envelope.ask(find)
    return NONE if found is None else write(found)


def needed(envelope: Envelope, key: str) -> Any:
    """A quantity's value. Raises Unavailable with its reason."""
    quantity = envelope[key]
    if quantity.value is None:
        raise Unavailable(quantity.reason, *quantity.missing)
    return quantity.value


def applying(envelope: Envelope, *keys: str) -> tuple[str, ...]:
    """The inputs among `keys` that this set-up has."""
    return tuple(key for key in keys if envelope.scenario.applies(key))


def advice(key: str) -> str:
    """Published advice with its source and tier."""
    found = catalog.traffic().guidance[key]
    return f"{found.text} {provenance(found)}"


def provenance(record: Provenance) -> str:
    """Where a record comes from: `(AMD, …; tier B)`."""
    return f"({record.source}{', ' + record.date if record.date else ''}; tier {record.tier})"


def article(number: int) -> str:
    """`a` or `an` before a number in digits: an 8, an 11, an 80."""
    first = str(number)
    return "an" if first[0] == "8" or (number < 20 and first in ("11", "18")) else "a"
