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


@pytest.mark.parametrize("name", ["openai--gpt-oss-120b", "deepseek-ai--DeepSeek-V3"])
def test_cache_and_text_form(name):
    model = reading(name).model
    assert cache.growing_per_token(model) == MODELS[name]["kv_growing_elements_per_token"]
    assert groups.read(groups.write(model)) == model
