"""Reads a model's `config.json` into shapes, with every assumption marked, or refuses by naming the key."""

from envelope.config.keys import Assumption, Refused
from envelope.config.quantization import Quantization
from envelope.config.read import read
from envelope.config.reading import Reading

__all__ = ["Assumption", "Quantization", "Reading", "Refused", "read"]
