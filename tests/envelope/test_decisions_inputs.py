"""The inputs of the decisions: how they are typed, where they apply, and which are refused together."""

from fractions import Fraction

import pytest

from envelope import InputError, evaluate, resolve
from envelope.fields.decisions import FIELDS
from envelope.scenario import BY_KEY

# Source: the keys the project promises; `prefix_caching` and `state_reserve` were added.
PROMISED = set(
    "split published_total draft_weight_bytes draft_cache_bytes_per_token verify_ms draft_ms other_ms step_ms reference_score score "
    "harness reference_harness turns first_turn new_tokens output_tokens think_s total_tokens_per_gpu_s sessions_load user_tokens_s "
    "arrival_per_s residence_s usable_per_rank graph_bytes reserve_bytes prompt_reserve output_reserve host_memory host_cache_per_rank "
    "host_link".split()
)


def test_every_promised_key_is_an_input():
    assert PROMISED <= BY_KEY.keys()
    assert {field.key for field in FIELDS} == PROMISED - {"split"} | {"prefix_caching", "state_reserve"}


class TestTyped:
    @pytest.mark.parametrize(
        ("key", "text", "value"),
        [
            ("verify_ms", "42", 42),
            ("verify_ms", "42 ms", 42),
            ("verify_ms", "0.042 s", 42),
            ("step_ms", "500 us", Fraction(1, 2)),
            ("score", "97.8%", Fraction("97.8")),
            ("score", "97.8", Fraction("97.8")),
            ("residence_s", "5 min", 300),
            ("first_turn", "72K", 73_728),
            ("host_link", "64 GB/s", 64 * 10**9),
            ("usable_per_rank", "80 GiB", 80 * 2**30),
            ("arrival_per_s", "1.4", Fraction(7, 5)),
            ("published_total", "822B", 822 * 10**9),
            ("harness", "  AMD vLLM ", "AMD vLLM"),
        ],
    )
    def test_is_read_in_its_unit(self, key, text, value):
        assert resolve({key: text})[key] == value

    @pytest.mark.parametrize("field", FIELDS, ids=[field.key for field in FIELDS])
    def test_what_is_written_reads_back(self, field):
        """Every default, and for those that have none a value in bounds."""
        given = {"verify_ms": 42, "usable_per_rank": "200GB", "host_cache_per_rank": "1GB"}
        scenario = resolve(given)
        value = scenario[field.key]
        if value is None:
            value = "a name" if field.bounds is None else max(1, int(field.bounds[0]))
        again = resolve({**given, field.key: value})
        assert resolve({**given, field.key: again.text(field.key)})[field.key] == again[field.key]

    @pytest.mark.parametrize(
        ("key", "text"),
        [("score", "101"), ("harness", "x" * 61), ("verify_ms", "fast"), ("turns", "0"), ("prefix_caching", "maybe"), ("prompt_reserve", "0"), ("user_tokens_s", "0")],
    )  # fmt: skip
    def test_what_cannot_be_is_refused_by_name(self, key, text):
        with pytest.raises(InputError) as refused:
            resolve({key: text})
        assert refused.value.key == key


class TestDefaults:
    def test_the_workload_is_the_published_replay(self):
        """Source: the first seed: 13 turns, 74,160 tokens, then 753 and 220; 80.3K per GPU, 128 sessions, 61 tokens/s."""
        scenario = resolve({})
        keys = ("turns", "first_turn", "new_tokens", "output_tokens", "total_tokens_per_gpu_s", "sessions_load", "user_tokens_s")
        assert [scenario[key] for key in keys] == [13, 74_160, 753, 220, 80_300, 128, 61]
        assert scenario.tier("turns") == "B" and "OpenHands" in scenario.defaults["turns"].source

    def test_the_reference_is_named_with_its_harness(self):
        scenario = resolve({})
        assert (scenario["reference_score"], scenario["reference_harness"]) == (Fraction("97.8"), "SGLang launch post")
        assert resolve({"model": "qwen3-235b"})["reference_score"] is None

    def test_a_request_reserves_the_context(self):
        scenario = resolve({"context": "8K"})
        assert scenario["prompt_reserve"] + scenario["output_reserve"] == 8192
        assert resolve({"mix": "8K:3,32K:1"})["prompt_reserve"] == 32_768 - 220
        assert resolve({"context": 1})["prompt_reserve"] == 1

    def test_what_nobody_measured_is_marked(self):
        def assumed(**given):
            return {one.key for one in resolve(given).assumed}

        assert "think_s" in assumed()
        assert {"draft_ms", "other_ms"} <= assumed(verify_ms=42)
        assert not {"draft_ms", "other_ms", "graph_bytes"} & assumed()
        assert {"graph_bytes", "reserve_bytes"} <= assumed(usable_per_rank="200GB")


class TestApplies:
    @pytest.mark.parametrize(
        ("key", "where", "nowhere"),
        [
            ("draft_ms", {"verify_ms": 42}, {}),
            ("host_memory", {"host_cache_per_rank": "1GB"}, {}),
            ("host_link", {}, {"machine": "dgx-spark"}),
            ("think_s", {}, {"model": "qwen3-235b"}),
            ("sessions_load", {"model": "qwen3-235b", "total_tokens_per_gpu_s": 100}, {"model": "qwen3-235b"}),
            ("published_total", {}, {"model": "deepseek-v4.1-flash"}),
        ],
    )
    def test_only_where_it_means_something(self, key, where, nowhere):
        assert resolve(where).applies(key)
        assert not resolve(nowhere).applies(key)


class TestTogether:
    @pytest.mark.parametrize(
        ("given", "key", "sum"),
        [
            ({"think_s": 12.4}, "think_s", "decoding 3.61 s + thinking 12.4 s = 16.0 s"),
            ({"user_tokens_s": 13}, "user_tokens_s", "decoding 16.9 s"),
            ({"sessions_load": 16}, "sessions_load", "leave 2.00 s a turn"),
            ({"usable_per_rank": "80GiB", "graph_bytes": "50GiB", "reserve_bytes": "30GiB"}, "graph_bytes", "50 GiB + 30 GiB = 80 GiB"),
            ({"acceptance": "9.5"}, "acceptance", "at most 9 tokens"),
        ],
    )
    def test_totals_that_do_not_add_up_are_refused_with_the_sum(self, given, key, sum):
        with pytest.raises(InputError) as refused:
            resolve(given)
        assert refused.value.key == key
        assert sum in refused.value.message

    @pytest.mark.parametrize("given", [{"think_s": "12.37"}, {"user_tokens_s": 14}, {"sessions_load": 29}, {"acceptance": 9}, {"gpus": 72}])
    def test_their_neighbours_are_not(self, given):
        assert evaluate(**given).value("cost_hit_share") == evaluate().value("cost_hit_share")
