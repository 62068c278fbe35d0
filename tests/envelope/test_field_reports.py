"""Twenty-four public reports of people sizing a deployment: the state each describes, and the sentence it is now shown."""

import re
from pathlib import Path

import pytest

from envelope import evaluate
from envelope.config import read
from envelope.groups import write
from envelope.logs import compare, read as read_log

CONFIGS = Path(__file__).parents[1] / "data" / "configs"
GPT = {"model": "gpt-oss-120b", "engine": "vllm", "engine_version": "0.11.0", "machine": "hgx-h100", "gpus": "1", "chunk": "1024"}


def of(name, **given):
    """The state of a model by its config."""
    return {"model": "custom", "groups": write(read((CONFIGS / f"{name}.json").read_text()).model), **given}


# report, its source, the state, where the sentence stands (a finding, a quantity, an assumption), the sentence.
REPORTS = [
    ("R01 sliding layers counted as if they kept everything", "alvarobartt/hf-mem#60", {**GPT, "kv_memory_per_rank": "5.38 GiB"},
     "token_line_is_not_capacity", "vLLM 0.11.0 prints 78,336 tokens, blocks over 2 groups: 1.185 requests of 128K fit, 155,304 tokens."),
    ("R02 the token line is no capacity", "vllm-project/vllm#40691", of("Qwen--Qwen3.5-27B", engine="vllm", engine_version="0.19.0", gpus="1", context="32K", kv_memory_per_rank="71.16 GiB"),
     "token_line_is_not_capacity", "vLLM 0.19.0 prints 290,864 tokens, blocks over 4 groups: 33.04 requests of 32K fit, 1,082,800 tokens."),
    ("R03 every session carries fixed state blocks", "public log A49", of("Qwen--Qwen3.5-122B-A10B", engine="vllm", engine_version="0.20.0", state_blocks="2", cache_format="fp8", gpus="1", kv_memory_per_rank="21.43 GiB"),
     "state_blocks_per_session", "A block is 4,176 tokens, one recurrent state: every session holds 6 of them for its states, 16% of the 38 it needs at 128K, and prefixes are reused in whole blocks."),
    ("R04 TP larger than the KV heads", "a public file on 8 L40S (A09)", of("Qwen--Qwen3-235B-A22B-FP8", weight_format="fp8_block", machine="l40s-8", engine="vllm"),
     "kv_heads_copied", "TP 8 exceeds the 4 KV heads: every rank keeps a copy, the cache is stored 2 times."),
    ("R05 TP brings nothing for MLA", "kaito-project/kaito#2132", of("mistralai--Mistral-Small-4-119B-2603", engine="vllm", machine="hgx-h100", gpus="2", tp="2", context="1M", kv_memory_per_rank="17.39 GiB"),
     "request_refused", "One request of 1M tokens needs 22.50 GiB on each rank and 17.39 GiB are left: vLLM refuses to start, with or without a host cache. 810,368 tokens would fit."),
    ("R06 the indexer was forgotten", "sgl-project/sglang#11309", of("deepseek-ai--DeepSeek-V3.2", engine="sglang", cache_format="fp8", machine="hgx-b200", weight_format="fp8_block"),
     "packed_latent", "The engine stores 656 bytes per latent and 132 per indexer key: 48,068 per token on every rank, 12% above the plain figure."),
    ("R07 fp8 asked for, bf16 received", "voipmonitor/rtx6kpro, GLM-5 guide", of("zai-org--GLM-5.1", engine="vllm", engine_version="0.19.0", machine="rtx-pro-6000-blackwell", gpus="8", tp="8", cache_format="fp8", kv_memory_per_rank="29.32 GiB"),
     "fp8_falls_back", "has forced the cache to BF16 whatever was asked: 314,304 tokens instead of 512,192. Read the format in the log."),
    ("R08 a fraction differs between engines", "vllm-project/vllm#21348", of("Qwen--Qwen3-235B-A22B-FP8", weight_format="fp8_block", machine="hgx-h100", gpus="4", engine="sglang", memory_fraction="0.93"),
     "engine_reserve", "85.52 GB × 0.07; activations and graphs live in it"),
    ("R09 the graph estimate, too high or too low", "vllm-project/vllm#57475", of("MiniMaxAI--MiniMax-M2.5", weight_format="nvfp4", machine="hgx-b200", gpus="2", engine="vllm"),
     "engine_graphs", "logs show 0.50 GiB to 7.00 GiB"),
    ("R10 the step size takes cache memory", "a public file (A57)", of("deepseek-ai--DeepSeek-V4-Flash", engine="vllm", machine="hgx-h100", tp="1", chunk="65536", weight_format="fp8"),
     "large_steps_take_cache", "Steps of 64K tokens take about 12.73 GiB of activations, 2.89 GiB at 8,192"),
    ("R11 one rank decides", "vllm-project/vllm#34076", of("Qwen--Qwen3-30B-A3B-Instruct-2507", engine="vllm", engine_version="0.15.2", machine="rtx-5090", gpus="2", pp="2", context="256K", kv_memory_per_rank="3.18 GiB"),
     "whole_model_against_stage", "vLLM 0.15.2 tests the whole model's cache against the smallest of 2 stages: 34,720 tokens; from 0.19.0 each stage is tested alone, 69,456."),
    ("R12 sliding pool below one chunk", "sgl-project/sglang#24523", {"pool_ratio": "0.1", "kv_memory_per_rank": "0.2 GiB"},
     "sliding_pool_below_chunk", "The sliding pool holds 4,072 tokens at ratio 0.1, less than one chunk and window (10,240), beside 40,721 in the full pool: prompts hang or are refused."),
    ("R13 the host cache is per rank", "sgl-project/sglang#14282", {"model": "llama-3.1-70b", "gpus": "4", "machine": "hgx-h100", "host_cache_per_rank": "40 GB"},
     "host_cache_bytes", "40.0 GB × 4 ranks"),
    ("R14 weights alone exceed the fraction", "SemiAnalysisAI/InferenceX#2128", {"machine": "hgx-h200", "hbm": "137.88 GiB", "weights_per_rank": "125.65 GiB", "memory_fraction": "0.88"},
     "no_cache_memory", "125.65 GiB of weights leave nothing of the 121.33 GiB the engine may use on a rank. The smallest fraction that starts is 0.9113."),
    ("R15 the fraction is of the total, in GiB", "public logs A09, A14, A15", of("Qwen--Qwen3-0.6B", machine="l40s-8", gpus="1", engine="vllm", hbm="44.42 GiB", weights_per_rank="1.25 GiB", activation_reserve="1 GiB", graph_reserve="0"),
     "kv_memory_per_rank", "39.98 GiB − weights 1.25 GiB − activations and graphs 1.00 GiB = 37.73 GiB"),
    ("R16 starts is not serves", "sjug/rtx6kpro models/glm5.2_v20", of("zai-org--GLM-5.1", engine="vllm", machine="rtx-pro-6000-blackwell", gpus="8", tp="8", memory_fraction="0.98", weight_format="nvfp4"),
     "starts_is_not_serves", "Starts is not serves: fraction 0.98 leaves 1.91 GiB outside"),
    ("R17 the count the Hub shows", "AlexsJones/llmfit#1045", of("Qwen--Qwen3.5-27B", weight_format="int4", gpus="1"),
     "checkpoint_hub_displayed", "27.78 B parameters are stored in 15.61 B elements"),
    ("R18 4-bit is not 4 bits", "vllm-project/recipes, Muse-Glimmer-30B", of("meta-models--Muse-Glimmer-30B", weight_format="nvfp4", gpus="1", weight_bytes="25.42 GB"),
     "checkpoint_bits_per_parameter", "8 × 25.42 GB / 29.78 B"),
    ("R19 the config alone declares no quantization", "NVIDIA-NeMo/RL#3615", of("Qwen--Qwen3-235B-A22B"),
     "weight_format", "the config declares no quantization"),
    ("R20 speculation takes cache", "vllm-project/vllm#24322", of("deepseek-ai--DeepSeek-V3", machine="hgx-h200", mtp_layers="1", verify_tokens="4", weight_format="fp8_block"),
     "engine_kv_bytes_per_token", "70,272 + draft 1,152"),
    ("R21 offloading does not lift the check", "a public file on native offload", {"model": "gpt-oss-120b", "engine": "vllm", "gpus": "1", "max_model_len": "1M", "kv_memory_per_rank": "4 GiB"},
     "request_refused", "vLLM refuses to start, with or without a host cache."),
    ("R22 a recipe that does not start", "vllm-project/vllm#27508", {**GPT, "kv_memory_per_rank": "1.71 GiB"},
     "request_refused", "One request of 128K tokens needs 4.54 GiB on each rank and 1.71 GiB are left: vLLM refuses to start, with or without a host cache. 48,624 tokens would fit."),
    ("R23 fractions do not add up", "a public file on three replicas", of("Qwen--Qwen3-4B", engine="vllm", machine="hgx-h100", gpus="1", memory_fraction="0.27"),
     "fraction_is_not_additive", "A fraction of 0.27 is of the whole GPU and counts what already runs on it: a second process started with it gets less than the first."),
    ("R24 a cap other than memory", "a public file, max-num-seqs 4", of("Qwen--Qwen3-14B", engine="vllm", gpus="1", max_num_seqs="4", kv_memory_per_rank="33.59 GiB", context="20K"),
     "requests_cap_binds", "max_num_seqs 4 lets 4 sessions run where memory holds 10."),
]  # fmt: skip


def shown(envelope, key):
    """What the page says under a key: a finding's text, an input's assumption, a quantity's working, note or reason."""
    texts = [finding.text for finding in envelope.findings if finding.key == key]
    texts += [assumption.why for assumption in envelope.scenario.assumed if assumption.key == key]
    if not texts:
        quantity = envelope[key]
        texts = [quantity.working, quantity.note, quantity.reason]
    return " ".join(texts)


@pytest.mark.parametrize("report, source, given, key, sentence", REPORTS, ids=[row[0][:3] for row in REPORTS])
def test_the_page_would_have_told(report, source, given, key, sentence):
    assert sentence in shown(evaluate(**given), key)


def test_all_reports_are_there():
    assert [row[0][:3] for row in REPORTS] == [f"R{number:02}" for number in range(1, 25)]
    assert all(re.match(r"R\d\d \S", row[0]) and row[1] for row in REPORTS)


def test_the_two_engines_of_r08_from_their_logs():
    """178,880 against 367,404 tokens on the same machine: both rules hold, the budgets differ."""
    layers = of("Qwen--Qwen3-235B-A22B-FP8", machine="hgx-h100", gpus="4", weight_format="fp8_block")
    logs = {
        "vllm": "INFO Available KV cache memory: 8.11 GiB\nINFO GPU KV cache size: 178,880 tokens",
        "sglang": "KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB",
    }
    for engine, log in logs.items():
        row = next(row for row in compare(read_log(log), evaluate(**layers, engine=engine).scenario) if row.key == "tokens")
        assert float(row.adopted) == pytest.approx(float(row.measured), rel=0.02)
