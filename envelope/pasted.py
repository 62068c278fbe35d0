"""From a read config file to the inputs that reopen it without the file."""

from __future__ import annotations

from envelope import checkpoint, groups
from envelope.config import Reading, storage
from envelope.fields.architecture import CUSTOM
from envelope.scenario import Assumption


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


def assumptions(reading: Reading) -> tuple[Assumption, ...]:
    """What the reader took without the file stating it."""
    return tuple(Assumption(one.key, one.value, one.why) for one in reading.assumed)
