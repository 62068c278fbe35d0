"""What an output is: its key, unit, formula, source, and the function that finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

SEED = "first seed: the envelope post of October 2026"
SECOND = "second seed: self-hosting frontier open-weight models"
HOUSE = "house definition"


class Unavailable(Exception):
    """A quantity that has no value here; the message is the reason, `inputs` the keys of what would give it one."""

    def __init__(self, reason: str, *inputs: str) -> None:
        super().__init__(reason)
        self.inputs = inputs


class Found(NamedTuple):
    """A value in base units, and how it came about with this state's numbers, written only when asked for."""

    value: object
    working: Callable[[], str]
    note: str = ""


@dataclass(frozen=True)
class Definition:
    """One output. `leaves_out` says what the number does not count, for the method page."""

    key: str
    label: str
    unit: str
    formula: str
    find: Callable[[Evaluation], Found]
    source: str = HOUSE
    leaves_out: str = ""
    group: str = ""


class Registry:
    """Collects the definitions of one module in the order they are written."""

    def __init__(self, group: str) -> None:
        self._group = group
        self._definitions: list[Definition] = []

    def quantity(
        self, key: str, label: str, unit: str, formula: str, source: str = HOUSE, leaves_out: str = ""
    ) -> Callable[[Callable[[Evaluation], Found]], Callable[[Evaluation], Found]]:
        """Register the decorated function as the one definition of `key`."""

        def register(find: Callable[[Evaluation], Found]) -> Callable[[Evaluation], Found]:
            self._definitions.append(Definition(key, label, unit, formula, find, source, leaves_out, self._group))
            return find

        return register

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """All that were registered."""
        return tuple(self._definitions)
