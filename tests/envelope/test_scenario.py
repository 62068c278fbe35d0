"""Inputs: read, defaulted, checked together, written back."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envelope import InputError, evaluate, resolve
from envelope.fields.base import Default, Known
from envelope.scenario import BY_KEY, FIELDS, attempt
from tests.envelope.strategies import PRESETS, presets


class TestDefaults:
    def test_are_the_houses(self):
        scenario = resolve({})
        shown = {key: scenario.text(key) for key in ("model", "machine", "context", "chunk", "pool_ratio", "cache_format", "engine")}
        assert shown == {
            "model": "muse-spark-open", "machine": "hgx-b300", "context": "128K", "chunk": "8K",
            "pool_ratio": "best", "cache_format": "fp8", "engine": "sglang",
        }  # fmt: skip
        assert scenario["memory_fraction"] == Fraction(9, 10)
        assert scenario["hbm"] == 262_500_000_000
        assert scenario["bandwidth"] == 8_000_000_000_000

    def test_latent_attention_defaults_to_dp_attention(self):
        layout = resolve({"model": "deepseek-v3"}).layout
        assert (layout.tp, layout.dp, layout.ep) == (1, 8, 8)

    def test_the_missing_dp_is_what_the_gpus_leave(self):
        assert resolve({"model": "qwen3-235b", "tp": "4"}).layout.dp == 2
        assert resolve({"model": "deepseek-v3", "dp": "2"}).layout.tp == 4

    def test_what_nobody_stated_is_marked(self):
        assert {one.key for one in resolve({}).assumed} >= {"memory_fraction", "bandwidth_share"}
        assert "memory_fraction" not in {one.key for one in resolve({"memory_fraction": "0.9"}).assumed}

    def test_a_machine_without_a_node_is_one_card(self):
        assert resolve({"machine": "rtx-4090", "model": "llama-3.1-70b"})["gpus"] == 1


class TestChecks:
    @pytest.mark.parametrize(
        ("given", "key"),
        [
            ({"context": "0"}, "context"),
            ({"context": "soon"}, "context"),
            ({"experts": "8", "top_k": "9"}, "top_k"),
            ({"global_layers": "70"}, "global_layers"),
            ({"layers": "10"}, "layers"),
            ({"q_heads": "6", "kv_heads": "4"}, "kv_heads"),
            ({"tp": "3"}, "tp"),
            ({"gpus": "8", "tp": "4", "dp": "4"}, "tp"),
            ({"ep": "3"}, "ep"),
            ({"pp": "64", "gpus": "64"}, "pp"),
            ({"machine": "abacus"}, "machine"),
            ({"model": "gpt-5"}, "model"),
            ({"model": "custom"}, "model"),
            ({"groups": "h1"}, "groups"),
            ({"split": "bf16~x"}, "split"),
            ({"pool_ratio": "0"}, "pool_ratio"),
            ({"pool_ratio": "auto"}, "pool_ratio"),
            ({"memory_fraction": "1.2"}, "memory_fraction"),
            ({"headroom": "0.1", "pool_ratio": "0.5"}, "headroom"),
            ({"mix": "32K:0"}, "mix"),
            ({"mix": "32K:1:1"}, "mix"),
            ({"contxt": "1"}, "contxt"),
            ({"model": "llama-3.1-70b", "top_k": "4"}, "top_k"),
            ({"model": "deepseek-v3", "kv_heads": "8"}, "kv_heads"),
            ({"model": "deepseek-v4.1-flash", "layers": "8"}, "layers"),
            ({"context": "1" * 50}, "context"),
            ({"context": ""}, "context"),
        ],
    )
    def test_are_refused_at_the_field(self, given, key):
        with pytest.raises(InputError) as caught:
            resolve(given)
        assert caught.value.key == key

    def test_every_broken_field_is_reported(self):
        scenario, errors = attempt({"context": "x", "batch": "y", "hbm": "z"})
        assert scenario is None
        assert {error.key for error in errors} == {"context", "batch", "hbm"}

    def test_a_slip_in_a_key_is_answered_with_the_near_one(self):
        with pytest.raises(InputError, match="did you mean context"):
            resolve({"contxt": "1"})

    def test_unambiguous_shapes_point_to_groups_elsewhere(self):
        with pytest.raises(InputError, match="groups"):
            resolve({"model": "deepseek-v3", "head_dim": "64"})

    @pytest.mark.parametrize("value", [10**50, float("inf"), float("nan"), True, -1, 0.5])
    def test_python_values_out_of_range_are_refused(self, value):
        with pytest.raises(InputError):
            resolve({"context": value})


class TestShapes:
    def test_changed_together_whatever_their_order(self):
        one = resolve({"q_heads": "8", "kv_heads": "8", "experts": "8", "top_k": "2", "layers": "100", "global_layers": "80"})
        assert (one["layers"], one["global_layers"], one["q_heads"], one["top_k"]) == (100, 80, 8, 2)

    @pytest.mark.parametrize("key", ["layers", "window", "hidden", "head_dim", "vocabulary", "experts", "top_k"])
    def test_a_shape_that_cannot_be_is_named_itself(self, key):
        _, errors = attempt({key: "0"})
        assert [error.key for error in errors] == [key]

    def test_a_matrix_too_large_is_named_by_the_field_typed(self):
        _, errors = attempt({"experts": "100000000"})
        assert errors[0].key == "experts"

    def test_control_characters_are_refused(self):
        for name in ("a\x1b[31mb", "\udcff"):
            _, errors = attempt({"model": "custom", "groups": "h8.v8~1x_none_none", "name": name})
            assert [error.key for error in errors] == ["name"]

    def test_a_changed_shape_no_longer_has_the_published_size(self):
        assert evaluate("llama-3.1-70b").value("weight_bytes") == 141_107_412_992
        assert evaluate("llama-3.1-70b", layers=81).value("weight_bytes") == 141_107_412_992 + 2 * 855_654_400

    def test_the_canonical_text_alone_gives_the_same_model(self):
        text = resolve({}).values
        from envelope.groups import write

        model = resolve({}).model
        again = resolve({"model": "custom", "groups": write(model)})
        assert again.model == model
        assert text["layers"] == again["layers"]


@st.composite
def inputs(draw: st.DrawFn) -> dict[str, str]:
    """A preset with some numeric fields set within their bounds."""
    given = {"model": draw(presets)}
    given["context"] = draw(st.sampled_from(["1", "8K", "32768", "128K", "1M", "77777"]))
    optional = {
        "batch": st.integers(1, 4096).map(str),
        "memory_fraction": st.integers(50, 99).map(lambda n: f"{n}%"),
        "hbm": st.integers(10, 400).map(lambda n: f"{n}.25 GB"),
        "gpus": st.sampled_from(["1", "2", "4", "8", "16"]),
        "cache_format": st.sampled_from(["fp8", "bf16", "nvfp4"]),
        "gpu_hour": st.decimals(0, 20, places=2).map(str),
        "mix": st.sampled_from(["32K:1,128K:1", "8K:3"]),
        "chunk": st.sampled_from(["2K", "8192", "16K"]),
    }
    for key, values in optional.items():
        if draw(st.booleans()):
            given[key] = draw(values)
    return given


class TestRoundTrip:
    @settings(max_examples=60)
    @given(inputs())
    def test_texts_written_back_resolve_to_the_same_values(self, given):
        scenario = resolve(given)
        assert resolve(dict(scenario.given)).values == scenario.values

    @settings(max_examples=30)
    @given(inputs())
    def test_stating_every_default_changes_nothing(self, given):
        scenario = resolve(given)
        whole = {field.key: scenario.text(field.key) for field in FIELDS if scenario.text(field.key)}
        assert resolve(whole).values == scenario.values

    @settings(max_examples=60)
    @given(st.dictionaries(st.sampled_from(sorted(BY_KEY)), st.text(max_size=12), max_size=4))
    def test_no_text_raises_anything_but_an_input_error(self, given):
        scenario, errors = attempt(given)
        assert (scenario is None) == bool(errors)

    @pytest.mark.parametrize("preset", PRESETS)
    def test_with_takes_changes_back(self, preset):
        scenario = resolve({"model": preset})
        assert scenario.with_(batch="7").with_(batch=None).values == scenario.values


@pytest.mark.parametrize("inputs", [{}, {"engine": "vllm", "mtp_layers": "1"}, {"model": "deepseek-v3", "dp": "2", "usable_per_rank": "120GB"}])
def test_a_default_hangs_only_on_inputs_before_it(inputs):
    """Those that hang on nothing stand from the start, so reading one too early would go unseen."""
    scenario = evaluate(**inputs).scenario
    for place, field in enumerate(FIELDS):
        if isinstance(field.default, Default):
            continue
        before = {one.key: scenario[one.key] for one in FIELDS[:place]}
        known = Known(
            scenario.preset, scenario.model, scenario.model_edited, scenario.machine, scenario.split, before, {}, frozenset(scenario.given)
        )
        assert field.default(known).value == scenario.defaults[field.key].value
