"""What holds whatever the inputs: monotone sessions and ratios, shares that sum to one, ranks that hold it all."""

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from envelope import admission, benchmark, evaluate, experts, parallelism, speculation
from envelope.checkpoint import Split, total_bytes
from envelope.quantities.cost import cost_of
from envelope.quantities.pools import sessions_at
from envelope.quantities.speculation import expert_ratio
from envelope.ranks import Layout
from tests.envelope.strategies import contexts, models, presets, ratios

counts = st.integers(1, 10_000)
workloads = st.builds(benchmark.Workload, st.integers(1, 500), counts, st.integers(0, 10_000), counts, st.booleans())
money = st.fractions(0, 100, max_denominator=1000)
times = st.fractions("1/1000", 10, max_denominator=10_000)


@settings(max_examples=60)
@given(presets, contexts, st.integers(1, 2**20))
def test_sessions_never_rise_with_context(preset, context, more):
    shorter, longer = (evaluate(preset, context=length).value("sessions") for length in (context, context + more))
    assert longer <= shorter


@settings(max_examples=60)
@given(st.sampled_from(["muse-spark-open", "gpt-oss-120b"]), contexts, ratios)
def test_no_ratio_beats_the_best(preset, context, ratio):
    envelope = evaluate(preset, context=context)
    assert sessions_at(envelope.evaluation, ratio) <= envelope.value("sessions")


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 200_000), st.integers(1, 3)), min_size=1, max_size=4), ratios)
def test_no_ratio_beats_the_best_of_a_mix(mix, ratio):
    envelope = evaluate(mix=tuple(mix))
    assert sessions_at(envelope.evaluation, ratio) <= envelope.value("pool_mix_sessions") == envelope.value("sessions")


@settings(max_examples=40)
@given(st.sampled_from(["muse-spark-open", "gpt-oss-120b", "qwen3-235b", "deepseek-v3"]), st.integers(2, 64), st.integers(1, 500), st.integers(1, 500))
def test_the_expert_byte_ratio_falls_with_batch(preset, block, batch, more):
    e = evaluate(preset, verify_tokens=block).evaluation
    few, many = expert_ratio(e, batch), expert_ratio(e, batch + more)
    assert 1 - 1e-12 <= many <= few * (1 + 1e-12) <= block * (1 + 1e-9)


@settings(max_examples=30)
@given(presets, st.integers(1, 511))
def test_cost_falls_with_batch_up_to_the_cap(preset, batch):
    e = evaluate(preset).evaluation
    session = Fraction(e["cache_bytes_per_session"])
    assert cost_of(e, batch + 1, session) < cost_of(e, batch, session)


@settings(max_examples=60)
@given(st.integers(1, 512), st.integers(1, 512))
def test_a_larger_cap_never_costs_more(one, other):
    low, high = sorted((one, other))
    costs = [evaluate(context="8K", max_batch=limit).value("cost_per_million_output") for limit in (low, high)]
    assert costs[1] <= costs[0]


class TestBenchmark:
    @given(workloads)
    def test_kinds_of_tokens_add_up(self, one):
        assert one.hits + one.fresh + one.output == one.total
        assert one.hits >= 0 and one.fresh >= one.new_input

    @given(workloads)
    def test_input_is_what_each_turn_resends(self, one):
        """Counted turn by turn: the conversation so far, its answers included, and what is new."""
        held, sent = one.first_turn, 0
        for _ in range(one.turns):
            sent += held
            held += one.output_tokens + one.new_tokens
        assert one.input_tokens == sent
        assert one.longest == held - one.new_tokens

    @given(workloads, st.fractions(1, 10**6, max_denominator=100), st.integers(1, 64), st.integers(1, 5000))
    def test_littles_law(self, one, total, gpus, sessions):
        load = benchmark.Load(one, total, gpus, sessions)
        assert load.turn_seconds * load.turns_per_second == sessions

    @given(st.integers(1, 60), st.integers(1, 100_000), st.integers(1, 2000))
    def test_shares_of_tokens_and_of_the_bill_sum_to_one(self, turns, first, output):
        envelope = evaluate(gpus=4, turns=turns, first_turn=first, output_tokens=output)
        assert sum(envelope.value(f"bench_{part}_share") for part in ("hits", "fresh", "output")) == 1
        assert sum(envelope.value(f"turn_share_{part}") for part in ("cached", "fresh", "output")) == 1

    @given(workloads, money, money, money)
    def test_a_bill_without_caching_prices_is_never_lower(self, one, fresh, cached, output):
        assume(cached <= fresh)
        assert benchmark.bill(one, fresh, cached, output).total <= benchmark.bill(one, fresh, fresh, output).total

    @given(money, st.fractions("1/1000", 1000, max_denominator=1000), st.fractions("1/1000", 10, max_denominator=1000))
    def test_margin_is_what_the_rent_leaves(self, rent, each, revenue):
        margin = benchmark.margin(rent, each, revenue)
        assert margin * each * revenue == each * revenue - rent


class TestRanks:
    @settings(max_examples=60)
    @given(models(), st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 2, 4]), st.sampled_from([1, 2]), st.sampled_from([1, 2, 4, 8]), st.sampled_from(["bf16", "fp8", "nvfp4"]))
    def test_ranks_hold_at_least_the_file(self, model, tp, dp, pp, ep, format):
        gpus = tp * dp * pp
        assume(gpus % ep == 0 and pp <= model.layers)
        split, layout = Split(format), Layout(gpus, tp, pp, dp, ep)
        placed = parallelism.placement(model, split, layout, total_bytes(model, split))
        assert placed.fullest.total * gpus >= placed.cluster >= total_bytes(model, split)

    @settings(max_examples=60)
    @given(models(), st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 4]), st.sampled_from([1, 2]), st.sampled_from(["bf16", "nvfp4"]))
    def test_parts_on_ranks_add_up_to_the_file_the_fullest_rank_and_all_of_them(self, model, tp, dp, pp, format):
        assume(pp <= model.layers)
        split, layout = Split(format), Layout(tp * dp * pp, tp, pp, dp, tp * dp)
        parts, placed = parallelism.parts_on_ranks(model, split, layout), parallelism.placement(model, split, layout, total_bytes(model, split))
        assert sum(one.file for one in parts) == total_bytes(model, split)
        assert sum(one.rank for one in parts) == placed.fullest.total
        assert sum(one.cluster for one in parts) == placed.cluster
        assert all(one.cluster == one.file * dp * tp for one in parts if one.kind == "copied")

    @settings(max_examples=40)
    @given(models(), st.sampled_from([1, 2, 4, 8]))
    def test_more_data_parallel_ranks_never_hold_more_each(self, model, dp):
        split = Split("bf16")
        fewer, more = (parallelism.rank_weights(model, split, Layout(ranks, 1, 1, ranks, ranks))[0].total for ranks in (dp, 2 * dp))
        assert more <= fewer


class TestBalance:
    @given(st.integers(1, 300), st.floats(0.001, 0.999), st.integers(1, 64))
    def test_the_busiest_reads_between_the_mean_and_all(self, held, chance, ranks):
        most = parallelism.busiest(held, chance, ranks)
        assert held * chance * (1 - 1e-9) <= most <= held * (1 + 1e-12)

    @given(st.integers(1, 300), st.floats(0.001, 0.999))
    def test_one_rank_reads_the_mean(self, held, chance):
        assert parallelism.busiest(held, chance, 1) == pytest.approx(held * chance, rel=1e-9)

    def test_two_coins_on_two_ranks(self):
        """Two fair experts a rank: the larger of two counts is 0, 1, 2 with 1/16, 8/16, 7/16."""
        assert parallelism.busiest(2, 0.5, 2) == pytest.approx(22 / 16)

    @given(st.integers(1, 256), st.integers(1, 8), st.integers(1, 50))
    def test_idle_ranks_follow_the_draw_without_replacement(self, held, top_k, tokens):
        """The chance that no expert of one rank is among the chosen, expert by expert."""
        routed = 256
        alone = 1.0
        for chosen in range(top_k):
            alone *= max(0, routed - held - chosen) / (routed - chosen)
        assert parallelism.idle_share(routed, top_k, held, tokens) == pytest.approx(alone**tokens, rel=1e-6, abs=1e-300)

    @given(st.integers(2, 64), st.fractions(1, 20_000, max_denominator=100))
    def test_local_experts_make_the_exchange_denser(self, ranks, intensity):
        assert parallelism.without_local(intensity, ranks) > intensity

    def test_coverage_is_the_house_s(self):
        assert experts.touched(256, 8, 1) == pytest.approx(8)


class TestCycle:
    @given(times, times, times, times, st.fractions(1, 9, max_denominator=100))
    def test_breaking_even_is_a_speed_up_of_one(self, draft, verify, other, step, advanced):
        cycle = speculation.Cycle(draft, verify, other, step)
        assert cycle.speedup(cycle.breakeven) == 1
        assert (cycle.speedup(advanced) > 1) == (advanced > cycle.breakeven)


class TestAdmission:
    @settings(max_examples=40)
    @given(st.integers(0, 10**11), st.integers(0, 10**5))
    def test_a_drafter_never_admits_more(self, weights, each):
        alone, beside = evaluate(), evaluate(draft_weight_bytes=weights, draft_cache_bytes_per_token=each)
        assert beside.value("admit_cap") <= alone.value("admit_cap")
        assert alone.value("admit_state_bytes") - beside.value("admit_state_bytes") == Fraction(weights, 8)

    @given(st.integers(1, 10**12), st.integers(1, 10**6), st.integers(1, 10**6), st.integers(0, 10**9))
    def test_the_admitted_fit_and_one_more_does_not(self, state, per_token, tokens, bounded):
        count = admission.requests(Fraction(state), Fraction(per_token), tokens, None, Fraction(bounded))
        each = per_token * tokens + bounded
        assert count * each <= state < (count + 1) * each

    @given(st.integers(1, 10**12), st.integers(1, 10**6), st.integers(1, 10**5), st.integers(0, 10**11))
    def test_a_stated_reserve_gives_whole_requests_of_live_tokens(self, state, per_token, tokens, fixed):
        live = admission.live_tokens(Fraction(state), Fraction(fixed), Fraction(per_token))
        assert admission.requests(Fraction(state), Fraction(per_token), tokens, Fraction(fixed), Fraction(0)) == live // tokens

    @given(st.fractions(0, 10**6, max_denominator=100), st.integers(1, 1000))
    def test_replicas_hold_the_demand_and_one_fewer_does_not(self, wanted, cap):
        found = admission.replicas(wanted, cap)
        assert found * cap >= wanted
        assert found == 1 or (found - 1) * cap < wanted

    def test_a_replica_that_admits_nothing_is_no_answer(self):
        with pytest.raises(ValueError, match="admits no request"):
            admission.replicas(Fraction(1), 0)
