"""Launch lines: flags of the release, values of the state, nothing that a shell could misread."""

import shlex

import pytest

from envelope import evaluate
from envelope.launch import sglang_launch, vllm_serve

# Read in vLLM 0.33.0 engine/arg_utils.py and SGLang 0.5.23 srt/arg_groups/fields/.
VLLM_FLAGS = {
    "--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size", "--enable-expert-parallel", "--max-model-len",
    "--max-num-seqs", "--max-num-batched-tokens", "--gpu-memory-utilization", "--kv-cache-dtype", "--kv-cache-memory-bytes",
    "--block-size", "--decode-context-parallel-size", "--disable-hybrid-kv-cache-manager", "--speculative-config",
    "--mamba-ssm-cache-dtype",
}  # fmt: skip
SGLANG_FLAGS = {
    "--model-path", "--tp-size", "--dp-size", "--attn-dp-size", "--enable-dp-attention", "--pp-size", "--ep-size", "--dcp-size",
    "--context-length", "--chunked-prefill-size", "--max-running-requests", "--mem-fraction-static", "--kv-cache-dtype",
    "--page-size", "--swa-full-tokens-ratio", "--enable-unified-memory", "--disable-hybrid-swa-memory", "--mamba-ssm-dtype",
    "--speculative-algorithm", "--speculative-draft-model-path", "--speculative-num-steps", "--speculative-eagle-topk",
    "--speculative-num-draft-tokens",
}  # fmt: skip
DRAFT = "h4096.v128256~1x_full.q32.kv8.k128_ff.w14336"
STATES = [
    {},
    {"model": "deepseek-v3", "mtp_layers": "1", "verify_tokens": "4"},
    {"model": "deepseek-v3", "engine": "vllm", "tp": "8", "dcp": "8", "max_num_seqs": "64", "block_size": "64"},
    {"model": "gpt-oss-120b", "engine": "vllm", "gpus": "2", "hybrid_manager": "off", "cache_format": "fp8", "cache_scales": "head", "draft_model": DRAFT},
    {"model": "llama-3.1-70b", "tp": "4", "pp": "2", "cache_format": "fp8", "kv_memory_per_rank": "40 GiB", "draft_model": DRAFT},
    {"engine": "sglang-unified", "pool_ratio": "0.1", "hybrid_manager": "on"},
]


def words(line):
    return shlex.split(line.replace("\\\n", " "))


def flags(line):
    return {word for word in words(line) if word.startswith("--")}


@pytest.mark.parametrize("given", STATES, ids=range(len(STATES)))
def test_only_flags_that_exist(given):
    envelope = evaluate(**given)
    assert flags(vllm_serve(envelope)) <= VLLM_FLAGS
    assert flags(sglang_launch(envelope)) <= SGLANG_FLAGS


def value(line, flag):
    split = words(line)
    return split[split.index(flag) + 1]


def test_the_ratio_is_rounded_up_at_its_printed_digits():
    """0.078125 printed as 0.0781 would starve the sliding pool: 257 sessions, not 258."""
    assert value(sglang_launch(evaluate()), "--swa-full-tokens-ratio") == "0.0782"
    assert value(sglang_launch(evaluate(pool_ratio="0.078125")), "--swa-full-tokens-ratio") == "0.0782"


def test_values_of_the_state():
    line = vllm_serve(evaluate(engine="vllm", model="deepseek-v3", context="64K", chunk="4096", memory_fraction="0.87654321"))
    assert words(line)[:3] == ["vllm", "serve", "deepseek-ai/DeepSeek-V3"]
    assert (value(line, "--max-model-len"), value(line, "--max-num-batched-tokens")) == ("65536", "4096")
    assert value(line, "--gpu-memory-utilization") == "0.8765"
    assert value(line, "--data-parallel-size") == "8"


def test_stated_cache_memory_replaces_the_fraction():
    line = vllm_serve(evaluate(engine="vllm", kv_memory_per_rank="40 GiB"))
    assert value(line, "--kv-cache-memory-bytes") == "42949672960"
    assert "--gpu-memory-utilization" not in flags(line)


def test_attention_replicas_are_spelt_as_the_release_does():
    """--attn-dp-size from 0.5.23; before, --dp-size with --enable-dp-attention. A chunk is for all replicas."""
    newest = sglang_launch(evaluate(model="deepseek-v3"))
    assert (value(newest, "--tp-size"), value(newest, "--attn-dp-size"), value(newest, "--chunked-prefill-size")) == ("8", "8", "65536")
    older = sglang_launch(evaluate(model="deepseek-v3", engine_version="0.5.10"))
    assert value(older, "--dp-size") == "8" and "--enable-dp-attention" in flags(older)


def test_speculation():
    envelope = evaluate(model="deepseek-v3", mtp_layers="1", verify_tokens="4")
    assert value(vllm_serve(envelope), "--speculative-config") == '{"method": "mtp", "num_speculative_tokens": 3}'
    assert value(sglang_launch(envelope), "--speculative-num-draft-tokens") == "4"


@pytest.mark.parametrize("name", ["$(reboot)", "a; rm -rf b", "--load-format=x", "it's"])
def test_a_name_from_a_link_stays_one_word(name):
    envelope = evaluate(model="custom", name=name, groups="h64.v100~2x_full.q4.kv2.k16_ff.w128")
    assert words(vllm_serve(envelope))[2] == name.lstrip("-")
    assert value(sglang_launch(envelope), "--model-path") == name.lstrip("-")
