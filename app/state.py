"""What the reader has typed, what is wrong with it, and the last envelope that could be computed."""

from __future__ import annotations

from collections.abc import Mapping

from envelope import Envelope
from envelope.fields.base import InputError
from envelope.scenario import BY_KEY, FIELDS, Assumption, attempt

Texts = Mapping[str, str]

# What a choice resets: the edits that only meant something for what was chosen before.
RESETS = {"model": ("Model", "Checkpoint"), "machine": ("Machine", "Prices")}
_HISTORY = 200  # steps of undo kept


class State:
    """The inputs as typed and one envelope that every view shares.

    `texts` holds what differs from the preset, as typed. While something in it cannot be used, `errors` says what,
    and `envelope` stays the last good one.
    """

    def __init__(self, texts: Texts | None = None) -> None:
        self.texts: dict[str, str] = {}
        self.errors: dict[str, str] = {}
        self.pinned: Envelope | None = None
        self._read: tuple[str, tuple[Assumption, ...]] = ("", ())
        self._calibrated: dict[str, str] = {}
        self.envelope = _evaluated({})
        self._settled: dict[str, str] = {}
        self._undo: list[dict[str, str]] = []
        self._redo: list[dict[str, str]] = []
        if texts:
            self._change(dict(texts))
            self._settled = dict(self.texts)

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
        if key in self.texts:
            return self.texts[key]
        return self.envelope.scenario.text(key)

    def changed(self, key: str) -> bool:
        """True where the field differs from what the preset gives."""
        if key not in self.texts:
            return False
        scenario = self.envelope.scenario
        return self.stale or key not in scenario.given or scenario.values[key] != scenario.defaults[key].value

    def changes(self) -> tuple[str, ...]:
        """Fields that differ from the preset, in the order they are declared; the choice of model and machine is none."""
        return tuple(field.key for field in FIELDS if field.key not in RESETS and self.changed(field.key))

    def given(self) -> dict[str, str]:
        """The last good state in canonical texts: the model, and what differs from its preset."""
        return stated(self.envelope)

    def type(self, key: str, text: str) -> None:
        """Follow a field while it is typed in; an empty one goes back to what the preset gives."""
        if key not in BY_KEY:
            return
        texts = dict(self.texts)
        if text.strip():
            texts[key] = text
        else:
            texts.pop(key, None)
        self._change(_without_resets(texts, key))

    def settle(self) -> bool:
        """Make what was typed one step of undo. Returns whether there was a change."""
        if self.texts == self._settled:
            return False
        self._undo = [*self._undo[-_HISTORY:], self._settled]
        self._redo = []
        self._settled = dict(self.texts)
        return True

    def set(self, changes: Mapping[str, str | None]) -> bool:
        """Apply changes in one step; None puts a field back."""
        texts = dict(self.texts)
        for key, text in changes.items():
            texts = _without_resets(texts, key)
            if text is None:
                texts.pop(key, None)
            else:
                texts[key] = text
        self._change(texts)
        return self.settle()

    def reset(self) -> bool:
        """Put everything back but the choice of model and machine."""
        self._change({key: text for key, text in self.texts.items() if key in RESETS})
        return self.settle()

    def adopt(self, texts: Texts, assumptions: tuple[Assumption, ...]) -> bool:
        """Take over a model that was read from a config: its inputs, and what the reader assumed."""
        self._read = (texts.get("groups", ""), assumptions)
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
            self.load(stated(pinned))

    def _step(self, source: list[dict[str, str]], target: list[dict[str, str]]) -> bool:
        if not source:
            return False
        target.append(self._settled)
        self._settled = source.pop()
        self._change(dict(self._settled))
        return True

    def _change(self, texts: dict[str, str]) -> None:
        self.texts = texts
        groups, assumptions = self._read
        scenario, errors = attempt(texts, assumptions if groups and texts.get("groups") == groups else ())
        self.errors = {error.key: error.message for error in reversed(errors)}
        if scenario is not None:
            self.envelope = Envelope(scenario)


def stated(envelope: Envelope) -> dict[str, str]:
    """A scenario in canonical texts: the model, and what differs from its preset, in the order of the fields."""
    scenario = envelope.scenario
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


def _evaluated(texts: Texts) -> Envelope:
    scenario, errors = attempt(texts)
    if scenario is None:
        raise errors[0]
    return Envelope(scenario)


def _without_resets(texts: dict[str, str], key: str) -> dict[str, str]:
    """Drop the edits that choosing another model or machine puts back."""
    groups = RESETS.get(key, ())
    return {name: text for name, text in texts.items() if name == key or name not in BY_KEY or BY_KEY[name].group not in groups or name in RESETS}
