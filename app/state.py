"""What the reader has typed, what is wrong with it, and the last envelope that could be computed."""

from __future__ import annotations

from collections.abc import Mapping

from envelope import Envelope, groups, layer_table, published, shape
from envelope.fields.architecture import CUSTOM
from envelope.fields.base import InputError
from envelope.layer_table import CellError
from envelope.model import Model
from envelope.scenario import BY_KEY, Assumption, Scenario, attempt, read_groups

Texts = Mapping[str, str]

# What a choice resets: the edits that only meant something for what was chosen before.
RESETS = {"model": ("Model", "Checkpoint"), "machine": ("Machine", "Prices")}
_HISTORY = 200  # steps of undo kept


class State:
    """The inputs as typed and one envelope that every view shares.

    `texts` holds what differs from the preset, as typed. While something in it cannot be used, `errors` says what,
    and `envelope` stays the last good one. Cells of the layer table stay apart in `texts` while they are typed in, so
    that several which only fit together can follow one another; a settled step folds them into `groups`.
    """

    def __init__(self, texts: Texts | None = None) -> None:
        self.texts: dict[str, str] = {}
        self.errors: dict[str, str] = {}
        self.pinned: Envelope | None = None
        self._assumed: dict[str, tuple[Assumption, ...]] = {}  # by the groups that a config was read as
        self._origin: dict[str, str] = {}  # what a model outside the catalogue was given as
        self._calibrated: dict[str, str] = {}
        self.envelope = _evaluated({})
        self._folded: dict[str, str] = {}
        self._settled: _Step = ({}, {})
        self._undo: list[_Step] = []
        self._redo: list[_Step] = []
        if texts:
            self._origin = _given_model(texts)
            self._change(dict(texts))
            self._settled = (self.texts, self._origin)

    @property
    def stale(self) -> bool:
        """True while the envelope is not that of the texts."""
        return bool(self.errors)

    @property
    def can_undo(self) -> bool:
        """True where there is a step to take back."""
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        """True where a step was taken back."""
        return bool(self._redo)

    def text(self, key: str) -> str:
        """What the field shows: as typed, else the value in use."""
        if layer_table.is_cell(key):
            return self.texts.get(key, "")
        if key in self._folded:
            return self._folded[key]
        return self.envelope.scenario.text(key)

    def changed(self, key: str) -> bool:
        """True where the field differs from what the preset gives."""
        if key not in self._folded or (self._is_custom and self._folded[key] == self._origin.get(key)):
            return False
        scenario = self.envelope.scenario
        return self.stale or scenario.values[key] != scenario.defaults[key].value

    def changes(self) -> tuple[str, ...]:
        """Fields that differ from the preset, in the order they are declared; the choice of model and machine is none."""
        return tuple(key for key in BY_KEY if key in self._folded and key not in RESETS and self.changed(key))

    @property
    def touched(self) -> set[str]:
        """Fields that hold a text of their own, or are wrong."""
        return {*self.texts, *self._folded, *self.errors, *self.envelope.scenario.given}

    @property
    def _is_custom(self) -> bool:
        return self.texts.get("model") == CUSTOM

    @property
    def original(self) -> Model | None:
        """The model before any edit: of the preset, or as its config was read; None where neither is known."""
        scenario = self.envelope.scenario
        if scenario.preset is not None:
            return published.architecture(scenario["model"])
        return read_groups(self._origin["groups"]) if "groups" in self._origin else None

    def given(self) -> dict[str, str]:
        """The last good state in canonical texts: the model, and what differs from its preset."""
        return stated(self.envelope.scenario)

    def type(self, key: str, text: str) -> None:
        """Follow a field while it is typed in; an empty one goes back to what the preset gives."""
        texts = dict(self.texts)
        if layer_table.is_cell(key) or (key in BY_KEY and text.strip()):
            texts[key] = text
        elif key in BY_KEY:
            self._put_back(texts, key)
        else:
            return
        self._change(_without_resets(texts, key))

    def settle(self) -> bool:
        """Make what was typed one step of undo. Returns whether there was a change."""
        self.texts = self._folded
        if self.texts == self._settled[0]:
            return False
        self._undo = [*self._undo[-_HISTORY:], self._settled]
        self._redo = []
        self._settled = (self.texts, self._origin)
        return True

    def set(self, changes: Mapping[str, str | None]) -> bool:
        """Apply changes in one step; None puts a field back."""
        texts = dict(self.texts)
        for key, text in changes.items():
            texts = _without_resets(texts, key)
            if text is None:
                self._put_back(texts, key)
            else:
                texts[key] = text
        self._change(texts)
        return self.settle()

    def reset(self) -> bool:
        """Put everything back but the choice of model and machine."""
        kept = {key: text for key, text in self.texts.items() if key in RESETS}
        self._change({**kept, **(self._origin if self._is_custom else {})})
        return self.settle()

    def reset_layers(self) -> bool:
        """Put the layers back to those of the preset or the config, in one step."""
        return self.set({"groups": None, **dict.fromkeys(shape.KEYS)})

    def edit_layers(self, model: Model) -> bool:
        """Take over layers that were added or taken away, in one step."""
        self._change(self._with_layers({key: text for key, text in self.texts.items() if not layer_table.is_cell(key)}, model))
        return self.settle()

    def adopt(self, texts: Texts, assumptions: tuple[Assumption, ...]) -> bool:
        """Take over a model that was read from a config: its inputs, and what the reader assumed."""
        self._assumed[texts["groups"]] = assumptions
        self._origin = _given_model(texts)
        return self.set({**texts})

    def calibrate(self, texts: Texts, measured: frozenset[str]) -> bool:
        """Take over what a log says in one step, and remember which of it was measured."""
        self._calibrated |= {key: text for key, text in texts.items() if key in measured}
        return self.set(texts)

    def calibrated(self, key: str) -> bool:
        """True where the field holds what a pasted log measured."""
        return key in self._calibrated and self.texts.get(key) == self._calibrated[key]

    def load(self, texts: Texts) -> bool:
        """Take over a whole state in one step."""
        self._origin = _given_model(texts)
        self._change(dict(texts))
        return self.settle()

    def undo(self) -> bool:
        """Take the last step back."""
        return self._step(self._undo, self._redo)

    def redo(self) -> bool:
        """Take the last step again."""
        return self._step(self._redo, self._undo)

    def pin(self, texts: Texts | None = None) -> None:
        """Keep a state as A to compare with: the given one, else the present one."""
        self.pinned = _evaluated(texts) if texts is not None else self.envelope

    def unpin(self) -> None:
        """Stop comparing."""
        self.pinned = None

    def forget(self) -> None:
        """Start the history here."""
        self._undo, self._redo = [], []

    def swap(self) -> None:
        """Make A the present state and the present one A."""
        if self.pinned is not None:
            pinned, self.pinned = self.pinned, self.envelope
            self.load(stated(pinned.scenario))

    def _put_back(self, texts: dict[str, str], key: str) -> None:
        """Take a field's text away, or bring back the one that a model outside the catalogue came with."""
        if self._is_custom and key in self._origin:
            texts[key] = self._origin[key]
        else:
            texts.pop(key, None)

    def _step(self, source: list[_Step], target: list[_Step]) -> bool:
        if not source:
            return False
        target.append(self._settled)
        self._settled = source.pop()
        texts, self._origin = self._settled
        self._change(dict(texts))
        return True

    def _change(self, texts: dict[str, str]) -> None:
        self.texts = self._folded = texts
        cells = {key: text for key, text in texts.items() if layer_table.is_cell(key)}
        if cells:
            self.errors = self._fold(cells)
            if self.errors:
                return
        scenario, errors = self._attempt(self._folded)
        self.errors = {error.key: error.message for error in reversed(errors)}
        if scenario is not None:
            self.envelope = Envelope(scenario)

    def _attempt(self, texts: Texts) -> tuple[Scenario | None, tuple[InputError, ...]]:
        return _resolved(texts, self._assumed.get(texts.get("groups", ""), ()))

    def _fold(self, cells: Texts) -> dict[str, str]:
        """Put cells of the layer table into `groups`; returns what is wrong, by key."""
        rest = {key: text for key, text in self.texts.items() if key not in cells}
        scenario, errors = self._attempt(rest)
        if scenario is None:
            return {error.key: error.message for error in reversed(errors)}
        if scenario.model is None:
            self._folded = rest
            return {}
        try:
            model = layer_table.change(scenario.model, cells)
        except CellError as error:
            return {error.key: str(error)}
        self._folded = rest if model == scenario.model else self._with_layers(rest, model)
        return {}

    def _with_layers(self, texts: dict[str, str], model: Model) -> dict[str, str]:
        """Texts with another model's layers, in place of all that said otherwise."""
        written = groups.write(model)
        self._assumed.setdefault(written, self._assumed.get(texts.get("groups", ""), ()))
        kept = {key: text for key, text in texts.items() if key not in shape.KEYS and key != "groups"}
        if self._is_custom and "weight_bytes" in kept and kept["weight_bytes"] == self._origin.get("weight_bytes"):
            del kept["weight_bytes"]  # the size of the files of another model now
        preset = None if self._is_custom else published.architecture(self.envelope.scenario["model"])
        return kept if model == preset else {**kept, "groups": written}


_Step = tuple[dict[str, str], dict[str, str]]  # the texts, and what a model outside the catalogue was given as


def _given_model(texts: Texts) -> dict[str, str]:
    """Of the texts of a model outside the catalogue, those that say which it is; none for one of the catalogue."""
    if texts.get("model") != CUSTOM:
        return {}
    return {key: text for key, text in texts.items() if key in BY_KEY and BY_KEY[key].group in RESETS["model"] and key not in shape.KEYS and key != "model"}


def stated(scenario: Scenario) -> dict[str, str]:
    """A scenario in canonical texts: the model, and what differs from its preset, in the order of the fields."""
    kept = (key for key in BY_KEY if key in scenario.given and scenario.values[key] != scenario.defaults[key].value)
    return {"model": scenario.text("model"), **{key: scenario.text(key) for key in kept if key != "model"}}


def usable(texts: Texts) -> tuple[dict[str, str], tuple[InputError, ...]]:
    """Leave out of texts what cannot be used, with the error of each."""
    kept, problems = dict(texts), []
    while True:
        scenario, errors = attempt(kept)
        if scenario is not None:
            return kept, tuple(problems)
        # An error on a field that was not given comes from another one; giving up all but the model is the way out.
        culprits = [error for error in errors if error.key in kept]
        problems += culprits or errors
        dropped = {error.key for error in culprits} or set(kept) - {"model"} or set(kept)
        kept = {key: text for key, text in kept.items() if key not in dropped}


def _resolved(texts: Texts, assumptions: tuple[Assumption, ...] = ()) -> tuple[Scenario | None, tuple[InputError, ...]]:
    """Settle texts. What is typed as the preset has it is not stated, as it is not when the link is opened."""
    scenario, errors = attempt(texts, assumptions)
    while scenario is not None and (kept := stated(scenario)).keys() != scenario.given.keys() | {"model"}:
        scenario, errors = attempt(kept, assumptions)
    return scenario, errors


def _evaluated(texts: Texts) -> Envelope:
    scenario, errors = _resolved(texts)
    if scenario is None:
        raise errors[0]
    return Envelope(scenario)


def _without_resets(texts: dict[str, str], key: str) -> dict[str, str]:
    """Drop the edits that choosing another model or machine puts back."""
    dropped = RESETS.get(key, ())
    kept = {name: text for name, text in texts.items() if name == key or name not in BY_KEY or BY_KEY[name].group not in dropped or name in RESETS}
    return {name: text for name, text in kept.items() if not layer_table.is_cell(name)} if key in ("model", "groups") else kept
