"""Findings about engines: each speaks on its own case and is silent on the neighbour."""

import pytest

from envelope import evaluate

INDEXED = "h6144.v154880~78x_mla.q64.r512.nope192.rope64.v256.qr2048.ih32.id128.ik2048_ff.w12288"
HYBRID = "h5120.v248320~48x_gateddelta.h48.k128.v128.cc10240.ck4.kh16_ff.w17408~16x_full.q24.kv4.k256_ff.w17408"
# key, the case, what the neighbour changes, the number the sentence carries, what [set] would set.
CASES = [
    ("request_refused", {"model": "gpt-oss-120b", "engine": "vllm", "engine_version": "0.11.0", "chunk": "1024", "machine": "hgx-h100", "gpus": "1", "kv_memory_per_rank": "1.71 GiB"},
     {"max_model_len": "32K", "context": "32K"}, "4.54 GiB", {"max_model_len": "48624"}),
    ("token_line_is_not_capacity", {"model": "gpt-oss-120b", "engine": "vllm", "engine_version": "0.11.0", "machine": "hgx-h100", "gpus": "1", "kv_memory_per_rank": "5.38 GiB"},
     {"model": "deepseek-v3"}, "78,336", {}),
    ("state_blocks_per_session", {"model": "custom", "groups": HYBRID, "engine": "vllm", "gpus": "1", "engine_version": "0.19.0", "context": "32K"},
     {"engine": "sglang", "engine_version": "0.5.23"}, "784", {}),
    ("requests_cap_binds", {"engine": "vllm", "max_num_seqs": "4"}, {"max_num_seqs": "1024"}, "211", {"max_num_seqs": "211"}),
    ("starts_is_not_serves", {"memory_fraction": "0.99"}, {"memory_fraction": "0.9"}, "2.44 GiB", {"memory_fraction": "0.98"}),
    ("fraction_is_not_additive", {"engine": "vllm", "model": "gpt-oss-120b", "gpus": "1", "memory_fraction": "0.35"}, {"memory_fraction": "0.9"}, "0.35", None),
    ("packed_latent", {"model": "custom", "groups": INDEXED, "engine": "vllm", "cache_format": "fp8", "weight_format": "fp8"}, {"engine": "plain"}, "656", {}),
    ("fp8_falls_back", {"model": "custom", "groups": INDEXED, "engine": "vllm", "cache_format": "fp8", "machine": "rtx-pro-6000-blackwell", "gpus": "8", "kv_memory_per_rank": "29.32 GiB"},
     {"machine": "hgx-h200"}, "314,304", {"cache_format": "bf16"}),
    ("tensorrt_on_gb300", {"engine": "plain", "machine": "gb300-nvl72", "cache_format": "bf16"}, {"cache_format": "fp8"}, "16-bit", {"cache_format": "fp8"}),
    ("latent_could_be_shared", {"model": "deepseek-v3", "engine": "vllm", "tp": "8"}, {"tp": "1"}, "126", {"dcp": "8"}),
    ("sliding_pool_below_chunk", {"pool_ratio": "0.001", "kv_memory_per_rank": "2 GiB"}, {"pool_ratio": "0.1"}, "522", {"pool_ratio": "best"}),
    ("whole_model_against_stage", {"model": "qwen3-235b", "engine": "vllm", "engine_version": "0.15.2", "pp": "2", "tp": "4"}, {"engine_version": "0.33.0"}, "2 stages", {"engine_version": "0.33.0"}),
    ("large_steps_take_cache", {"engine": "vllm", "chunk": "65536"}, {"chunk": "8192"}, "15.81 GiB", {"chunk": "8192"}),
    ("no_cache_memory", {"engine": "vllm", "model": "gpt-oss-120b", "machine": "hgx-h100", "gpus": "1", "memory_fraction": "0.8"}, {"memory_fraction": "0.95"}, "smallest fraction", None),
]  # fmt: skip


def found(given, key):
    return next((finding for finding in evaluate(**given).findings if finding.key == key), None)


@pytest.mark.parametrize("key, case, neighbour, number, change", CASES, ids=[case[0] for case in CASES])
def test_speaks_on_its_case_and_not_on_the_neighbour(key, case, neighbour, number, change):
    finding = found(case, key)
    assert finding is not None and number in finding.text
    if change is not None:
        assert dict(finding.set) == change
    assert found({**case, **neighbour}, key) is None


ERRORS = [case for case in CASES if case[0] in ("request_refused", "sliding_pool_below_chunk", "no_cache_memory")]


@pytest.mark.parametrize("key, case", [(case[0], case[1]) for case in ERRORS], ids=[case[0] for case in ERRORS])
def test_setting_what_an_error_offers_silences_it(key, case):
    finding = found(case, key)
    assert finding.severity == "error" and finding.set
    assert found({**case, **finding.set}, key) is None


@pytest.mark.parametrize(
    "case",
    [
        {"engine": "sglang", "cache_bytes_per_token": "32768"},
        {"engine": "vllm", "dcp": "3"},
    ],
    ids=["stated cache", "DCP that does not divide"],
)
def test_a_cache_that_is_missing_for_another_reason_is_not_a_lack_of_memory(case):
    assert found(case, "no_cache_memory") is None


def test_no_fraction_is_offered_where_the_activations_exceed_the_card():
    finding = found({"hbm": "1MB"}, "starts_is_not_serves")
    assert finding is not None and finding.set == {}


@pytest.mark.parametrize(
    "case",
    [{"engine": "vllm", "max_num_seqs": "4"}, {"engine": "sglang", "max_num_seqs": "4"}, {"model": "deepseek-v3", "engine": "vllm", "max_num_seqs": "8"}],
    ids=["vLLM", "SGLang", "several replicas"],
)
def test_a_higher_cap_brings_the_sessions_it_names(case):
    finding = found(case, "requests_cap_binds")
    raised = evaluate(**{**case, **finding.set}).value("engine_sessions")
    assert f"where memory holds {raised:,}." in finding.text


def test_no_cap_is_offered_whose_requests_leave_no_room_for_a_cache():
    """352,991 sessions of one token fit beside 4 requests' activations, and logits of as many requests fit nowhere."""
    finding = found({"context": "1", "engine": "vllm", "max_num_seqs": "4"}, "requests_cap_binds")
    assert finding is not None and finding.set == {}
    assert finding.text == (
        "max_num_seqs 4 lets 4 sessions run. Memory would hold 352,991, but activations of as many requests at once leave no cache: "
        "raise it in steps."
    )


def test_a_cap_that_equals_what_memory_holds_is_no_loss():
    sessions = evaluate(engine="sglang").value("engine_sessions")
    assert found({"engine": "sglang", "max_num_seqs": str(sessions)}, "requests_cap_binds") is None


def test_the_fraction_for_state_slots_starts():
    """One state slot of SGLang 0.5.23 needs 19/9 of two states beside the weights."""
    case = {"model": "custom", "groups": HYBRID, "gpus": "1", "machine": "hgx-h100", "weights_per_rank": "71.9GB", "memory_fraction": "0.842"}
    finding = found(case, "no_cache_memory")
    smallest = evaluate(**case).value("smallest_memory_fraction")
    assert evaluate(**case).value("kv_memory_per_rank") is None and smallest > 0.842
    assert found({**case, **finding.set}, "no_cache_memory") is None
