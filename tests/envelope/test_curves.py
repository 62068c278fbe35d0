"""Chart data: the points a reader would check, and sentences where a chart does not apply."""

from fractions import Fraction

import pytest

from envelope import evaluate
from envelope.curves import expert_coverage, pool_ratio
from envelope.pools import binding_pool
from envelope.quantities.pools import cost_and_need, sessions_at


def at(series, x):
    return series.y[series.x.index(x)]


class TestPoolRatio:
    def test_marks_best_neighbours_and_default(self):
        """Source: the first seed's printed ratios and sessions."""
        labels = [mark.label for mark in pool_ratio(evaluate()).marks]
        assert labels == ["128K: 258 at 0.0782", "32K: 665 at 0.313", "1M: 38 at 0.0098", "95 at the default 0.8"]

    def test_marks_a_ratio_that_is_neither_the_best_nor_the_default(self):
        envelope = evaluate(pool_ratio="0.1")
        assert f"chosen: {envelope.value('sessions')} at 0.1" in [mark.label for mark in pool_ratio(envelope).marks]

    def test_the_line_passes_through_what_evaluate_says(self):
        line = pool_ratio(evaluate(pool_ratio="0.4")).series[0]
        for ratio in ("0.4", "0.8"):
            assert at(line, float(Fraction(ratio))) == evaluate(pool_ratio=ratio).value("sessions")

    @pytest.mark.parametrize("inputs", [{}, {"pp": "2", "tp": "4"}, {"mix": "32K:1,128K:3"}, {"dp": "2", "tp": "4", "context": "100"}])
    def test_every_point_is_what_the_pools_hold(self, inputs):
        """The line in whole numbers against the exact fractions of the sessions at a ratio."""
        envelope = evaluate(**inputs)
        line = pool_ratio(envelope).series[0]
        assert list(line.y) == [sessions_at(envelope.evaluation, Fraction(point)) for point in line.x]
        cost, need = cost_and_need(envelope.evaluation)
        assert list(line.hover) == [f"{binding_pool(cost, need, Fraction(point))} pool binds" for point in line.x]

    def test_the_title_states_the_finding_and_follows_the_state(self):
        assert pool_ratio(evaluate()).title == "The default ratio fits 95 of 258 sessions"
        assert pool_ratio(evaluate(context="1M")).title == "The default ratio fits 11 of 38 sessions"

    def test_hover_says_what_binds(self):
        line = pool_ratio(evaluate()).series[0]
        assert line.hover[0] == "sliding pool binds" and line.hover[-1] == "full pool binds"

    @pytest.mark.parametrize(
        ("inputs", "reason"),
        [
            ({"model": "llama-3.1-70b"}, "Not drawn: every layer keeps the same span, so there is one pool and no ratio."),
            ({"gpus": 1}, "Not drawn: the weights, 533 GB, exceed the 236 GB that 1 GPU may use."),
        ],
    )
    def test_says_why_it_is_not_drawn(self, inputs, reason):
        chart = pool_ratio(evaluate(**inputs))
        assert (chart.series, chart.reason) == ((), reason)


class TestExpertCoverage:
    def test_marks_with_weight_bytes(self):
        """Source: the first seed: 54 GB at one token, 477 GB at 73."""
        labels = [mark.label for mark in expert_coverage(evaluate()).marks]
        assert labels == ["1: 8, 54.1 GB", "32: 163, 349 GB", "73: 231, 477 GB"]

    def test_a_dense_model_has_no_such_chart(self):
        assert expert_coverage(evaluate("llama-3.1-70b")).reason == "Not drawn: the model has no routed experts: every step reads every weight."
