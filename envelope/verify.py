"""Check every figure the two seed documents print against what this code computes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from envelope import catalog
from envelope.printed import decisions, seven_numbers
from envelope.units import significant

CHECKS = seven_numbers.CHECKS | decisions.CHECKS
OPEN = seven_numbers.OPEN | decisions.OPEN

# A printed unit, and what to divide a value in base units by.
_SCALES = {
    "percent": 0.01, "percent of best": 0.01, "minutes": 60, "ms": 0.001, "ms/token": 0.001, "GiB": 2**30,
    "1e9 parameters": 1e9, "1e9 elements": 1e9, "1e9 bytes": 1e9, "1e12 bytes": 1e12, "1e3 tokens": 1e3,
    "1e3 tokens/s": 1e3,
}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What became of one printed figure: `ok`, `FAIL` or `open`, and the line to print."""

    id: str
    verdict: str
    line: str


def outcomes() -> Iterator[Outcome]:
    """Recompute every printed figure, in the order the documents print them."""
    for row in catalog.figures():
        yield _judge(row)


def _judge(row: dict[str, Any]) -> Outcome:
    id, printed = row["id"], row["value"]
    if row["status"] == "open":
        return Outcome(id, "open", f"{id}  printed {printed} {row['unit']}: {row['note'] or OPEN.get(id, '')}")
    if id not in CHECKS:
        return Outcome(id, "FAIL", f"{id}  printed {printed} {row['unit']}: nothing computes it")
    found = CHECKS[id]()
    pairs = list(zip(_list(printed), _list(found), strict=True))
    scale = _SCALES.get(row["unit"], 1)
    if row["status"] == "measured":
        same = all(float(value) == float(shown) for value, shown in pairs)
        return Outcome(id, "ok" if same else "FAIL", f"{id}  {printed} {row['unit']}: measured, shown as data")
    half = 0.5 * 10 ** -row["places"] * (1 + 1e-9)
    close = all(abs(float(value) / scale - float(shown)) <= half for shown, value in pairs)
    computed = ", ".join(significant(float(value) / scale, 7) for _, value in pairs)
    note = f"  ({row['note']})" if row["note"] and row["status"] == "rounding" else ""
    return Outcome(id, "ok" if close else "FAIL", f"{id}  printed {printed} {row['unit']}, computed {computed}{note}")


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
