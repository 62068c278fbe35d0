"""Declared quantizations, and the file sizes they predict, against the sizes published repositories have."""

import json
from pathlib import Path

import pytest

from envelope import checkpoint, config, pasted, resolve
from envelope.config import storage

CONFIGS = Path("tests/data/configs")


def reading(name, quantization=None, quant=None, index=None):
    stated = json.loads((CONFIGS / f"{name}.json").read_text())
    if quantization is not None:
        stated["quantization_config"] = quantization
    return config.read(stated, quant, index)


def size(found):
    return checkpoint.total_bytes(found.model, storage.split(found.model, found.quantization))


LLAMA_70B, LLAMA_8B = "meta-llama--Meta-Llama-3.1-70B", "meta-llama--Llama-3.1-8B-Instruct"
BLOCKS = {"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3", "weight_block_size": [128, 128]}


def compressed(**weights):
    return {"quant_method": "compressed-tensors", "ignore": ["lm_head"], "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}}


CHANNELS = compressed(num_bits=8, type="float", strategy="channel", symmetric=True)


class TestExact:
    """Source: facts on public repositories (tests/data/checkpoints.json): tensor bytes read from headers and indexes."""

    @pytest.mark.parametrize(
        ("name", "quantization", "tensor_bytes"),
        [
            ("openai--gpt-oss-120b", None, 65_248_815_744),
            ("openai--gpt-oss-20b", None, 13_761_264_768),
            ("deepseek-ai--DeepSeek-V3", None, 688_574_839_360),  # its prediction layer included
            ("Qwen--Qwen3-235B-A22B-FP8", None, 236_416_915_456),
            ("Qwen--Qwen3-32B", BLOCKS, 34_322_434_048),
            (LLAMA_70B, {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, 39_767_785_472),
            (LLAMA_70B, CHANNELS, 72_669_806_592),
            (LLAMA_8B, CHANNELS, 9_083_953_152),
        ],
    )
    def test_in_the_config(self, name, quantization, tensor_bytes):
        assert size(reading(name, quantization)) == tensor_bytes

    @pytest.mark.parametrize(
        ("name", "algorithm", "exclude", "tensor_bytes"),
        [
            (LLAMA_70B, "NVFP4", ["lm_head"], 42_709_045_632),
            (LLAMA_70B, "FP8", ["lm_head"], 72_656_376_192),
            ("Qwen--Qwen3-235B-A22B", "NVFP4", ["lm_head", *(f"model.layers.{n}.mlp.gate" for n in range(94))], 134_101_651_392),
        ],
    )
    def test_in_the_file_beside(self, name, algorithm, exclude, tensor_bytes):
        beside = json.dumps({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": algorithm, "kv_cache_quant_algo": "FP8", "group_size": 16, "exclude_modules": exclude}})
        found = reading(name, quant=beside)
        assert size(found) == tensor_bytes
        assert pasted.inputs(found)["cache_format"] == "fp8"


class TestByHand:
    """Llama 3.1 8B: 6,979,321,856 weights in linear layers, 1,050,673,152 in embedding and head and 266,240 in norms at two bytes."""

    LINEAR, OTHER = 6_979_321_856, 2 * (1_050_673_152 + 266_240)
    ROWS = 32 * (4096 + 2 * 1024 + 4096 + 2 * 14336 + 4096)  # outputs of all linear layers

    @pytest.mark.parametrize(
        ("quantization", "tensor_bytes"),
        [
            ({"quant_method": "bitsandbytes", "load_in_8bit": True}, LINEAR + 4 * ROWS + OTHER),
            ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True}, LINEAR // 2 + LINEAR // 64 + OTHER),
            ({"quant_method": "bitsandbytes", "load_in_4bit": True}, LINEAR // 2 + LINEAR // 64 * 4 + OTHER),
            ({"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0}, LINEAR + 2 * ROWS + OTHER),
            ({"quant_method": "auto-round", "bits": 4, "group_size": 128, "packing_format": "auto_round:auto_gptq"}, LINEAR // 2 + LINEAR * 20 // 8 // 128 + OTHER),
            ({key: value for key, value in CHANNELS.items() if key != "quant_method"}, LINEAR + 2 * ROWS + OTHER),
        ],
    )
    def test_other_methods(self, quantization, tensor_bytes):
        assert size(reading(LLAMA_8B, quantization)) == tensor_bytes

    @pytest.mark.parametrize("quantization", [{"quant_method": "aqlm", "nbits_per_codebook": 16}, {"quant_method": "bitsandbytes"}, {"quant_method": "auto-round", "bits": 4, "group_size": 128, "packing_format": "auto_round:auto_gptq", "extra_config": {"lm_head": {"bits": 8}}}])
    def test_a_method_nobody_described_is_marked(self, quantization):
        found = reading(LLAMA_8B, quantization)
        assert found.quantization is None
        assert any(one.key == "quantization_config" and "sized as BF16" in one.why for one in found.assumed)

    def test_a_file_of_other_floats_is_marked(self):
        assert any(one.key == "torch_dtype" and "float32" in one.why for one in config.read({**json.loads((CONFIGS / f"{LLAMA_8B}.json").read_text()), "torch_dtype": "float32"}).assumed)


class TestWithinAPercent:
    @pytest.mark.parametrize(
        ("name", "file_bytes"),
        [
            ("deepseek-ai--DeepSeek-V3", 688_586_727_753),
            ("deepseek-ai--DeepSeek-V4-Flash", 159_609_485_896),
        ],
    )
    def test_with_prediction_layers(self, name, file_bytes):
        assert float(size(reading(name))) == pytest.approx(file_bytes, rel=0.001)

    def test_integers_in_groups(self):
        """RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16: 5,735,587,840, with side tensors nobody documents."""
        stated = compressed(num_bits=4, type="int", strategy="group", group_size=128, symmetric=True)
        assert float(size(reading(LLAMA_8B, stated))) == pytest.approx(5_735_587_840, rel=0.01)

    def test_integer_experts_named_by_what_is_left_out(self):
        """moonshotai/Kimi-K2.5: 595 GB; its patterns are regular expressions, read as globs."""
        ignore = ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", r"re:.*mlp\.(gate|up|gate_up|down)_proj.*"]
        stated = {**compressed(num_bits=4, type="int", strategy="group", group_size=32, symmetric=True), "ignore": ignore}
        assert float(size(reading("moonshotai--Kimi-K2-Instruct", stated))) == pytest.approx(594_205_904_896, rel=0.01)


class TestDeclared:
    def test_mixed_modules_are_stored_as_each_is_named(self):
        found = reading("nvidia--Qwen3.6-27B-NVFP4")
        formats = {piece.format.key for piece in checkpoint.pieces(found.model, storage.split(found.model, found.quantization))}
        assert formats == {"bf16", "fp8_tensor", "nvfp4_modelopt"}

    def test_layers_left_out_are_written_with_their_places(self):
        ignore = ["lm_head", *(f"model.layers.{n}.mlp*" for n in (0, 1, 31))]
        found = reading(LLAMA_8B, {**CHANNELS, "ignore": ignore})
        assert str(storage.split(found.model, found.quantization)) == "bf16~attention.fp8_channel~dense.fp8_channel.at2-30"

    def test_what_nobody_has_described_is_sized_as_bf16_aloud(self):
        found = reading(LLAMA_8B, {"quant_method": "squeeze", "bits": 3})
        assert found.quantization is None
        assert "quantization_config" in {one.key for one in found.assumed}

    def test_a_pattern_is_never_run_as_the_expression_it_came_as(self):
        found = reading(LLAMA_8B, {**CHANNELS, "ignore": ["re:(a+)+$" + "a" * 200, "re:" + "(x|" * 100]})
        assert storage.split(found.model, found.quantization).rules

    def test_an_index_states_the_files_size(self):
        found = reading(LLAMA_8B, index='{"metadata": {"total_size": 16060522496}, "weight_map": {}}')
        assert resolve(pasted.inputs(found))["weight_bytes"] == 16_060_522_496

    @pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.json")), ids=lambda path: path.stem)
    def test_every_config_reopens_from_its_inputs_in_under_two_thousand_characters(self, path):
        found = config.read(path.read_text())
        given = pasted.inputs(found, path.stem)
        assert resolve(given).model == found.model
        assert sum(len(key) + len(value) + 2 for key, value in given.items()) < 2000

    @pytest.mark.parametrize(
        "quantization",
        [[], "fp8", {"quant_method": 8}, {"quant_method": "fp8", "modules_to_not_convert": [1, None, {}]}, {"quant_method": "compressed-tensors", "config_groups": {"a": None}},
         {"quant_method": "modelopt", "quantized_layers": {"x": 1}}, {"quant_method": "awq", "bits": "4"}, {"quant_method": "quark", "global_quant_config": {"weight": []}},
         {"quant_method": "compressed-tensors", "config_groups": {"g": {"targets": "Linear", "weights": {"num_bits": 10**30, "group_size": -1}}}}],
    )  # fmt: skip
    def test_a_broken_declaration_is_an_assumption_not_a_traceback(self, quantization):
        found = reading(LLAMA_8B, quantization)
        assert resolve(pasted.inputs(found)).model == found.model
