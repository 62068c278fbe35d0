"""The mistakes and doubts of the first seed, and the sections' own rules: each speaks on its case and not on its neighbour."""

import pytest

from envelope import evaluate
from envelope.rules import decisions, doubts

LAYERS = "h4096.v131072~40x_full.q32.kv8.k128_moe.e64.k4.w8192.m2"
CYCLE = {"draft_ms": 8, "verify_ms": 42, "other_ms": 5, "step_ms": 30}
HARNESS = "SGLang launch post"

# rule, a state where it speaks, a neighbour where it is silent
CASES = [
    # mistakes
    ("every_layer_counted", {"cache_bytes_per_token": 126_976}, {"cache_bytes_per_token": 32_768}),
    ("every_layer_global", {"global_layers": 62}, {"global_layers": 16}),
    ("moe_is_not_dense", {"batch": 32}, {"model": "llama-3.1-70b", "batch": 32}),
    ("verify_reads_more", {"batch": 32, "acceptance": 4}, {"batch": 64, "acceptance": 4}),
    ("mixed_parts", {"bandwidth": "4.8TB/s"}, {"bandwidth": "7.75TB/s"}),
    ("mixed_parts", {"machine": "hgx-h100", "hbm": "141GB"}, {"machine": "hgx-h200", "hbm": "141GB"}),
    ("total_is_not_output", {"total_tokens_per_gpu_s": 80_300}, {"total_tokens_per_gpu_s": 1000, "turns": 1, "first_turn": 100}),
    ("assumed_acceptance", {"acceptance": "4.5"}, {"acceptance": "4.5", "acceptance_is": "measured"}),
    ("prefix_caching_off", {"prefix_caching": "off"}, {"prefix_caching": "off", "turns": 1}),
    ("across_harnesses", {"score": "95", "harness": "AMD vLLM"}, {"score": "95", "harness": HARNESS}),
    ("score_below", {"score": "96.7", "harness": HARNESS}, {"score": "96.8", "harness": HARNESS}),
    ("count_unchecked", {"model": "custom", "groups": LAYERS}, {"model": "custom", "groups": LAYERS, "published_total": "175B"}),
    ("count_does_not_land", {"published_total": "840B"}, {"published_total": "816B"}),
    # doubts
    ("routing_is_not_uniform", {"batch": 32}, {"batch": 1}),
    ("pool_holds_more", {"acceptance": 4, "verify_tokens": 32}, {"acceptance": 4, "verify_tokens": 32, "headroom": "10%"}),
    ("little_kept_back", {"memory_fraction": "0.95"}, {"memory_fraction": "0.9"}),
    ("exchange_below_peak", {"batch": 256}, {"batch": 16_384}),
    ("turn_is_steady_state", {"sessions_load": 128}, {"sessions_load": 128, "think_s": 0}),
    ("rental_moves", {"gpu_hour": "6.77"}, {"machine": "mac-studio-m5-ultra", "gpus": 2, "gpu_hour": "6.77"}),
    ("list_is_a_ceiling", {"input_price": "1.25"}, {"input_price": "0.05", "cached_price": 0, "output_price": 0}),
    # sections
    ("drafter_at_many_requests", {"batch": 65, "acceptance": 4}, {"batch": 64, "acceptance": 4}),
    ("drafter_at_many_requests", {"batch": 65, "acceptance": 4}, {"batch": 65, "acceptance": 4, **CYCLE}),
    ("drafter_slows", {**CYCLE, "acceptance": "1.5"}, {**CYCLE, "acceptance": "3.2"}),
    ("drafter_takes_sessions", {"draft_weight_bytes": "20GB"}, {"draft_weight_bytes": "1MB"}),
    ("host_memory_exceeded", {"host_cache_per_rank": "300GB"}, {"host_cache_per_rank": "100GB"}),
    ("costs_more_than_list", {"context": 313_148}, {"context": 313_147}),
    ("margin_negative", {"gpu_hour": 72}, {"gpu_hour": 71}),
    ("conversation_outgrows_context", {"turns": 60}, {"turns": 59}),
    ("cache_expires_before_return", {"think_s": "7 min", "sessions_load": 4000}, {"think_s": "6.8 min", "sessions_load": 4000}),
    ("budget_overrun", {"usable_per_rank": "60GiB"}, {"usable_per_rank": "70GiB"}),
    ("demand_exceeds_cap", {"arrival_per_s": 253, "residence_s": 1}, {"arrival_per_s": 252, "residence_s": 1}),
    ("expert_parallelism_off", {"ep": 8, "batch": 31}, {"ep": 8, "batch": 32}),
    ("expert_parallelism_off", {"ep": 1, "batch": 32}, {"ep": 1, "batch": 31}),
    ("expert_parallelism_off", {"ep": 8, "batch": 3}, {"ep": 8, "batch": 4, "acceptance": 4}),
    ("format_saves_memory_only", {"machine": "hgx-h200"}, {"machine": "hgx-h200", "weight_format": "bf16"}),
]
IDS = [f"{case[0]}-{index}" for index, case in enumerate(CASES)]


def found(inputs):
    return {finding.key: finding for finding in evaluate(**inputs).findings}


@pytest.mark.parametrize(("key", "speaks", "silent"), CASES, ids=IDS)
def test_fires_on_its_case_with_its_number_and_not_on_its_neighbour(key, speaks, silent):
    finding = found(speaks)[key]
    assert any(character.isdigit() for character in finding.text)
    assert finding.text.endswith(".")
    assert key not in found(silent)


@pytest.mark.parametrize(("key", "speaks", "silent"), CASES, ids=IDS)
def test_what_it_would_set_silences_it(key, speaks, silent):
    envelope = evaluate(**speaks)
    change = found(speaks)[key].set
    if change:
        assert key not in {finding.key for finding in evaluate(envelope.scenario.with_(**change)).findings}
    else:
        assert change == {}


def test_every_rule_has_a_case():
    covered = {case[0] for case in CASES}
    assert covered >= {rule.__name__ for rule in decisions.RULES + doubts.RULES}


@pytest.mark.parametrize("model", ["muse-spark-open", "gpt-oss-120b", "qwen3-235b", "deepseek-v3", "llama-3.1-70b", "deepseek-v4.1-flash"])
def test_an_untouched_preset_hears_of_no_mistake_or_doubt(model):
    """Only that its context costs more than it sells for, where that is so."""
    mine = {rule.__name__ for rule in decisions.RULES + doubts.RULES}
    spoken = {finding.key for finding in evaluate(model).findings}
    assert spoken & mine <= {"costs_more_than_list"}
    assert ("costs_more_than_list" in spoken) == (model in {"gpt-oss-120b", "qwen3-235b", "deepseek-v3", "llama-3.1-70b"})


class TestSentences:
    """The numbers the seeds print, in the rules' own words."""

    def say(self, key, **inputs):
        return found(inputs)[key].text

    def test_multiplying_by_every_layer(self):
        """62 of 16 layers is 3.875 times the growing cache."""
        words = self.say("every_layer_counted", cache_bytes_per_token=126_976)
        assert words == "126,976 bytes per token counts all 62 layers; those that keep the whole context take 32,768: 3.88 times less."

    def test_a_total_is_not_output(self):
        words = self.say("total_is_not_output", total_tokens_per_gpu_s=80_300)
        assert words == "80,300 total tokens/s per GPU is 220 of output, 0.27%. A turn takes 16.0 s, of which decoding takes 3.6."

    def test_an_assumed_acceptance_is_set_beside_the_measured_one(self):
        assert "4.16 were measured on real coding agent traces" in self.say("assumed_acceptance", acceptance="4.5")
        assert "run from 2.01 to 4.16" in self.say("assumed_acceptance", model="qwen3-235b", acceptance=3)

    def test_speculation_on_experts(self):
        assert self.say("verify_reads_more", batch=4, acceptance=4).startswith("Verifying 8 tokens reads 5.3 times the expert bytes")

    def test_prefix_caching_off(self):
        assert "prefills 12.5 times as many tokens" in self.say("prefix_caching_off", prefix_caching="off")

    def test_a_slow_cycle(self):
        words = self.say("drafter_slows", **CYCLE, acceptance="1.5")
        assert words == "The drafter slows decoding: 36.67 ms per token against 30 without. 1.83 tokens per cycle break even, 1.5 advance."

    def test_the_budget_names_its_sum(self):
        words = self.say("budget_overrun", usable_per_rank="80GiB", graph_bytes="12GiB", reserve_bytes="4GiB")
        assert words == "No request is admitted: weights 65.51 GiB + graphs and communication 12 GiB + reserve 4 GiB = 81.51 GiB leave nothing of the usable 80 GiB per rank."

    def test_uniform_routing_is_called_an_upper_bound(self):
        """Source: the first seed: 54 GB at one token; the coverage curve gives 349 GB at 32."""
        words = self.say("routing_is_not_uniform", batch=32)
        assert "349 GB a step at batch 32 is an upper bound" in words and "54.1 GB" in words

    def test_a_drafter_that_fails_the_wanted_sessions_is_a_warning(self):
        finding = found({"draft_weight_bytes": "20GB", "sessions_wanted": 255})["drafter_takes_sessions"]
        assert (finding.severity, finding.text) == ("warning", "The drafter's weights and cache leave 254 of 258 sessions, fewer than the 255 wanted.")


def _speaks(key, inputs):
    return next(finding for finding in evaluate(**inputs).findings if finding.key == key)


def test_a_mix_is_not_answered_with_a_context():
    long = {"turns": 50, "first_turn": "100K", "new_tokens": "20K"}
    assert _speaks("conversation_outgrows_context", long).set == {"context": "1116920"}
    assert _speaks("conversation_outgrows_context", {**long, "mix": "32K:1,128K:1"}).set == {}


@pytest.mark.parametrize(
    ("inputs", "offered"),
    [
        ({"bandwidth": "1.008TB/s"}, {}),  # an RTX 4090: 24 GB
        ({"bandwidth": "1.008TB/s", "weight_bytes": "10GB"}, {"machine": "rtx-4090"}),
        ({"bandwidth": "273GB/s"}, {"machine": "dgx-spark"}),  # 128 GB
        ({"hbm": "24GB", "gpus": 8}, {}),
    ],
)
def test_a_machine_too_small_for_the_model_is_not_offered(inputs, offered):
    """gpt-oss-120b's file takes 65 GB."""
    assert _speaks("mixed_parts", {"model": "gpt-oss-120b", **inputs}).set == offered


def test_a_machine_that_refuses_the_expert_ranks_is_not_offered():
    """An RTX 5090 comes alone, and 8 expert ranks do not divide one GPU."""
    assert _speaks("mixed_parts", {"hbm": "32GB"}).set == {"machine": "rtx-5090"}
    assert _speaks("mixed_parts", {"hbm": "32GB", "ep": 8}).set == {}


# Source: the first seed's list of mistakes: each with the rules that are it, a state that makes it, and a number the
# seed prints (or that follows from it) in what the rule says.
MISTAKES = [
    ("multiplying by every layer", "every_layer_counted", {"cache_bytes_per_token": 253_952}, "3.88 times less"),
    ("multiplying by every layer", "every_layer_global", {"global_layers": 62, "context": "1M"}, "38 sessions instead of 10"),
    ("the default pool split", "default_pool_ratio", {"pool_ratio": "0.8"}, "95 sessions instead of 258"),
    ("one length for a mix", "mix_sized_for_one_length", {"mix": "32K:1,128K:1"}, "fits 258 of this mix; its own ratio 0.125 fits 370"),
    ("pricing parameters instead of bytes", "name_is_not_bits", {}, "75% of the bytes read at batch 1 are BF16"),
    ("an MoE as a small dense model: batching", "moe_is_not_dense", {"batch": 73}, "477 GB a step"),
    ("an MoE as a small dense model: speculation", "verify_reads_more", {"batch": 1, "acceptance": 4}, "7.2 times the expert bytes"),
    ("one part's compute, another's bandwidth", "mixed_parts", {"bandwidth": "4.8TB/s"}, "4.80 TB/s is the bandwidth of HGX H200"),
    ("total tokens as output, decode as turn", "total_is_not_output", {"total_tokens_per_gpu_s": 80_300}, "0.27%. A turn takes 16.0 s, of which decoding takes 3.6"),
    ("a fixed acceptance", "assumed_acceptance", {"acceptance": "4.5"}, "4.16 were measured"),
    ("prefix caching off", "prefix_caching_off", {"prefix_caching": "off"}, "12.5 times as many tokens"),
    ("across harnesses", "across_harnesses", {"score": "94.8", "harness": "AMD vLLM"}, "−3.00 points"),
    ("an unchecked count", "count_does_not_land", {"layers": 80}, "822 B"),
    ("an unchecked count", "count_unchecked", {"model": "custom", "groups": LAYERS}, "no published total checks them"),
]  # fmt: skip
# Source: the first seed, where it might be wrong.
DOUBTS = [
    ("routing is not uniform", "routing_is_not_uniform", {"batch": 73}, "477 GB a step at batch 73 is an upper bound"),
    ("the pool rule", "pool_holds_more", {"acceptance": 4, "verify_tokens": 32}, "sliding pool"),
    ("what the engine keeps back", "little_kept_back", {"memory_fraction": "0.95"}, "keep 10% to 15%"),
    ("a peak rate", "exchange_below_peak", {"batch": 256}, "15,000 FLOP per byte"),
    ("a steady state", "turn_is_steady_state", {"sessions_load": 128}, "12.4 s"),
    ("rental moves", "rental_moves", {"gpu_hour": "6.77"}, "$9.50"),
    ("list prices", "list_is_a_ceiling", {"input_price": "1.25"}, "91% is a ceiling"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "key", "inputs", "words"), MISTAKES + DOUBTS, ids=[f"{case[0]}: {case[1]}" for case in MISTAKES + DOUBTS])
def test_the_mistakes_and_doubts_of_the_first_seed_are_told_with_their_number(name, key, inputs, words):
    assert words in found(inputs)[key].text


def test_they_are_eleven_and_seven():
    assert len({name.split(":")[0] for name, *_ in MISTAKES}) == 11
    assert len({name for name, *_ in DOUBTS}) == 7
