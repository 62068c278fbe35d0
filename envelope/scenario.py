"""The inputs of one question, resolved: given values checked, the rest defaulted and marked."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

from envelope import catalog, groups, published, shape
from envelope.checkpoint import Split, read_split
from envelope.fields import architecture, decisions, deployment, engine, traffic
from envelope.fields.base import UNSET, Default, Field, InputError, Known, Value
from envelope.model import Model
from envelope.ranks import Layout
from envelope.records import Machine, ModelPreset
from envelope.units import counted

FIELDS: tuple[Field, ...] = architecture.FIELDS + deployment.FIELDS + traffic.FIELDS + decisions.FIELDS + engine.FIELDS
BY_KEY: Mapping[str, Field] = {field.key: field for field in FIELDS}
# What a link says beside inputs: what a frame shows and offers, which sections are open; its form, the catalogue's date.
VIEWED = ("show", "fields", "open")
BESIDE = ("v", "data", *VIEWED)


@dataclass(frozen=True)
class Assumption:
    """A value nobody stated: which, what it is, and why that was taken."""

    key: str
    value: Value
    why: str


@dataclass(frozen=True, eq=False)
class Scenario:
    """Every input settled. `values` by key in base units; `given` are those that were stated, as text."""

    given: Mapping[str, str]
    values: Mapping[str, Value]
    defaults: Mapping[str, Default]
    preset: ModelPreset | None
    model: Model | None
    model_edited: bool
    machine: Machine
    split: Split | None
    read_assumptions: tuple[Assumption, ...] = ()

    def __getitem__(self, key: str) -> Value:
        return self.values[key]

    @cached_property
    def layout(self) -> Layout:
        """How the GPUs share the model."""
        return Layout(*(int(self.values[key]) for key in ("gpus", "tp", "pp", "dp", "ep")))

    @property
    def mix(self) -> tuple[tuple[int, int], ...]:
        """The lengths to hold at once: the mix, else one session of the context."""
        return self.values["mix"] or ((self.values["context"], 1),)

    @property
    def name(self) -> str:
        """What to call the model."""
        if self.preset is not None:
            return self.preset.name
        return str(self.values["name"] or "A model from its config")

    @property
    def assumed(self) -> tuple[Assumption, ...]:
        """What was taken without anyone stating it, the reader's own assumptions first."""
        mine = (Assumption(key, self.values[key], default.why) for key, default in self.defaults.items() if self.assumes(key))
        return (*self.read_assumptions, *mine)

    def assumes(self, key: str) -> bool:
        """True where nobody stated this input and its value was taken all the same."""
        return bool(self.defaults[key].why) and key not in self.given and self.applies(key)

    @cached_property
    def _known(self) -> Known:
        return Known(
            self.preset, self.model, self.model_edited, self.machine, self.split,
            dict(self.values), dict(self.defaults), frozenset(self.given),
        )  # fmt: skip

    def applies(self, key: str) -> bool:
        """True where this set-up has such an input."""
        return BY_KEY[key].applies(self._known)

    def choices(self, key: str) -> tuple[tuple[str, str], ...]:
        """(key, label) pairs the input accepts here, empty where it is not a choice."""
        return BY_KEY[key].choices(self._known)

    def text(self, key: str) -> str:
        """The value as a person would type it; empty where it is unset."""
        value = self.values[key]
        return "" if value is None else BY_KEY[key].kind.write(value)

    def echo(self, key: str) -> str:
        """The value in words: `131,072 tokens`; empty where it is unset."""
        value = self.values[key]
        return "" if value is None else BY_KEY[key].kind.echo(value)

    def tier(self, key: str) -> str:
        """What the value rests on: stated values count as primary for this question."""
        return self.tiers[key]

    @cached_property
    def tiers(self) -> dict[str, str]:
        """What each input's value rests on, in the order of the fields."""
        return {key: default.tier for key, default in self.defaults.items()} | dict.fromkeys(self.given, "A")

    def with_(self, **changes: object) -> Scenario:
        """Resolve again with some inputs changed; None takes one back. Raises InputError."""
        given: dict[str, object] = {**self.given, **changes}
        return resolve({key: value for key, value in given.items() if value is not None}, self.read_assumptions)


def resolve(given: Mapping[str, object], read_assumptions: tuple[Assumption, ...] = ()) -> Scenario:
    """Settle every input from those given (text as typed, or numbers in base units). Raises the first InputError."""
    scenario, errors = attempt(given, read_assumptions)
    if scenario is None:
        raise errors[0]
    return scenario


def attempt(
    given: Mapping[str, object], read_assumptions: tuple[Assumption, ...] = ()
) -> tuple[Scenario | None, tuple[InputError, ...]]:
    """Settle every input, or collect an error for each field that cannot be used."""
    before = next((one for one in reversed(SETTLED) if one.given.keys() == given.keys()), None)
    scenario = before and _again(before, given, read_assumptions)
    return (scenario, ()) if scenario else _afresh(given, read_assumptions)


def _afresh(given: Mapping[str, object], read_assumptions: tuple[Assumption, ...]) -> tuple[Scenario | None, tuple[InputError, ...]]:
    """Settle all fields."""
    errors = [_unknown(key, value) for key, value in given.items() if key not in BY_KEY]
    known = Known(values=dict(_START_VALUES), defaults=dict(_START), given=frozenset(given))
    edits: dict[str, int] = {}
    reads: dict[str, set[str]] = {}
    for field in FIELDS:
        if field.key in _STANDING and field.key not in given:
            continue
        known.read = reads[field.key] = set()
        try:
            _settle(field, given, known, edits)
        except InputError as error:
            errors.append(error)
            if field.key in ("model", "groups", "machine"):
                return None, tuple(errors)
            # Those after it are still checked, against its default; a shape, which edits the model, is left out.
            known.values[field.key] = None if field.key in shape.KEYS else known.defaults[field.key].value
    if not errors:
        errors += _inconsistent(known)
    if errors:
        return None, tuple(errors)
    return _keep(given, known, reads, read_assumptions), ()


class Settled(NamedTuple):
    """What a scenario was settled from: its inputs as given, what came of them, and what each field read of the others."""

    given: Mapping[str, object]
    known: Known
    reads: Mapping[str, set[str]]


# An edit changes one input, and few fields hang on it: 0.25 ms became 0.14 ms. Several, since variants come between.
SETTLED: deque[Settled] = deque(maxlen=8)


def _keep(given: Mapping[str, object], known: Known, reads: Mapping[str, set[str]], read_assumptions: tuple[Assumption, ...]) -> Scenario:
    """Make a scenario of what is settled, and keep that for the next one."""
    SETTLED.append(Settled(dict(given), known, reads))
    texts = {key: _text(key, known) for key in given}
    return Scenario(
        texts, known.values, known.defaults, known.preset, known.model, known.model_edited,
        known.machine, known.split, read_assumptions,
    )  # fmt: skip


def _again(before: Settled, given: Mapping[str, object], read_assumptions: tuple[Assumption, ...]) -> Scenario | None:
    """Settle what hangs on the inputs that differ from an earlier scenario's; None where that is not enough, or wrong."""
    changed = {key for key, value in given.items() if differs(value, before.given[key])}
    known = replace(before.known, values=dict(before.known.values), defaults=dict(before.known.defaults))
    reads = dict(before.reads)
    for field in FIELDS:
        key = field.key
        if key not in reads or (key not in changed and reads[key].isdisjoint(changed)):
            continue
        if key in _EFFECTS or key in shape.KEYS:
            return None
        known.read = reads[key] = set()
        try:
            _settle(field, given, known, {})
        except InputError:
            return None
        if differs(known.values[key], before.known.values[key]):
            changed.add(key)
    return None if _inconsistent(known) else _keep(given, known, reads, read_assumptions)


def differs(one: object, other: object) -> bool:
    """Whether two values of an input are not the same; 2 and Fraction(2) are not, since they print differently."""
    return type(one) is not type(other) or one != other


def _text(key: str, known: Known) -> str:
    value = known.values[key]
    return "" if value is None else BY_KEY[key].kind.write(value)


def _unknown(key: str, value: object) -> InputError:
    near = get_close_matches(str(key), BY_KEY, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return InputError(str(key)[:60], value, f"is not an input{hint}")


def _settle(field: Field, given: Mapping[str, object], known: Known, edits: dict[str, int]) -> None:
    """Read or default one field, then let it take effect on what follows."""
    key = field.key
    default = field.default
    if not isinstance(default, Default):
        default = known.defaults[key] = default(known)
    if key in given:
        value = field.read(given[key], known)
        if key in shape.KEYS:
            if value != default.value or default.value is None:
                edits[key] = value
        known.values[key] = value
    else:
        known.values[key] = default.value
    if key in _EFFECTS:
        _EFFECTS[key](known, edits)


def _choose_model(known: Known, edits: dict[str, int]) -> None:
    slug = str(known["model"])
    if slug != architecture.CUSTOM:
        known.preset = catalog.model(slug)
        known.model = published.architecture(slug)
    elif "groups" not in known.given:
        raise InputError("model", slug, "needs groups: the layers in their canonical text, or a config")


# A keystroke in any field reads a pasted model's layers again.
read_groups = lru_cache(maxsize=16)(groups.read)


def _replace_layers(known: Known, edits: dict[str, int]) -> None:
    text = known["groups"]
    if text is None:
        return
    try:
        model = read_groups(str(text))
    except ValueError as error:
        raise InputError("groups", text, str(error)) from None
    known.model_edited = model != known.model
    known.model = model


def _reshape(known: Known, edits: dict[str, int]) -> None:
    """After the last shape field: make all typed shapes one model."""
    if not edits:
        return
    key = next(iter(edits))
    if known.model is None:
        raise InputError(key, edits[key], "needs a model whose layers are known")
    try:
        known.model = shape.change(known.model, edits)
    except shape.ShapeError as error:
        raise InputError(error.key, known.values[error.key], str(error)) from None
    known.model_edited = True
    for name in shape.KEYS:
        # A model of one kind of layer has no such view any more; what was typed stays as it was.
        known.values[name] = edits.get(name, shape.read(known.model, name))


def _choose_machine(known: Known, edits: dict[str, int]) -> None:
    known.machine = catalog.machine(str(known["machine"]))


def _read_split(known: Known, edits: dict[str, int]) -> None:
    if known["split"] is None or known.model is None:
        return
    try:
        known.split = read_split(str(known["split"]))
    except ValueError as error:
        raise InputError("split", known["split"], str(error)) from None


def _divide(known: Known, edits: dict[str, int]) -> None:
    """Settle dp once tp is known: what is left of the GPUs."""
    gpus, tp, pp, dp = (int(known[key]) if known[key] is not None else None for key in ("gpus", "tp", "pp", "dp"))
    if dp is None:
        known.values["dp"] = dp = gpus // (tp * pp)
    if tp * pp * dp != gpus:
        key = next((key for key in ("tp", "dp", "pp", "gpus") if key in known.given), "gpus")
        raise InputError(key, known[key], f"does not divide the GPUs: tp {tp} × pp {pp} × dp {dp} is {tp * pp * dp}, gpus is {gpus}")


def _share_experts(known: Known, edits: dict[str, int]) -> None:
    if known["gpus"] % known["ep"]:
        raise InputError("ep", known["ep"], f"does not divide the {counted(known['gpus'], 'GPUs')}")


_EFFECTS = {
    "model": _choose_model,
    "groups": _replace_layers,
    "vocabulary": _reshape,
    "machine": _choose_machine,
    "split": _read_split,
    "tp": _divide,
    "ep": _share_experts,
}

# Every second default hangs on nothing and takes no effect: it stands before the others are settled, in their order,
# which spares half of the calls.
_START = {field.key: field.default if isinstance(field.default, Default) else UNSET for field in FIELDS}
_START_VALUES = {key: default.value for key, default in _START.items()}
_STANDING = frozenset(field.key for field in FIELDS if isinstance(field.default, Default)) - _EFFECTS.keys()


def _inconsistent(known: Known) -> list[InputError]:
    """Find values that are fine alone and impossible together."""
    found = []
    model = known.model
    if model is None and known["cache_bytes_per_token"] is None:
        found.append(InputError("groups", None, "is needed: the model's layers are not known"))
    if model is not None and known["pp"] > model.layers:
        found.append(InputError("pp", known["pp"], f"exceeds the {model.layers} layers"))
    if known["headroom"] and known["pool_ratio"] != "best":
        found.append(InputError("headroom", known.values["headroom"], "applies to the best ratio only; pool_ratio is given"))
    return found + decisions.inconsistent(known)


def plain(value: Value) -> object:
    """A value as JSON holds it: whole numbers whole, others floating, mixes as text."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    if isinstance(value, tuple):
        return BY_KEY["mix"].kind.write(value)
    return value
