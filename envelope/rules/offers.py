"""What a finding may offer to set: only changes that the inputs accept and that bring what its sentence says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from envelope.fields.base import InputError

if TYPE_CHECKING:
    from envelope.evaluation import Envelope


def changed(envelope: Envelope, change: Mapping[str, str | None]) -> Envelope | None:
    """The state with this change made, an input of None taken back; None where an input refuses it."""
    try:
        return envelope.with_(**change)
    except InputError:
        return None


def offer(envelope: Envelope, change: Mapping[str, str], brings: Callable[[Envelope], bool] = lambda other: True) -> Mapping[str, str]:
    """The change where it is accepted and `brings` holds of the state it leads to, else nothing."""
    other = changed(envelope, change)
    return change if other is not None and brings(other) else {}
