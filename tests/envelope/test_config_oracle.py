"""Every handed config against counts from the public implementation's own modules (tests/data/models.json)."""

import json
from pathlib import Path

import pytest

from envelope import cache, config, groups, parameters

DATA = Path(__file__).parents[1] / "data"
MODELS = {model["name"]: model for model in json.loads((DATA / "models.json").read_text())}


def reading(name: str) -> config.Reading:
    return config.read((DATA / MODELS[name]["config"]).read_text())


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("openai--gpt-oss-120b", 116_829_156_672),
        ("Qwen--Qwen3-235B-A22B", 235_093_634_560),
        ("deepseek-ai--DeepSeek-V3", 671_026_404_352),
        ("meta-llama--Meta-Llama-3.1-70B", 70_553_706_496),
        ("meta-models--Muse-Spark-Open-816B-A42B", 822_036_513_792),
    ],
)
def test_presets_count_to_the_last_weight(name, total):
    assert parameters.resident(reading(name).model) == total


def test_prediction_layer_of_deepseek_v3_is_apart():
    model = reading("deepseek-ai--DeepSeek-V3").model
    assert parameters.resident_by_part(model)["prediction"] - model.prediction_copies == 11_610_067_968
    assert model.prediction_copies == 1_853_358_080


# Totals that differ, and why.
EXPLAINED = {
    # The file has no vision_config, so the reader counts no tower; the public implementation builds its class
    # default for one, which is not the checkpoint's either (108.642e9 with it).
    "meta-llama--Llama-4-Scout-17B-16E-Instruct": -455_178_240,
}


@pytest.mark.parametrize("name", sorted(MODELS))
class TestEveryHandedConfig:
    """Source: parameters of the public implementation built without weights, and its own cache tensors."""

    def test_total(self, name):
        assert parameters.resident(reading(name).model) - MODELS[name]["total_params"] == EXPLAINED.get(name, 0)

    def test_router_buffers(self, name):
        """What the file holds beside parameters. DeepSeek V4's are left out: its first layers route by a hash table."""
        stated = MODELS[name].get("total_with_checkpoint_buffers", MODELS[name]["total_params"]) - MODELS[name]["total_params"]
        found = sum(count * mixture.router_buffers for count, mixture in reading(name).model.mixtures())
        assert found == (0 if name == "deepseek-ai--DeepSeek-V4-Flash" else stated)

    def test_active(self, name):
        found = parameters.active_with_embeddings(reading(name).model)
        assert found == MODELS[name].get("active_text_params", found)

    def test_growing_cache(self, name):
        found = cache.growing_per_token(reading(name).model)
        assert found == MODELS[name].get("kv_growing_elements_per_token", found)

    def test_windows(self, name):
        windows: dict[int, int] = {}
        for layer in cache.layer_caches(reading(name).model):
            if layer.windowed:
                windows[layer.window] = windows.get(layer.window, 0) + layer.windowed * layer.count
        stated: dict[int, int] = {}
        for row in MODELS[name].get("sliding", []):
            stated[row["window"]] = stated.get(row["window"], 0) + int(row["elements_per_token"])
        assert windows == stated

    def test_state(self, name):
        found = sum(layer.state * layer.count for layer in cache.layer_caches(reading(name).model))
        assert found == MODELS[name].get("fixed_state_elements_per_sequence", found)

    def test_text_form(self, name):
        model = reading(name).model
        assert groups.read(groups.write(model)) == model


def test_how_many_are_verified():
    assert sum(model["total_verified"] for model in MODELS.values()) == 84
