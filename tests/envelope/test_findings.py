"""Each rule fires on its case and not on its neighbour."""

from pathlib import Path

import pytest

from envelope import config, evaluate, pasted
from envelope.curves import pool_ratio

# rule, a state where it speaks, a neighbour where it is silent
CASES = [
    ("does_not_fit", {"gpus": 1}, {"gpus": 4}),
    ("no_session", {"model": "llama-3.1-70b", "gpus": 1, "context": "1M"}, {"model": "llama-3.1-70b", "gpus": 1, "context": "128K"}),
    ("default_pool_ratio", {"pool_ratio": "0.8"}, {"pool_ratio": "0.8", "context": "12800"}),
    ("default_pool_ratio", {"pool_ratio": "0.8"}, {"pool_ratio": "0.8", "engine": "vllm"}),
    ("pool_ratio_off", {"pool_ratio": "0.1", "context": "32K"}, {"pool_ratio": "0.1"}),
    ("sliding_pool_too_small", {"pool_ratio": "0.0005", "gpus": 4}, {"pool_ratio": "best", "gpus": 4}),
    ("sliding_pool_too_small", {"pool_ratio": "0.0005", "gpus": 4, "mix": "4K:10,128K:1"}, {"pool_ratio": "0.0005", "gpus": 4, "mix": "4K:10"}),
    ("mix_sized_for_one_length", {"mix": "32K:1,128K:1"}, {"mix": "128K:2"}),
    ("kv_heads_copied", {"model": "qwen3-235b"}, {"model": "qwen3-235b", "tp": 4}),
    ("latent_copied", {"model": "deepseek-v3", "tp": 8}, {"model": "deepseek-v3"}),
    ("replicated_weights", {"model": "deepseek-v3"}, {"model": "deepseek-v3", "tp": 8}),
    ("cache_could_be_fp8", {"cache_format": "bf16"}, {"cache_format": "fp8"}),
    ("driver_memory", {}, {"machine": "hgx-h200"}),
    ("context_beyond_model", {"context": "2M"}, {"context": "1M"}),
    ("name_is_not_bits", {}, {"batch": 64}),
    ("split_names_nothing", {"split": "bf16~routed_expert.nvfp4"}, {"split": "bf16~routed_experts.nvfp4"}),
    ("split_names_nothing", {"split": "bf16~routed_experts.nvfp4.at62-80"}, {"split": "bf16~routed_experts.nvfp4.at61"}),
    ("split_names_nothing", {"model": "deepseek-v3", "split": "bf16~mlp.gat.fp8"}, {"model": "deepseek-v3", "split": "bf16~mlp.gate.fp8"}),
    ("count_does_not_land", {"layers": 80}, {}),
]


def keys(inputs):
    return {finding.key for finding in evaluate(**inputs).findings}


@pytest.mark.parametrize(("key", "speaks", "silent"), CASES, ids=[case[0] for case in CASES])
def test_fires_on_its_case_and_not_on_its_neighbour(key, speaks, silent):
    assert key in keys(speaks)
    assert key not in keys(silent)


@pytest.mark.parametrize(("key", "speaks", "silent"), CASES, ids=[case[0] for case in CASES])
def test_what_it_would_set_can_be_set(key, speaks, silent):
    envelope = evaluate(**speaks)
    finding = next(one for one in envelope.findings if one.key == key)
    assert any(character.isdigit() for character in finding.text)
    if finding.set:
        assert evaluate(envelope.scenario.with_(**finding.set)).scenario.given.items() >= finding.set.items() or "best" in finding.set.values()


@pytest.mark.parametrize(
    "inputs",
    [
        {"gpus": 1, "tp": 1, "dp": 1},
        {"gpus": 3, "tp": 3, "machine": "hgx-h100"},
        {"model": "deepseek-v3", "tp": 8, "context": "3M"},
        {"model": "deepseek-v3", "gpus": 2, "tp": 2, "ep": 2},
        {"model": "llama-3.1-70b", "gpus": 1, "dp": 1, "context": "1M"},
    ],
)
def test_the_gpus_it_asks_for_hold_a_session(inputs):
    envelope = evaluate(**inputs)
    finding = next(one for one in envelope.findings if one.key in ("does_not_fit", "no_session"))
    after = evaluate(envelope.scenario.with_(**finding.set))
    assert after.value("sessions") >= 1
    assert after.scenario["gpus"] == envelope.value("gpus_minimum")


def test_a_layout_that_cannot_be_is_not_offered():
    """24 GPUs in two stages: TP 12 exceeds the 8 KV heads, and TP 8 does not divide 12."""
    assert "kv_heads_copied" not in keys({"model": "llama-3.1-70b", "gpus": 24, "pp": 2})


def test_what_is_set_already_is_not_offered():
    envelope = evaluate("gpt-oss-120b", context="900M")
    finding = next(one for one in envelope.findings if one.key == "sliding_pool_too_small")
    assert finding.set == {}


def test_the_costliest_comes_first():
    severities = [finding.severity for finding in evaluate(gpus=1).findings]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)


def test_the_default_ratio_says_its_numbers():
    """Source: the first seed: 69.7% of the memory, 95 of 258 sessions."""
    text = next(one.text for one in evaluate(pool_ratio="0.8").findings if one.key == "default_pool_ratio")
    assert text == "SGLang's default pool ratio 0.8 gives 70% of cache memory to layers that hold 2,048 tokens: 95 sessions instead of 258."


def test_setting_what_it_says_gives_what_it_says():
    envelope = evaluate(pool_ratio="0.8")
    assert evaluate(envelope.scenario.with_(**envelope.findings[0].set)).value("sessions") == 258


def test_deepseek_v4_starts_with_a_tenth():
    """Source: SGLang 0.5.23, arg_groups/model_overrides/deepseek_v4.py: swa_full_tokens_ratio 0.1 where nobody sets it."""
    given = pasted.inputs(config.read(Path("tests/data/configs/deepseek-ai--DeepSeek-V4-Flash.json").read_text()))
    envelope = evaluate(**given, pool_ratio="0.1")
    assert envelope.value("sessions_default_ratio") == envelope.value("sessions")
    assert [mark.label.split(" at ")[1] for mark in pool_ratio(envelope).marks if mark.kind == "default"] == ["the default 0.1"]
    assert "pool_ratio_off" not in {finding.key for finding in envelope.findings}
    words = next(finding.text for finding in envelope.findings if finding.key == "default_pool_ratio")
    assert words.startswith("SGLang's default pool ratio 0.1 gives ")


def test_a_split_that_names_nothing_is_told_which_parts_there_are():
    finding = next(one for one in evaluate("llama-3.1-70b", split="bf16~dens.fp8~attention.fp8~latent_projections.int4").findings if one.key == "split_names_nothing")
    assert finding.text == (
        "The split's dens.fp8 and latent_projections.int4 store nothing: no matrix of this model has such a name. "
        "Its parts are embeddings, attention, dense, norms, head."
    )


def test_a_split_may_leave_out_what_other_models_have():
    """The rules for every part that a conversion writes, and an exclusion that asks for the base format anyway."""
    converted = evaluate("llama-3.1-70b", weight_format="nvfp4").scenario.text("split")
    assert "routed_experts" in converted
    for split in (converted, "bf16~lm_hed.bf16~dense.fp8"):
        assert "split_names_nothing" not in keys({"model": "llama-3.1-70b", "weight_format": "nvfp4", "split": split})
