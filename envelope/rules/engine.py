"""Rules about what an engine does with memory: what its log will say, what it refuses, what its figures do not mean."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from envelope.engines.releases import NEWEST
from envelope.engines.vllm import STAGES_APART, TOKENS_ARE_CONCURRENCY
from envelope.fields.base import decimal_text
from envelope.findings import Finding
from envelope.model import LatentAttention
from envelope.quantities.engine import limits
from envelope.quantities.engine_rank import activations, rank, sglang_ratio, vllm_plan
from envelope.ranks import keeps_one_record
from envelope.rules.offers import changed, offer
from envelope.units import GIB, counted, shorten, token_text

if TYPE_CHECKING:
    from envelope.evaluation import Envelope

# Where the sparse latent kernels of consumer Blackwell (SM120) took BF16 only (voipmonitor/rtx6kpro, GLM-5 guide).
_SM120 = ("rtx-pro-6000-blackwell", "rtx-5090", "dgx-spark")


def _gib(value: Fraction) -> str:
    return f"{float(value) / GIB:,.2f} GiB"


def _typed(value: Fraction) -> str:
    """Bytes as a person types them, cut at two decimals."""
    return f"{decimal_text(Fraction(floor(value * 100 / GIB), 100))} GiB"


def request_refused(envelope: Envelope) -> Finding | None:
    """vLLM starts only if one request of max_model_len fits on the GPU, wherever else a cache may be kept."""
    if envelope.scenario["engine"] != "vllm":
        return None
    e = envelope.evaluation
    plan, memory, length = vllm_plan(e), e["kv_memory_per_rank"], envelope.scenario["max_model_len"]
    needed, usable = Fraction(plan.request_bytes(length)), plan.usable(memory)
    if needed <= usable:
        return None
    largest = e["engine_largest_model_len"]
    words = f"One request of {token_text(length)} tokens needs {_gib(needed)} on each rank and {_gib(usable)} are left: vLLM refuses to start, with or without a host cache."
    if not largest:
        return Finding("request_refused", "error", f"{words} No length fits.", {}, 1.0)
    return Finding("request_refused", "error", f"{words} {largest:,} tokens would fit.", {"max_model_len": str(largest)}, 1.0)


def no_cache_memory(envelope: Envelope) -> Finding | None:
    """Weights, and in vLLM activations and graphs, leave nothing inside the fraction."""
    scenario = envelope.scenario
    if scenario.model is None or envelope.value("kv_memory_per_rank") is not None or envelope.value("pool_bytes") is None:
        return None
    smallest = envelope.value("smallest_memory_fraction")
    if smallest is None or smallest < scenario["memory_fraction"]:
        # The fraction suffices: what is missing is not memory.
        return None
    words = f"No memory is left for a cache: {envelope['kv_memory_per_rank'].reason}."
    if smallest >= 1:
        return Finding("no_cache_memory", "error", f"{words} No fraction starts on such a GPU.", {}, 1.0)
    larger = decimal_text(Fraction(floor(smallest * 10**4) + 1, 10**4))
    change = offer(envelope, {"memory_fraction": larger}, lambda other: bool(other.value("kv_memory_per_rank")))
    if change:
        words += f" The smallest fraction that starts is {larger}."
    return Finding("no_cache_memory", "error", words, change, 1.0)


def token_line_is_not_capacity(envelope: Envelope) -> Finding | None:
    """vLLM's "GPU KV cache size" counts blocks over groups, or moves with max_model_len: neither is what fits."""
    if envelope.scenario["engine"] != "vllm":
        return None
    e = envelope.evaluation
    plan, memory = vllm_plan(e), e["kv_memory_per_rank"]
    if len(plan.groups) < 2:
        return None
    printed, length = plan.tokens(memory), plan.options.max_model_len
    if plan.options.release < TOKENS_ARE_CONCURRENCY:
        held = int(plan.concurrency(memory) * length)
        if abs(held - printed) <= printed / 10:
            return None
        words = f"vLLM {envelope.scenario['engine_version']} prints {printed:,} tokens, blocks over {len(plan.groups)} groups: {shorten(float(plan.concurrency(memory)), 4)} requests of {token_text(length)} fit, {held:,} tokens."
        return Finding("token_line_is_not_capacity", "note", words, {}, 0.05)
    short = max(1, length // 4)
    other = vllm_plan(e, short).tokens(memory)
    if abs(other - printed) <= printed / 10:
        return None
    words = f"vLLM prints {printed:,} tokens: concurrency × max_model_len, no capacity. At {token_text(short)} tokens per request the same memory prints {other:,}."
    return Finding("token_line_is_not_capacity", "note", words, {}, 0.05)


def state_blocks_per_session(envelope: Envelope) -> Finding | None:
    """State hybrids: every session holds whole inflated blocks per group, and prefixes are reused in such blocks."""
    if envelope.scenario["engine"] != "vllm":
        return None
    e = envelope.evaluation
    plan = vllm_plan(e)
    states = sum(group.kind == "state" for group in plan.groups)
    if not states or states == len(plan.groups):
        return None
    longest = max(length for length, _ in envelope.scenario.mix)
    fixed, needed = states * plan.options.state_blocks, plan.request_blocks(longest)
    words = (
        f"A block is {plan.options.block_size:,} tokens, one recurrent state: every session holds {fixed:,} of them for its states, "
        f"{fixed / needed:.0%} of the {needed:,} it needs at {token_text(longest)}, and prefixes are reused in whole blocks."
    )
    return Finding("state_blocks_per_session", "note", words, {}, 0.5 * fixed / needed)


def requests_cap_binds(envelope: Envelope) -> Finding | None:
    """A cap on requests lets fewer sessions run than memory holds."""
    scenario = envelope.scenario
    if scenario["max_num_seqs"] is None or envelope.value("engine_binds") != "requests at once":
        return None
    capped, dp = envelope.value("engine_sessions"), scenario.layout.dp
    held = dp * min(count for count, what in limits(envelope.evaluation) if what != "requests at once")
    vllm = scenario["engine"] == "vllm"
    change: dict[str, str] = {}
    starved = False
    # More requests at once take memory themselves, so what is held with the higher cap may be less; ask again with that.
    for _ in range(3):
        asked = {"max_num_seqs": str(held // dp if vllm else held)}
        other = changed(envelope, asked) if held > capped else None
        reached = other.value("engine_sessions") if other else None
        if reached is None or reached >= held:
            change, starved = (asked, False) if reached else ({}, other is not None)
            break
        held = reached
    if held <= capped:
        return None
    name = "max_num_seqs" if vllm else "max_running_requests"
    words = f"{name} {scenario['max_num_seqs']:,} lets {counted(capped, 'sessions')} run"
    words += f". Memory would hold {held:,}, but activations of as many requests at once leave no cache: raise it in steps." if starved else f" where memory holds {held:,}."
    return Finding("requests_cap_binds", "warning", words, change, 1 - capped / held)


def starts_is_not_serves(envelope: Envelope) -> Finding | None:
    """What stays outside the fraction is less than one step's activations may take: it boots and dies under load."""
    scenario = envelope.scenario
    if scenario["engine"] not in NEWEST or scenario.model is None or "kv_memory_per_rank" in scenario.given:
        return None
    outside = Fraction(scenario["hbm"]) * (1 - Fraction(scenario["memory_fraction"]))
    peak = envelope.ask(activations)
    given = scenario["activation_reserve"]
    if scenario["engine"] == "vllm":
        # Activations are inside its fraction, yet 1.9 GiB outside ended a 240K prompt where 3.8 served (sjug/rtx6kpro, 0.98 against 0.96).
        needed = min(Fraction(2 * GIB), Fraction(scenario["hbm"]) / 20)
    else:
        needed = Fraction(given) if given is not None else peak.value
    if outside >= needed:
        return None
    what = "library buffers and fragments" if scenario["engine"] == "vllm" else f"activations of a {token_text(scenario['chunk'])} step and graphs"
    fraction = Fraction(floor((1 - needed / Fraction(scenario["hbm"])) * 100), 100)
    change = offer(envelope, {"memory_fraction": decimal_text(fraction)}, lambda other: bool(other.value("engine_sessions")))
    words = f"Starts is not serves: fraction {shorten(float(scenario['memory_fraction']), 6)} leaves {_gib(outside)} outside for {what}, which take about {_gib(needed)}; the first long prompt may run out of memory."
    return Finding("starts_is_not_serves", "warning", words, change, 0.3)


def fraction_is_not_additive(envelope: Envelope) -> Finding | None:
    """A small fraction suggests several processes on a GPU; fractions of them do not add up."""
    scenario = envelope.scenario
    if scenario["engine"] not in NEWEST or scenario["memory_fraction"] > Fraction(1, 2) or "kv_memory_per_rank" in scenario.given:
        return None
    e = envelope.evaluation
    memory, share = e["kv_memory_per_rank"], float(scenario["memory_fraction"])
    meant = "of the whole GPU and counts what already runs on it" if scenario["engine"] == "vllm" else "of what is free when it starts"
    words = f"A fraction of {shorten(share, 6)} is {meant}: a second process started with it gets less than the first. Fix the bytes instead, {_typed(memory)} of cache on each rank."
    change = offer(envelope, {"kv_memory_per_rank": _typed(memory)}) if scenario["engine"] == "vllm" else {}
    return Finding("fraction_is_not_additive", "note", words, change, 0.05)


def packed_latent(envelope: Envelope) -> Finding | None:
    """What sparse latent layers really store beside what the plain figure counts: packing and indexer scales."""
    scenario = envelope.scenario
    if scenario["engine"] not in NEWEST:
        return None
    e = envelope.evaluation
    layers = [one for one in rank(e).layers if one.kind in ("latent", "indexer")]
    if len({one.kind for one in layers}) < 2:
        return None
    stored = Fraction(sum(one.token_bytes * one.count for one in layers if not one.draft))
    plain = e["cache_bytes_per_token"]
    if stored <= plain * Fraction(102, 100):
        return None
    latent, index = (next(one for one in layers if one.kind == kind) for kind in ("latent", "indexer"))
    words = f"The engine stores {latent.token_bytes} bytes per latent and {index.token_bytes} per indexer key: {int(stored):,} per token on every rank, {float(stored / plain) - 1:.0%} above the plain figure."
    return Finding("packed_latent", "note", words, {}, float(1 - plain / stored) * 0.3)


def fp8_falls_back(envelope: Envelope) -> Finding | None:
    """FP8 asked for where the attention backend takes BF16."""
    scenario = envelope.scenario
    sparse = scenario.model is not None and any(isinstance(g.attention, LatentAttention) and g.attention.indexer for g in scenario.model.groups)
    if not sparse or scenario["cache_format"] != "fp8" or str(scenario["machine"]) not in _SM120:
        return None
    other = envelope.with_(cache_format="bf16").value("engine_kv_tokens")
    mine = envelope.value("engine_kv_tokens")
    figures = f": {other:,} tokens instead of {mine:,}" if other and mine else ""
    words = f"On SM120 cards sparse latent attention has forced the cache to BF16 whatever was asked{figures}. Read the format in the log."
    return Finding("fp8_falls_back", "warning", words, {"cache_format": "bf16"}, 0.4)


def tensorrt_on_gb300(envelope: Envelope) -> Finding | None:
    """TensorRT-LLM refuses a 16-bit cache with chunked prefill or block reuse on GB300."""
    scenario = envelope.scenario
    if scenario["engine"] != "plain" or scenario["cache_format"] != "bf16" or not str(scenario["machine"]).startswith("gb300"):
        return None
    words = f"If this is TensorRT-LLM: on GB300 it has refused a 16-bit cache together with chunked prefill ({token_text(scenario['chunk'])} here) or block reuse; an FP8 cache starts."
    return Finding("tensorrt_on_gb300", "note", words, {"cache_format": "fp8"}, 0.1)


def latent_could_be_shared(envelope: Envelope) -> Finding | None:
    """Ranks that keep the same latent cache could share it by decode context parallelism."""
    scenario = envelope.scenario
    tp = scenario.layout.tp
    if tp == 1 or scenario["dcp"] > 1 or scenario["engine"] not in NEWEST or scenario.model is None or not keeps_one_record(scenario.model):
        return None
    shared = envelope.with_(dcp=str(tp))
    more, mine = shared.value("engine_sessions"), envelope.value("engine_sessions")
    if not more or mine is None or more <= mine:
        return None
    words = f"TP {tp} brings nothing for this cache: each rank keeps all of it. With decode context parallelism {tp} the ranks share it: {more:,} instead of {counted(mine, 'sessions')}, at some loss of speed."
    return Finding("latent_could_be_shared", "note", words, {"dcp": str(tp)}, 0.5 * (1 - mine / more))


def sliding_pool_below_chunk(envelope: Envelope) -> Finding | None:
    """SGLang's sliding pool of the stated memory is below one chunk and window: prompts hang or are refused."""
    scenario = envelope.scenario
    if "kv_memory_per_rank" not in scenario.given:
        return None
    e = envelope.evaluation
    sliding, full = e["engine_swa_pool_tokens"], e["engine_full_pool_tokens"]
    window = max(one.window for one in rank(e).layers)
    wanted = window + scenario["chunk"]
    if sliding >= min(wanted, full):
        return None
    words = f"The sliding pool holds {sliding:,} tokens at ratio {shorten(float(sglang_ratio(e, window)), 4)}, less than one chunk and window ({wanted:,}), beside {full:,} in the full pool: prompts hang or are refused."
    change = offer(envelope, {"pool_ratio": "best"}, lambda other: sliding_pool_below_chunk(other) is None) if scenario["pool_ratio"] != "best" else {}
    return Finding("sliding_pool_below_chunk", "error", words, change, 1.0)


def whole_model_against_stage(envelope: Envelope) -> Finding | None:
    """vLLM before 0.19 tested the whole model's need against one pipeline stage."""
    scenario = envelope.scenario
    if scenario["engine"] != "vllm" or scenario.layout.pp == 1:
        return None
    e = envelope.evaluation
    if vllm_plan(e).options.release >= STAGES_APART:
        return None
    allowed = e["engine_largest_model_len"]
    newer = envelope.with_(engine_version=str(STAGES_APART)).value("engine_largest_model_len")
    if newer is None or newer <= allowed:
        return None
    words = f"vLLM {scenario['engine_version']} tests the whole model's cache against the smallest of {scenario.layout.pp} stages: {allowed:,} tokens; from {STAGES_APART} each stage is tested alone, {newer:,}."
    change = offer(envelope, {"engine_version": NEWEST["vllm"]}, lambda other: (other.value("engine_largest_model_len") or 0) > allowed)
    return Finding("whole_model_against_stage", "warning", words, change, 1 - allowed / newer)


def large_steps_take_cache(envelope: Envelope) -> Finding | None:
    """Very large prefill steps take activations, and sliding layers reserve for them."""
    scenario = envelope.scenario
    if scenario["engine"] != "vllm" or scenario["chunk"] <= 16384 or "kv_memory_per_rank" in scenario.given:
        return None
    smaller = envelope.with_(chunk="8192")
    mine, theirs = envelope.value("engine_activations"), smaller.value("engine_activations")
    more, fewer = smaller.value("engine_sessions"), envelope.value("engine_sessions")
    if more is None or mine is None or theirs is None or (fewer is not None and more <= fewer):
        return None
    words = f"Steps of {token_text(scenario['chunk'])} tokens take about {_gib(mine)} of activations, {_gib(theirs)} at 8,192: {counted(more, 'sessions')} then, {0 if fewer is None else fewer:,} now."
    return Finding("large_steps_take_cache", "warning", words, {"chunk": "8192"}, 1 - (fewer or 0) / more if more else 0.1)


RULES = (
    request_refused, no_cache_memory, token_line_is_not_capacity, state_blocks_per_session, requests_cap_binds,
    starts_is_not_serves, fraction_is_not_additive, packed_latent, fp8_falls_back, tensorrt_on_gb300,
    latent_could_be_shared, sliding_pool_below_chunk, whole_model_against_stage, large_steps_take_cache,
)  # fmt: skip
