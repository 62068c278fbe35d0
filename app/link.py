"""The state as a short readable address, and back: `?v=1&data=2026-11-30&model=...&context=128K`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote

from envelope import catalog
from envelope.scenario import BESIDE, BY_KEY, FIELDS, VIEWED

from app.state import Texts, usable

VERSION = "1"
PINNED = "a."  # what state A has instead, when two are compared; an empty value means A leaves the input alone
_SAFE = ":,/~@;!*()'$"  # readable, and without meaning inside a query
_LONGEST = 20_000  # characters read at all
_MOST_NAMED = 5  # unknown names, each in a sentence of its own


@dataclass(frozen=True)
class Link:
    """What an address says. `problems` are sentences about what was ignored; `data` is its catalogue's date."""

    texts: Texts
    pinned: Texts | None = None
    data: str = ""
    problems: tuple[str, ...] = ()
    other: Mapping[str, str] = field(default_factory=dict)


def write(given: Texts, pinned: Texts | None = None, other: Mapping[str, str] | None = None) -> str:
    """The query of a state, its keys in the order of the fields."""
    pairs = [("v", VERSION), ("data", catalog.date())]
    pairs += [(one.key, given[one.key]) for one in FIELDS if one.key in given]
    if pinned is not None:
        # The model is always there: it says that an A is pinned, also where A equals this state.
        differs = [one.key for one in FIELDS if one.key == "model" or pinned.get(one.key) != given.get(one.key)]
        pairs += [(PINNED + key, pinned.get(key, "")) for key in differs]
    pairs += (other or {}).items()
    return "?" + "&".join(f"{key}={quote(value, safe=_SAFE).replace('%20', '+')}" for key, value in pairs)


def read(query: str) -> Link:
    """Read an address's query; what is unknown or cannot be used is reported and left out."""
    problems: list[str] = []
    if len(query) > _LONGEST:
        return Link({}, problems=("The link is too long to read; this is the default state.",))
    pairs = parse_qsl(query.lstrip("?"), keep_blank_values=True)
    found = dict(pairs)
    if len(found) < len(pairs):
        problems.append("The link names an input twice; the last one counts.")
    version = found.get("v", VERSION)
    if version != VERSION:
        problems.append(f"The link is of version {version[:12]}, which this page does not know; it is read as version {VERSION}.")
    known = {key: text for key, text in found.items() if key in BY_KEY}
    pinned = {key.removeprefix(PINNED): text for key, text in found.items() if key.startswith(PINNED) and key.removeprefix(PINNED) in BY_KEY}
    ignored = found.keys() - known.keys() - {*BESIDE} - {PINNED + key for key in pinned}
    problems += unknown(sorted(ignored), "The link's {} is not an input here and was ignored.")
    texts, errors = usable({key: text for key, text in known.items() if text.strip()})
    problems += [_problem(error) for error in errors]
    return Link(texts, _pinned(texts, pinned, problems), found.get("data", "")[:10], tuple(problems), {key: found[key] for key in VIEWED if key in found})


def unknown(names: Iterable[str], sentence: str) -> list[str]:
    """A sentence for each of the first names that mean nothing here, and one for the others."""
    named = list(dict.fromkeys(names))
    more = len(named) - _MOST_NAMED
    rest = [f"{more:,} more of the link's names mean nothing here either."] if more > 0 else []
    return [sentence.format(repr(name[:40])) for name in named[:_MOST_NAMED]] + rest


def _pinned(texts: Texts, pinned: Texts, problems: list[str]) -> Texts | None:
    if not pinned:
        return None
    merged = {**texts, **pinned}
    kept, errors = usable({key: text for key, text in merged.items() if text.strip()})
    problems += [f"For A: {_problem(error)}" for error in errors]
    return kept


def _problem(error) -> str:
    label = BY_KEY[error.key].label if error.key in BY_KEY else error.key
    return f"The link's {label} {str(error.value)[:40]!r} {error.message}; it was ignored."
