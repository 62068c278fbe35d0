"""A scenario whose readings are recorded, so that what an answer rests on is known and kept while that stays the same."""

from __future__ import annotations

from itertools import compress
from operator import attrgetter, is_not, itemgetter
from typing import TYPE_CHECKING

from envelope.fields.base import Value
from envelope.scenario import BY_KEY, FIELDS, Scenario, differs

if TYPE_CHECKING:
    from envelope.fields.base import Default
    from envelope.model import Model
    from envelope.ranks import Layout
    from envelope.records import Machine, ModelPreset
    from envelope.checkpoint import Split

# One bit for each input and for each other part of a scenario: sets of them are whole numbers, quick to join.
_PARTS = ("given", "preset", "model", "model_edited", "machine", "split", "read_assumptions")
BIT = {name: 1 << place for place, name in enumerate((*(field.key for field in FIELDS), *(f".{part}" for part in _PARTS)))}
EVERYTHING = -1
_MODEL, _PRESET, _GIVEN, _EDITED = BIT[".model"], BIT[".preset"], BIT[".given"], BIT[".model_edited"]
_MACHINE, _SPLIT, _NAME = BIT[".machine"], BIT[".split"], BIT[".preset"] | BIT["name"]
_LAYOUT = BIT["gpus"] | BIT["tp"] | BIT["pp"] | BIT["dp"] | BIT["ep"]
_MIX, _CONTEXT = BIT["mix"], BIT["context"]
_KEYS = tuple(field.key for field in FIELDS)
_values_of = itemgetter(*_KEYS)
_parts_of = attrgetter(*_PARTS[1:])
# The places of facts: the inputs' values, all their tiers, which were given; of the parts after that only identity counts.
_TIERS = len(_KEYS)
_STATED = _TIERS + 1
_PLACES = tuple(range(_TIERS + 1 + len(_PARTS)))
_BITS = (*(BIT[key] for key in _KEYS), 0, *(BIT[f".{part}"] for part in _PARTS))

Facts = tuple[object, ...]


def facts(scenario: Scenario) -> Facts:
    """Everything that quantities and rules can read of a scenario, in the order of `_BITS`."""
    tiers = tuple(scenario.tiers.values())
    return (*_values_of(scenario.values), tiers, frozenset(scenario.given), *_parts_of(scenario))


def given(found: Facts) -> object:
    """Which inputs were stated."""
    return found[_STATED]


def changes(old: Facts, new: Facts) -> int:
    """The bits of what differs between two scenarios."""
    found = 0
    for place in compress(_PLACES, map(is_not, old, new)):
        before, after = old[place], new[place]
        if place > _STATED or differs(before, after):
            found |= _retiered(before, after) if place == _TIERS else _BITS[place]
    return found


def _retiered(before: tuple[str, ...], after: tuple[str, ...]) -> int:
    """The bits of the inputs that rest on another tier."""
    return sum(bit for bit, old, new in zip(_BITS, before, after) if old != new)


class Watched:
    """A scenario as quantities and rules read it. `reads` holds the bits of what was read since it was last cleared."""

    def __init__(self, scenario: Scenario) -> None:
        self.reads = 0
        self._scenario = scenario
        self._values = scenario.values

    def __getitem__(self, key: str) -> Value:
        self.reads |= BIT[key]
        return self._values[key]

    def applies(self, key: str) -> bool:
        """True where this set-up has such an input."""
        return BY_KEY[key].applies(self)

    def choices(self, key: str) -> tuple[tuple[str, str], ...]:
        """(key, label) pairs the input accepts here, empty where it is not a choice."""
        return BY_KEY[key].choices(self)

    def tier(self, key: str) -> str:
        """What an input's value rests on."""
        self.reads |= BIT[key]
        return self._scenario.tiers[key]

    @property
    def given(self) -> frozenset[str]:
        """The inputs that were stated."""
        self.reads |= _GIVEN
        return frozenset(self._scenario.given)

    @property
    def layout(self) -> Layout:
        """How the GPUs share the model."""
        self.reads |= _LAYOUT
        return self._scenario.layout

    @property
    def mix(self) -> tuple[tuple[int, int], ...]:
        """The lengths to hold at once: the mix, else one session of the context."""
        self.reads |= _MIX if self._values["mix"] else _MIX | _CONTEXT
        return self._scenario.mix

    @property
    def name(self) -> str:
        """What to call the model."""
        self.reads |= _NAME
        return self._scenario.name

    @property
    def preset(self) -> ModelPreset | None:
        """The catalogue's entry."""
        self.reads |= _PRESET
        return self._scenario.preset

    @property
    def model(self) -> Model | None:
        """The architecture."""
        self.reads |= _MODEL
        return self._scenario.model

    @property
    def model_edited(self) -> bool:
        """Whether the architecture is another than the preset's."""
        self.reads |= _EDITED
        return self._scenario.model_edited

    @property
    def machine(self) -> Machine:
        """Whose GPUs."""
        self.reads |= _MACHINE
        return self._scenario.machine

    @property
    def split(self) -> Split | None:
        """How the checkpoint stores each part."""
        self.reads |= _SPLIT
        return self._scenario.split

    @property
    def was_assumed(self) -> bool:
        """Whether a config's reader had to assume something."""
        self.reads |= BIT[".read_assumptions"]
        return bool(self._scenario.read_assumptions)

    @property
    def defaults(self) -> dict[str, Default]:
        """What the inputs are where nobody states them; a default may hang on any other input."""
        self.reads = EVERYTHING
        return dict(self._scenario.defaults)

    def with_(self, **changes: object) -> Scenario:
        """Resolve again with some inputs changed, which reads all of them. Raises InputError."""
        self.reads = EVERYTHING
        return self._scenario.with_(**changes)
