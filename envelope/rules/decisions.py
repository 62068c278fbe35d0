"""Rules about the decisions and checks: the mistakes day-zero estimates make, where this state makes one."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import accuracy, cache, catalog, checkpoint, published, shape
from envelope.admission import gib
from envelope.fields.deployment import MACHINE
from envelope.fields.traffic import PRICES
from envelope.findings import Finding
from envelope.formats import FORMATS
from envelope.quantities.benchmark import workload
from envelope.quantities.checkpoint import main_format
from envelope.quantities.speculation import expert_ratio
from envelope.records import Machine
from envelope.rules.offers import changed, offer
from envelope.scenario import BY_KEY
from envelope.units import counted, money, shorten, significant, text, token_text

if TYPE_CHECKING:
    from envelope.evaluation import Envelope

SPECULATES = frozenset({"acceptance", "verify_ms", "draft_weight_bytes", "draft_cache_bytes_per_token"})
MEASURED = frozenset({"total_tokens_per_gpu_s", "sessions_load", "user_tokens_s"})
_CONVERSATION = frozenset({"turns", "first_turn", "new_tokens", "output_tokens"})
_BUDGET = frozenset({"usable_per_rank", "graph_bytes", "reserve_bytes", "state_reserve"})


def every_layer_counted(envelope: Envelope) -> Finding | None:
    """A cache per token that counts layers which keep only a window."""
    scenario = envelope.scenario
    stated = scenario["cache_bytes_per_token"]
    if "cache_bytes_per_token" not in scenario.given or scenario.model is None:
        return None
    growing, windowed = cache.growing_per_token(scenario.model), cache.windowed_per_token(scenario.model)
    if not windowed:
        return None
    sizes = (FORMATS[key].bytes_per_value for key in ("bf16", "fp8", scenario["cache_format"]))
    each = next((size for size in sizes if abs(stated / ((growing + windowed) * size) - 1) < Fraction(1, 100)), None)
    if each is None:
        return None
    right = growing * each
    words = (
        f"{shorten(float(stated), 7)} bytes per token counts all {scenario.model.layers} layers; those that keep the whole "
        f"context take {float(right):,.0f}: {shorten(float(stated / right))} times less."
    )
    return Finding("every_layer_counted", "warning", words, {}, float(1 - right / stated))


def every_layer_global(envelope: Envelope) -> Finding | None:
    """Every layer made global where the published model slides most of them."""
    scenario = envelope.scenario
    if "global_layers" not in scenario.given or scenario.preset is None or scenario["global_layers"] != scenario["layers"]:
        return None
    original = published.architecture(scenario.preset.slug)
    kept = shape.read(original, "global_layers") if original else None
    if not kept or kept >= scenario["layers"]:
        return None
    other = envelope.with_(global_layers=kept)
    mine, right = envelope.value("sessions"), other.value("sessions")
    if mine is None or not right or mine >= right:
        return None
    words = f"All {scenario['layers']} layers are taken to keep the whole context; the published model's {kept} do: {counted(right, 'sessions')} instead of {mine:,}."
    return Finding("every_layer_global", "warning", words, {"global_layers": str(kept)}, 1 - mine / right)


def moe_is_not_dense(envelope: Envelope) -> Finding | None:
    """A batch that reads far more experts than one token does."""
    batch = envelope.scenario["batch"]
    if "batch" not in envelope.scenario.given or batch == 1 or not _routes(envelope):
        return None
    e = envelope.evaluation
    alone, together = (sum(e.read(tokens).values()) for tokens in (1, batch))
    if together < 1.5 * alone:
        return None
    words = (
        f"A batch of {batch:,} reads {e['experts_touched']:,.0f} experts a layer: {text(together, 'bytes')} a step, "
        f"{shorten(together / alone)} times one session's. A dense model would read the same as alone."
    )
    return Finding("moe_is_not_dense", "note", words, {}, 0.03)


def verify_reads_more(envelope: Envelope) -> Finding | None:
    """A drafter on a mixture of experts taken for one on a dense model."""
    if not _speculates(envelope) or not _routes(envelope):
        return None
    batch, block = envelope.scenario["batch"], envelope.scenario["verify_tokens"]
    ratio = expert_ratio(envelope.evaluation, batch)
    if ratio < 1.5:
        return None
    words = f"Verifying {block:,} tokens reads {significant(ratio, 2)} times the expert bytes of a plain step at {batch:,} request{'s' if batch > 1 else ''}; on a dense model it would read the same."
    return Finding("verify_reads_more", "note", words, {}, 0.04)


def _routes(envelope: Envelope) -> bool:
    return envelope.scenario.model is not None and bool(envelope.scenario.model.mixtures())


def _speculates(envelope: Envelope) -> bool:
    return not SPECULATES.isdisjoint(envelope.scenario.given)


def mixed_parts(envelope: Envelope) -> Finding | None:
    """One part's bandwidth or memory beside another part's compute."""
    scenario = envelope.scenario
    for key, name in (("bandwidth", "bandwidth"), ("hbm", "memory")):
        if key not in scenario.given:
            continue
        value = scenario[key]
        if _near(value, _stated(scenario.machine, key), 0.05):
            continue
        others = [one for one in catalog.machines().values() if _near(value, _stated(one, key), 0.005)]
        if not others:
            continue
        large = next((one for one in others if _holds_as_many(envelope, one)), None)
        other = large or others[0]
        unit = "bytes/s" if key == "bandwidth" else "bytes"
        mine = scenario.defaults[key].value
        words = f"{text(value, unit)} is the {name} of {other.short_name}; the compute is that of {scenario.machine.short_name}, whose {name} is {text(mine, unit)}."
        return Finding("mixed_parts", "warning", words, offer(envelope, {"machine": other.id}) if large else {}, 0.2)
    return None


def _holds_as_many(envelope: Envelope, machine: Machine) -> bool:
    """True where a session fits on that machine as it comes, or fits on none here either."""
    edits = [key for key in envelope.scenario.given if key != "machine" and BY_KEY[key].group in (MACHINE, PRICES)]
    other = changed(envelope, {"machine": machine.id, **dict.fromkeys(edits)})
    return other is not None and (bool(other.value("sessions")) or not envelope.value("sessions"))


def _stated(machine: Machine, key: str) -> list[float]:
    """Every figure a machine's sources give for its bandwidth or memory."""
    records = [machine.bandwidth] if key == "bandwidth" else [machine.memory_marketed, machine.memory_driver]
    return [one.value for record in records if record for one in (record, *record.alternates)]


def _near(value: Fraction, figures: list[float], share: float) -> bool:
    return any(abs(float(value) / figure - 1) <= share for figure in figures)


def total_is_not_output(envelope: Envelope) -> Finding | None:
    """A total of tokens per second read as output, decode speed read as turn time."""
    if MEASURED.isdisjoint(envelope.scenario.given):
        return None
    share, output = envelope.evaluation["bench_output_share"], envelope.evaluation["bench_output_per_gpu"]
    if share > Fraction(1, 2):
        return None
    total = float(envelope.scenario["total_tokens_per_gpu_s"])
    words = f"{total:,.0f} total tokens/s per GPU is {float(output):,.0f} of output, {shorten(float(share) * 100, 2)}%."
    turn, decode = envelope.value("bench_turn_seconds"), envelope.value("bench_decode_seconds")
    if turn is not None and decode is not None:
        words += f" A turn takes {float(turn):.1f} s, of which decoding takes {float(decode):.1f}."
    return Finding("total_is_not_output", "note", words, {}, 0.06)


def assumed_acceptance(envelope: Envelope) -> Finding | None:
    """A drafter planned from tokens per cycle that nobody measured."""
    scenario = envelope.scenario
    advanced = scenario["acceptance"]
    if advanced is None or scenario["acceptance_is"] == "measured":
        return None
    words = f"{shorten(float(advanced))} tokens per cycle are assumed; they depend on your text."
    slug = scenario.preset.slug if scenario.preset else None
    known = next((one for one in catalog.traffic().acceptances if one.model == slug and one.acceptance_is == "measured"), None)
    if known:
        words += f" {shorten(known.value, 6)} were measured on {known.traffic.removeprefix('AgentX sweep, ')}."
    else:
        low, high = (pick(one.value for one in catalog.traffic().acceptances if one.acceptance_is == "measured") for pick in (min, max))
        words += f" Published measurements run from {shorten(low, 6)} to {shorten(high, 6)}."
    return Finding("assumed_acceptance", "warning", f"{words} Measure before you keep the drafter.", {}, 0.15)


def prefix_caching_off(envelope: Envelope) -> Finding | None:
    """No prefix cache for traffic that resends most of its input."""
    if envelope.scenario["prefix_caching"] == "on":
        return None
    hits, more = envelope.evaluation["cost_hit_share"], envelope.evaluation["cost_prefix_off_factor"]
    if hits < Fraction(1, 2):
        return None
    words = f"{float(hits):.0%} of the input was sent before: without prefix caching every turn prefills {shorten(float(more))} times as many tokens."
    return Finding("prefix_caching_off", "warning", words, {"prefix_caching": "on"}, float(1 - 1 / more))


def across_harnesses(envelope: Envelope) -> Finding | None:
    """A score compared with one from another harness, or from nobody knows which."""
    scenario = envelope.scenario
    if scenario["score"] is None or envelope.evaluation["accuracy_verdict"] != accuracy.NOT_COMPARABLE:
        return None
    difference = float(envelope.evaluation["accuracy_difference"])
    mine, other = scenario["harness"] or "an unnamed harness", scenario["reference_harness"] or "an unnamed harness"
    words = f"{difference:+.2f} points between {mine} and {other} say nothing: three points can come from the harness alone."
    return Finding("across_harnesses", "warning", words.replace("-", "−", 1) if difference < 0 else words, {}, 0.1)


def score_below(envelope: Envelope) -> Finding | None:
    """More than a point below the reference within one harness: broken, not quantized."""
    if envelope.scenario["score"] is None or envelope.evaluation["accuracy_verdict"] != accuracy.BELOW:
        return None
    below = -float(envelope.evaluation["accuracy_difference"])
    words = f"{below:.2f} points below the reference in the same harness: a kernel or configuration problem, not quantization. Do not serve it."
    return Finding("score_below", "warning", words, {}, 0.9)


def count_unchecked(envelope: Envelope) -> Finding | None:
    """A rebuilt count that nothing confirms."""
    if envelope.scenario["published_total"] is not None or envelope.scenario.model is None:
        return None
    rebuilt = envelope.evaluation["resident_parameters"]
    words = f"The shapes rebuild {text(rebuilt, 'parameters', 4)} parameters and no published total checks them: state published_total before you trust later numbers."
    return Finding("count_unchecked", "note", words, {}, 0.2)


def drafter_at_many_requests(envelope: Envelope) -> Finding | None:
    """A drafter where published guidance drops it, and no timed cycle says otherwise."""
    limit, batch = catalog.traffic().guidance["drop_drafter"].high, envelope.scenario["batch"]
    if not _speculates(envelope) or limit is None or batch <= limit or envelope.value("spec_speedup") is not None:
        return None
    words = f"{batch:,} requests advance together: vLLM and AMD recommend to drop the drafter above about {limit:,.0f}. Time a cycle at your load."
    return Finding("drafter_at_many_requests", "warning", words, {}, 0.12)


def drafter_slows(envelope: Envelope) -> Finding | None:
    """A timed cycle that is slower than plain steps."""
    if envelope.scenario["verify_ms"] is None:
        return None
    e = envelope.evaluation
    gain = e["spec_speedup"]
    if gain > 1:
        return None
    words = (
        f"The drafter slows decoding: {float(e['spec_seconds_per_token']) * 1000:.2f} ms per token against "
        f"{shorten(float(e.input('step_ms')), 4)} without. {shorten(float(e['spec_breakeven_tokens']))} tokens per cycle break even, {shorten(float(e.input('acceptance')))} advance."
    )
    return Finding("drafter_slows", "warning", words, {}, float(1 - gain))


def drafter_takes_sessions(envelope: Envelope) -> Finding | None:
    """The drafter's weights and cache lower what fits."""
    scenario = envelope.scenario
    if scenario["draft_weight_bytes"] is None and scenario["draft_cache_bytes_per_token"] is None:
        return None
    left, mine = envelope.evaluation["spec_sessions"], envelope.evaluation["sessions"]
    if left >= mine:
        return None
    wanted = scenario["sessions_wanted"]
    fails = wanted is not None and left < wanted <= mine
    words = f"The drafter's weights and cache leave {left:,} of {counted(mine, 'sessions')}" + (f", fewer than the {wanted:,} wanted." if fails else ".")
    return Finding("drafter_takes_sessions", "warning" if fails else "note", words, {}, 1 - left / mine)


def host_memory_exceeded(envelope: Envelope) -> Finding | None:
    """Pinned host caches beyond the host's memory."""
    if envelope.scenario["host_cache_per_rank"] is None:
        return None
    e = envelope.evaluation
    share, total, every = e["host_memory_share"], e["host_cache_bytes"], e["host_cache_bytes_each_pool"]
    ranks, each = e.input("gpus"), text(e.input("host_cache_per_rank"), "bytes")
    memory = text(total / share, "bytes") if share else ""
    if share > 1:
        words = f"{each} per rank on {counted(ranks, 'ranks')} is {text(total, 'bytes')} of pinned memory; the host has {memory}."
        return Finding("host_memory_exceeded", "error", words, {}, float(1 - 1 / share))
    if share * every / (total or 1) > 1:
        words = f"Where each pool takes the full size, as SGLang 0.5.10 does, {each} per rank becomes {text(every, 'bytes')}; the host has {memory}."
        return Finding("host_memory_exceeded", "note", words, {}, 0.1)
    return None


def costs_more_than_list(envelope: Envelope) -> Finding | None:
    """Decoding at this context costs more than output is sold for."""
    price = envelope.scenario["output_price"]
    if price is None:
        return None
    cost = envelope.evaluation["cost_per_million_output"]
    if cost <= price:
        return None
    where = "this mix" if envelope.scenario["mix"] else token_text(envelope.scenario["context"])
    words = f"At {where} a million output tokens cost at least {money(cost)} to decode and sell for {money(price)}."
    return Finding("costs_more_than_list", "note", words, {}, float(1 - float(price) / cost) * 0.3)


def margin_negative(envelope: Envelope) -> Finding | None:
    """A conversation that bills less than it rents."""
    if envelope.scenario["total_tokens_per_gpu_s"] is None:
        return None
    e = envelope.evaluation
    margin = e["turn_margin"]
    if margin >= 0:
        return None
    words = f"A conversation bills ${float(e['turn_bill']):.4f} and rents ${float(e['turn_rental']):.4f}: list prices do not cover the GPUs."
    return Finding("margin_negative", "warning", words, {}, min(1.0, -float(margin)))


def conversation_outgrows_context(envelope: Envelope) -> Finding | None:
    """A conversation longer than the context that is planned for."""
    if _CONVERSATION.isdisjoint(envelope.scenario.given):
        return None
    longest, context = workload(envelope.evaluation).longest, max(length for length, _ in envelope.scenario.mix)
    if longest <= context:
        return None
    words = f"The conversation holds {longest:,} tokens at its end, more than the {context:,} that are planned for."
    # A mix overrides the context, and its lengths are the reader's own.
    change = offer(envelope, {"context": str(longest)}) if envelope.scenario["mix"] is None else {}
    return Finding("conversation_outgrows_context", "warning", words, change, 0.1)


def cache_expires_before_return(envelope: Envelope) -> Finding | None:
    """Clients that come back later than holding their cache pays for."""
    think = envelope.scenario["think_s"]
    if "think_s" not in envelope.scenario.given or not think:
        return None
    held = envelope.evaluation["cache_breakeven_seconds"]
    if think <= held:
        return None
    words = f"Clients return after {text(think, 'seconds')}; holding their cache on the GPUs pays for {text(held, 'seconds')}. Spill it to host memory."
    return Finding("cache_expires_before_return", "note", words, {}, 0.1)


def budget_overrun(envelope: Envelope) -> Finding | None:
    """A rank whose weights, graphs and reserve leave nothing for requests."""
    if _BUDGET.isdisjoint(envelope.scenario.given) or envelope.value("rank_weight_bytes") is None:
        return None
    state = envelope["admit_state_bytes"]
    if state.value is not None:
        return None
    return Finding("budget_overrun", "error", f"No request is admitted: {state.reason}.", {}, 1.0)


def demand_exceeds_cap(envelope: Envelope) -> Finding | None:
    """More requests in flight than one replica admits."""
    if envelope.scenario["arrival_per_s"] is None:
        return None
    e = envelope.evaluation
    replicas, demand, cap = e["admit_replicas"], e["admit_demand"], e["admit_cap"]
    if replicas == 1:
        return None
    words = f"{shorten(float(demand))} requests in flight exceed the {cap:,} that {gib(e['admit_state_bytes'])} per rank admits: {replicas:,} replicas."
    return Finding("demand_exceeds_cap", "warning", words, {}, float(1 - cap / demand))


def expert_parallelism_off(envelope: Envelope) -> Finding | None:
    """Experts divided at a handful of requests, or not divided at many."""
    scenario, advice = envelope.scenario, catalog.traffic().guidance["expert_parallelism"]
    if "ep" not in scenario.given or not _routes(envelope) or advice.low is None:
        return None
    batch, ep, gpus = scenario["batch"], scenario["ep"], scenario["gpus"]
    in_step = batch * scenario["verify_tokens"] if _speculates(envelope) else batch
    if ep > 1 and in_step < advice.low:
        most = envelope.evaluation["parallel_busiest_rank"]
        words = f"With {counted(in_step, 'tokens')} in a step the busiest of {ep} ranks reads {shorten(most)} times the mean; guidance is tensor parallelism for a handful, experts apart from about {advice.low:.0f} requests."
        return Finding("expert_parallelism_off", "note", words, {}, 0.05)
    if ep == 1 and gpus > 1 and batch >= advice.low:
        gain = catalog.traffic().guidance["expert_parallelism_gain"]
        words = f"{batch:,} requests without expert parallelism: from about {advice.low:.0f} on it is advised, and AMD measured {gain.low:.0%} to {gain.high:.0%} more throughput."
        return Finding("expert_parallelism_off", "note", words, {"ep": str(gpus)}, 0.07)
    return None


def format_saves_memory_only(envelope: Envelope) -> Finding | None:
    """A quantized file on a machine that cannot multiply it."""
    if envelope.scenario.model is None or envelope.scenario["weight_format"] == "bf16":
        return None
    if envelope.evaluation["checkpoint_multiplied"] == "native":
        return None
    e = envelope.evaluation
    name = FORMATS[main_format(e)].label.split(" (")[0]
    whole = 2 * sum(checkpoint.parameters_by_format(e.model, e.split).values())
    words = f"{e.scenario.machine.short_name} does not multiply {name}: {text(e['weight_bytes'], 'bytes')} instead of {text(whole, 'bytes')} in BF16 is all it saves, the arithmetic runs in BF16."
    return Finding("format_saves_memory_only", "note", words, {}, 0.04)


RULES = (
    every_layer_counted, every_layer_global, moe_is_not_dense, verify_reads_more, mixed_parts, total_is_not_output,
    assumed_acceptance, prefix_caching_off, across_harnesses, score_below, count_unchecked, drafter_at_many_requests,
    drafter_slows, drafter_takes_sessions, host_memory_exceeded, costs_more_than_list, margin_negative,
    conversation_outgrows_context, cache_expires_before_return, budget_overrun, demand_exceeds_cap,
    expert_parallelism_off, format_saves_memory_only,
)  # fmt: skip
