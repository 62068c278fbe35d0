"""From a read config file to the inputs that reopen it without the file."""

from __future__ import annotations

import json
from collections.abc import Iterable

from envelope import checkpoint, groups
from envelope.config import Reading, storage
from envelope.config.keys import parse
from envelope.fields.architecture import CUSTOM
from envelope.scenario import Assumption

_LONGEST_VALUE = 1000  # characters typed for one key; deep nesting in more would exhaust the stack of a browser's Python


def inputs(reading: Reading, name: str = "") -> dict[str, str]:
    """The inputs, as typed, that a config file states: its layers, its split, its size where an index gives it."""
    given = {"model": CUSTOM, "groups": groups.write(reading.model)}
    if name or reading.name:
        given["name"] = (name or reading.name)[:80]
    if reading.quantization is not None:
        split = storage.split(reading.model, reading.quantization)
        given["split"] = str(split)
        if split.rules:
            given["weight_format"] = checkpoint.main_format(reading.model, split)
        if reading.quantization.cache_format:
            given["cache_format"] = reading.quantization.cache_format
    if reading.total_size:
        given["weight_bytes"] = str(reading.total_size)
    return given


def assumptions(reading: Reading, by_hand: Iterable[Assumption] = ()) -> tuple[Assumption, ...]:
    """What the reader took without the file stating it, after what was filled in by hand."""
    return (*by_hand, *(Assumption(one.key, one.value, one.why) for one in reading.assumed))


def filled(config: str, key: str, typed: str) -> tuple[str, Assumption]:
    """The config's text with one key, by its path, set to what was typed: JSON, or else a word. Raises ValueError."""
    values, owner, name = _owner(config, key)
    if len(typed) > _LONGEST_VALUE:
        raise ValueError(f"is longer than {_LONGEST_VALUE:,} characters")
    try:
        owner[name] = json.loads(typed)
    except ValueError:
        owner[name] = typed.strip()
    return json.dumps(values, indent=2, ensure_ascii=False), Assumption(key, typed.strip(), "filled in by hand")


def without(config: str, key: str) -> tuple[str, Assumption]:
    """The config's text without one key, by its path. Raises ValueError where it has none such."""
    values, owner, name = _owner(config, key)
    if name not in owner:
        raise ValueError(f"there is no {key}")
    del owner[name]
    return json.dumps(values, indent=2, ensure_ascii=False), Assumption(key, "left out", "by hand: what it describes is not sized")


def states(config: str, key: str) -> bool | None:
    """Whether the config states a key, by its path; None where it has no place for one."""
    try:
        _, owner, name = _owner(config, key)
    except ValueError:
        return None
    return name in owner


def _owner(config: str, key: str) -> tuple[dict, dict, str]:
    """(all values, the object that holds the key, its name there)."""
    values = parse(config)
    *path, name = key.split(".")
    owner = values
    for step in path:
        owner = owner.get(step) if isinstance(owner, dict) else None
    if not isinstance(owner, dict) or not name.isidentifier():
        raise ValueError(f"{key} has no place in this config")
    return values, owner, name
