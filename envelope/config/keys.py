"""The values of one config file, read with their meaning checked and every assumption written down."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

LONGEST = 8_000_000  # characters; the longest published config.json is under 0.2 million
DEEPEST = 32  # levels; published files nest 6 deep
WIDEST = 10**8  # one width or count; more is a slip
MISSING = object()


class Refused(ValueError):
    """A config that cannot be sized: `key` names the field, `found` shows it, `needed` says what would do."""

    def __init__(self, key: str, found: object, needed: str) -> None:
        self.key = key
        self.found = found if isinstance(found, str) else show(found)
        self.needed = needed
        super().__init__(f"{key}: found {self.found}; needs {needed}")


@dataclass(frozen=True)
class Assumption:
    """A value the file does not state, what was taken for it, and why."""

    key: str
    value: str
    why: str


def show(value: object) -> str:
    """Write a value short enough for a sentence."""
    if value is MISSING:
        return "nothing"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return f"an object of {len(value)} keys"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**15 else "a number of more than 15 digits"
    text = repr(value)
    return text if len(text) <= 48 else text[:45] + "..."


def parse(source: str | bytes | Mapping, name: str = "config.json") -> dict:
    """Read the text of one JSON file, or take a mapping as it is. Raises Refused, and nothing else.

    Depth is checked before parsing, because a deep file would exhaust the stack of a browser's Python.
    """
    if isinstance(source, Mapping):
        _check_depth(source, name)
        return dict(source)
    if isinstance(source, bytes):
        try:
            source = source.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Refused(name, "bytes that are not UTF-8", "a JSON file in UTF-8") from None
    if not isinstance(source, str):
        raise Refused(name, type(source).__name__, "the text of a JSON file")
    if len(source) > LONGEST:
        raise Refused(name, f"{len(source):,} characters", f"at most {LONGEST:,}")
    source = source.lstrip("\ufeff")
    if _depth(source) > DEEPEST:
        raise Refused(name, "deep nesting", f"at most {DEEPEST} levels")
    try:
        value = json.loads(source, object_pairs_hook=_unique)
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        what = re.sub(r"\s+", " ", str(error))[:80]
        raise Refused(name, f"text that is not JSON ({what})", "a JSON object such as a model's config.json") from None
    if not isinstance(value, dict):
        raise Refused(name, value, "a JSON object such as a model's config.json")
    return value


# A string of JSON, closed or not, so that no text makes the search start over again and again.
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*\\?(?:"|\Z)', re.DOTALL)
_NO_BRACKET = re.compile(r"[^\[\]{}]+")


def _depth(text: str) -> int:
    """Return how deep brackets nest outside strings, or a bound above DEEPEST where they nest deeper than that."""
    brackets = _NO_BRACKET.sub("", _STRING.sub("", text))
    for depth in range(DEEPEST + 1):
        inner = brackets.replace("[]", "").replace("{}", "")
        if inner == brackets:
            return depth + brackets.count("[") + brackets.count("{")
        brackets = inner
    return DEEPEST + 1


def _check_depth(value: object, name: str) -> None:
    """Raise Refused for a mapping nested too deep or holding too much to be a config."""
    level, seen = [value], 0
    for _ in range(DEEPEST + 1):
        level = [
            child
            for item in level
            if isinstance(item, Mapping | list | tuple)
            for child in (item.values() if isinstance(item, Mapping) else item)
        ]
        seen += len(level)
        if not level:
            return
        if seen > LONGEST:
            break
    raise Refused(name, "deep nesting", f"at most {DEEPEST} levels")


def _unique(pairs: list[tuple[str, object]]) -> dict:
    """Build an object, refusing a key stated twice with different values: which one counts is anyone's guess."""
    result: dict[str, object] = {}
    for key, value in pairs:
        if key in result and result[key] != value:
            raise Refused(key[:60], "the key twice with different values", "each key once")
        result[key] = value
    return result


@dataclass
class Log:
    """What reading one file has assumed, noted and looked at."""

    assumed: dict[str, Assumption] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def assume(self, key: str, value: object, why: str) -> None:
        """Write down one assumption; the first about a key stays."""
        text = value if isinstance(value, str) else show(value)
        self.assumed.setdefault(key, Assumption(key, text, why))

    def note(self, text: str) -> None:
        """Write down a remark for people, once."""
        if text not in self.notes:
            self.notes.append(text)


class Keys:
    """One object of a config file. Every look-up is remembered, every default taken is an assumption.

    `defaults` are what the public implementation's config class puts where a key is absent, `origin` says so in
    words. `known` is False for a family nobody has described, whose every missing flag is an assumption.
    """

    def __init__(
        self, values: Mapping, log: Log, defaults: Mapping | None = None, origin: str = "", path: str = "", known: bool = True
    ) -> None:
        self.values = values
        self.log = log
        self.defaults = defaults or {}
        self.origin = origin
        self.path = path
        self.known = known

    def overlay(self, values: Mapping) -> Keys:
        """Return the same object with some values replaced, as one kind of layer sees it."""
        return Keys({**self.values, **values}, self.log, self.defaults, self.origin, self.path, self.known)

    def name(self, key: str) -> str:
        """Return a key with the path of its object."""
        return self.path + key

    def state(self, *names: str) -> tuple[str, object]:
        """Return (key, value) of the first of `names` that the file states and does not null; both MISSING if none.

        Raises Refused when two of the names state different values.
        """
        found: tuple[str, object] = (names[0], MISSING)
        for key in names:
            if key not in self.values:
                continue
            self.log.used.add(self.path + key)
            value = self.values[key]
            if value is None:
                continue
            if found[1] is MISSING:
                found = (key, value)
            elif found[1] != value:
                raise Refused(self.name(key), value, f"the same as {found[0]}, which is {show(found[1])}")
        return found

    def has(self, *names: str) -> bool:
        """True where the file states one of the names, other than as null. The names may mean different things."""
        self.log.used.update(self.path + key for key in names if key in self.values)
        return any(self.values.get(key) is not None for key in names)

    def stated_or_default(self, *names: str) -> bool:
        """True where the file states one of the names, or the class has a value for it that is not null."""
        return self.has(*names) or any(self.defaults.get(key) is not None for key in names)

    def pass_over(self, *names: str) -> None:
        """Remember keys as understood that have no effect here."""
        self.log.used.update(self.path + key for key in names)

    def default(self, names: tuple[str, ...], fallback: object, why: str) -> object:
        """Return what stands in for an absent key, and write the assumption down. MISSING where nothing does."""
        for key in names:
            if key in self.defaults:
                self.log.assume(self.name(key), self.defaults[key], self.origin)
                return self.defaults[key]
        if fallback is not MISSING and why:
            self.log.assume(self.name(names[0]), fallback, why)
        return fallback

    def whole(self, *names: str, default: object = MISSING, why: str = "", low: int = 1, high: int = WIDEST) -> int:
        """Return a whole number between bounds. Raises Refused where it is neither stated nor known."""
        key, value = self.state(*names)
        if value is MISSING:
            value = self.default(names, default, why)
        if value is MISSING or value is None:
            raise Refused(self.name(key), self.values.get(key, MISSING), "a whole number")
        return self.check(key, value, low, high)

    def check(self, key: str, value: object, low: int = 1, high: int = WIDEST) -> int:
        """Return `value` as an int between bounds. Raises Refused."""
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Refused(self.name(key), value, "a whole number")
        if not low <= value <= high:
            raise Refused(self.name(key), value, f"a whole number from {low:,} to {high:,}")
        return value

    def optional(self, *names: str, low: int = 0, high: int = WIDEST) -> int:
        """Return a whole number, or 0 where the file nulls the key or neither it nor its class states one."""
        key, value = self.state(*names)
        if value is MISSING:
            nulled = next((name for name in names if name in self.values), None)
            if nulled is not None:
                if not self.known or any(name in self.defaults for name in names):
                    self.log.assume(self.name(nulled), "none", "null: taken to say that there is none")
                return 0
            value = self.default(names, MISSING, "")
        return 0 if value is MISSING or value is None or value is False else self.check(key, value, low, high)

    def flag(self, *names: str, default: bool = False) -> bool:
        """Return a true-or-false value. An unknown family's absent flags, and class defaults, are assumptions."""
        key, value = self.state(*names)
        if value is MISSING:
            why = "" if self.known else "absent; the common choice"
            value = self.default(names, default, why)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise Refused(self.name(key), value, "true or false")
        return value

    def word(self, *names: str, default: str = "") -> str:
        """Return a short text, lower case. Raises Refused where the value is not text."""
        key, value = self.state(*names)
        if value is MISSING:
            value = self.default(names, default, "")
        if value is None:
            return ""
        if not isinstance(value, str) or len(value) > 200:
            raise Refused(self.name(key), value, "a short text")
        return value.lower()

    def listed(self, *names: str) -> tuple[str, list] | None:
        """Return (key, list) where the file states a list, else None. Raises Refused where it is something else."""
        key, value = self.state(*names)
        if value is MISSING:
            return None
        if not isinstance(value, list | tuple) or len(value) > 100_000:
            raise Refused(self.name(key), value, "a list")
        return key, list(value)

    def is_list(self, *names: str) -> bool:
        """True where the file states one of the names as a list."""
        return isinstance(self.state(*names)[1], list | tuple)

    def per_layer(self, layers: int, *names: str, low: int = 0, high: int = WIDEST) -> list[int]:
        """Return one whole number per layer, from a list of that length or one number for all."""
        if not self.is_list(*names):
            return [self.whole(*names, low=low, high=high)] * layers
        key, values = self.listed(*names)
        if len(values) < layers:
            raise Refused(self.name(key), values, f"one value for each of the {layers} layers")
        return [self.check(key, value, low, high) for value in values[:layers]]

    def section(self, *names: str) -> dict | None:
        """Return a nested object, None where absent or null. Raises Refused where it is something else."""
        key, value = self.state(*names)
        if value is MISSING:
            return None
        if not isinstance(value, Mapping):
            raise Refused(self.name(key), value, "an object")
        return dict(value)
