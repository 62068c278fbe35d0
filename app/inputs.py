"""The form: one row for each field that applies, made by looping over the fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import NamedTuple

from envelope import Envelope
from envelope.fields.base import TEXT, Default, Field, Value
from envelope.quantities import BY_KEY as QUANTITIES
from envelope.scenario import BY_KEY, FIELDS
from envelope.units import text

from app.header import chip
from app.markup import Markup, button, join, part, tag
from app.state import RESETS, State

# The order in which people ask; groups named nowhere here follow as they are declared.
_FIRST = ("Workload", "Engine", "Model", "Checkpoint", "Machine")
_LONG, _LONGER = 11, 16  # letters that an input holds at its usual width, and somewhat wider with smaller letters
_LONG_CHOICE = 8  # letters that a choice shows beside its arrow
CALIBRATED = "calibrated from your log"


def groups() -> tuple[str, ...]:
    """Every group of fields, in the order of the form."""
    declared = dict.fromkeys(field.group for field in FIELDS)
    return (*(name for name in _FIRST if name in declared), *(name for name in declared if name not in _FIRST))


_DECLARED = {name: {field.key: field for field in FIELDS if field.group == name} for name in groups()}
# What stands in the form; the choices of model and machine stand at the top of the page.
_IN_GROUP = {name: {key: field for key, field in fields.items() if key not in RESETS} for name, fields in _DECLARED.items()}
_of_group = {name: itemgetter(*fields) for name, fields in _IN_GROUP.items()}
FOLDED = frozenset(groups()) - frozenset(_FIRST)
FOLDED_NARROW = frozenset(groups()) - {"Workload"}
MORE = "more"


class _Offer(NamedTuple):
    """What there is to choose from, and the value that an empty text, or a word such as `best`, stands for."""

    choices: tuple[tuple[str, str], ...]
    behind: object


def _offers(e: Envelope, group: str) -> dict[str, _Offer]:
    """What a group's fields offer, by key; nothing for those that mean nothing for this state."""
    found = {}
    for key, field in _DECLARED[group].items():
        if e.scenario.applies(key):
            behind = field.follows or (key if key in QUANTITIES and isinstance(e.scenario[key], str) else "")
            found[key] = _Offer(e.scenario.choices(key), e.value(behind) if behind else None)
    return found


def fields_shown(state: State, group: str) -> tuple[Field, ...]:
    """The fields of a group that mean something for this state; one with an error always does."""
    offers = state.envelope.once(_offers, group)
    return tuple(field for key, field in _IN_GROUP[group].items() if key in offers or key in state.errors)


def group(state: State, name: str, folded: frozenset[str]) -> Markup | None:
    """One group as a folding part of the form; None where none of its fields applies."""
    facts = _group_facts(state, name, folded)
    last = _GROUPS.get(name)
    if last is None or last[0] != facts:
        last = _GROUPS[name] = facts, _written_group(state, name, folded)
    return last[1]


# The last HTML of each group: a keystroke changes one or two of twelve.
_GROUPS: dict[str, tuple[object, Markup | None]] = {}


def _group_facts(state: State, name: str, folded: frozenset[str]) -> object:
    """All that a group shows."""
    fields, scenario = _IN_GROUP[name], state.envelope.scenario
    said = [(key, state.texts.get(key), state.errors.get(key), key in scenario.given, state.changed(key), state.calibrated(key)) for key in state.touched if key in fields]
    read = _of_group[name]
    return state.envelope.once(_offers, name), read(scenario.values), read(scenario.defaults), said, name in folded, f"{name}/{MORE}" in folded


def _written_group(state: State, name: str, folded: frozenset[str]) -> Markup | None:
    """Rare fields, those that only override what is derived, and long texts stand folded at its end."""
    shown = fields_shown(state, name)
    if not shown:
        return None
    rare = tuple(field for field in shown if _is_rare(field))
    usual = tuple(field for field in shown if not _is_rare(field))
    inner = f"{name}/{MORE}"
    return _fold(
        state, name, name, shown, name in folded, "group",
        lambda: (
            [row(state, field) for field in usual],
            _fold(state, inner, MORE, rare, inner not in folded, "rare", lambda: [row(state, field) for field in rare]) if rare else None,
        ),
    )  # fmt: skip


def _is_rare(field: Field) -> bool:
    return field.rare or bool(field.follows) or field.kind is TEXT


def _fold(state: State, name: str, title: str, inside: tuple[Field, ...], folded: bool, kind: str, content: Callable[[], object]) -> Markup:
    """A folding part; its rows are written only while it is open, since every keystroke writes the form anew."""
    changes = sum(state.changed(field.key) for field in inside)
    is_open = not folded or any(field.key in state.errors for field in inside)
    return tag(
        "details",
        tag("summary", title, tag("span", f" {changes} changed", class_="count") if changes else None),
        content() if is_open else None,
        open=is_open,
        data_fold=name,
        class_=kind,
    )


class _Facts(NamedTuple):
    """All that a row shows beside its field: what is typed, what is in use, and what is wrong."""

    typed: str | None
    value: Value
    default: Default
    given: bool
    changed: bool
    calibrated: bool
    error: str | None
    choices: tuple[tuple[str, str], ...]
    behind: object

    @property
    def mark(self) -> Markup | None:
        """A chip where the preset's value is in use and is not sourced."""
        return chip(self.default.tier, self.default.why, short=True) if not self.given and self.default.value is not None else None


def row(state: State, field: Field, prefix: str = "field") -> Markup:
    """One field: label, input, what it was understood as or what is wrong, and the way back."""
    key, scenario = field.key, state.envelope.scenario
    offer = state.envelope.once(_offers, field.group).get(key)
    return _row(
        key, prefix,
        _Facts(
            state.texts.get(key), scenario.values[key], scenario.defaults[key], key in scenario.given or offer is None, state.changed(key),
            state.calibrated(key), state.errors.get(key), *(offer or _NOTHING),
        ),
    )  # fmt: skip


_NOTHING = _Offer((), None)


# The last HTML of each row: a keystroke changes a few of some forty, and comparing facts is quicker than hashing them.
_WRITTEN: dict[tuple[str, str], tuple[_Facts, Markup]] = {}


def _row(key: str, prefix: str, facts: _Facts) -> Markup:
    last = _WRITTEN.get((key, prefix))
    if last is None or last[0] != facts:
        last = _WRITTEN[key, prefix] = facts, part(_written_row(BY_KEY[key], prefix, facts), "div", data_row=key)
    return last[1]


def _written_row(field: Field, prefix: str, facts: _Facts) -> Markup:
    key, error = field.key, facts.error
    shown = facts.typed if facts.typed is not None else _written(field, facts.value)
    words = error or " · ".join(filter(None, (_echo(field, facts, shown), CALIBRATED if facts.calibrated else "")))
    ids = {"id": f"{prefix}-{key}", "data_key": key, "aria_invalid": "true" if error else None}
    ids["aria_describedby"] = f"{prefix}-{key}-says" if words else None
    classes = ["row", "changed" if facts.changed else "", "wrong" if error else "", _width(field, facts, shown)]
    return tag(
        "div",
        tag("label", field.label, for_=f"{prefix}-{key}", title=field.help),
        facts.mark,
        button(join(tag("span", f"Put {field.label} back", class_="unseen"), tag("span", "↺", aria_hidden="true")), "reset", data_key=key, class_="back", title="Put back") if facts.changed else None,
        _input(field, facts, shown, ids),
        tag("p", words, id=f"{prefix}-{key}-says", class_="error" if error else "echo") if words else None,
        class_=" ".join(filter(None, classes)),
        data_row=key,
    )


def _width(field: Field, facts: _Facts, shown: str) -> str:
    """The class of a row whose value needs more room than usual; the longest stand under their names."""
    if field.kind is TEXT:
        return "wide"
    if facts.choices:
        return "wide" if len(dict(facts.choices).get(shown, shown)) > _LONG_CHOICE else ""
    return "wide" if len(shown) > _LONGER else "long" if len(shown) > _LONG else ""


def _written(field: Field, value: Value) -> str:
    """A value as the field shows it: exactly, with separators in long whole numbers."""
    written = field.kind.write(value) if value is not None else ""
    return f"{int(written):,}" if written.isdigit() and len(written) > 4 else written


def _input(field: Field, facts: _Facts, shown: str, ids: dict[str, object]) -> Markup:
    if facts.choices:
        return tag("select", _options(facts.choices, shown), **ids)
    if field.kind is TEXT:
        return tag("textarea", shown, rows="2", spellcheck="false", autocomplete="off", **ids)
    return tag(
        "input", type="text", inputmode=_keyboard(field), autocomplete="off", spellcheck="false", value=shown, placeholder=_placeholder(field, facts),
        **ids,
    )


def _keyboard(field: Field) -> str:
    return "numeric" if field.kind.unit == "count" else "text"


def _options(choices: Iterable[tuple[str, str]], shown: str) -> Iterable[Markup]:
    return (tag("option", label, value=value, selected=value == shown) for value, label in choices)


def _placeholder(field: Field, facts: _Facts) -> str:
    """What an empty field stands for: the quantity it would override, or the preset's value."""
    if field.follows:
        return text(facts.behind, QUANTITIES[field.follows].unit, 4) if facts.behind is not None else ""
    return field.kind.write(facts.default.value) if facts.default.value is not None else "none"


def _echo(field: Field, facts: _Facts, shown: str) -> str:
    """What the field was understood as, where that says more than what was typed."""
    value = facts.value
    if value is None or facts.choices or field.kind is TEXT:
        return ""
    if isinstance(value, str):
        return _derived(field.key, facts.behind)
    said = field.kind.echo(value)
    if _bare(said) == _bare(shown):
        return ""
    return said if facts.changed or field.kind.unit == "tokens" else ""


def _derived(key: str, number: object) -> str:
    """The number behind a word such as `best`."""
    if key not in QUANTITIES or number is None:
        return ""
    unit = QUANTITIES[key].unit
    return f"{float(number):.7g} exact" if unit == "ratio" else text(number, unit, 4)


def _bare(words: str) -> str:
    """Letters and digits only, without the unit that merely repeats, to see whether an echo adds anything."""
    return "".join(words.lower().replace("tokens", "").split()).replace(",", "").replace("$", "")


def region(name: str) -> str:
    """The name of the page's region that holds a group."""
    return f"inputs-{name.lower()}"
