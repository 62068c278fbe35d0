"""Serving envelope: the numbers that decide how a model serves, from its config."""

from envelope.evaluation import Envelope, evaluate
from envelope.fields.base import InputError
from envelope.scenario import Scenario, resolve

__all__ = ["Envelope", "InputError", "Scenario", "evaluate", "resolve"]
