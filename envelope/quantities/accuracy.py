"""A score against a reference."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import accuracy
from envelope.quantities.registry import SEED, Found, Registry
from envelope.units import shorten

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

_registry = Registry("accuracy")
_quantity = _registry.quantity


def _scores(e: Evaluation) -> tuple[Fraction, Fraction]:
    score = e.needed("score", "no score of yours is given (score)")
    reference = e.needed("reference_score", "no reference score is known for this model (reference_score)")
    return Fraction(score), Fraction(reference)


@_quantity("accuracy_difference", "Against the reference", "points", "score − reference_score", SEED, "anything but the score; across harnesses it means nothing")
def accuracy_difference(e: Evaluation) -> Found:
    score, reference = _scores(e)
    return Found(score - reference, lambda: f"{shorten(float(score), 4)} − {shorten(float(reference), 4)}")


@_quantity("accuracy_verdict", "What it says", "text", "same harness within a point: fine; further below: kernel or configuration; another harness: not comparable", SEED)
def accuracy_verdict(e: Evaluation) -> Found:
    score, reference = _scores(e)
    mine, other = e.input("harness"), e.input("reference_harness")
    found = accuracy.verdict(score, reference, mine, other)
    return Found(found, lambda: f"{shorten(float(score - reference), 3)} points; yours by {mine or 'an unnamed harness'}, the reference by {other or 'an unnamed harness'}")


DEFINITIONS = _registry.definitions
