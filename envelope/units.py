"""Read and write quantities the way people type them: `128K`, `2.1 TB`, `79.6 GiB`, `85%`."""

from __future__ import annotations

import re
from fractions import Fraction

GIB = 2**30

# Tokens count in binary (128K is 131,072); everything else in decimal. Bytes name their own base.
_TOKEN_SUFFIX = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
_DECIMAL_SUFFIX = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9, "t": 10**12, "p": 10**15}
_BYTE_SUFFIX = {
    "": 1, "b": 1, "byte": 1, "bytes": 1,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "pb": 10**15,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40, "pib": 2**50,
}  # fmt: skip

# Twenty digits before and after the point hold every real input; an exponent beyond 30 is a slip or an attack.
_NUMBER = re.compile(r"([+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:e[+-]?[0-9]{1,2})?)\s*([a-zµ/%]*)", re.IGNORECASE)

# Separators count only where they part thousands: `262,5 GB` is a decimal comma, and would be read ten times too large.
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}([,_][0-9]{3})+(?![0-9,_])")


def number(text: str, suffixes: dict[str, int], accepted: str) -> Fraction:
    """Read one number with an optional suffix, exactly.

    `accepted` completes the sentence in the error. Raises ValueError with a message fit to show.
    """
    cleaned = text.strip().replace("\u202f", ",").replace("\u00a0", " ")
    if _GROUPED.match(cleaned):
        cleaned = cleaned.replace(",", "").replace("_", "")
    match = _NUMBER.fullmatch(cleaned)
    if match is None:
        raise ValueError(f"accepts {accepted}")
    digits, suffix = match.groups()
    scale = suffixes.get(suffix.lower())
    if scale is None:
        raise ValueError(f"does not know the suffix {suffix[:12]!r}; accepts {accepted}")
    return Fraction(digits) * scale


def tokens(text: str) -> int:
    """Read a number of tokens: `131072`, `128K` (131,072), `1M` (1,048,576). Raises ValueError."""
    cleaned = re.sub(r"\s*(tokens?|tok)$", "", text.strip(), flags=re.IGNORECASE)
    return whole(number(cleaned, _TOKEN_SUFFIX, "tokens such as 131072, 128K or 1M"), "tokens such as 131072, 128K or 1M")


def whole(value: Fraction, accepted: str) -> int:
    """Return an exact integer. Raises ValueError for a fraction of one."""
    if value.denominator != 1:
        raise ValueError(f"must be whole; accepts {accepted}")
    return value.numerator


def count(text: str) -> int:
    """Read a whole number: `8`, `202,048`, `1.9B` (1,900,000,000). Raises ValueError."""
    accepted = "whole numbers such as 8 or 202,048"
    return whole(number(text, _DECIMAL_SUFFIX, accepted), accepted)


def size(text: str) -> Fraction:
    """Read bytes: `532.7 GB` (1e9), `79.6 GiB` (2^30), `2.1 TB`, or plain bytes. Raises ValueError."""
    return number(text, _BYTE_SUFFIX, "bytes such as 262.5 GB, 79.6 GiB or 2.1 TB")


def rate(text: str) -> Fraction:
    """Read bytes per second: `8 TB/s`, `900 GB/s`, or plain bytes per second. Raises ValueError."""
    cleaned = re.sub(r"\s*(/s|ps)$", "", text.strip(), flags=re.IGNORECASE)
    return number(cleaned, _BYTE_SUFFIX, "bytes per second such as 8 TB/s")


def share(text: str, accepted: str = "a share such as 0.9 or 90%") -> Fraction:
    """Read a share: `0.85`, `85%`. `accepted` completes the sentence in the error. Raises ValueError."""
    return number(text, {"": 1, "%": Fraction(1, 100)}, accepted)


def real(text: str) -> Fraction:
    """Read a plain number: `6.77`, `$6.77`, `42.78B`. Raises ValueError."""
    return number(text.strip().removeprefix("$"), _DECIMAL_SUFFIX, "a number such as 4.5")


def seconds(text: str) -> Fraction:
    """Read a time: `30 ms`, `3.6 s`, `6.9 min`, or plain seconds. Raises ValueError."""
    scales = {"": 1, "s": 1, "ms": Fraction(1, 1000), "us": Fraction(1, 10**6), "min": 60, "h": 3600}
    return number(text, scales, "a time such as 30 ms, 3.6 s or 5 min")


def significant(value: float, digits: int = 3) -> str:
    """Write a number with `digits` significant digits, thousands grouped, never in scientific notation."""
    # As a float throughout: comparing a Fraction costs ten times as much, and what is printed is the float.
    value = float(value)
    size = abs(value)
    if size == 0:
        return "0"
    magnitude = len(str(int(size))) if size >= 1 else 1 - _leading_zeros(size)
    decimals = max(0, digits - magnitude)
    text = f"{value:,.{decimals}f}"
    if "." not in text:
        return text
    # 9.996 to three digits prints as 10.00: one digit too many, so round again at the new magnitude.
    if len(text.replace(",", "").replace("-", "").replace(".", "").lstrip("0")) > digits and decimals > 0:
        text = f"{value:,.{decimals - 1}f}"
    return text


def _leading_zeros(value: float) -> int:
    """Count zeros after the point before the first digit of a value below 1, plus one."""
    zeros = 1
    while value * 10 < 1 and zeros < 40:
        value *= 10
        zeros += 1
    return zeros


def shorten(value: float, digits: int = 3) -> str:
    """Write a number as `significant` does, without trailing zeros: 0.0780 becomes 0.078, 30.0 becomes 30."""
    text = significant(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


_PEOPLE = {
    "tokens": ((2**20, "M"), (2**10, "K")),
    "bytes": ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")),
    "bytes/s": ((10**12, "TB/s"), (10**9, "GB/s"), (10**6, "MB/s"), (10**3, "kB/s")),
    "parameters": ((10**12, "T"), (10**9, "B"), (10**6, "M")),
    "FLOP": ((10**15, "PFLOP"), (10**12, "TFLOP"), (10**9, "GFLOP"), (10**6, "MFLOP")),
    "FLOP/s": ((10**15, "PFLOP/s"), (10**12, "TFLOP/s")),
    "tokens/s": ((10**6, "M tok/s"), (10**3, "K tok/s")),
}  # fmt: skip
_BASE = {"bytes": "B", "bytes/s": "B/s", "FLOP": "FLOP", "FLOP/s": "FLOP/s", "tokens/s": "tok/s", "parameters": ""}


def people(value: float, unit: str, digits: int = 3) -> tuple[str, str]:
    """Write a base-unit value as number and unit: (`54.1`, `GB`), (`128K`, `tokens`), (`6.9`, `min`)."""
    if unit == "tokens":
        return token_text(value), _of(value, "tokens")
    if unit == "seconds":
        return _time(value, digits)
    if unit == "share":
        return shorten(float(value) * 100, digits), "%"
    if unit == "USD":
        return money(value), ""
    if unit == "ratio":
        return shorten(float(value), 6), ""
    if unit in ("sessions", "GPUs", "experts", "layers", "requests", "collectives", "count"):
        return f"{int(value):,}", "" if unit == "count" else _of(int(value), unit)
    value = float(value)
    # 999.6 million would print as 1,000 M: take the larger name as soon as rounding reaches it.
    size, reaches = abs(value), 1 - 0.5 * 10**-digits
    for scale, name in _PEOPLE.get(unit, ()):
        if size >= scale * reaches:
            return significant(value / scale, digits), name
    return significant(value, digits), _BASE.get(unit, unit)


def counted(number: int, things: str) -> str:
    """Write how many there are of what has a plural in -s: `1 GPU`, `8 GPUs`, `1,304 sessions`."""
    return f"{number:,} {_of(number, things)}"


def _of(number: float, things: str) -> str:
    return things.removesuffix("s") if number == 1 else things


def text(value: float, unit: str, digits: int = 3) -> str:
    """Write a base-unit value in one string: `54.1 GB`, `128K tokens`, `$1.83`."""
    digits_text, name = people(value, unit, digits)
    if name == "%" or name[:2] in ("K ", "M "):
        return digits_text + name
    return f"{digits_text} {name}".rstrip()


def token_text(value: float) -> str:
    """Write tokens as people do: 131072 is `128K`, 1048576 is `1M`, 8000 is `8,000`, 169072 is `169,072`."""
    if float(value).is_integer():
        value = int(value)
        for scale, name in _PEOPLE["tokens"]:
            if value >= scale and value % scale == 0:
                return f"{value // scale:,}{name}"
        return f"{value:,}"
    return significant(float(value))


def money(value: float) -> str:
    """Write US dollars: `$1.83`, `$0.024`, `$1,300`."""
    value = float(value)
    if abs(value) >= 1000:
        return f"${value:,.0f}"
    if abs(value) >= 0.1 or value == 0:
        return f"${value:,.2f}"
    return f"${significant(value, 2)}"


def _time(value: float, digits: int) -> tuple[str, str]:
    value = float(value)
    if value >= 86_400 * 2:
        return significant(value / 86_400, digits), "days"
    if value >= 3600 * 2:
        return significant(value / 3600, digits), "h"
    if value >= 120:
        return significant(value / 60, digits), "min"
    if value >= 1:
        return significant(value, digits), "s"
    return significant(value * 1000, digits), "ms"
