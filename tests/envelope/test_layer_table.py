"""The table of layers: what it shows is the model, and what is typed into it becomes one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envelope import catalog, config, groups, layer_table, parameters
from envelope.cache import growing_per_token, session_values
from envelope.layer_table import CellError
from envelope.model import Model
from envelope.published import architecture

CONFIGS = sorted((Path(__file__).parents[1] / "data" / "configs").glob("*.json"))
PRESETS = [slug for slug in catalog.slugs() if architecture(slug)]


def model(slug: str) -> Model:
    found = architecture(slug)
    assert found is not None
    return found


def cells(of: Model) -> dict[str, str]:
    return {cell.key: cell.text for row in layer_table.rows(of, 1, "bf16") for cell in (row.count, *row.attention, *row.widths)}


def names(of: Model, index: int) -> dict[str, int]:
    row = layer_table.rows(of, 1, "bf16")[index]
    return {cell.name: cell.value for cell in (row.count, *row.attention, *row.widths)}


class TestShows:
    def test_the_sizes_under_the_names_of_the_publishers_file(self):
        # DeepSeek-V3's config.json: 61 layers, the first three dense.
        assert names(model("deepseek-v3"), 0) == {
            "layers": 3, "num_attention_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
            "qk_nope_head_dim": 128, "v_head_dim": 128, "intermediate_size": 18432,
        }  # fmt: skip
        assert names(model("deepseek-v3"), 1)["num_experts_per_tok"] == 8
        assert names(model("deepseek-v3"), 1)["shared_expert_intermediate_size"] == 2048

    @pytest.mark.parametrize("slug", PRESETS)
    def test_the_same_caches_as_the_formulas(self, slug: str):
        of = model(slug)
        token, session, state = layer_table.totals(layer_table.rows(of, 131_072, "bf16"))
        assert token == 2 * growing_per_token(of)
        assert session == 2 * session_values(of, 131_072)
        assert state == 0

    @pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
    def test_typing_what_stands_there_changes_nothing(self, path: Path):
        of = config.read(path.read_text()).model
        assert layer_table.change(of, cells(of)) == of
        assert all(layer_table.is_cell(key) for key in cells(of))


class TestChanges:
    def test_values_as_wide_as_keys_stay_so(self):
        attention = layer_table.change(model("llama-3.1-70b"), {"layers-0-attention-key_dim": "64"}).groups[0].attention
        assert (attention.key_dim, attention.value_dim) == (64, 64)
        both = {"layers-0-attention-key_dim": "192", "layers-0-attention-value_dim": "128"}
        attention = layer_table.change(model("llama-3.1-70b"), both).groups[0].attention
        assert (attention.key_dim, attention.value_dim) == (192, 128)

    def test_a_window_makes_layers_slide_and_none_makes_them_full(self):
        sliding = layer_table.change(model("llama-3.1-70b"), {"layers-0-attention-window": "4K"})
        assert growing_per_token(sliding) == 0
        assert layer_table.change(sliding, {"layers-0-attention-window": ""}) == model("llama-3.1-70b")

    def test_no_order_of_typing_matters(self):
        typed = {"layers-0-attention-query_heads": "60", "layers-0-attention-kv_heads": "20"}
        attention = layer_table.change(model("llama-3.1-70b"), typed).groups[0].attention
        assert (attention.query_heads, attention.kv_heads) == (60, 20)

    def test_a_latent_model_of_half_the_rank_caches_less(self):
        changed = layer_table.change(model("deepseek-v3"), {f"layers-{index}-attention-kv_rank": "256" for index in (0, 1)})
        assert growing_per_token(changed) == 61 * (256 + 64)

    def test_experts_count_as_the_formula_says(self):
        before, after = model("qwen3-235b"), layer_table.change(model("qwen3-235b"), {"layers-0-feed_forward-experts": "129"})
        # One expert more in each of 94 layers: three matrices of 4,096 x 1,536, and its row of the router.
        assert parameters.resident(after) - parameters.resident(before) == 94 * (3 * 4096 * 1536 + 4096)

    def test_a_convolution_follows_its_heads(self):
        of = groups.read("h64.v100~4x_gateddelta.h4.k8.v8.cc64.ck4.kh2.vec264_ff.w64")
        changed = layer_table.change(of, {"layers-0-attention-heads": "8"}).groups[0].attention
        assert changed.conv_channels == 2 * 2 * 8 + 8 * 8

    def test_counts_are_layers_one_kind_after_another(self):
        changed = layer_table.change(model("gpt-oss-120b"), {"layers-0-group-count": "20"})
        assert [(group.count, group.positions[0]) for group in changed.groups] == [(20, 0), (18, 20)]

    def test_a_group_is_added_changed_and_taken_away(self):
        more = layer_table.doubled(model("llama-3.1-70b"), 0)
        assert [group.count for group in more.groups] == [80, 1]
        assert parameters.resident(more) > parameters.resident(model("llama-3.1-70b"))
        assert layer_table.without(more, 1) == model("llama-3.1-70b")
        assert layer_table.without(model("llama-3.1-70b"), 0) == model("llama-3.1-70b")


class TestRefuses:
    @pytest.mark.parametrize(
        ("key", "text", "words"),
        [
            ("layers-0-attention-query_heads", "", "accepts whole numbers"),
            ("layers-0-attention-query_heads", "0", "num_attention_heads 0 must be 1 to"),
            ("layers-0-attention-kv_heads", "7", "num_attention_heads 64 must be a multiple of num_key_value_heads 7"),
            ("layers-0-attention-kv_heads", "-8", "num_key_value_heads -8 must be 1 to 64"),
            ("layers-0-attention-key_dim", "1e30", "head_dim 1,000,000,000,000,000,000,000,000,000,000 must be"),
            ("layers-0-attention-window", "wide", "accepts tokens"),
            ("layers-0-feed_forward-width", "0.5", "must be whole"),
            ("layers-0-group-count", "0", "layers 0 must be 1 to"),
            ("layers-0-group-count", "100001", "layers 100,001 must be"),
        ],
    )
    def test_at_the_cell_in_the_words_of_the_table(self, key: str, text: str, words: str):
        with pytest.raises(CellError) as refused:
            layer_table.change(model("llama-3.1-70b"), {key: text})
        assert refused.value.key == key
        assert words in str(refused.value)

    @given(st.dictionaries(st.sampled_from([*cells(model("gpt-oss-120b")), "layers-9-attention-heads"]), st.text(max_size=9) | st.integers(0, 300).map(str), max_size=5))
    def test_anything_typed_is_a_model_that_reads_back_or_a_refusal(self, typed: dict[str, str]):
        try:
            changed = layer_table.change(model("gpt-oss-120b"), typed)
        except CellError as refused:
            assert refused.key in typed
            return
        assert groups.read(groups.write(changed)) == changed
