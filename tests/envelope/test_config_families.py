"""Configs of families that no preset has, against counts made or published elsewhere (tests/data/other_configs.json)."""

import json
from pathlib import Path

import pytest

from envelope import cache, checkpoint, config, groups, parameters
from envelope.config import storage

CONFIGS = {row["name"]: row for row in json.loads(Path("tests/data/other_configs.json").read_text())}


def model(name, **changed):
    return config.read({**CONFIGS[name]["config"], **changed}).model


@pytest.mark.parametrize("name", sorted(CONFIGS))
class TestEveryFamily:
    """Source: `total_source` of each row."""

    def test_total(self, name):
        found = parameters.resident(model(name))
        assert found == CONFIGS[name].get("total", found)

    def test_text_form(self, name):
        assert groups.read(groups.write(model(name))) == model(name)

    def test_nothing_is_left_unread(self, name):
        assert config.read(CONFIGS[name]["config"]).ignored == ()


def windows(name):
    found = {}
    for layer in cache.layer_caches(model(name)):
        if layer.windowed:
            found[layer.window, layer.windowed] = found.get((layer.window, layer.windowed), 0) + layer.count
    return found


def state(name):
    return sum(layer.state * layer.count for layer in cache.layer_caches(model(name)))


class TestCaches:
    """Expected values worked out from the keys in the file."""

    @pytest.mark.parametrize(
        ("name", "growing"),
        [
            ("zai-org--GLM-5.2", 78 * (512 + 64) + 21 * 128),  # an indexer in 21 of 78 layers
            ("MiniMaxAI--MiniMax-M3", 60 * 2 * 4 * 128 + 57 * 128),  # one in 57 of 60
            ("longcat", 56 * (512 + 64)),  # two latent attentions in each of 28 layers
            ("llama-3.2-11b-vision", 32 * 2 * 8 * 128),  # 8 of 40 layers attend to the image
            ("google--gemma-4-26B-A4B", 5 * 2 * 2 * 512),  # full layers have heads of their own
            ("nvidia--Gemma-4-31B-IT-NVFP4", 10 * 2 * 4 * 512),
            ("XiaomiMiMo--MiMo-V2-Flash", 9 * 4 * (192 + 128)),  # keys wider than values
            ("jamba", 4 * 2 * 8 * 128),  # layers 4, 12, 20, 28
            ("minimax-m1", 10 * 2 * 8 * 128),
            ("moonshotai--Kimi-K3", 24 * (512 + 64)),
            ("kimi-linear", 7 * (512 + 64)),
            ("falcon-7b", 32 * 2 * 64),  # one KV head
            ("falcon-40b", 60 * 2 * 8 * 64),
            ("qwen-72b", 80 * 2 * 64 * 128),  # no KV head count: MHA
            ("glm-4-9b", 40 * 2 * 2 * 128),
            ("hunyuan-a13b", 32 * 2 * 8 * 128),  # cla_share_factor is there, use_cla is false
            ("phi-mini-moe", 0),  # every layer slides
        ],
    )
    def test_growing(self, name, growing):
        assert cache.growing_per_token(model(name)) == growing

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("XiaomiMiMo--MiMo-V2-Flash", {(129, 8 * (192 + 128)): 39}),
            ("google--gemma-4-26B-A4B", {(1024, 2 * 8 * 256): 25}),
            ("command-a", {(4096, 2 * 8 * 128): 48}),
            ("laguna-s", {(512, 2 * 8 * 128): 36}),
            ("phi-mini-moe", {(2047, 2 * 8 * 128): 32}),
        ],
    )
    def test_windows(self, name, expected):
        assert windows(name) == expected

    @pytest.mark.parametrize(
        ("name", "elements"),
        [
            ("minimax-m1", 70 * 64 * 128 * 128),
            ("jamba", 28 * (8192 * 16 + 8192 * 4)),
            ("granite-4-h-small", 36 * (128 * 64 * 128 + (8192 + 2 * 128) * 4)),
            ("falcon-h1-34b", 72 * (32 * 128 * 256 + (4096 + 2 * 2 * 256) * 4)),
            ("moonshotai--Kimi-K3", 69 * (96 * 128 * 128 + 3 * 96 * 128 * 4)),
        ],
    )
    def test_state(self, name, elements):
        assert state(name) == elements


class TestActive:
    def test_identity_experts_take_their_share_of_the_choices(self):
        mixture = model("longcat").mixtures()[0][1]
        assert (mixture.experts, mixture.zero_experts, mixture.top_k) == (512, 256, 12)
        routed = parameters.active_by_part(model("longcat"))["routed_experts"]
        assert routed == 28 * 8 * 3 * 6144 * 2048  # 8 of 12 on average

    def test_latent_experts_are_as_wide_as_the_latent(self):
        mixture = model("moonshotai--Kimi-K3").mixtures()[0][1]
        assert (mixture.latent, mixture.width) == (3584, 3072)

    def test_heads_that_differ_by_layer(self):
        heads = {group.attention.query_heads: 0 for group in model("laguna-s").groups}
        for group in model("laguna-s").groups:
            heads[group.attention.query_heads] += group.count
        assert heads == {48: 12, 72: 36}


class TestFiles:
    def test_mixed_formats_named_module_by_module(self):
        """nvidia/Qwen3.6-35B-A3B-NVFP4: the Hub shows 23.5 GB (tests/data/checkpoints.json)."""
        found = config.read(CONFIGS["nvidia--Qwen3.6-35B-A3B-NVFP4"]["config"])
        assert round(float(checkpoint.total_bytes(found.model, storage.split(found.model, found.quantization))) / 1e9, 1) == 23.5

    def test_integer_experts(self):
        """moonshotai/Kimi-K2.5: about 595 GB (tests/data/checkpoints.json)."""
        found = config.read(CONFIGS["moonshotai--Kimi-K2.5"]["config"])
        assert round(float(checkpoint.total_bytes(found.model, storage.split(found.model, found.quantization))) / 1e9) == 595

    def test_leaving_the_dense_block_out_leaves_the_experts_in(self):
        """Gemma 4 keeps its experts beside `mlp`, so that `mlp*` does not name them."""
        declared = {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": [f"model.language_model.layers.{n}.mlp*" for n in range(30)]}
        found = config.read({**CONFIGS["google--gemma-4-26B-A4B"]["config"], "quantization_config": declared})
        formats = {str(rule.pattern): rule.format for rule in storage.split(found.model, found.quantization).rules}
        assert formats["routed_experts"] == "nvfp4_modelopt"
        assert "dense" not in formats

    def test_patterns_about_prediction_layers_leave_the_first_layer_alone(self):
        """nvidia/Qwen3.5-122B-A10B-NVFP4 leaves out `mtp.layers.0*`."""
        values = CONFIGS["Qwen--Qwen3.5-397B-A17B"]["config"]
        declared = {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["mtp*", "mtp.layers.0*", "lm_head"]}
        found = config.read({**values, "quantization_config": declared})
        split = storage.split(found.model, found.quantization)
        assert all(not rule.positions for rule in split.rules if rule.pattern == "routed_experts")
        pieces = checkpoint.pieces(found.model, split)
        assert {piece.format.key for piece in pieces if piece.tensor.part == "prediction"} == {"bf16"}


class TestRefused:
    """What would be sized as something else is refused, and names the key."""

    @pytest.mark.parametrize(
        ("name", "changed", "key"),
        [
            ("jamba", {"attn_layer_period": None, "attn_layer_offset": None, "model_type": "other"}, "layer_types"),
            ("minimax-m1", {"attn_type_list": None}, "layer_types"),
            ("minimax-m1", {"attn_type_list": [2] * 80}, "attn_type_list"),
            ("kimi-linear", {"linear_attn_config": CONFIGS["kimi-linear"]["config"]["linear_attn_config"] | {"state_rank": 8}}, "state_rank"),
            ("granite-4-h-small", {"mamba_n_heads": 64}, "mamba_n_heads"),
            ("falcon-h1-34b", {"mamba_use_mlp": False}, "mamba_use_mlp"),
            ("glm-4.7-flash", {"qk_head_dim": 100}, "qk_head_dim"),
            ("hunyuan-a13b", {"moe_topk": [8] * 5}, "moe_topk"),
            ("command-a", {"layer_types": ["spiral_attention"] * 64}, "layer_types"),
            ("dbrx", {"ffn_config": {"moe_num_experts": "16"}}, "moe_num_experts"),
            ("qwen-72b", {"intermediate_size": 49153}, "intermediate_size"),
            ("laguna-s", {"gating_types": ["per_head", "per_element"]}, "gating_types"),
        ],
    )
    def test_by_name(self, name, changed, key):
        with pytest.raises(config.Refused, match=key):
            model(name, **changed)


def test_prediction_layers_that_other_families_build_otherwise():
    """By hand from the sizes in each file and the modules of vLLM's `nemotron_h_mtp.py`, `ernie_mtp.py`, `step3p5_mtp.py`."""
    others = {name: row["config"] for name, row in CONFIGS.items() if "config" in row}
    # Attention (32 + 2 x 2 heads of 128, output), its norm; a mixture of 512 experts and a shared one in a latent width,
    # its norm and router; a projection of two vectors and three norms.
    hidden, latent, width, experts = 4096, 1024, 2688, 512
    attention = hidden * 128 * (32 + 2 * 2 + 32) + hidden
    mixture = experts * (2 * latent * width + hidden) + 2 * hidden * latent + 2 * hidden * 5376 + hidden
    assert predicted(others["nvidia--NVIDIA-Nemotron-3-Super-120B-A12B-FP8"]) == attention + mixture + 2 * hidden**2 + 3 * hidden
    ernie = json.loads(Path("tests/data/configs/baidu--ERNIE-4.5-21B-A3B-PT.json").read_text())
    hidden = 2560
    attention = hidden * 128 * (20 + 2 * 4 + 20) + 2 * hidden
    assert predicted(ernie) == attention + 3 * hidden * 12288 + 2 * hidden**2 + 2 * hidden
    step = others["stepfun-ai--Step-3.7-Flash"]
    assert predicted(step) == 0  # its list of layers does not go on to name their attention
    named = step | {"layer_types": [*step["layer_types"], *["sliding_attention"] * 3]}
    hidden, rows = 4096, 128896
    attention = hidden * 128 * (64 + 2 * 8 + 64) + 2 * 128 + hidden * 64 + 2 * hidden
    assert predicted(named) == 3 * (attention + 3 * hidden * 11264 + 2 * hidden**2 + 3 * hidden + rows * hidden)


def predicted(values: dict) -> int:
    return parameters.resident_by_part(config.read(values).model)["prediction"]
