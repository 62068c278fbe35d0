"""Any mutation of a real config gives a model, a marked assumption or a refusal, never anything else."""

import copy
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envelope import config, groups, parameters

CONFIGS = {path.stem: json.loads(path.read_text()) for path in sorted(Path("tests/data/configs").glob("*.json"))}
OTHERS = {row["name"]: row["config"] for row in json.loads(Path("tests/data/other_configs.json").read_text())}
WRONG = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(), st.text(max_size=20),
    st.lists(st.integers(-3, 10**6), max_size=80), st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
    st.sampled_from([0, -1, 10**30, "8", "128K", [], {}, [[[]]], "llama", 1.5]),
)  # fmt: skip


def places(values, path=()):
    """Every key of a config, nested ones too."""
    for key, value in values.items():
        yield (*path, key)
        if isinstance(value, dict):
            yield from places(value, (*path, key))


@st.composite
def mutations(draw):
    values = copy.deepcopy(CONFIGS[draw(st.sampled_from(sorted(CONFIGS)))])
    for _ in range(draw(st.integers(1, 3))):
        *parents, key = draw(st.sampled_from(sorted(places(values))))
        owner = values
        for parent in parents:
            owner = owner[parent]
        how = draw(st.sampled_from(["drop", "null", "negate", "other", "rename"]))
        if how == "drop":
            del owner[key]
        elif how == "rename":
            owner[f"{key}_{draw(st.sampled_from(['x', 'rank', 'size', 'v2']))}"] = owner.pop(key)
        elif how == "negate" and isinstance(owner[key], int | float):
            owner[key] = -owner[key]
        else:
            owner[key] = None if how == "null" else draw(WRONG)
        if not values:
            break
    return values


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(mutations())
def test_a_model_or_a_refusal(values):
    try:
        found = config.read(values)
    except config.Refused as refused:
        assert str(refused)
        return
    assert parameters.resident(found.model) > 0
    assert groups.read(groups.write(found.model)) == found.model


READINGS = {name: config.read(values) for name, values in (CONFIGS | OTHERS).items()}


@st.composite
def slips(draw):
    """(name, config with one key dropped, nulled, negated, enlarged, renamed or of another type)."""
    name = draw(st.sampled_from(sorted(READINGS)))
    values = copy.deepcopy((CONFIGS | OTHERS)[name])
    # What files say about storage changes no shape.
    *parents, key = draw(st.sampled_from(sorted(place for place in places(values) if "quantization_config" not in place)))
    owner = values
    for parent in parents:
        owner = owner[parent]
    how = draw(st.sampled_from(["drop", "null", "negate", "text", "list", "huge", "rename", "fraction"]))
    stated = owner[key]
    number = isinstance(stated, int | float) and not isinstance(stated, bool)
    if how == "drop":
        del owner[key]
    elif how == "rename":
        owner[f"{key}_x"] = owner.pop(key)
    elif how in ("negate", "fraction"):
        owner[key] = (-stated if how == "negate" else stated + 0.5) if number and stated else None
    else:
        owner[key] = {"null": None, "text": str(stated) + "x", "list": [stated], "huge": 10**30}[how]
    return name, key, values


@settings(max_examples=500, suppress_health_check=[HealthCheck.too_slow])
@given(slips())
def test_never_another_model_without_a_word(slip):
    """One slip gives the same model, or something newly assumed, listed or remarked, or a refusal."""
    name, key, values = slip
    try:
        found = config.read(values)
    except config.Refused:
        return
    before = READINGS[name]
    said = any(set(getattr(found, words)) - set(getattr(before, words)) for words in ("assumed", "ignored", "notes"))
    assert found.model == before.model or said, key


def test_prediction_layers_that_are_not_described_are_remarked():
    values = copy.deepcopy((CONFIGS | OTHERS)["nvidia--NVIDIA-Nemotron-3-Super-120B-A12B-FP8"])
    del values["mtp_hybrid_override_pattern"]
    assert "The file declares 1 prediction layer (MTP) whose weights are not described: left out." in config.read(values).notes


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "7", '"x"', "{", "{}", "[" * 5000 + "]" * 5000, '{"a":' * 5000 + "1" + "}" * 5000, '{"hidden_size": NaN}', '{"hidden_size": 1e999}', "\x00", "{" + '"a":1,' * 100_000 + '"b":2}'],
    ids=lambda text: text[:12] or "empty",
)
def test_text_that_is_no_config_is_refused(text):
    with pytest.raises(config.Refused):
        config.read(text)


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_a_name_never_heard_of_is_marked_or_refused(name):
    """A renamed family is read by its keys, and then says so, or is refused: it never passes for one that is known."""
    values = copy.deepcopy(CONFIGS[name])
    for owner in (values, *(inner for inner in values.values() if isinstance(inner, dict))):
        if "model_type" in owner:
            owner["model_type"] = "unheard_of"
    values.pop("architectures", None)
    try:
        found = config.read(values)
    except config.Refused:
        return
    assert "model_type" in {one.key for one in found.assumed}


@pytest.mark.parametrize("key", ["kv_compression_rank", "attn_type_list_v2", "num_memory_heads", "retention_heads"])
def test_an_unknown_structure_is_named(key):
    with pytest.raises(config.Refused, match=key):
        config.read({**CONFIGS["meta-llama--Llama-3.1-8B-Instruct"], key: 64})
