"""What a colleague would say about this set-up: rules that speak on the user's own numbers, silent otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from envelope.fields.base import InputError
from envelope.quantities.registry import Unavailable

if TYPE_CHECKING:
    from envelope.evaluation import Envelope

SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One sentence with its number. `set` holds the inputs, as typed, that would act on it; `cost` orders findings.

    `cost` is the share of sessions (or of the number that matters) lost, 0 to 1.
    """

    key: str
    severity: str
    text: str
    set: Mapping[str, str] = field(default_factory=dict)
    cost: float = 0.0


Rule = Callable[["Envelope"], Finding | None]


def findings(envelope: Envelope) -> tuple[Finding, ...]:
    """Apply every rule; errors first, then what costs most."""
    from envelope.rules import ALL

    found = []
    for rule in ALL:
        finding = envelope.once(_spoken, rule)
        if finding is not None:
            found.append(finding)
    return tuple(sorted(found, key=lambda one: (SEVERITIES.index(one.severity), -one.cost)))


def _spoken(envelope: Envelope, rule: Rule) -> Finding | None:
    try:
        return rule(envelope)
    except (Unavailable, InputError):
        # A rule about a number this state does not have has nothing to say, nor one about a neighbour it cannot have.
        return None
