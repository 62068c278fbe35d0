"""What an input is: its key, how people type it, its default given the rest, its bounds."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from envelope import units
from envelope.records import Machine, ModelPreset
from envelope.checkpoint import Split
from envelope.model import Model

# Control characters steer a terminal; lone surrogates are bytes that were no UTF-8.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

_ZEROS = re.compile(r"(?<=[0-9])\.0+(?![0-9])")  # as in 1.000 MB

Value = int | Fraction | str | tuple[tuple[int, int], ...] | None


# One object per number, so that what an edit leaves alone is seen by identity.
exact = lru_cache(maxsize=256)(Fraction)


class InputError(ValueError):
    """An input that cannot be used: which field, what was given, and what is accepted instead."""

    def __init__(self, key: str, value: object, message: str) -> None:
        self.key = key
        self.value = value
        self.message = message
        super().__init__(f"{key}: {_shown(value)} {message}")


def _shown(value: object) -> str:
    text = decimal_text(value) if isinstance(value, Fraction) else str(value)
    return repr(text if len(text) <= 60 else text[:57] + "...")


class Default(NamedTuple):
    """A value nobody gave: where it comes from, or, when `why` is not empty, why it is assumed."""

    value: Value
    tier: str = "A"
    source: str = ""
    why: str = ""


@dataclass
class Known:
    """What is settled so far while a scenario is resolved, field by field, in order. `read` are the keys asked for."""

    preset: ModelPreset | None = None
    model: Model | None = None
    model_edited: bool = False
    machine: Machine | None = None
    split: Split | None = None
    values: dict[str, Value] = field(default_factory=dict)
    defaults: dict[str, Default] = field(default_factory=dict)
    given: frozenset[str] = frozenset()
    read: set[str] = field(default_factory=set)

    def __getitem__(self, key: str) -> Value:
        self.read.add(key)
        return self.values[key]


@dataclass(frozen=True)
class Kind:
    """How one sort of value is typed, written back exactly, and echoed in words. `unit` is its base unit."""

    unit: str
    read: Callable[[str], Value]
    write: Callable[[Value], str]
    echo: Callable[[Value], str]


@lru_cache(maxsize=512)
def decimal_text(value: Value) -> str:
    """Write an exact number in decimals: 0.078125, 262500000000. Every value people can type has one."""
    number = Fraction(value)
    if number.denominator == 1:
        return str(number.numerator)
    digits, exponent = 0, number.denominator
    while exponent != 1 and digits < 60:
        exponent = (number * 10**digits).denominator
        digits += 1
    scaled = number * 10 ** max(0, digits - 1)
    return format(Decimal(scaled.numerator).scaleb(-max(0, digits - 1)), "f")


def _scaled(names: tuple[tuple[int, str], ...]) -> Callable[[Value], str]:
    """Write a number with the largest suffix that leaves at most four decimals: 262.5GB, 8TB, else plain."""

    @lru_cache(maxsize=512)
    def write(value: Value) -> str:
        for scale, name in names:
            if abs(value) >= scale and (Fraction(value) * 10_000 / scale).denominator == 1:
                return decimal_text(Fraction(value) / scale) + name
        return decimal_text(value)

    return write


_write_decimal_bytes = _scaled(((10**12, "TB"), (10**9, "GB"), (10**6, "MB")))


def _write_bytes(value: Value) -> str:
    """Write bytes in decimal units, or in MiB where only those are whole, as drivers report memory: 143771MiB."""
    text = _write_decimal_bytes(value)
    return f"{value // 2**20}MiB" if text.isdigit() and value >= 2**30 and value % 2**20 == 0 else text


_write_count = _scaled(((10**9, "B"),))
_write_rate = _scaled(((10**12, "TB/s"), (10**9, "GB/s")))


def _echo(unit: str) -> Callable[[Value], str]:
    return lambda value: units.text(value, unit, 4)


def _read_text(text: str) -> str:
    return text.strip()


def _read_mix(text: str) -> tuple[tuple[int, int], ...]:
    """Read `32K:1,128K:1`: length and count pairs, counts of at least 1."""
    pairs = []
    for item in text.replace(";", ",").split(","):
        length, _, count = item.strip().partition(":")
        try:
            pair = (units.tokens(length), units.count(count or "1"))
        except ValueError:
            raise ValueError("accepts length:count pairs such as 32K:1,128K:1") from None
        if not 1 <= pair[0] <= 10**9 or not 1 <= pair[1] <= 10**6:
            raise ValueError("needs lengths of 1 to 1e9 tokens and counts of 1 to 1,000,000")
        pairs.append(pair)
    if len(pairs) > 32:
        raise ValueError("accepts at most 32 lengths")
    return tuple(pairs)


def _write_mix(value: Value) -> str:
    return ",".join(f"{units.token_text(length).replace(',', '')}:{count}" for length, count in value)


def _echo_mix(value: Value) -> str:
    return " and ".join(f"{count} of {units.token_text(length)}" for length, count in value)


def _read_ratio(text: str) -> Value:
    if text.strip().lower() == "best":
        return "best"
    return units.share(text, "best, or a ratio such as 0.08")


def _write_ratio(value: Value) -> str:
    return value if isinstance(value, str) else decimal_text(value)


def _write_tokens(value: Value) -> str:
    return units.token_text(value).replace(",", "")


TOKENS = Kind("tokens", units.tokens, _write_tokens, lambda value: f"{value:,} tokens")
COUNT = Kind("count", units.count, _write_count, lambda value: f"{value:,}")
BYTES = Kind("bytes", units.size, _write_bytes, _echo("bytes"))
RATE = Kind("bytes/s", units.rate, _write_rate, _echo("bytes/s"))
SHARE = Kind("share", units.share, decimal_text, lambda value: f"{units.shorten(float(value) * 100, 4)}%")
NUMBER = Kind("number", units.real, _write_count, lambda value: units.shorten(float(value), 6))
SPEED = Kind("tokens/s", units.real, decimal_text, lambda value: f"{units.shorten(float(value), 6)} tokens/s")
USD = Kind("USD", units.real, decimal_text, lambda value: units.money(float(value)))
SECONDS = Kind("seconds", units.seconds, decimal_text, _echo("seconds"))
TEXT = Kind("text", _read_text, str, str)
CHOICE = Kind("choice", lambda text: text.strip().lower(), str, str)
RATIO = Kind("ratio", _read_ratio, _write_ratio, lambda value: str(value) if isinstance(value, str) else decimal_text(value))
MIX = Kind("mix", _read_mix, _write_mix, _echo_mix)


def _always(known: Known) -> bool:
    return True


def _no_choices(known: Known) -> tuple[tuple[str, str], ...]:
    return ()


@dataclass(frozen=True)
class Field:
    """One input, declared once; form, link, command line, page and tests read this.

    `default` gives the value from what is settled before it, or is the value where it hangs on nothing; `choices`
    are (key, label) pairs where only those are accepted, `bounds` inclusive limits in base units, `applies` says
    whether this set-up has such a thing.
    `follows` names the quantity shown in an empty field that only overrides. A `rare` field is one that few
    change before they have an engine running; forms may fold it away.
    """

    key: str
    label: str
    kind: Kind
    group: str
    help: str
    default: Callable[[Known], Default] | Default
    bounds: tuple[float, float] | None = None
    choices: Callable[[Known], tuple[tuple[str, str], ...]] = _no_choices
    applies: Callable[[Known], bool] = _always
    follows: str = ""
    rare: bool = False

    def read(self, given: object, known: Known) -> Value:
        """Read what was typed or passed. Raises InputError saying what is accepted."""
        text = given if isinstance(given, str) else _plain(given)
        if len(text) > 20_000:
            raise InputError(self.key, text, "is too long")
        if not text.strip():
            raise InputError(self.key, text, "is empty")
        if _UNPRINTABLE.search(text.strip()):
            raise InputError(self.key, text, "holds control characters or broken text; accepts plain Unicode")
        try:
            value = self.kind.read(text)
        except ValueError as error:
            raise InputError(self.key, text, str(error)) from None
        choices = self.choices(known)
        if choices and value not in [key for key, _ in choices]:
            raise InputError(self.key, text, "must be one of " + ", ".join(key for key, _ in choices))
        if self.bounds and not isinstance(value, str):
            low, high = self.bounds
            if not low <= value <= high:
                read = f"is read as {self._bound(value)}; " if self.kind.unit in ("bytes", "bytes/s", "seconds") else ""
                raise InputError(self.key, text, f"{read}must be {self._bound(low)} to {self._bound(high)}")
        return value

    def _bound(self, value: float) -> str:
        return _ZEROS.sub("", self.kind.echo(Fraction(value))) if self.kind.unit not in ("tokens", "count") else f"{int(value):,}"


def _plain(given: object) -> str:
    """Turn a Python number into the text a person would type, exactly."""
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, int):
        return str(given) if abs(given) < 10**40 else "1" + "0" * 41
    if isinstance(given, Fraction):
        return decimal_text(given)
    if isinstance(given, float):
        return format(Decimal(repr(given)), "f") if given == given and abs(given) < 1e40 else str(given)
    if isinstance(given, tuple):
        try:
            return _write_mix(given)
        except (TypeError, ValueError):
            return str(given)
    return str(given)


def constant(value: Value, why: str = "", source: str = "") -> Default:
    """A default that hangs on nothing."""
    return Default(value, tier="C" if why else "A", source=source, why=why)


# The default of a field that only overrides what is derived.
UNSET = Default(None)
