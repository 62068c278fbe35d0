"""Shapes, their counts, their caches and their text."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envelope import cache, groups, parameters
from envelope.model import HeadAttention, LatentAttention, LayerGroup, MixtureOfExperts, Model
from tests.envelope.strategies import contexts, models


def muse() -> Model:
    """Muse Spark Open from its card: every fourth layer, counted from the end, is global."""
    moe = MixtureOfExperts(256, 8, 4096, latent=4096)
    full = HeadAttention(128, 16, 64, 64, gate="full")
    sliding = HeadAttention(128, 16, 64, 64, window=2048, gate="full")
    whole = tuple(range(1, 62, 4))
    rest = tuple(layer for layer in range(62) if layer not in whole)
    towers = (("vision", 1_900_000_000), ("audio", 118_000_000))
    return Model(8192, 202_048, (LayerGroup(16, full, moe, positions=whole), LayerGroup(46, sliding, moe, positions=rest)), towers=towers)


class TestCounts:
    """Source: the first seed's table and the shapes on the model card."""

    def test_by_part(self):
        assert parameters.resident_by_part(muse()) == {
            "embeddings": 1_655_177_216,
            "attention": 13_522_436_096,
            "latent_projections": 4_160_749_568,
            "dense": 0,
            "routed_experts": 798_863_917_056,
            "shared_experts": 0,
            "router": 130_023_424,
            "norms": 0,
            "head": 1_655_177_216,
            "towers": 2_018_000_000,
            "prediction": 0,
            "other": 0,
        }

    def test_totals(self):
        assert parameters.resident(muse()) == 822_005_480_576
        assert parameters.active(muse()) == 42_777_706_496

    def test_identity_experts_hold_nothing_and_take_their_share_of_choices(self):
        """LongCat: 12 of 512 experts and 256 identities, so 8 real experts a token on average."""
        model = Model(64, 10, (LayerGroup(1, None, MixtureOfExperts(512, 12, 32, zero_experts=256)),))
        assert parameters.active_by_part(model)["routed_experts"] == 8 * 3 * 32 * 64

    @given(models())
    def test_a_token_never_multiplies_more_than_is_held(self, model):
        held, used = parameters.resident_by_part(model), parameters.active_by_part(model)
        assert all(used[part] <= held[part] for part in held if part != "embeddings")


class TestCache:
    def test_growing_and_windowed_values(self):
        assert cache.growing_per_token(muse()) == 32_768
        assert cache.windowed_per_token(muse()) == 94_208

    def test_a_session_shorter_than_the_window_fills_less_of_it(self):
        assert cache.session_values(muse(), 1000) == 1000 * (32_768 + 94_208)

    @given(models(), st.lists(st.tuples(contexts, st.integers(1, 9)), min_size=1, max_size=4))
    def test_a_mix_keeps_what_every_layer_of_every_session_keeps(self, model, mix):
        expected = sum(one.values(length) * one.count * count for one in cache.layer_caches(model) for length, count in mix)
        assert cache.group_values(model, mix) == expected

    def test_a_latent_record_has_no_factor_two(self):
        attention = LatentAttention(128, 512, 128, 64, 128)
        model = Model(7168, 129_280, (LayerGroup(61, attention, None),))
        assert cache.growing_per_token(model) == 35_136

    @given(models())
    def test_a_longer_session_never_keeps_less(self, model):
        sizes = [cache.session_values(model, context) for context in (1, 100, 10_000, 1_000_000)]
        assert sizes == sorted(sizes)

    @given(models())
    def test_far_beyond_every_window_only_growing_layers_add(self, model):
        more = cache.session_values(model, 1_000_001) - cache.session_values(model, 1_000_000)
        assert more == cache.growing_per_token(model)


class TestText:
    def test_canonical_form(self):
        assert groups.write(muse()) == (
            "h8192.v202048~tower.vision1900000000~tower.audio118000000"
            "~16x_full.q128.kv16.k64.gatefull_moe.e256.k8.w4096.lat4096_at1-61by4"
            "~46x_sliding.q128.kv16.k64.win2048.gatefull_moe.e256.k8.w4096.lat4096_atrest"
        )

    @settings(max_examples=200)
    @given(models())
    def test_any_model_reads_back_equal(self, model):
        assert groups.read(groups.write(model)) == model

    @given(models())
    def test_needs_no_escaping_in_a_link(self, model):
        assert set(groups.write(model)) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-_~")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "cannot read ''"),
            ("h8.v8", "at least one layer"),
            ("h8~1x_full.q1.kv1.k1_none", "needs at least h"),
            ("h8.v8~1x_full.q1.kv1.k1", "a group is"),
            ("h8.v8~1x_star.q1_none", "does not know the attention 'star'"),
            ("h8.v8~1x_full.q1.kv1.k1_none_at5", "positions"),
            ("h8.v8~1x_full.q1.kv2.k1_none", "kv_heads 2 must be 1 to 1"),
            ("h8.v8~1x_sliding.q1.kv1.k1_none", "needs a window"),
            ("h8.v8~1x_none_moe.e8.k9.w1", "top_k 9 of 8 experts is impossible"),
            ("h8.v8~99999x_none_none~99999x_none_none", "layers"),
            ("x" * 30_000, "characters long"),
        ],
    )
    def test_what_cannot_be_read_is_named(self, text, message):
        with pytest.raises(ValueError, match=message):
            groups.read(text)


class TestChecks:
    def test_half_a_group_of_heads_is_refused(self):
        with pytest.raises(ValueError, match="multiple of kv_heads"):
            HeadAttention(6, 4, 64, 64)

    def test_layers_placed_twice_are_refused(self):
        layer = LayerGroup(2, None, None, positions=(0, 0))
        with pytest.raises(ValueError, match="once"):
            Model(8, 8, (layer,))

    def test_values_are_exact(self):
        assert cache.growing_per_token(muse()) == Fraction(32_768)
