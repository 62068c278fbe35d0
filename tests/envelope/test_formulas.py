"""Coverage, crossovers, pools and ranks against the first seed's printed figures and against a slower oracle."""

from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envelope import checkpoint, experts, flops, pools, ranks
from envelope.cache import LayerCache
from envelope.model import HeadAttention, Indexer, LatentAttention, LayerGroup, Model
from tests.envelope.strategies import contexts, models, ratios
from tests.envelope.test_model import muse

NVFP4 = "bf16~routed_experts.nvfp4.at1-60"


class TestCoverage:
    @pytest.mark.parametrize(("top_k", "routed", "tokens"), [(8, 256, 72.5), (4, 128, 72.5), (8, 128, 35.7), (8, 384, 109.4)])
    def test_tokens_that_read_nine_tenths(self, top_k, routed, tokens):
        assert round(experts.tokens_to_touch(routed, top_k, 0.9), 1) == tokens

    @given(st.integers(1, 512), st.integers(1, 512), st.integers(1, 10_000))
    def test_never_more_than_all_or_than_chosen(self, routed, top_k, tokens):
        top_k = min(top_k, routed)
        assert 0 < experts.touched(routed, top_k, tokens) <= min(routed, top_k * tokens) * (1 + 1e-12)


class TestCheckpoint:
    def test_the_nvfp4_file(self):
        assert checkpoint.total_bytes(muse(), checkpoint.read_split(NVFP4)) == 532_688_173_312

    def test_what_the_hub_displays_for_it(self):
        """386,547,056,640 packed bytes, 48,318,382,080 scales and 48,911,367,296 BF16 parameters."""
        assert checkpoint.hub_displayed(muse(), checkpoint.read_split(NVFP4)) == 483_776_806_016

    def test_the_split_reads_back_as_written(self):
        assert str(checkpoint.read_split(NVFP4)) == NVFP4

    @pytest.mark.parametrize("text", ["q7", "bf16~experts", "bf16~routed_experts.q9", "bf16~a.fp8.at9-x", ""])
    def test_what_cannot_be_read_is_named(self, text):
        with pytest.raises(ValueError, match=r"format|cannot read"):
            checkpoint.read_split(text)

    @given(models(), st.sampled_from(["bf16", "fp8", "nvfp4", "mxfp4", "int4", "fp8_block"]))
    def test_every_parameter_is_stored_once(self, model, format):
        found = checkpoint.pieces(model, checkpoint.uniform(format))
        assert sum(piece.parameters for piece in found) == sum(piece.tensor.resident for piece in checkpoint.pieces(model, checkpoint.uniform("bf16")))


class TestCrossover:
    def test_decode_and_prefill(self):
        assert flops.crossover_decode(muse(), 42_777_706_496) == 169_072
        assert flops.crossover_prefill(muse(), 42_777_706_496) == 338_144

    def test_latent_attention_is_absorbed_in_decode_and_expanded_in_prefill(self):
        """DeepSeek V3: 2·128·(2·512 + 64) and 2·128·(128 + 64 + 128) FLOP per position and layer."""
        attention = LatentAttention(128, 512, 128, 64, 128, query_rank=1536)
        assert flops.decode_cost(attention).slope == 278_528
        assert flops.prefill_cost(attention).slope == 81_920

    def test_sparse_attention_scores_every_position_and_reads_its_top_k(self):
        attention = LatentAttention(128, 512, 128, 64, 128, indexer=Indexer(64, 128, 2048))
        cost = flops.decode_cost(attention)
        assert (cost.slope, cost.constant) == (16_384, 278_528 * 2048)

    def test_no_crossover_where_nothing_grows(self):
        model = Model(64, 10, (LayerGroup(2, HeadAttention(4, 4, 16, 16, window=128), None),))
        assert flops.crossover_decode(model, 1e9) is None


def _seed_sessions(pool, full, sliding, context, need, ratio):
    """The first seed's own rule, written out: N / L and r N / need, floored apart."""
    tokens = pool / (full + ratio * sliding)
    return min(floor(tokens / context), floor(ratio * tokens / need))


class TestPools:
    FULL, SLIDING, POOL = Fraction(32_768), Fraction(94_208), Fraction(1_357_311_826_688)
    COST = pools.TokenCost(FULL, SLIDING, Fraction(0), 2048)

    @pytest.mark.parametrize(
        ("context", "ratio", "count"),
        [
            (131_072, "5/64", 258), (131_072, "0.8", 95), (131_072, "0.4", 146), (131_072, "0.2", 200),
            (131_072, "0.15", 220), (131_072, "0.1", 245), (131_072, "0.0782", 258), (131_072, "0.0781", 257),
            (32_768, "0.3125", 665), (1_048_576, "5/512", 38), (1_048_576, "0.8", 11),
        ],
    )  # fmt: skip
    def test_sessions_at_a_ratio(self, context, ratio, count):
        need = pools.demand(((context, 1),), 2048, 8192)
        assert pools.sessions(self.POOL, self.COST, need, Fraction(ratio)) == count

    def test_a_mix_is_served_in_whole_groups(self):
        need = pools.demand(((32_768, 1), (131_072, 1)), 2048, 8192)
        assert pools.best_ratio(need) == Fraction(1, 8)
        assert pools.sessions(self.POOL, self.COST, need, Fraction(1, 8)) == 370
        assert pools.sessions(self.POOL, self.COST, need, Fraction(8, 10)) == 152

    @given(contexts, ratios, st.integers(1, 10**14))
    def test_agrees_with_the_seeds_rule(self, context, ratio, pool):
        need = pools.demand(((context, 1),), 2048, 8192)
        expected = _seed_sessions(Fraction(pool), self.FULL, self.SLIDING, context, need.sliding_tokens, ratio)
        assert pools.sessions(Fraction(pool), self.COST, need, ratio) == expected

    @given(*(st.fractions(0, 10**6, max_denominator=64) for _ in range(4)), st.sampled_from([0, 512]), contexts, ratios)
    def test_sessions_in_whole_numbers_are_the_pool_over_what_a_group_takes(self, pool, full, sliding, state, window, context, ratio):
        cost, need = pools.TokenCost(full, sliding, state, window), pools.demand(((context, 2),), window, 128)
        each = pools.session_bytes(cost, need, ratio)
        assert pools.sessions(pool, cost, need, ratio) == (floor(pool / each) * 2 if each else 0)

    @given(*(st.fractions(Fraction(1, 64), 10**6, max_denominator=64) for _ in range(3)), ratios)
    def test_a_ratio_divides_the_memory_as_its_fractions_do(self, pool, full, sliding, ratio):
        cost, each = pools.TokenCost(full, sliding, Fraction(0), 512), full + ratio * sliding
        assert pools.sliding_share(cost, ratio) == ratio * sliding / each
        assert pools.sliding_tokens(pool, cost, ratio) == floor(ratio * (pool / each))

    @given(contexts, ratios)
    def test_no_ratio_beats_the_best(self, context, ratio):
        need = pools.demand(((context, 1),), 2048, 8192)
        best = pools.sessions(self.POOL, self.COST, need, pools.best_ratio(need))
        assert pools.sessions(self.POOL, self.COST, need, ratio) <= best

    @given(contexts)
    def test_the_printed_ratio_loses_at_most_what_rounding_up_costs(self, context):
        need = pools.demand(((context, 1),), 2048, 8192)
        best, printed = pools.best_ratio(need), pools.round_up(pools.best_ratio(need))
        assert best <= printed <= best * Fraction(21, 20)

    @pytest.mark.parametrize(("ratio", "printed"), [("0.078125", "0.0782"), ("0.3125", "0.313"), ("5/512", "0.0098"), ("1/8", "0.125"), ("1", "1"), ("0.00001", "0.00001")])
    def test_a_ratio_is_rounded_up_at_the_printed_digits(self, ratio, printed):
        assert pools.round_up(Fraction(ratio)) == Fraction(printed)

    @given(contexts, ratios, st.integers(1, 10**13))
    def test_what_binds_is_what_runs_out(self, context, ratio, pool):
        need = pools.demand(((context, 1),), 2048, 8192)
        tokens = Fraction(pool) / (self.FULL + ratio * self.SLIDING)
        full, sliding = tokens / context, ratio * tokens / need.sliding_tokens
        expected = "both" if full == sliding else "full" if full < sliding else "sliding"
        assert pools.binding_pool(self.COST, need, ratio) == expected


class TestRanks:
    @pytest.mark.parametrize(("heads", "tp", "share"), [(16, 8, "1/8"), (4, 8, "1/4"), (8, 3, "3/8"), (1, 8, "1"), (8, 1, "1")])
    def test_the_fullest_rank_keeps_at_least_one_head(self, heads, tp, share):
        assert ranks.heads_share(LayerCache("full", 1, Fraction(2), heads=heads), tp) == Fraction(share)

    def test_stages_follow_the_order_of_the_layers(self):
        """62 layers over 4 stages: 16, 16, 15, 15, each with every fourth layer global."""
        found = ranks.stages(muse(), 4)
        assert [sum(cache.count for cache in stage) for stage in found] == [16, 16, 15, 15]
        assert [sum(cache.count for cache in stage if cache.kind == "full") for stage in found] == [4, 4, 4, 4]

    @given(models(), st.integers(1, 12))
    def test_stages_hold_every_layer_once(self, model, pp):
        found = ranks.stages(model, min(pp, model.layers))
        assert sum(cache.count for stage in found for cache in stage) == model.layers

    @given(models(), st.integers(1, 64))
    def test_ranks_together_hold_at_least_one_copy(self, model, tp):
        assert ranks.copies(model, tp) >= 1

    @pytest.mark.parametrize("numbers", [(8, 3, 1, 2, 1), (8, 8, 1, 1, 3)])
    def test_a_layout_that_does_not_divide_is_refused(self, numbers):
        with pytest.raises(ValueError, match="gpus"):
            ranks.Layout(*numbers)
