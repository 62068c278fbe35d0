"""What reading a config gives back."""

from __future__ import annotations

from dataclasses import dataclass

from envelope.config.keys import Assumption
from envelope.config.quantization import Quantization
from envelope.model import Model


@dataclass(frozen=True)
class Reading:
    """A model's architecture as its config states it, and what had to be assumed for that.

    `quantization` is what the files declare about storage, None where they declare nothing. `ignored` lists keys
    nobody here knows that might change a count. `total_size` is the tensor bytes the index states, 0 without one.
    """

    model: Model
    model_type: str
    name: str = ""
    quantization: Quantization | None = None
    assumed: tuple[Assumption, ...] = ()
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    total_size: int = 0
    max_context: int = 0
