"""The address: short, readable, and the same state when it is opened again."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app import link
from app.state import State, stated
from envelope import catalog, config, pasted, resolve
from tests.app.reader import Reader
from tests.app.strategies import hostile, states

LONGEST = 2000  # characters; what the page promises for any state the form can reach


def test_says_what_differs_in_the_order_of_the_fields():
    state = State({"context": "131072", "batch": "32", "pool_ratio": "0.8", "model": "gpt-oss-120b", "machine": "hgx-h200"})
    assert link.write(state.given()) == f"?v=1&data={catalog.date()}&model=gpt-oss-120b&machine=hgx-h200&pool_ratio=0.8&batch=32"


def test_a_preset_is_its_name():
    assert link.write(State().given()) == f"?v=1&data={catalog.date()}&model=muse-spark-open"


@given(states())
@settings(max_examples=150)
@example({"model": "muse-spark-open", "mix": "32K:1,128K:1", "hbm": "288.4 GB"})
def test_opened_again_it_is_the_same_state(texts):
    before = State(texts)
    query = link.write(before.given())
    found = link.read(query)
    assert found.problems == ()
    after = State(found.texts)
    assert after.envelope.scenario.values == before.envelope.scenario.values
    assert link.write(after.given()) == query
    assert len(query) <= LONGEST


@given(states(), states())
@settings(max_examples=60)
def test_both_states_of_a_comparison_come_back(texts, other):
    a, b = State(other), State(texts)
    query = link.write(b.given(), stated(a.envelope.scenario))
    found = link.read(query)
    assert found.problems == ()
    assert resolve(found.texts).values == b.envelope.scenario.values
    assert resolve(found.pinned).values == a.envelope.scenario.values
    assert len(query) <= LONGEST


def test_equal_states_are_still_compared():
    query = link.write({"model": "muse-spark-open"}, {"model": "muse-spark-open"})
    assert link.read(query).pinned == {"model": "muse-spark-open"}
    assert link.read("?model=muse-spark-open").pinned is None


def test_unknown_and_broken_values_are_reported_and_ignored():
    found = link.read("?v=1&model=deepseek-v3&contxt=1&context=never&batch=4")
    assert found.texts == {"model": "deepseek-v3", "batch": "4"}
    assert found.problems == (
        "The link's 'contxt' is not an input here and was ignored.",
        "The link's Context 'never' accepts tokens such as 131072, 128K or 1M; it was ignored.",
    )


def test_another_version_is_read_and_said():
    found = link.read("?v=7&context=1M")
    assert found.texts == {"context": "1M"}
    assert found.problems == ("The link is of version 7, which this page does not know; it is read as version 1.",)


def test_a_link_without_a_version_is_the_first():
    assert link.read("?context=1M").problems == ()


def test_what_an_embed_shows_is_kept_apart():
    found = link.read("?model=gpt-oss-120b&show=pool-ratio&fields=context,chunk")
    assert found.other == {"show": "pool-ratio", "fields": "context,chunk"}
    assert found.problems == ()


def test_an_endless_link_is_not_read():
    assert link.read("?context=" + "1" * 30_000).problems == ("The link is too long to read; this is the default state.",)


@given(st.dictionaries(st.text(max_size=20), st.one_of(hostile, st.text(max_size=60)), max_size=6))
@settings(max_examples=100)
def test_any_address_opens(pairs):
    query = "?" + "&".join(f"{quote(key)}={quote(value)}" for key, value in pairs.items())
    found = link.read(query)
    assert State(found.texts).errors == {}


@given(st.text(max_size=200))
@settings(max_examples=100)
def test_any_text_opens(query):
    assert State(link.read(query).texts).errors == {}


FILES = {path.stem: json.loads(path.read_text()) for path in sorted(Path("tests/data/configs").glob("*.json"))}
FILES |= {row["name"]: row["config"] for row in json.loads(Path("tests/data/other_configs.json").read_text()) if "config" in row}


@pytest.mark.parametrize("name", FILES)
def test_a_pasted_config_reopens_without_its_file(name: str):
    reading = config.read(FILES[name], index={"metadata": {"total_size": 1_234_567_890_123}})
    state = State({**pasted.inputs(reading, f"organisation/{name}"), "machine": "mi355x-8", "context": "131071", "batch": "64"})
    assert not state.errors
    query = link.write(state.given())
    assert len(query) < LONGEST
    found = link.read(query)
    assert found.problems == ()
    again = State(found.texts)
    assert again.envelope.scenario.model == state.envelope.scenario.model == reading.model
    assert again.envelope.scenario.split == state.envelope.scenario.split
    assert again.envelope.scenario.values == state.envelope.scenario.values
    assert link.write(again.given()) == query


def test_of_many_names_that_mean_nothing_the_first_are_named():
    names = ",".join(f"n{number}" for number in range(300))
    said = (Reader(f"?{names.replace(',', '=1&')}=1"), Reader(f"?open={names}"), Reader(f"?fields={names}", embedded=True))
    for notices in (reader.region("notices").all("p") for reader in said):
        assert len(notices) == 6
        assert notices[-1].text.startswith("295 more of the link's names mean nothing here either.")
