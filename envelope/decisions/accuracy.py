"""Accuracy: a score against a reference, within one harness or not at all."""

from __future__ import annotations

from envelope import accuracy, catalog
from envelope.decisions.words import advice, applying, needed, provenance
from envelope.evaluation import Envelope
from envelope.fields.decisions import REFERENCE
from envelope.scenario import Scenario
from envelope.sections import Content, Section, Table
from envelope.units import shorten

_SAYS = {
    accuracy.FINE: "the same harness and within a point: fine",
    accuracy.BELOW: "the same harness and more than a point below: a kernel or configuration problem, not quantization",
    accuracy.ABOVE: "the same harness and more than a point above: check that both ran alike",
    accuracy.NOT_COMPARABLE: "another harness: not comparable",
}
_RULES = frozenset({"across_harnesses", "score_below"})
_FAULT = "a deployment more than a point below it in that harness has a fault"


def answer(envelope: Envelope) -> str:
    """What the score says, or what the reference is."""
    scenario = envelope.scenario
    reference = scenario["reference_score"]
    if reference is None:
        return f"no reference score is known for this model: enter Reference score; {_FAULT}"
    known = f"the reference is {_benchmark(scenario)}{shorten(float(reference), 4)}% in {scenario['reference_harness'] or 'an unnamed harness'}"
    if scenario["score"] is None:
        return f"{known}; {_FAULT}"
    difference = needed(envelope, "accuracy_difference")
    side = "below" if difference < 0 else "above"
    says = _SAYS[needed(envelope, "accuracy_verdict")]
    if scenario["harness"] is None:
        says = "but nothing compares before the harness is named: enter Your harness"
    return f"{abs(float(difference)):.2f} points {side} the reference, {says}"


def _benchmark(scenario: Scenario) -> str:
    """The benchmark of the catalogue's reference; a score of the reader's own is of whatever they ran."""
    return "" if "reference_score" in scenario.given else f"{REFERENCE} "


def content(envelope: Envelope) -> Content:
    """The comparison and the published scores."""
    slug = envelope.scenario.preset.slug if envelope.scenario.preset else None
    rows = tuple(
        (
            one.benchmark, (one.weight_format or "several").upper() if one.weight_format else "several formats",
            f"{one.low:.2f}" if one.low == one.high else f"{one.low:.2f} to {one.high:.2f}", one.harness, one.note, provenance(one),
        )
        for one in catalog.traffic().scores if one.model == slug
    )  # fmt: skip
    note = "Three points can come from the harness alone: compare down a column of one harness, never across."
    tables = (Table("Published scores, percent", ("Benchmark", "Weights", "Score", "Harness", "Note", "Source"), rows, note),) if rows else ()
    return Content(
        quantities=("accuracy_difference", "accuracy_verdict"),
        tables=tables,
        inputs=applying(envelope, "score", "harness", "reference_score", "reference_harness"),
        paragraphs=(advice("score_within_harness"),),
    )


SECTION = Section("accuracy", "Accuracy", answer, content, _RULES)
