"""What a config declares about how its weights are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Quantization:
    """Declared storage: a method, a format key of `envelope.formats` for what is converted, and what is not.

    `exclude` holds module patterns kept in `base`; `overrides` (pattern, format) pairs stored otherwise.
    `cache` is the declared cache format, empty where none is.
    """

    method: str
    format: str
    base: str = "bf16"
    exclude: tuple[str, ...] = ()
    overrides: tuple[tuple[str, str], ...] = ()
    cache: str = ""


def quantization(text: Mapping, top: Mapping, other: Mapping | None) -> Quantization | None:
    return None


def total_size(index: Mapping) -> int:
    return 0
