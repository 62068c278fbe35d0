"""The layouts themselves: figures read in engine source and reports, and what must hold for any model."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from envelope import evaluate, groups
from envelope.config import read
from envelope.engines import compressed, residue, sglang, vllm, vllm_groups
from envelope.engines.releases import Release, release
from envelope.engines.stored import CacheFormat, NotLaidOut, draft_layers, stored_by

CONFIGS = Path(__file__).parents[1] / "data" / "configs"
GIB = 2**30
GLIMMER = "h6656.v202048~39x_sliding.q32.kv2.k128.win2048_ff.w19968~13x_full.q32.kv2.k128_ff.w19968"
DFLASH = "h6656.v202048~5x_sliding.q32.kv8.k128.win2048_ff.w19968"


def model(name):
    return read((CONFIGS / f"{name}.json").read_text()).model


def layout(one, version="0.33.0", length=131_072, tokens=8192, cache="bf16", tp=1, draft=(), drafted=0, **options):
    layers = stored_by(one, tp, CacheFormat(cache), draft, drafted)
    return vllm_groups.plan(layers, vllm.Options(release(version), length, tokens, **options))


class TestReleases:
    def test_order(self):
        texts = ["0.11.0", "0.19.1rc1", "0.19.1", "0.20.0", "0.20.2rc1", "0.20.2", "0.20.2.post1", "0.27.1", "0.33.0"]
        assert [release(text) for text in texts] == sorted(release(text) for text in texts)

    @pytest.mark.parametrize("text", ["0.10.2.dev378+g4d7fe40fc.d20250829", "v0.19.0", "0.5.10.post1", "1.0"])
    def test_texts_engines_print(self, text):
        assert release(str(release(text))) == release(text)

    @pytest.mark.parametrize("text", ["", "newest", "0", "1.2.3<script>", "99999.1.1"])
    def test_refused(self, text):
        with pytest.raises(ValueError):
            release(text)


class TestStored:
    """engine_rules.md A2, A3, B2."""

    def test_packed_latent_and_indexer(self):
        assert [one.token_bytes for one in stored_by(model("deepseek-ai--DeepSeek-V3.2"), 8, CacheFormat("fp8"))] == [656, 132]
        assert [one.token_bytes for one in stored_by(model("deepseek-ai--DeepSeek-V3.2"), 8, CacheFormat("nvfp4"))] == [352, 132]
        assert [one.token_bytes for one in stored_by(model("deepseek-ai--DeepSeek-V3"), 8, CacheFormat("fp8"))] == [576]

    def test_per_head_scales_add_8_bytes(self):
        plain, scaled = (stored_by(model("Qwen--Qwen3-14B"), 1, CacheFormat("fp8", scales))[0].token_bytes for scales in (False, True))
        assert (plain, scaled) == (2048, 2048 + 8 * 8)

    def test_kv_heads_are_never_below_one(self):
        assert [stored_by(model("Qwen--Qwen3-235B-A22B"), tp, CacheFormat())[0].token_bytes for tp in (1, 2, 4, 8)] == [2048, 1024, 512, 512]

    def test_speculation_widens_the_convolution(self):
        """A48, A49: a block of 4,192 tokens with one drafted token, 4,176 without."""
        one = model("Qwen--Qwen3.5-122B-A10B")
        assert [layout(one, "0.20.0", cache="fp8", drafted=drafted).options.block_size for drafted in (0, 1)] == [4176, 4192]

    def test_layers_that_share_a_cache_store_nothing(self):
        assert sum(one.count for one in stored_by(model("google--gemma-4-E2B-it"), 1, CacheFormat())) == 15


class TestVllmGroups:
    def test_pages_are_unified(self):
        """Gemma-4-E2B: 512-wide layers in blocks of 16, 256-wide in blocks of 32."""
        assert {(group.kind, group.block) for group in layout(model("google--gemma-4-E2B-it")).groups} == {("full", 16), ("sliding", 32)}

    def test_a_small_draft_bucket_sets_the_size(self):
        """13 + 39 + 5 layers: groups of 5, so 3 + 8 + 1 (engine_rules.md A5)."""
        plan = layout(groups.read(GLIMMER), "0.27.1", draft=groups.read(DFLASH).groups, tp=2)
        assert len(plan.groups) == 12 and plan.block_bytes == 5 * 32_768

    def test_nearly_equal_buckets_are_padded(self):
        """12 sliding and 13 full with a draft: groups of 13 from 0.19.0, of 12 in 0.11.0."""
        one = groups.read("h2880.v201088~12x_sliding.q64.kv8.k64.win128_ff.w2880~13x_full.q64.kv8.k64_ff.w2880")
        assert [len(layout(one, version).groups) for version in ("0.11.0", "0.19.0")] == [3, 2]

    def test_pages_that_do_not_divide(self):
        one = groups.read("h64.v100~2x_sliding.q4.kv1.k48.win128_ff.w128~2x_full.q4.kv1.k64_ff.w128")
        with pytest.raises(NotLaidOut):
            layout(one, "0.22.1")
        assert layout(one, "0.25.1").block_bytes == 2 * 16 * 64 * 2 * 2

    def test_manager_off_keeps_windows_whole(self):
        one = groups.read(GLIMMER)
        assert layout(one, hybrid_manager=False).growth == 4 * layout(one).growth

    def test_chunked_local_has_no_extra_block(self):
        plan = layout(model("RedHatAI--Llama-4-Scout-17B-16E-Instruct-FP8-dynamic"), "0.19.0", 1_000_000, 8192)
        chunked = next(group for group in plan.groups if group.kind == "chunked")
        assert chunked.request_blocks(1_000_000, plan.options) == (8192 + 8192) // 16

    def test_two_batches_are_in_flight_from_0_27_1(self):
        """W − 1 + B, then W − 1 + 2 B, plus one block."""
        found = []
        for version in ("0.25.1", "0.27.1"):
            plan = layout(model("openai--gpt-oss-120b"), version)
            found.append(next(group for group in plan.groups if group.kind == "sliding").request_blocks(131_072, plan.options))
        assert found == [-(-(127 + 8192) // 16) + 1, -(-(127 + 2 * 8192) // 16) + 1]

    def test_context_parallelism_refuses_sliding(self):
        with pytest.raises(NotLaidOut, match="sliding"):
            layout(groups.read(GLIMMER), dcp=2)

    @pytest.mark.parametrize("version, bytes", [("0.20.0", 1_051_776), ("0.25.1", 1_039_680), ("0.27.1", 1_002_240), ("0.33.0", 1_002_240)])
    def test_deepseek_v4_flash_blocks(self, version, bytes):
        """engine_rules.md A5.6."""
        assert layout(model("deepseek-ai--DeepSeek-V4-Flash"), version).block_bytes == bytes


class TestSglang:
    def test_two_pools(self):
        """F·n_f + r·S·n_s with other widths for sliding layers, in whole pages."""
        one = sglang.Cell(full=4096, sliding=11_776, draft_full=0, draft_sliding=0, state=0, window=2048)
        found = sglang.pools(Fraction(10 * GIB), one, Fraction(8, 10), 64)
        assert found.full == int(Fraction(10 * GIB) // (4096 + Fraction(8, 10) * 11_776)) // 64 * 64
        assert found.sliding == int(found.full * Fraction(8, 10)) // 64 * 64

    def test_before_0_5_10_widths_were_taken_alike(self):
        """sgl-project/sglang#18039: MiMo-V2-Flash's wider sliding layers were sized like full ones."""
        one = groups.read("h4096.v100~39x_sliding.q64.kv8.k192.v128.win128_ff.w64~9x_full.q64.kv4.k192.v128_ff.w64")
        old, new = (sglang.cell(stored_by(one, 1, CacheFormat()), release(version), True) for version in ("0.5.5", "0.5.10"))
        assert (old.full, old.sliding) == (9 * 2560, 39 * 2560) and (new.full, new.sliding) == (9 * 2560, 39 * 5120)

    def test_drafts_are_charged_from_0_5_23(self):
        given = {"model": "deepseek-v3", "mtp_layers": "1"}
        assert [evaluate(engine_version=version, **given).value("engine_kv_bytes_per_token") for version in ("0.5.10", "0.5.23")] == [61 * 1152, 62 * 1152]

    def test_unified_arena_holds_no_more_than_its_bytes(self):
        one = sglang.Cell(full=4096, sliding=11_776, draft_full=512, draft_sliding=0, state=0, window=2048)
        apart, shared = sglang.pools(Fraction(GIB), one, Fraction(1, 10), 64), sglang.unified(Fraction(GIB), one, Fraction(1, 10), 64)
        assert 0 < shared.full <= apart.full

    def test_default_fraction(self):
        """H100 of 80 GiB, TP 8: 512 + 12,288 + 1,024 + 1,024 + 62 graphs × 8 = 15,344 MiB kept back."""
        assert sglang.default_fraction(Fraction(80 * GIB), 8, 1, 1, False) == Fraction(813, 1000)

    def test_states_take_nine_nineteenths(self):
        """R20: speculation needs a state per drafted token besides."""
        plain = sglang.state_pool(Fraction(19 * GIB), GIB // 4, Release((0, 5, 23)), 0, 4096)
        assert (plain.slots, plain.bytes, plain.requests) == (35, 9 * GIB, 11)
        drafting = sglang.state_pool(Fraction(19 * GIB), GIB // 4, Release((0, 5, 23)), 3, 4096)
        assert drafting.slots < plain.slots and drafting.bytes <= 9 * GIB

    def test_deepseek_v4_pro_cell(self):
        """Case A56: an SGLang log of DeepSeek-V4-Pro with its MTP layer states bytes_per_full_token 23,749.84."""
        parts = ("csa.q128.d512.by4.win128.qr1536.or1024.og16.ih64.id128.ik1024", "csa.q128.d512.by128.win128.qr1536.or1024.og16", "csa.q128.d512.by0.win128.qr1536.or1024.og16")
        one = groups.read(f"h7168.v129280~30x_{parts[0]}_none~31x_{parts[1]}_none~mtp1x_{parts[2]}_none")
        layers = stored_by(one, 1, CacheFormat("fp8"), draft_layers(one, 1))
        logged = compressed.sglang_bytes_per_token(layers, Fraction(1, 10), True, release("0.5.10"))
        assert round(float(logged), 2) == 23_749.84

    def test_deepseek_v4_states_left_the_cell_in_0_5_23(self):
        """Rows are padded to whole 576 bytes: 260 per page of 256, 65 per 64 records, 3 per 2."""
        layers = stored_by(model("deepseek-ai--DeepSeek-V4-Flash"), 1, CacheFormat("fp8"))
        each = compressed.sglang_bytes_per_token(layers, Fraction(1, 10), False, release("0.5.23"))
        windows = Fraction(1, 10) * (585 * 43 + Fraction(8, 256) * 4 * 640 * 4 * 21)
        assert each == windows + 21 * (Fraction(585, 4) + 33) + 20 * Fraction(1728, 256)


class TestResidue:
    def test_the_band_covers_the_logs_it_is_fitted_to(self):
        """GiB of activations in four public logs; see envelope/engines/residue.py."""
        logs = [("Qwen--Qwen3-14B", 2048, 256, 1, 1.5), ("google--gemma-4-E2B-it", 2048, 256, 1, 1.0), ("meta-llama--Llama-3.1-8B-Instruct", 8192, 1024, 1, 3.9), ("MiniMaxAI--MiniMax-M2.5", 8192, 1024, 4, 8.1)]
        for name, tokens, sequences, tp, measured in logs:
            found = residue.activations(model(name), tokens, sequences, tp)
            assert found.low <= measured * GIB <= found.high, name

    def test_graphs_are_subtracted_from_0_20_0(self):
        assert residue.graphs(release("0.19.0")).value == 0 < residue.graphs(release("0.20.0")).value


class TestAnyModel:
    """What no layout may break."""

    heads = st.sampled_from((1, 2, 4, 8))
    shapes = st.tuples(st.integers(1, 20), st.integers(0, 40), heads, st.sampled_from((64, 128)), st.sampled_from((128, 1024)))

    @staticmethod
    def build(shape):
        full, sliding, heads, width, window = shape
        text = f"h64.v100~{full}x_full.q8.kv{heads}.k{width}_ff.w128"
        return groups.read(text + (f"~{sliding}x_sliding.q8.kv{heads}.k{width}.win{window}_ff.w128" if sliding else ""))

    @settings(max_examples=60)
    @given(shapes, st.integers(1, 64), st.sampled_from(("0.11.0", "0.19.0", "0.20.2", "0.27.1", "0.33.0")))
    def test_tokens_never_rise_with_bytes_per_token(self, shape, gibs, version):
        one = self.build(shape)
        narrow, wide = (layout(one, version, 8192, cache=cache).concurrency(Fraction(gibs * GIB)) for cache in ("fp8", "bf16"))
        assert wide <= narrow

    @settings(max_examples=60)
    @given(shapes, st.integers(1, 10**12), st.integers(1, 10**12))
    def test_more_memory_never_holds_less(self, shape, less, more):
        assume(less <= more)
        plan = layout(self.build(shape), length=4096)
        assert plan.blocks(Fraction(less)) <= plan.blocks(Fraction(more))
        assert plan.concurrency(Fraction(less)) <= plan.concurrency(Fraction(more))

    @settings(max_examples=60)
    @given(shapes, st.integers(GIB, 64 * GIB))
    def test_the_largest_length_fits_and_the_next_does_not(self, shape, memory):
        plan = layout(self.build(shape))
        largest = plan.largest_length(Fraction(memory))
        assume(largest)
        usable = plan.usable(Fraction(memory))
        assert plan.request_bytes(largest) <= usable < plan.request_bytes(largest + 1)

    @settings(max_examples=60)
    @given(shapes, st.integers(1, 10**6), st.integers(1, 10**6))
    def test_a_longer_request_never_needs_less(self, shape, one, other):
        plan = layout(self.build(shape))
        short, long = sorted((one, other))
        assert plan.request_blocks(short) <= plan.request_blocks(long)

    @settings(max_examples=60)
    @given(shapes)
    def test_every_layer_is_in_one_group(self, shape):
        one = self.build(shape)
        places = [place for group in layout(one).groups for part, _ in group.parts for place in part]
        assert sorted(places) == list(range(one.layers))

    @settings(max_examples=60)
    @given(shapes, st.integers(10**6, 10**12), st.fractions(Fraction(1, 100), 1), st.sampled_from((1, 64, 256)))
    def test_pools_fit_their_memory_and_fill_it_to_a_page(self, shape, memory, ratio, page):
        one = sglang.cell(stored_by(self.build(shape), 1, CacheFormat()), release("0.5.23"), True)
        found = sglang.pools(Fraction(memory), one, ratio, page)
        assert found.full * one.full + found.sliding * one.sliding <= memory
        assert (found.full + page) * one.per_full_token(ratio) > memory

    @settings(max_examples=40)
    @given(shapes, st.sampled_from(("vllm", "sglang", "plain")), st.sampled_from(("8K", "64K")))
    def test_engine_figures_never_change_the_plain_ones(self, shape, engine, context):
        given = {"model": "custom", "groups": groups.write(self.build(shape)), "context": context, "gpus": "1"}
        plain = evaluate(**given, engine=engine)
        changed = evaluate(**given, engine=engine, kv_memory_per_rank="1 GiB", max_num_seqs="3", weights_per_rank="2 GiB")
        for key in ("sessions", "ceiling_sessions", "pool_bytes", "cache_bytes_per_token", "weight_bytes", "step_seconds"):
            assert plain.value(key) == changed.value(key)


class TestQuantities:
    def test_the_input_overrides_the_quantity_of_its_name(self):
        assert evaluate(kv_memory_per_rank="40 GiB").value("kv_memory_per_rank") == 40 * GIB

    def test_the_post_s_258_sessions_at_the_ratio_to_set(self):
        """The first seed's pool rule with weights spread evenly: 66,586,021,664 bytes on each of 8 GPUs."""
        envelope = evaluate(weights_per_rank="66586021664")
        assert (envelope.value("engine_sessions"), envelope.value("engine_binds")) == (258, "the full pool")

    @pytest.mark.parametrize("weights, draft, fraction", [("125.65 GiB", "0", 0.9113), ("125.65 GiB", "3.07", 0.9335)])
    def test_smallest_fraction_of_sglang(self, weights, draft, fraction):
        """R14: DeepSeek-V4-Pro on H200, 137.88 GiB free before loading; with EAGLE 3.07 GB more (InferenceX#2128)."""
        total = Fraction(weights.split()[0]) + Fraction(draft)
        envelope = evaluate(hbm="137.88 GiB", weights_per_rank=f"{float(total)} GiB", machine="hgx-h200")
        assert float(envelope.value("smallest_memory_fraction")) == pytest.approx(fraction, abs=2e-4)

    def test_context_parallelism_must_divide(self):
        assert evaluate(model="deepseek-v3", tp="8", dcp="3")["engine_kv_tokens"].reason == "DCP 3 does not divide the 8 tensor-parallel ranks"

    def test_a_model_without_prediction_layers_drafts_with_its_own_kind(self):
        """A12: 32 layers and one EAGLE layer, 33 × 4,096 bytes."""
        given = {"model": "custom", "groups": groups.write(model("meta-llama--Llama-3.1-8B-Instruct")), "gpus": "1"}
        assert [evaluate(**given, engine=engine, mtp_layers="1").value("engine_kv_bytes_per_token") for engine in ("vllm", "sglang")] == [135_168, 135_168]

    def test_no_layer_to_be_like(self):
        with pytest.raises(NotLaidOut, match="whole context"):
            draft_layers(groups.read("h64.v100~2x_sliding.q4.kv1.k64.win128_ff.w128"), 1)

    def test_a_version_may_carry_a_word(self):
        assert evaluate(engine="vllm", engine_version="0.20.2rc1 fork").scenario["engine_version"] == "0.20.2rc1"

    def test_stated_cache_has_no_layout(self):
        assert "hides the layers" in evaluate(cache_bytes_per_token="890")["engine_kv_tokens"].reason

    def test_tokens_of_one_request_bound_by_window_only(self):
        one = replace(groups.read(GLIMMER), groups=groups.read(GLIMMER).groups[:1])
        assert layout(replace(one, groups=(replace(one.groups[0], positions=()),))).largest_length(Fraction(64 * GIB)) is None


def test_a_small_ratio_is_written_out_in_the_workings():
    quantities = evaluate(pool_ratio="0.000001", memory_fraction="0.99")
    assert "0.000001 ×" in quantities["engine_swa_pool_tokens"].working
    assert not any("e-0" in quantity.working for quantity in quantities if quantity.definition.key.startswith("engine"))
