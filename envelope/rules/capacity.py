"""Rules about what fits: memory, pools, ranks, and what the checkpoint really holds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import checkpoint, parameters, pools
from envelope.checkpoint import read_split
from envelope.fields.base import BYTES, decimal_text
from envelope.findings import Finding
from envelope.quantities.capacity import budget, pool_per_gpu, replica_sessions
from envelope.quantities.pools import cost_and_need, default_ratio, default_share, sessions_at, two_pool_cost
from envelope.units import counted, shorten, text, token_text

if TYPE_CHECKING:
    from envelope.evaluation import Envelope, Evaluation


def weights_do_not_fit(envelope: Envelope) -> Finding | None:
    """The weights alone exceed what the engine may use."""
    if envelope.value("pool_bytes") is not None or envelope.value("weight_bytes") is None:
        return None
    reason = envelope["pool_bytes"].reason
    gpus = envelope.value("gpus_minimum")
    ending = f"it takes at least {counted(gpus, 'GPUs')} of this kind" if gpus else envelope["gpus_minimum"].reason
    return Finding("does_not_fit", "error", f"Does not fit: {reason}; {ending}.", _spread_over(envelope.scenario, gpus), 1.0)


def _spread_over(scenario, gpus: int | None) -> dict[str, str]:
    """That many GPUs in their default layout: what was given of another is put back."""
    if not gpus:
        return {}
    given = [key for key in ("tp", "dp", "pp", "ep") if key in scenario.given]
    spread = scenario.with_(gpus=gpus, **dict.fromkeys(given))
    return {"gpus": str(gpus)} | {key: spread.text(key) for key in given}


def session_does_not_fit(envelope: Envelope) -> Finding | None:
    """The weights fit and not one session does."""
    if envelope.value("sessions") != 0:
        return None
    each, pool = envelope.value("cache_bytes_per_session"), envelope.value("pool_bytes")
    gpus = envelope.value("gpus_minimum")
    words = f"Not one session fits: it keeps {text(each, 'bytes')} and the weights leave {text(pool, 'bytes')}"
    spread = _spread_over(envelope.scenario, gpus)
    ending = f"; {envelope['gpus_minimum'].reason}"
    if gpus:
        ending = f"; {gpus} GPU{'s hold' if gpus > 1 else ' holds'} one" + (" in the default layout" if len(spread) > 1 else "")
    return Finding("no_session", "error", f"{words}, spread over ranks and pools{ending}.", spread, 1.0)


def default_pool_ratio(envelope: Envelope) -> Finding | None:
    """SGLang's default ratio strands memory in the sliding pool for long sessions."""
    if envelope.scenario["engine"] == "vllm":
        return None
    e = envelope.evaluation
    cost = two_pool_cost(e)
    default, best = e["sessions_default_ratio"], e["sessions_recommended_ratio"]
    if default >= best:
        return None
    set_to = e["recommended_pool_ratio"]
    started_with, share = default_ratio(e), default_share(e)
    words = (
        f"SGLang's default pool ratio {decimal_text(started_with)} gives {share:.0%} of cache memory to layers that hold "
        f"{cost.window:,} tokens: {counted(default, 'sessions')} instead of {best:,}."
    )
    chosen = envelope.scenario["pool_ratio"]
    if chosen == started_with:
        return Finding("default_pool_ratio", "warning", words, {"pool_ratio": decimal_text(set_to)}, 1 - default / best)
    return Finding("default_pool_ratio", "note", f"{words} Launch with {decimal_text(set_to)}.", {}, 0.1 * (1 - default / best))


def pool_ratio_off(envelope: Envelope) -> Finding | None:
    """The chosen ratio fits far fewer sessions than the best one."""
    chosen, e = envelope.scenario["pool_ratio"], envelope.evaluation
    if chosen in ("best", default_ratio(e)) or envelope.scenario["engine"] == "vllm":
        return None
    mine, best, set_to = e["sessions"], e["sessions_recommended_ratio"], e["recommended_pool_ratio"]
    if mine >= best * 0.9:
        return None
    runs_out = e["pool_binds"]
    words = f"At ratio {shorten(float(chosen), 4)} the {runs_out} pool runs out first: {mine:,} of {counted(best, 'sessions')}."
    return Finding("pool_ratio_off", "warning", words, {"pool_ratio": decimal_text(set_to)}, 1 - mine / best)


def sliding_pool_too_small(envelope: Envelope) -> Finding | None:
    """The sliding pool of one rank is below one window and one chunk: the scheduler cannot start a prompt."""
    if envelope.scenario["engine"] == "vllm":
        return None
    e = envelope.evaluation
    cost, _ = cost_and_need(e)
    ratio = e["pool_ratio"]
    wanted = cost.window + e.input("chunk")
    sliding = pools.sliding_tokens(pool_per_gpu(e), cost, ratio)
    # The sum of a mix says nothing here: what never holds a window and a chunk never waits for one.
    if sliding >= wanted or max(length for length, _ in envelope.scenario.mix) <= wanted:
        return None
    words = (
        f"The sliding pool holds {sliding:,} tokens, less than one window and one chunk ({wanted:,}): prompts would "
        f"hang or be refused."
    )
    change = {"pool_ratio": "best"} if envelope.scenario["pool_ratio"] != "best" else {}
    return Finding("sliding_pool_too_small", "error", words, change, 1.0)


def mix_sized_for_one_length(envelope: Envelope) -> Finding | None:
    """A ratio sized for the longest sessions starves a mix."""
    mix = envelope.scenario["mix"]
    if mix is None or len(mix) < 2:
        return None
    e = envelope.evaluation
    cost, need = cost_and_need(e)
    longest = max(length for length, _ in mix)
    single = pools.best_ratio(pools.demand(((longest, 1),), cost.window, e.input("chunk")))
    mine, starved = sessions_at(e, pools.best_ratio(need)), sessions_at(e, single)
    if starved >= mine:
        return None
    words = (
        f"Sized for the {token_text(longest)} sessions alone, ratio {shorten(float(single), 3)} fits {starved:,} of this "
        f"mix; its own ratio {decimal_text(pools.round_up(pools.best_ratio(need)))} fits {mine:,}."
    )
    return Finding("mix_sized_for_one_length", "note", words, {}, 1 - starved / mine)


def kv_heads_copied(envelope: Envelope) -> Finding | None:
    """Tensor parallelism beyond the KV heads stores them several times."""
    scenario = envelope.scenario
    e = envelope.evaluation
    heads = scenario["kv_heads"]
    copies, tp = e["cache_copies"], scenario.layout.tp
    if copies <= 1 or heads is None or tp <= heads:
        return None
    if scenario["gpus"] % heads:
        return None
    better = envelope.with_(tp=str(heads), dp=None)
    more, mine = better.value("sessions"), envelope.value("sessions")
    if not more or mine is None or more <= mine:
        return None
    words = (
        f"TP {tp} exceeds the {heads} KV heads: every rank keeps a copy, the cache is stored {shorten(float(copies))} "
        f"times. TP {heads} · DP {better.scenario['dp']} fits {counted(more, 'sessions')} instead of {mine:,}, if attention weights are copied."
    )
    return Finding("kv_heads_copied", "warning", words, _layout(better.scenario), 1 - mine / more)


def _layout(scenario) -> dict[str, str]:
    return {key: str(scenario[key]) for key in ("tp", "pp", "dp")}


def latent_copied(envelope: Envelope) -> Finding | None:
    """Tensor parallelism of a latent cache copies it whole onto every rank."""
    from envelope.ranks import keeps_one_record

    scenario = envelope.scenario
    e = envelope.evaluation
    tp = scenario.layout.tp
    if tp == 1 or not keeps_one_record(e.model):
        return None
    better = envelope.with_(tp="1", dp=None)
    more, mine = better.value("sessions"), envelope.value("sessions")
    if not more or mine is None or more <= mine:
        return None
    words = (
        f"Every one of the TP {tp} ranks keeps the whole latent cache: {counted(mine, 'sessions')}. "
        f"DP attention (TP 1 · DP {better.scenario['dp']}) fits {more:,}."
    )
    return Finding("latent_copied", "warning", words, _layout(better.scenario), 1 - mine / more)


def replicated_weights(envelope: Envelope) -> Finding | None:
    """DP attention copies what it does not split; the spread-evenly rule hides that."""
    e = envelope.evaluation
    layout = envelope.scenario.layout
    if layout.dp == 1 or envelope.scenario.model is None:
        return None
    parts = checkpoint.bytes_by_part(e.model, e.split)
    copied = parts["attention"] + parts["dense"] + parts["shared_experts"] + parts["latent_projections"]
    more = copied * (layout.dp - 1) / layout.gpus
    left = pool_per_gpu(e) - more
    if left > pool_per_gpu(e) * Fraction(95, 100):
        return None
    words = (
        f"With DP {layout.dp}, each replica holds its own attention and dense weights: up to {text(more, 'bytes')} more per "
        f"GPU than an even spread, {text(max(left, Fraction(0)), 'bytes')} instead of "
        f"{text(e['pool_bytes'] / layout.gpus, 'bytes')} for caches."
    )
    return Finding("replicated_weights", "note", words, {}, min(1.0, float(more * layout.gpus / e["pool_bytes"])) * 0.1)


def cache_could_be_fp8(envelope: Envelope) -> Finding | None:
    """A BF16 cache takes twice the memory of FP8."""
    if envelope.scenario["cache_format"] != "bf16" or envelope.scenario["cache_bytes_per_token"] is not None:
        return None
    more = envelope.with_(cache_format="fp8").value("sessions")
    mine = envelope.value("sessions")
    if not more or mine is None or more <= mine:
        return None
    words = f"An FP8 cache halves the bytes per token: {counted(more, 'sessions')} instead of {mine:,}. Check accuracy within one harness."
    return Finding("cache_could_be_fp8", "note", words, {"cache_format": "fp8"}, (1 - mine / more) * 0.5)


def driver_memory(envelope: Envelope) -> Finding | None:
    """The driver reports another memory size than the one used."""
    machine = envelope.scenario.machine
    if machine.memory_driver is None or "hbm" in envelope.scenario.given or machine.memory_is == "driver":
        return None
    e, layout = envelope.evaluation, envelope.scenario.layout
    mine, (per_gpu, words, change) = e["sessions"], e.once(_with_driver_memory)
    more = layout.dp * replica_sessions(e, per_gpu, layout.tp, layout.pp, e.input("pool_ratio"))
    if mine == more:
        return None
    return Finding("driver_memory", "note", f"{words}: with that, {counted(more, 'sessions')}.", change, 0.02)


def _with_driver_memory(e: Evaluation) -> tuple[Fraction, str, dict[str, str]]:
    """Bytes for caches on each GPU with the memory its driver reports, that memory in words, and the input that sets it."""
    machine = e.scenario.machine
    reported = Fraction(machine.memory_driver.value)
    words = f"A {machine.short_name.split()[-1]} driver reports {text(reported, 'bytes', 4)}, not {text(e.scenario['hbm'], 'bytes', 4)}"
    return replace(budget(e), hbm=reported).per_gpu, words, {"hbm": BYTES.write(reported)}


def context_beyond_model(envelope: Envelope) -> Finding | None:
    """The context asked for exceeds what the model was made for."""
    scenario = envelope.scenario
    limit = scenario.model.max_context if scenario.model else 0
    longest = max(length for length, _ in scenario.mix)
    if not limit or longest <= limit:
        return None
    words = f"A context of {token_text(longest)} exceeds the {token_text(limit)} positions the model states."
    change = {"context": token_text(limit).replace(",", "")} if scenario["mix"] is None else {}
    return Finding("context_beyond_model", "warning", words, change, 0.3)


def name_is_not_bits(envelope: Envelope) -> Finding | None:
    """A checkpoint's name tells the format of most parameters, not of the bytes read at low batch."""
    e = envelope.evaluation
    chosen = envelope.scenario["weight_format"]
    if chosen == "bf16" or e.scenario.model is None:
        return None
    share = e["bytes_per_step_bf16_share"]
    if share < 0.5 or e.input("batch") > 4:
        return None
    words = (
        f"The name says {chosen.split('_')[0].upper()}, yet {share:.0%} of the bytes read at batch "
        f"{e.input('batch')} are BF16: price bytes, not parameters."
    )
    return Finding("name_is_not_bits", "note", words, {}, 0.05)


def split_names_nothing(envelope: Envelope) -> Finding | None:
    """A rule of a stated split that names no tensor, a slip of the pen say, stores nothing and says nothing."""
    scenario = envelope.scenario
    if "split" not in scenario.given or scenario.model is None or scenario.split is None:
        return None
    stated = scenario.defaults["split"].value
    usual = read_split(str(stated)).rules if stated else ()
    # One that asks for the base format changes nothing anyway: exclusion lists of files name modules of other models.
    idle = [rule for rule in checkpoint.idle_rules(scenario.model, scenario.split) if rule not in usual and rule.format != scenario.split.base]
    if not idle:
        return None
    named = " and ".join(f"{rule.pattern}.{rule.format}" for rule in idle[:3]) + (f" and {len(idle) - 3} more" if len(idle) > 3 else "")
    parts = ", ".join(part for part, count in parameters.resident_by_part(scenario.model).items() if count)
    layers = " in those layers" if any(rule.positions for rule in idle) else ""
    words = f"The split's {named} store{'s' if len(idle) == 1 else ''} nothing: no matrix of this model has such a name{layers}. Its parts are {parts}."
    return Finding("split_names_nothing", "warning", words, {}, 0.3)


def count_does_not_land(envelope: Envelope) -> Finding | None:
    """The rebuilt count misses the published one: later numbers are suspect."""
    scenario = envelope.scenario
    stated = scenario["published_total"]
    if stated is None or scenario.model is None:
        return None
    rebuilt = envelope.value("resident_parameters")
    off = float(rebuilt / stated) - 1
    if abs(off) <= 0.01:
        return None
    words = (
        f"The shapes rebuild {text(rebuilt, 'parameters')}, the publisher states {text(stated, 'parameters')} "
        f"({off:+.1%}): every later number is suspect."
    )
    return Finding("count_does_not_land", "warning", words, {}, 0.9)


RULES = (
    weights_do_not_fit, session_does_not_fit, default_pool_ratio, pool_ratio_off, sliding_pool_too_small,
    mix_sized_for_one_length, kv_heads_copied, latent_copied, replicated_weights, cache_could_be_fp8, driver_memory,
    context_beyond_model, name_is_not_bits, split_names_nothing, count_does_not_land,
)  # fmt: skip
