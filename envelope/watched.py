"""A scenario whose readings are recorded, so that what an answer rests on is known and kept while that stays the same."""

from __future__ import annotations

from itertools import compress
from operator import is_not
from typing import TYPE_CHECKING

from envelope.fields.base import Value
from envelope.scenario import FIELDS, Scenario

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
_INPUT_BITS = tuple(BIT[key] for key in _KEYS)
_BITS = _INPUT_BITS * 2 + tuple(BIT[f".{part}"] for part in _PARTS)
_COMPARED = len(_INPUT_BITS) * 2 + 1  # inputs' values and tiers and which were given; of the other parts only identity counts

Facts = tuple[object, ...]


def facts(scenario: Scenario) -> Facts:
    """Everything that quantities and rules can read of a scenario, in the order of `_BITS`."""
    values = map(scenario.values.__getitem__, _KEYS)
    parts = (frozenset(scenario.given), *(getattr(scenario, part) for part in _PARTS[1:]))
    return (*values, *scenario.tiers.values(), *parts)


def given(found: Facts) -> object:
    """Which inputs were stated."""
    return found[_COMPARED - 1]


def changes(old: Facts, new: Facts) -> int:
    """The bits of what differs between two scenarios; 2 and Fraction(2) differ, since they print differently."""
    found = 0
    for place in compress(range(len(new)), map(is_not, old, new)):
        before, after = old[place], new[place]
        if place >= _COMPARED or type(before) is not type(after) or before != after:
            found |= _BITS[place]
    return found


class Watched:
    """A scenario as quantities and rules read it. `reads` holds the bits of what was read since it was last cleared."""

    def __init__(self, scenario: Scenario) -> None:
        self.reads = 0
        self._scenario = scenario
        self._values = scenario.values

    def __getitem__(self, key: str) -> Value:
        self.reads |= BIT[key]
        return self._values[key]

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
