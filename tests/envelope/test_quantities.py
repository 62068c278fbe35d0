"""Whole states against figures with a source: the printed seed, the publishers' files, the acceptance figures."""

from fractions import Fraction
from json import dumps
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envelope import config, evaluate, groups
from envelope.curves import CHARTS
from envelope.export import to_json
from envelope.quantities import ALL, capacity, model, pools, speed
from tests.envelope.strategies import PRESETS, contexts, models, presets


class TestMuse:
    """Source: the first seed at its defaults: HGX B300 × 8, NVFP4, FP8 cache, 128K, chunk 8,192."""

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("resident_parameters", 822_005_480_576),
            ("active_parameters", 42_777_706_496),
            ("weight_bytes", 532_688_173_312),
            ("bytes_per_step", 54_136_930_304),
            ("cache_bytes_per_token", 32_768),
            ("cache_bytes_per_session", 4_487_905_280),
            ("crossover_decode", 169_072),
            ("crossover_prefill", 338_144),
            ("ceiling_sessions", 302),
            ("pool_ratio", Fraction(5, 64)),
            ("recommended_pool_ratio", Fraction("0.0782")),
            ("sessions", 258),
            ("sessions_default_ratio", 95),
            ("gpus_minimum", 4),
        ],
    )
    def test_exact(self, key, value):
        assert evaluate().value(key) == value

    @pytest.mark.parametrize(
        ("key", "scale", "digits", "value"),
        [
            ("experts_tokens_90", 1, 1, 72.5),
            ("cache_breakeven_seconds", 60, 1, 6.9),
            ("cost_per_million_output", 1, 2, 1.83),
            ("bytes_per_step_bf16_share", 0.01, 0, 75),
            ("sliding_share", 0.01, 1, 18.3),
            ("capacity_tokens_per_second_per_user", 1, 0, 30),
            ("capacity_output_tokens_per_second", 1000, 1, 7.8),
        ],
    )
    def test_at_the_printed_precision(self, key, scale, digits, value):
        assert round(float(evaluate().value(key)) / scale, digits) == value

    def test_at_a_million_tokens(self):
        assert [evaluate(context="1M").value(key) for key in ("ceiling_sessions", "sessions", "sessions_default_ratio")] == [39, 38, 11]

    def test_with_the_default_ratio(self):
        assert evaluate(pool_ratio="0.8").value("sessions") == 95

    def test_with_the_ratio_as_printed_and_one_digit_below(self):
        assert [evaluate(pool_ratio=ratio).value("sessions") for ratio in ("0.0782", "0.0781")] == [258, 257]

    def test_the_public_implementations_class_defaults_differ_by_norms_projectors_and_exact_towers(self):
        """822,036,513,792 - 822,005,480,576: towers 27,977,600 above the rounded ones, norms, and rope gains."""
        norms, other, towers = 2_039_808, 507_904, 2_045_977_600 - 2_018_000_000
        attention = 13_522_944_000 - 13_522_436_096
        assert 822_005_480_576 + norms + other + towers + attention == 822_036_513_792


class TestOthers:
    """Sources: the publishers' config files, counted by the public implementation's own modules."""

    @pytest.mark.parametrize(
        ("preset", "resident", "with_embeddings", "per_token", "file"),
        [
            ("gpt-oss-120b", 116_829_156_672, 5_711_982_912, 36_864, 65_248_815_744),
            ("qwen3-235b", 235_093_634_560, 22_190_763_520, 192_512, 470_187_269_120),
            ("deepseek-v3", 671_026_404_352, 37_552_282_624, 70_272, 688_586_727_753),
            ("llama-3.1-70b", 70_553_706_496, 70_553_706_496, 327_680, 141_107_412_992),
        ],
    )
    def test_counts_caches_and_files(self, preset, resident, with_embeddings, per_token, file):
        found = [evaluate(preset).value(key) for key in ("resident_parameters", "active_with_embeddings", "cache_bytes_per_token", "weight_bytes")]
        assert found == [resident, with_embeddings, per_token, file]

    @pytest.mark.parametrize(
        ("preset", "inputs", "sessions", "ceiling"),
        [
            ("deepseek-v3", {"tp": 8}, 16, 130),
            ("deepseek-v3", {}, 128, 130),
            ("deepseek-v3", {"tp": 8, "cache_format": "fp8"}, 32, 260),
            ("deepseek-v3", {"cache_format": "fp8"}, 256, 260),
            ("qwen3-235b", {"tp": 8}, 28, 56),
            ("qwen3-235b", {"tp": 4, "dp": 2}, 56, 56),
        ],
    )
    def test_sessions_are_per_limiting_rank(self, preset, inputs, sessions, ceiling):
        envelope = evaluate(preset, **inputs)
        assert (envelope.value("sessions"), envelope.value("ceiling_sessions")) == (sessions, ceiling)

    def test_a_stage_whose_layers_read_others_caches_limits_nothing(self):
        """Gemma 4 E2B's layers 18 to 34 keep no cache: (2 × 79.65e9 × 0.9 − 10.2e9) / 2 over 6,144 × 128K + 12,288 × (512 + 8,192)."""
        model = config.read((Path(__file__).parents[1] / "data/configs/google--gemma-4-E2B-it.json").read_text()).model
        envelope = evaluate(model="custom", groups=groups.write(model), machine="hgx-h100", gpus=2, tp=1, pp=2)
        assert envelope.value("cache_bytes_per_token") == 6_144
        assert envelope.value("sessions") == envelope.value("cache_per_gpu") // (6_144 * 131_072 + 12_288 * 8_704) == 78
        assert CHARTS["pool-mix"](envelope).series

    def test_a_stated_cache_answers_what_it_can_and_says_why_not(self):
        envelope = evaluate("deepseek-v4.1-flash", context="1M")
        assert envelope.value("cache_bytes_per_token") == 890
        assert envelope.value("cache_bytes_per_session") == 890 * 2**20
        assert envelope["bytes_per_step"].reason == "DeepSeek V4.1-Flash states no shapes"


    def test_a_stated_cache_with_its_file_size_holds_sessions(self):
        """8 × 262.5e9 × 0.9 - 300e9 = 1.59e12 bytes, over 890 bytes × 2^20 tokens."""
        envelope = evaluate("deepseek-v4.1-flash", context="1M", weight_bytes="300 GB")
        assert envelope.value("sessions") == envelope.value("ceiling_sessions") == 1_590_000_000_000 // (890 * 2**20) == 1703
        assert envelope.value("gpus_minimum") == 2
        assert evaluate("deepseek-v4.1-flash")["sessions"].reason == "DeepSeek V4.1-Flash states no shapes: give weight_bytes"

    @pytest.mark.parametrize(("preset", "tp", "stated"), [("qwen3-235b", 8, 192_512), ("deepseek-v3", 8, 70_272), ("deepseek-v3", 1, 70_272)])
    def test_stating_the_cache_that_the_shapes_give_changes_no_session(self, preset, tp, stated):
        """Ranks copy a stated cache as they copy the layers' own: 28, 16 and 128 sessions."""
        derived, given = (evaluate(preset, tp=tp, **cache) for cache in ({}, {"cache_bytes_per_token": stated}))
        for key in ("sessions", "ceiling_sessions", "gpus_minimum"):
            assert given.value(key) == derived.value(key)


class TestMixes:
    def test_the_longest_session_is_prefilled(self):
        mixed, longest = evaluate(mix="32K:3,1M:1"), evaluate(context="1M")
        for key in ("prefill_seconds_floor", "prefill_attention_share"):
            assert mixed.value(key) == longest.value(key)

    def test_a_mix_of_one_length_is_that_context(self):
        mixed, single = evaluate(mix="32K:1"), evaluate(context="32K")
        keys = [definition.key for module in (model, capacity, pools, speed) for definition in module.DEFINITIONS]
        assert [mixed.value(key) for key in keys] == [single.value(key) for key in keys]


class TestStages:
    def test_a_first_stage_without_a_pool_of_its_own_hides_no_ratio(self):
        """Layer 0 of 62 slides and layer 1 does not: with 31 stages of two layers every rank has both, with 62 none."""
        assert evaluate(gpus=31, pp=31, tp=1).value("best_pool_ratio") == Fraction(5, 64)
        assert evaluate(gpus=62, pp=62, tp=1)["best_pool_ratio"].reason == "each pipeline stage keeps one span, so no rank has two pools and there is no ratio"


class TestDoesNotFit:
    def test_what_still_means_something_stays(self):
        envelope = evaluate(gpus=1)
        assert envelope.value("resident_parameters") == 822_005_480_576
        assert envelope.value("gpus_minimum") == 4
        assert envelope["sessions"].value is None
        assert envelope["sessions"].reason == "the weights, 533 GB, exceed the 236 GB that 1 GPU may use"

    def test_weights_that_fit_without_a_session_give_zero(self):
        envelope = evaluate("llama-3.1-70b", gpus=1, context="1M")
        assert envelope.value("sessions") == 0
        assert envelope["capacity_output_tokens_per_second"].reason == "no session of this length fits"


class TestZeroExperts:
    def test_identities_share_the_choice_and_hold_nothing(self):
        """12 of 512 + 256 chosen by one token: 12 × 512/768 = 8 real experts, at the most all 512."""
        layers = "h64.v64~2x_full.q4.kv4.k16.v16_moe.e512.k12.w32.zero256"
        assert evaluate("custom", groups=layers).value("experts_touched") == pytest.approx(8, rel=1e-12)
        assert evaluate("custom", groups=layers, batch=10**6).value("experts_touched") == pytest.approx(512, rel=1e-12)


class TestPrefill:
    def test_a_prompt_shorter_than_the_window_pays_for_the_tokens_before_it(self):
        """One token attends to half a position: 62 layers × 2 × 128 × 128 / 2 FLOP beside 2 × 42,777,706,496."""
        envelope = evaluate(context=1)
        matrices = 2 * 42_777_706_496
        attention = 62 * 2 * 128 * 128 / 2
        share = (16 / 62) * attention / (matrices + attention)
        assert float(envelope.value("prefill_attention_share")) == pytest.approx(share, rel=1e-12)

    def test_given_active_parameters_scale_the_matrices(self):
        mine, twice = (evaluate("llama-3.1-70b", context=1, active_parameters=n).value("prefill_seconds_floor") for n in (10**12, 2 * 10**12))
        assert twice == pytest.approx(2 * mine, rel=1e-4)


class TestWanted:
    def test_the_smallest_machine_count_its_rent_and_what_binds(self):
        """258 sessions fit a node at $6.77 × 8 an hour, so 1,000 take four nodes."""
        envelope = evaluate(sessions_wanted=1000)
        found = [envelope.value(key) for key in ("machines_wanted", "gpus_for_wanted", "wanted_binds", "wanted_usd_per_hour")]
        assert found == [4, 32, "memory", Fraction("216.64")]

    def test_speed_allows_fewer_sessions_than_memory(self):
        """At most 30.4 tok/s each with all 258; twice that takes a smaller batch."""
        envelope = evaluate(sessions_wanted=258, speed_wanted=60)
        assert envelope.value("wanted_binds") == "bandwidth"
        assert envelope.value("machines_wanted") > 1
        batch = envelope.value("sessions_at_speed")
        assert evaluate(batch=batch).value("tokens_per_second_per_user") >= 60
        assert evaluate(batch=batch + 1).value("tokens_per_second_per_user") < 60

    def test_a_speed_no_batch_reaches_is_said(self):
        assert evaluate(speed_wanted=5000)["machines_wanted"].reason.startswith("one session alone reaches at most 873 tok/s on 8 GPUs")

    def test_nothing_wanted_is_said(self):
        assert evaluate()["gpus_for_wanted"].reason == "no sessions or speed are asked for"


class TestTiers:
    def test_a_derived_value_takes_the_lowest_tier_it_rests_on(self):
        envelope = evaluate()
        assert envelope["resident_parameters"].tier == "M"
        assert envelope["pool_bytes"].tier == "B"
        assert envelope["cost_per_million_output"].tier == "C"

    def test_a_stated_value_no_longer_lowers_it(self):
        assert evaluate(hbm="262.5 GB").evaluation.quantity("pool_bytes").tier in ("M", "B")
        assert evaluate(bandwidth_share="0.8", bandwidth="8 TB/s", hbm="262.5GB", gpus=8)["step_seconds"].tier == "M"


@pytest.mark.parametrize("preset", PRESETS)
def test_every_quantity_has_a_value_or_a_reason_and_its_working(preset):
    for quantity in evaluate(preset):
        assert (quantity.value is None) == bool(quantity.reason), quantity.key
        assert quantity.value is None or isinstance(quantity.working, str)


def test_definitions_say_what_they_are():
    for definition in ALL:
        assert definition.label and definition.unit and definition.formula and definition.source, definition.key


class TestAnyModel:
    def test_layers_without_weights_have_no_shares(self):
        envelope = evaluate("custom", groups="h8.v8~1x_none_none")
        for key in ("active_attention_share", "prefill_attention_share"):
            assert envelope[key].reason == "no layer multiplies a token by anything"

    def test_compressed_layers_beside_others_are_not_laid_out(self):
        envelope = evaluate("custom", groups="h64.v64~1x_csa.q4.d64.by4.win8.qr8.or8.og1_none~1x_full.q4.kv4.k16_none", engine="sglang")
        assert "compressed attention is laid out" in envelope["kv_memory_per_rank"].reason

    @settings(max_examples=60)
    @given(models(), st.sampled_from(["vllm", "sglang", "sglang-unified", "plain"]), contexts)
    def test_every_quantity_has_a_value_or_a_reason(self, model, engine, context):
        envelope = evaluate("custom", groups=groups.write(model), engine=engine, context=context)
        for quantity in envelope:
            assert (quantity.value is None) == bool(quantity.reason), quantity.key
        assert all(finding.text for finding in envelope.findings)
        assert dumps(to_json(envelope), allow_nan=False)


class TestProperties:
    @settings(max_examples=40)
    @given(presets, contexts, contexts)
    def test_sessions_never_rise_with_context(self, preset, one, other):
        short, long = sorted((one, other))
        fewer, more = (evaluate(preset, context=context).value("sessions") for context in (long, short))
        assert fewer <= more

    @settings(max_examples=40)
    @given(presets, contexts)
    def test_no_layout_beats_the_ceiling(self, preset, context):
        envelope = evaluate(preset, context=context)
        assert envelope.value("sessions") <= envelope.value("ceiling_sessions")

    @settings(max_examples=40)
    @given(presets, st.integers(1, 512), st.integers(1, 512))
    def test_a_bigger_batch_reads_more_per_step_and_less_per_token(self, preset, one, other):
        small, large = (evaluate(preset, batch=batch) for batch in sorted((one, other)))
        assert small.value("bytes_per_step") <= large.value("bytes_per_step") * (1 + 1e-12)
        assert small.value("bytes_per_output_token") * (1 + 1e-12) >= large.value("bytes_per_output_token")

    @settings(max_examples=30)
    @given(presets, st.sampled_from(["8", "16"]))
    def test_more_gpus_never_hold_fewer_sessions_than_the_smallest_that_fits(self, preset, gpus):
        assert evaluate(preset, gpus=gpus).value("sessions") >= (1 if int(gpus) >= evaluate(preset).value("gpus_minimum") else 0)


def test_small_shares_are_written_out_in_the_workings():
    """All but a millionth of the memory, and the slowest step that can be asked for."""
    quantities = evaluate(memory_fraction="0.999999", bandwidth_share="0.01", pool_ratio="0.000001")
    assert quantities["kept_back_per_gpu"].working == "262.5 GB × 0.000001"
    assert not any("e-0" in quantity.working or "e+" in quantity.working for quantity in quantities)
