"""The figures both seeds print about the decisions and checks, recomputed by the code the page runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envelope import catalog
from envelope.decisions.example import teaching
from envelope.evaluation import Envelope, evaluate
from envelope.printed.seven_numbers import muse



def _budget() -> Envelope:
    """The laboratory budget on the teaching example's EP 8 rank."""
    given = {"usable_per_rank": "80GiB", "graph_bytes": "8GiB", "reserve_bytes": "4GiB"}
    return evaluate(teaching(8).scenario, **given)


def _requests(**inputs: object) -> Envelope:
    """The same budget with the request state the second seed assumes: 80 KiB per live token and 1 GiB fixed."""
    state = {"cache_bytes_per_token": 81_920, "state_reserve": "1GiB", "prompt_reserve": 8192, "output_reserve": 1024}
    return evaluate(_budget().scenario, **state, **inputs)


def _one_rank() -> Envelope:
    """A replica of one rank with 52 GiB of weights, asked for 42 requests: 2 a second that stay 21 s."""
    return _requests(gpus=1, dp=1, ep=1, weight_bytes="52GiB", arrival_per_s=2, residence_s=21)


def _verify(requests: int) -> float:
    return muse(batch=requests).value("spec_expert_ratio")


def _cycle(**inputs: object) -> Envelope:
    return muse(draft_ms=8, verify_ms=42, other_ms=5, step_ms=30, **inputs)


def _cost(context: str) -> float:
    return muse(context=context).value("cost_per_million_output")


def _small_cache(context: str) -> float:
    return muse(context=context).value("cost_small_cache_per_million_output")


def _crossing() -> list[int]:
    """The two lengths a doubling table would show the crossing between."""
    found = muse().value("cost_crossing_context")
    below = 1 << (found.bit_length() - 1)
    return [below, 2 * below]


def _breakeven(gpu_hour: str) -> float:
    return muse(gpu_hour=gpu_hour).value("cache_breakeven_seconds")


def _measured_gain() -> list[int]:
    points = catalog.traffic().speculation
    return [round((one.speedup - 1) * 100) for one in points if one.drafter == "DFlash V2" and one.concurrency in (4, 32)]


def _reference_scores() -> list[float]:
    rows = {
        one.weight_format: one
        for one in catalog.traffic().scores
        if one.benchmark == "GSM8K" and one.harness == "SGLang launch post"
    }
    return [rows["nvfp4"].low, rows["bf16"].low, rows["mxfp4"].low, rows["mxfp4"].high]


def _of(key: str, **inputs: object) -> Callable[[], Any]:
    return lambda: muse(**inputs).value(key)


CHECKS: dict[str, Callable[[], Any]] = {
    "parallel.collectives": _of("parallel_collectives"),
    "parallel.experts_per_gpu": _of("parallel_experts_per_rank"),
    "parallel.intensity": _of("parallel_exchange_intensity"),
    "parallel.intensity_local": _of("parallel_exchange_intensity_local"),
    "parallel.machine_balance": _of("parallel_machine_balance"),
    "hicache.host": _of("host_cache_bytes", gpus=4, host_cache_per_rank="200GB"),
    **{f"spec.expert_ratio_{requests}": lambda requests=requests: _verify(requests) for requests in (1, 4, 32)},
    "spec.measured_time_4": lambda: catalog.traffic().verify_step.value,
    "spec.measured_gain": _measured_gain,
    "cost.8k": lambda: _cost("8K"),
    "cost.128k": lambda: _cost("128K"),
    "cost.1m": lambda: _cost("1M"),
    "cost.890_8k": lambda: _small_cache("8K"),
    "cost.890_128k": lambda: _small_cache("128K"),
    "cost.crossing": _crossing,
    "cache.breakeven_677": lambda: _breakeven("6.77"),
    "cache.breakeven_950": lambda: _breakeven("9.50"),
    "cache.breakeven_735": lambda: _breakeven("7.35"),
    "cache.hit_share": _of("cost_hit_share"),
    "cache.reload_1m": _of("host_reload_seconds", context="1M", host_link="64GB/s"),
    "cache.prefix_off": _of("cost_prefix_off_factor"),
    "bench.hits": _of("bench_hits_per_gpu"),
    "bench.fresh": _of("bench_fresh_per_gpu"),
    "bench.output": _of("bench_output_per_gpu"),
    "bench.output_share": _of("bench_output_share"),
    "bench.turns": _of("bench_turns_per_second"),
    "bench.turn_time": _of("bench_turn_seconds"),
    "bench.decode_time": _of("bench_decode_seconds"),
    "bench.wait": _of("bench_wait_seconds"),
    "bench.turn_speed": _of("bench_agent_tokens_per_second"),
    "turn.bill": _of("turn_bill"),
    "turn.share_cached": _of("turn_share_cached"),
    "turn.share_fresh": _of("turn_share_fresh"),
    "turn.share_output": _of("turn_share_output"),
    "turn.conversations": _of("turn_conversations_per_gpu_hour"),
    "turn.rental_low": _of("turn_rental", gpu_hour="6.77"),
    "turn.rental_high": _of("turn_rental", gpu_hour="9.50"),
    "turn.margin_677": _of("turn_margin", gpu_hour="6.77"),
    "turn.margin_950": _of("turn_margin", gpu_hour="9.50"),
    "turn.margin_735": _of("turn_margin", gpu_hour="7.35"),
    "turn.flash_bill": lambda: evaluate("deepseek-v4.1-flash").value("turn_bill"),
    "accuracy.gsm8k": _reference_scores,
    "rank.ep8": lambda: teaching(8).value("rank_weight_bytes"),
    "rank.ep16": lambda: teaching(16).value("rank_weight_bytes"),
    "rank.naive_ep8": lambda: teaching(8).value("rank_naive_bytes"),
    "rank.cluster_ep16": lambda: teaching(16).value("rank_cluster_bytes"),
    "rank.state": lambda: _budget().value("admit_state_bytes"),
    "admit.tokens": lambda: _requests().value("admit_tokens"),
    "admit.per_request": lambda: _requests().value("admit_tokens_per_request"),
    "admit.cap": lambda: _requests().value("admit_rank_cap"),
    "admit.next": lambda: _requests().value("admit_next_tokens"),
    "admit.replicas": lambda: _one_rank().value("admit_replicas"),
    "cycle.total": lambda: _cycle().value("spec_cycle_seconds"),
    "cycle.breakeven": lambda: _cycle().value("spec_breakeven_tokens"),
    "cycle.at_1_5": lambda: _cycle(acceptance="1.5").value("spec_seconds_per_token"),
    "cycle.at_3_2": lambda: _cycle(acceptance="3.2").value("spec_seconds_per_token"),
    "cycle.speedup_3_2": lambda: _cycle(acceptance="3.2").value("spec_speedup"),
}

OPEN: dict[str, str] = {
    "cost.890_1m": "with batch 512, the cap the other figures need, it is 0.58; what differs at a million tokens is not printed",
    "turn.one_session_margins": "the tokens per second of one session alone on the node are not printed",
}
