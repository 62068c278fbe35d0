"""An envelope as others take it: JSON, a Markdown table, a Python call, a shell line."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from envelope import cache, catalog, groups, parameters
from envelope.evaluation import Envelope
from envelope.quantities import BY_KEY as QUANTITIES
from envelope.scenario import BY_KEY, Scenario, plain
from envelope.sections import Section
from envelope.units import significant, text

VERSION = 1

# The numbers a person quotes, in the order they quote them.
HEADLINES = (
    "resident_parameters", "active_parameters", "weight_bytes", "bytes_per_step", "cache_bytes_per_token",
    "cache_bytes_per_session", "experts_tokens_90", "crossover_decode", "crossover_prefill", "pool_bytes",
    "ceiling_sessions", "pool_ratio", "sessions", "sessions_default_ratio", "gpus_minimum",
    "capacity_tokens_per_second_per_user", "capacity_output_tokens_per_second", "prefill_seconds_floor",
    "cost_per_million_output", "cache_breakeven_seconds",
)  # fmt: skip


def number(value: Any) -> Any:
    """An exact value as JSON holds it: whole numbers whole, others floating."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value


def to_json(envelope: Envelope) -> dict[str, Any]:
    """The whole envelope in base units, unrounded, in the stable form the house documents."""
    scenario = envelope.scenario
    return {
        "version": VERSION,
        "data": catalog.date(),
        "scenario": {key: plain(value) for key, value in _resolved(scenario).items()},
        "assumed": [{"key": one.key, "value": plain(one.value), "why": one.why} for one in scenario.assumed],
        "quantities": {
            quantity.key: {
                "value": number(quantity.value),
                "unit": quantity.unit,
                "formula": quantity.definition.formula,
                "working": quantity.working,
                "tier": quantity.tier,
                "source": quantity.definition.source,
                "note": quantity.note,
                "reason": quantity.reason or None,
            }
            for quantity in envelope
        },
        "findings": [
            {"key": one.key, "severity": one.severity, "text": one.text, "set": dict(one.set)} for one in envelope.findings
        ],
        "parameters": _parameters(scenario),
        "cache": {"layers": _layers(scenario)},
    }


def _resolved(scenario: Scenario) -> dict[str, Any]:
    """Every input settled, a preset's layers written out as those of a config are."""
    layers = {} if scenario.model is None else {"groups": groups.write(scenario.model)}
    return {**scenario.values, **layers}


def _parameters(scenario: Scenario) -> dict[str, Any]:
    """Counts by part; `total` leaves prediction layers out, as `note` says."""
    model = scenario.model
    if model is None:
        return {"total": None, "active": None, "groups": dict.fromkeys(parameters.PARTS), "note": f"{scenario.name} states no shapes"}
    parts = parameters.resident_by_part(model)
    return {
        "total": parameters.resident(model),
        "active": parameters.active_with_embeddings(model),
        "groups": parts,
        "note": "total leaves prediction layers out" if parts["prediction"] else "",
    }


def _layers(scenario: Scenario) -> list[dict[str, Any]]:
    """What each group of layers keeps, per layer; a layer that keeps two sorts of cache is listed once for each."""
    rows = []
    for one in cache.layer_caches(scenario.model) if scenario.model else ():
        kinds = [(one.kind, one.growing, None, one.state)] if one.growing or not one.windowed else []
        if one.windowed:
            kinds.append(("sliding" if one.growing else one.kind, one.windowed, one.window, 0 if kinds else one.state))
        for kind, values, window, state in kinds:
            rows.append({"kind": kind, "count": one.count, "elements_per_token": number(values), "window": window, "state_elements": state})
    return rows


def shown(envelope: Envelope, key: str) -> str:
    """A quantity as people read it, or why it has no value."""
    quantity = envelope[key]
    if quantity.value is None:
        return f"— ({quantity.reason})"
    return quantity.value if isinstance(quantity.value, str) else text(quantity.value, quantity.unit)


def headline(envelope: Envelope) -> str:
    """The first line: what is deployed where."""
    scenario = envelope.scenario
    lengths = BY_KEY["mix"].kind.write(scenario["mix"]) if scenario["mix"] else scenario.text("context")
    return f"{scenario.name} on {scenario.machine.short_name} × {scenario['gpus']}, {lengths}"


def rows(envelope: Envelope) -> list[tuple[str, str]]:
    """(label, value) of every headline quantity that has a value."""
    return [(envelope[key].label, shown(envelope, key)) for key in HEADLINES if envelope[key].value is not None]


def markdown(envelope: Envelope) -> str:
    """A table that pastes into GitHub and Slack, with the findings under it."""
    lines = [f"**{_plain(headline(envelope))}**", "", "| | |", "|---|---|"]
    lines += [f"| {label} | {_plain(value)} |" for label, value in rows(envelope)]
    if envelope.findings:
        lines += ["", *(f"- {one.severity}: {_plain(one.text)}" for one in envelope.findings)]
    return "\n".join(lines) + "\n"


def _plain(words: str) -> str:
    """Keep typed text from becoming markup."""
    for character in "\\|<>[]`*_":
        words = words.replace(character, "\\" + character) if character in words else words
    return " ".join(words.split())


def terminal(envelope: Envelope) -> str:
    """The headline, its numbers and the findings, for a terminal."""
    table = rows(envelope)
    width = max(len(label) for label, _ in table) if table else 0
    lines = [headline(envelope), ""]
    lines += [f"{label:<{width}}  {value}" for label, value in table]
    if envelope.scenario.assumed:
        lines += ["", "Assumed:", *(f"  {one.key} {plain(one.value)}: {one.why}" for one in envelope.scenario.assumed)]
    if envelope.findings:
        lines += ["", *(_told(one) for one in envelope.findings)]
    return "\n".join(lines) + "\n"


def section(envelope: Envelope, one: Section) -> str:
    """A decision or check for a terminal: its answer, findings and words, each number with formula and working, its tables."""
    content = one.content(envelope)
    lines = [headline(envelope), f"{one.title}: {one.answer(envelope)}", ""]
    lines += [_told(finding) for finding in one.findings(envelope)]
    lines += content.paragraphs
    for key in content.quantities:
        quantity, definition = envelope[key], QUANTITIES[key]
        lines += ["", f"{quantity.label} ({key})  {shown(envelope, key)}", f"  {definition.formula}"]
        lines += [f"  {words}" for words in (quantity.working, f"{definition.source}; tier {quantity.tier}") if words]
    for table in content.tables:
        lines += ["", table.title, *_aligned((table.columns, *table.rows)), *([table.note] if table.note else [])]
    if content.inputs:
        lines += ["", "Inputs:", *(f"  --set {shlex.quote(f'{key}={envelope.scenario.text(key)}')}" for key in content.inputs)]
    return "\n".join(lines) + "\n"


def _aligned(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Rows as columns; the last one is not padded."""
    rows = list(rows)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    return ["  " + "  ".join([*(f"{cell:<{width}}" for cell, width in zip(row[:-1], widths, strict=True)), row[-1]]).rstrip() for row in rows]


def _told(finding) -> str:
    change = " ".join(f"--set {key}={value}" for key, value in finding.set.items())
    return f"{finding.severity}: {finding.text}" + (f"  [{change}]" if change else "")


def python_call(scenario: Scenario) -> str:
    """A Python call that evaluates this state."""
    given = {key: value for key, value in scenario.given.items() if key != "model"}
    arguments = "".join(f", {key}={value!r}" for key, value in given.items())
    return f"from envelope import evaluate\n\nevaluate({scenario['model']!r}{arguments})\n"


def shell_line(scenario: Scenario) -> str:
    """A shell line that evaluates this state."""
    given = {key: value for key, value in scenario.given.items() if key != "model"}
    sets = "".join(f" --set {shlex.quote(f'{key}={value}')}" for key, value in given.items())
    return f"python3 -m envelope {shlex.quote(str(scenario['model']))}{sets}\n"


def comparison(a: Envelope, b: Envelope) -> list[tuple[str, str, str, str, str]]:
    """(label, A, B, difference, ratio) of every headline quantity that either has."""
    found = []
    for key in HEADLINES:
        left, right = a[key].value, b[key].value
        if left is None and right is None:
            continue
        difference = ratio = ""
        if left is not None and right is not None and not isinstance(left, str):
            change = right - left
            difference = ("+" if change > 0 else "−") + text(abs(change), a[key].unit) if change else "same"
            ratio = f"{significant(float(right) / float(left))}×" if left and change else ""
        found.append((a[key].label, shown(a, key), shown(b, key), difference, ratio))
    return found
