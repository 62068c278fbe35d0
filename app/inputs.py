"""The form: one row for each field that applies, made by looping over the fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from envelope.fields.base import TEXT, Field
from envelope.quantities import BY_KEY as QUANTITIES
from envelope.scenario import FIELDS
from envelope.units import text

from app.header import chip
from app.markup import Markup, button, join, tag
from app.state import RESETS, State

# The order in which people ask; groups named nowhere here follow as they are declared.
_FIRST = ("Workload", "Engine", "Model", "Checkpoint", "Machine")
_ABSENT = object()
CALIBRATED = "calibrated from your log"


def groups() -> tuple[str, ...]:
    """Every group of fields, in the order of the form."""
    declared = dict.fromkeys(field.group for field in FIELDS)
    return (*(name for name in _FIRST if name in declared), *(name for name in declared if name not in _FIRST))


FOLDED = frozenset(groups()) - frozenset(_FIRST)
FOLDED_NARROW = frozenset(groups()) - {"Workload"}
_MORE = "more"


def fields_shown(state: State, group: str) -> tuple[Field, ...]:
    """The fields of a group that mean something for this state; one with an error always does."""
    scenario = state.envelope.scenario
    return tuple(
        field
        for field in FIELDS
        if field.group == group and field.key not in RESETS and (scenario.applies(field.key) or field.key in state.errors)
    )


def group(state: State, name: str, folded: frozenset[str]) -> Markup | None:
    """One group as a folding part of the form; None where none of its fields applies.

    Rare fields, those that only override what is derived, and long texts stand folded at its end.
    """
    shown = fields_shown(state, name)
    if not shown:
        return None
    rare = tuple(field for field in shown if field.rare or field.follows or field.kind is TEXT)
    usual = tuple(field for field in shown if field not in rare)
    inner = f"{name}/{_MORE}"
    return _fold(
        state, name, name, shown, name in folded, "group",
        lambda: (
            [row(state, field) for field in usual],
            _fold(state, inner, _MORE, rare, inner not in folded, "rare", lambda: [row(state, field) for field in rare]) if rare else None,
        ),
    )  # fmt: skip


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


def row(state: State, field: Field, prefix: str = "field") -> Markup:
    """One field: label, input, what it was understood as or what is wrong, and the way back."""
    key = field.key
    error = state.errors.get(key)
    changed = state.changed(key)
    words = error or " · ".join(filter(None, (echo(state, field), CALIBRATED if state.calibrated(key) else "")))
    ids = {"id": f"{prefix}-{key}", "data_key": key, "aria_invalid": "true" if error else None}
    ids["aria_describedby"] = f"{prefix}-{key}-says" if words else None
    classes = ["row", "changed" if changed else "", "wrong" if error else "", "wide" if field.kind is TEXT else ""]
    return tag(
        "div",
        tag("label", field.label, for_=f"{prefix}-{key}", title=field.help),
        _mark(state, key),
        button(join(tag("span", f"Put {field.label} back", class_="unseen"), tag("span", "↺", aria_hidden="true")), "reset", data_key=key, class_="back", title="Put back") if changed else None,
        _input(state, field, ids),
        tag("p", words, id=f"{prefix}-{key}-says", class_="error" if error else "echo") if words else None,
        class_=" ".join(filter(None, classes)),
        data_row=key,
    )


def _mark(state: State, key: str) -> Markup | None:
    scenario = state.envelope.scenario
    if key in scenario.given or not scenario.applies(key):
        return None
    default = scenario.defaults[key]
    return chip(default.tier, default.why, short=True) if default.value is not None else None


def _input(state: State, field: Field, ids: dict[str, object]) -> Markup:
    scenario = state.envelope.scenario
    shown = state.text(field.key)
    choices = scenario.choices(field.key)
    if choices:
        return tag("select", _options(choices, shown), **ids)
    if field.kind is TEXT:
        return tag("textarea", shown, rows="2", spellcheck="false", autocomplete="off", **ids)
    return tag(
        "input", type="text", inputmode=_keyboard(field), autocomplete="off", spellcheck="false", value=shown, placeholder=_placeholder(state, field),
        class_="long" if len(shown) > 11 else None, **ids,
    )


def _keyboard(field: Field) -> str:
    return "numeric" if field.kind.unit == "count" else "text"


def _options(choices: Iterable[tuple[str, str]], shown: str) -> Iterable[Markup]:
    return (tag("option", label, value=value, selected=value == shown) for value, label in choices)


def _placeholder(state: State, field: Field) -> str:
    """What an empty field stands for: the quantity it would override, or the preset's value."""
    if field.follows:
        quantity = state.envelope[field.follows]
        return text(quantity.value, quantity.unit, 4) if quantity.value is not None else ""
    default = state.envelope.scenario.defaults[field.key].value
    return field.kind.write(default) if default is not None else "none"


def echo(state: State, field: Field) -> str:
    """What the field was understood as, where that says more than what was typed."""
    scenario = state.envelope.scenario
    value = scenario.values.get(field.key, _ABSENT)
    if value is None or value is _ABSENT or scenario.choices(field.key) or field.kind is TEXT:
        return ""
    if isinstance(value, str):
        return _derived(state, field.key)
    said = field.kind.echo(value)
    if _bare(said) == _bare(state.text(field.key)):
        return ""
    return said if state.changed(field.key) or field.kind.unit == "tokens" else ""


def _derived(state: State, key: str) -> str:
    """The number behind a word such as `best`."""
    if key not in QUANTITIES or state.envelope.value(key) is None:
        return ""
    quantity = state.envelope[key]
    return f"{float(quantity.value):.7g} exact" if quantity.unit == "ratio" else text(quantity.value, quantity.unit, 4)


def _bare(words: str) -> str:
    """Letters and digits only, without the unit that merely repeats, to see whether an echo adds anything."""
    return "".join(words.lower().replace("tokens", "").split()).replace(",", "").replace("$", "")


def whole(state: State, folded: frozenset[str]) -> Markup:
    """The form in one piece, for a first view."""
    return join(tag("div", group(state, name, folded), data_region=region(name)) for name in groups())


def region(name: str) -> str:
    """The name of the page's region that holds a group."""
    return f"inputs-{name.lower()}"
