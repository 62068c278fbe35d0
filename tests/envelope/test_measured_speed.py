"""Public decode measurements against the bandwidth bound: none exceeds it, and what they reach is what we state."""

import json
from pathlib import Path

import pytest

from envelope import evaluate
from envelope.config import read
from envelope.engines import reached
from envelope.groups import write

DATA = Path(__file__).parents[1] / "data"
SPEED = json.loads((DATA / "measured_speed.json").read_text())


def shares(row):
    """Measured tokens/s over the bound at full bandwidth, all tokens a cycle could advance counted, per point."""
    layers = row.get("layers") or write(read((DATA / "configs" / row["config"]).read_text()).model)
    found = []
    for batch, context, measured in row["points"]:
        envelope = evaluate(model="custom", groups=layers, batch=batch, context=max(1, context), bandwidth_share=1, **row["inputs"])
        found.append(measured * float(envelope.value("step_seconds")) / (batch * row["tokens_per_cycle"]))
    return found


@pytest.mark.parametrize("row", SPEED["rows"], ids=lambda row: row["id"])
def test_no_measurement_exceeds_the_bound(row):
    assert all(0 < share < 1 for share in shares(row))


@pytest.mark.parametrize("id, run", [("B03", reached.RUNS[0]), ("B06", reached.RUNS[1]), ("B07", reached.RUNS[2])])
def test_stated_shares_are_those_computed(id, run):
    row = next(row for row in SPEED["rows"] if row["id"] == id)
    assert row["tokens_per_cycle"] == 1
    assert [round(share, 3) for share in shares(row)] == list(run.shares)


def test_typical_share_is_the_median_of_plain_runs():
    quantity = evaluate()["engine_bandwidth_reached"]
    assert quantity.value == pytest.approx(0.258)
    assert quantity.note == "5.5% to 54.9% over 12 points of 3 public runs"


def test_every_row_is_compared_or_says_why_not():
    compared = {row["id"] for row in SPEED["rows"]}
    assert compared == {"B01", "B02", "B03", "B04", "B05", "B06", "B07", "B15"}
    assert compared | set(SPEED["not_compared"]) == {f"B{number:02}" for number in range(1, 38)}
