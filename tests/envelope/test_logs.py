"""Pasted start-up logs: what is recognised, what is compared and explained, and that nothing hostile gets through."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envelope import evaluate, resolve
from envelope.config import read as read_config
from envelope.groups import write
from envelope.logs import adopted, compare, read, report

CONFIGS = Path(__file__).parents[1] / "data" / "configs"
GIB = 2**30

# The figures of case A11 (voipmonitor/rtx6kpro models/minimax-m25.md) in the lines that vLLM 0.19.0 prints.
VLLM = """
\x1b[1;36m(APIServer pid=1)\x1b[0;0m INFO 03-01 10:00:00 [api_server.py:1882] vLLM API server version 0.19.0
INFO 03-01 10:00:00 [utils.py:328] non-default args: {'model': '/m', 'tensor_parallel_size': 4, 'max_num_seqs': 256}
INFO [core.py:75] Initializing a V1 LLM engine (v0.19.0) with config: model='/m', dtype=torch.bfloat16, max_seq_len=196608, tensor_parallel_size=4, pipeline_parallel_size=1, kv_cache_dtype=auto, device_config=cuda
INFO [scheduler.py:222] Chunked prefill is enabled with max_num_batched_tokens=8192.
(Worker_TP0) INFO [gpu_model_runner.py:4821] Model loading took 53.75 GiB memory and 100.123456 seconds
(Worker_TP0) DEBUG Initial free memory: 94.10 GiB; Requested memory: 0.900000 (util), 85.47 GiB
(Worker_TP1) INFO [gpu_worker.py:436] Available KV cache memory: 23.70 GiB
(Worker_TP0) INFO [gpu_worker.py:436] Available KV cache memory: 23.62 GiB
(EngineCore_DP0) INFO [kv_cache_utils.py:1319] GPU KV cache size: 399,424 tokens
(EngineCore_DP0) INFO [kv_cache_utils.py:1324] Maximum concurrency for 196,608 tokens per request: 2.03x
(Worker_TP0) INFO [gpu_model_runner.py:6047] Graph capturing finished in 20 secs, took 2.23 GiB
"""
# Case A08 (vllm-project/vllm#21348), with the surrounding lines of SGLang 0.5.
SGLANG = """
[2026-01-31 13:50:30] server_args=ServerArgs(model_path='/m', tp_size=4, dp_size=1, mem_fraction_static=0.93, kv_cache_dtype='auto', page_size=1)
[2026-01-31 13:50:31 TP0] Load weight begin. avail mem=78.50 GB
[2026-01-31 13:50:39 TP0] Load weight end. elapsed=8.00 s, type=Qwen3MoeForCausalLM, avail mem=22.40 GB, mem usage=56.10 GB.
[2026-01-31 13:50:40 TP0] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB
[2026-01-31 13:50:40 TP1] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB
[2026-01-31 13:50:50 TP0] max_total_num_tokens=367404, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=2048, context_len=40960, available_gpu_mem=5.20 GB
"""
# Case A60, and a public log of TensorRT-LLM (triton-inference-server/tutorials#150) for the words.
TENSORRT = """
[TensorRT-LLM] TensorRT-LLM version: 1.0.0
[TensorRT-LLM][INFO] Number of tokens per block: 32.
[TensorRT-LLM][INFO] [MemUsageChange] Allocated 68.69 GiB for max tokens in paged KV cache (643136).
"""


def layers(name):
    return write(read_config((CONFIGS / f"{name}.json").read_text()).model)


def scenario(name, **more):
    return resolve({"model": "custom", "groups": layers(name), **more})


class TestReading:
    def test_vllm(self):
        reading = read(VLLM)
        assert reading.engine == "vllm"
        assert reading.value("kv_memory") == Fraction("23.62") * GIB, "the weakest rank decides"
        assert (reading.value("tokens"), reading.value("concurrency")) == (399_424, Fraction("2.03"))
        assert {key: reading.adopt[key] for key in ("engine_version", "tp", "gpus", "max_model_len", "chunk", "max_num_seqs", "cache_format")} == {
            "engine_version": "0.19.0", "tp": "4", "gpus": "4", "max_model_len": "196608", "chunk": "8192", "max_num_seqs": "256", "cache_format": "bf16",
        }  # fmt: skip

    def test_vllm_calibration(self):
        """85.47 / 0.9 = 94.97 GiB; 85.47 − 53.75 − 23.62 = 8.10 GiB of activations and buffers."""
        assert dict(read(VLLM).calibration) == {
            "kv_memory_per_rank": "23.62 GiB", "weights_per_rank": "53.75 GiB", "activation_reserve": "8.10 GiB", "hbm": "94.97 GiB",
        }  # fmt: skip

    def test_vllm_newest_prints_both_in_one_line(self):
        reading = read("INFO GPU KV cache size: 27,373,224 tokens, Maximum concurrency for 131,072 tokens per request: 208.84x")
        assert (reading.value("tokens"), reading.value("concurrency"), reading.value("max_model_len")) == (27_373_224, Fraction("208.84"), 131_072)

    def test_vllm_refusal(self):
        line = "ValueError: To serve at least one request with the model's max seq len (131072), (4.54 GiB KV cache is needed, which is larger than the available KV cache memory (1.71 GiB). Based on the available memory, the estimated maximum model length is 48624."
        reading = read(line)
        assert [reading.value(key) for key in ("needed", "kv_memory", "largest")] == [Fraction("4.54") * GIB, Fraction("1.71") * GIB, 48_624]

    def test_sglang_gb_is_gib_and_ranks_are_not_added(self):
        reading = read(SGLANG)
        assert reading.engine == "sglang"
        assert reading.value("kv_memory") == Fraction("16.46") * GIB
        assert reading.value("tokens") == 367_404
        assert (reading.adopt["tp"], reading.adopt["memory_fraction"], reading.adopt["hbm"]) == ("4", "0.93", "78.50 GiB")

    def test_sglang_two_pools_are_added(self):
        """sgl-project/sglang#18039: MiMo-V2-Flash, both pools of one rank."""
        reading = read("""
[TP2] Use sliding window memory pool. full_layer_tokens=375360, swa_layer_tokens=300288
[TP1] KV Cache is allocated. #tokens: 300288, K size: 8.38 GB, V size: 5.59 GB
[TP2] KV Cache is allocated. #tokens: 300288, K size: 8.38 GB, V size: 5.59 GB
[TP1] KV Cache is allocated. #tokens: 375360, K size: 1.21 GB, V size: 0.81 GB
""")
        assert reading.value("kv_memory") == Fraction("15.99") * GIB
        assert (reading.value("full_tokens"), reading.value("swa_tokens")) == (375_360, 300_288)

    def test_attention_replicas(self):
        reading = read("server_args=ServerArgs(tp_size=8, dp_size=8, enable_dp_attention=True, mem_fraction_static=0.88)")
        assert {key: reading.adopt[key] for key in ("gpus", "tp", "dp", "pp")} == {"gpus": "8", "tp": "1", "dp": "8", "pp": "1"}

    def test_tensorrt(self):
        reading = read(TENSORRT)
        assert reading.engine == "tensorrt-llm"
        assert dict(reading.adopt) == {"engine": "plain", "kv_memory_per_rank": "68.69 GiB"}
        predicted = evaluate(adopted(reading, scenario("Qwen--Qwen3-0.6B", gpus="1"))).value("engine_kv_tokens")
        assert predicted == pytest.approx(643_136, rel=0.005)

    def test_nothing_recognised(self):
        reading = read("hello\nGET / HTTP/1.1")
        assert reading.engine == "" and not reading.adopt and not reading.lines
        assert report("hello", resolve({})) == "No start-up line of vLLM, SGLang or TensorRT-LLM is recognised."


class TestComparing:
    def test_adopting_makes_the_rule_print_the_lines(self):
        rows = {row.key: row for row in compare(read(VLLM), scenario("MiniMaxAI--MiniMax-M2.5"))}
        assert float(rows["tokens"].adopted) == pytest.approx(399_424, rel=0.005)
        assert float(rows["concurrency"].adopted) == pytest.approx(2.03, abs=0.006)
        assert rows["tokens"].explanation.startswith("agrees once")
        assert rows["kv_memory"].explanation == "the GPU has 94.97 GiB, not 244.47 GiB; activations and buffers took 8.10 GiB where 1.78 GiB was assumed"

    def test_agrees_after_adopting(self):
        mine = adopted(read(SGLANG), scenario("Qwen--Qwen3-235B-A22B-FP8"))
        row = next(row for row in compare(read(SGLANG), mine) if row.key == "tokens")
        assert row.explanation == "agrees" and abs(row.difference) < 0.005

    def test_a_cache_kept_in_bf16_is_named(self):
        """R07: 314,304 tokens in 29.32 GiB where FP8 was asked for (voipmonitor/rtx6kpro, GLM-5 guide)."""
        log = "vLLM API server version 0.19.0\nkv_cache_dtype='fp8'\nAvailable KV cache memory: 29.32 GiB\nGPU KV cache size: 314,304 tokens"
        row = next(row for row in compare(read(log), scenario("zai-org--GLM-5.1", gpus="8", tp="8")) if row.key == "tokens")
        assert row.explanation == "explained if the cache is kept in BF16, whatever was asked for"

    def test_the_other_meaning_of_the_line_is_named(self):
        """A47's tokens read as if an old release had printed them."""
        log = "LLM engine (v0.19.0)\nAvailable KV cache memory: 4.99 GiB\nGPU KV cache size: 302,921 tokens\nmax_seq_len=131072"
        mine = scenario("Qwen--Qwen3.5-27B", gpus="2", cache_format="fp8", state_blocks="2")
        row = next(row for row in compare(read(log), mine) if row.key == "tokens")
        assert "concurrency × max_model_len" in row.explanation

    def test_a_layout_the_log_does_not_state_is_named(self):
        """A03 beside the eight GPUs that a scenario has by default."""
        log = "LLM engine (v0.19.0)\nAvailable KV cache memory: 6.51 GiB\nGPU KV cache size: 42,656 tokens"
        row = next(row for row in compare(read(log), scenario("Qwen--Qwen3-14B")) if row.key == "tokens")
        assert row.explanation == "explained if it ran with TP 1, not the layout chosen here"

    def test_an_unknown_cause_is_not_guessed(self):
        log = "LLM engine (v0.19.0)\nAvailable KV cache memory: 10.00 GiB\nGPU KV cache size: 7,777,777 tokens"
        row = next(row for row in compare(read(log), scenario("Qwen--Qwen3-14B", gpus="1")) if row.key == "tokens")
        assert row.explanation == "no single setting explains it; check the model, the format and the layout"

    def test_report_for_the_terminal(self):
        text = report(VLLM, scenario("MiniMaxAI--MiniMax-M2.5"))
        assert text.startswith("vLLM 0.19.0, 18 facts recognised")
        assert "  --set kv_memory_per_rank='23.62 GiB'" in text.splitlines()


class TestHostile:
    def test_long_text_is_cut(self):
        reading = read("x" * 2_500_000 + "\nAvailable KV cache memory: 1.00 GiB")
        assert reading.cut and not reading.lines

    @pytest.mark.parametrize("line", ["Maximum concurrency for " + "1," * 9000, "Available KV cache memory: " + "9" * 19_000, "max_seq_len=" * 1500, "(" * 10_000 + " GiB KV"])
    def test_repetitive_lines_are_harmless(self, line):
        assert len(read(line).lines) <= 1

    def test_only_numbers_and_known_words_become_inputs(self):
        reading = read("vLLM API server version 1.2.3<script>\nkv_cache_dtype='javascript'\nmax_seq_len=4096")
        assert dict(reading.adopt) == {"engine": "vllm", "engine_version": "1.2.3", "max_model_len": "4096"}

    def test_what_no_scenario_accepts_is_left_out(self):
        reading = read("max_seq_len=0\ntensor_parallel_size=3\npipeline_parallel_size=7\nmax_num_seqs=999999999999\nAvailable KV cache memory: 5.00 GiB")
        result = adopted(reading, resolve({"ep": "8"}))
        assert result["kv_memory_per_rank"] == 5 * GIB and result["engine"] == "vllm"
        assert "max_model_len" not in result.given and "tp" not in result.given

    @settings(max_examples=60)
    @given(st.text(max_size=400))
    def test_any_text_is_read(self, text):
        assert read(text).cut is False

    @settings(max_examples=25)
    @given(st.lists(st.sampled_from((VLLM + SGLANG + TENSORRT).splitlines()), max_size=12), st.integers(0, 10**17))
    def test_any_mixture_of_lines_is_reported(self, lines, number):
        mixed = "\n".join(lines).replace("367404", str(number))
        assert isinstance(report(mixed, resolve({"model": "gpt-oss-120b"})), str)
