"""What the chosen engine makes of the memory: exact blocks and pools, what it keeps back, what its log will say.

These stand beside the plain quantities and never change them.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from envelope.engines import compressed, plain, reached, sglang
from envelope.engines.stored import NotLaidOut
from envelope.engines.vllm import TOKENS_ARE_CONCURRENCY
from envelope.quantities import engine_rank as ranks
from envelope.quantities.model import value_bytes
from envelope.quantities.registry import Found, Registry, Unavailable
from envelope.ranks import stages
from envelope.units import counted, shorten, text, token_text

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

_registry = Registry("engine")
_quantity = _registry.quantity

VLLM = "vLLM 0.33.0 and earlier wheels: v1/core/kv_cache_planning.py, kv_cache_utils.py, v1/kv_cache_interface.py"
BOTH = VLLM + "; SGLang 0.5.23 and earlier: model_executor/pool_configurator.py, mem_cache/kv_cache_configurator.py"
_LOGS = "fitted to public start-up logs, named in envelope/engines/residue.py"


def _gib(value: Fraction) -> str:
    """Bytes as engine logs print them: GiB with two decimals."""
    return f"{float(value) / 2**30:,.2f} GiB"


@_quantity("engine_weights_per_rank", "Weights the engine loads on a rank", "bytes", "rank_weight_bytes, prediction layers only where they speculate, a draft model beside")
def engine_weights_per_rank(e: Evaluation) -> Found:
    given = e.input("weights_per_rank")
    if given is not None:
        return Found(given, lambda: "as given")
    found = ranks.weights(e)
    return Found(found, lambda: f"{_gib(e['rank_weight_bytes'])} on the fullest rank, less what is not loaded, plus a draft: {_gib(found)}")


@_quantity("engine_activations", "Activations", "bytes", "2 × chunk × (12 × hidden + 3 × feed-forward width per rank) + 12 × requests × vocabulary", _LOGS)
def engine_activations(e: Evaluation) -> Found:
    given = e.input("activation_reserve")
    if given is not None:
        return Found(given, lambda: "as given")
    found = ranks.activations(e)
    return Found(found.value, lambda: f"an estimate: {_gib(found.value)}", f"logs show {_gib(found.low)} to {_gib(found.high)}; the log of your start tells it")


@_quantity("engine_graphs", "Graphs", "bytes", "what vLLM subtracts for captured graphs from 0.20.0 on; nothing in other engines", _LOGS)
def engine_graphs(e: Evaluation) -> Found:
    given = e.input("graph_reserve")
    if given is not None:
        return Found(given, lambda: "as given")
    found = ranks.graphs(e)
    return Found(found.value, lambda: f"an estimate: {_gib(found.value)}", f"logs show {_gib(found.low)} to {_gib(found.high)}")


@_quantity("engine_reserve", "Kept back by the engine", "bytes", "hbm × (1 − memory_fraction), and in vLLM activations and graphs inside the fraction", BOTH)
def engine_reserve(e: Evaluation) -> Found:
    outside = Fraction(e.input("hbm")) * (1 - Fraction(e.input("memory_fraction")))
    if e.input("engine") != "vllm":
        return Found(outside, lambda: f"{text(e.input('hbm'), 'bytes', 4)} × {shorten(float(1 - e.input('memory_fraction')), 6)}; activations and graphs live in it")
    inside = e["engine_activations"] + e["engine_graphs"]
    return Found(outside + inside, lambda: f"{_gib(outside)} outside the fraction + activations {_gib(e['engine_activations'])} + graphs {_gib(e['engine_graphs'])}")


@_quantity("kv_memory_per_rank", "Cache memory per rank", "bytes", "hbm × memory_fraction − weights, less activations and graphs (vLLM) or the state pool and the draft's cache (SGLang)", BOTH)
def kv_memory_per_rank(e: Evaluation) -> Found:
    given = e.input("kv_memory_per_rank")
    if given is not None:
        return Found(Fraction(given), lambda: "as given")
    asked = Fraction(e.input("hbm")) * Fraction(e.input("memory_fraction"))
    inside = e["engine_activations"] + e["engine_graphs"] if e.input("engine") == "vllm" else Fraction(0)
    rest = asked - e["engine_weights_per_rank"] - inside
    if rest <= 0:
        kept = f" and {_gib(inside)} of activations and graphs" if inside else ""
        raise Unavailable(f"{_gib(e['engine_weights_per_rank'])} of weights{kept} leave nothing of the {_gib(asked)} the engine may use on a rank")
    states = Fraction(0)
    share = Fraction(1)
    if e.input("engine") in ("sglang", "sglang-unified"):
        one = ranks.rank(e)
        states = _state_pool(e, rest).bytes + _compressed_states(e, one)
        cell = ranks.sglang_cell(e)
        share = ranks.draft_share(e, cell) if not ranks.is_compressed(one) else share
    found = max(Fraction(0), rest - states) / share
    return Found(found, lambda: f"{_gib(asked)} − weights {_gib(e['engine_weights_per_rank'])}" + (f" − activations and graphs {_gib(inside)}" if inside else "")
                 + (f" − states {_gib(states)}" if states else "") + (f", 1/{float(share):.3f} of it for the target" if share > 1 else "") + f" = {_gib(found)}")


def _state_pool(e: Evaluation, rest: Fraction) -> sglang.StatePool:
    """SGLang's recurrent states: sized from what the weights leave."""
    one, asked = ranks.rank(e), e.input("max_num_seqs")
    each = sum(layer.count * layer.state_bytes for layer in one.layers)
    most = max(1, asked // e.scenario.layout.dp) if asked else 4096
    try:
        return sglang.state_pool(rest, each, one.release, _verified(one), most)
    except NotLaidOut as refusal:
        raise Unavailable(str(refusal)) from None


def _verified(one: ranks.Rank) -> int:
    """Tokens of one verified step, 0 without speculation."""
    return one.draft_tokens + 1 if one.draft_tokens else 0


def _compressed_states(e: Evaluation, one: ranks.Rank) -> int:
    if not ranks.is_compressed(one):
        return 0
    asked = e.input("max_num_seqs")
    most = max(1, asked // e.scenario.layout.dp) if asked else 2048
    try:
        return compressed.sglang_state_bytes(one.layers, most, bool(one.draft_tokens), one.release)
    except NotLaidOut as refusal:
        raise Unavailable(str(refusal)) from None


@_quantity("engine_kv_bytes_per_token", "Grows per token", "bytes", "on one rank: vLLM block bytes / block tokens of the growing groups, padding included; SGLang F + ratio × S, drafts included", BOTH)
def engine_kv_bytes_per_token(e: Evaluation) -> Found:
    engine = e.input("engine")
    if engine == "vllm":
        plan = ranks.vllm_plan(e)
        return Found(plan.growth, lambda: f"blocks of {plan.block_bytes:,} bytes hold {counted(plan.options.block_size, 'tokens')} of each of {counted(sum(g.kind == 'full' for g in plan.groups), 'growing groups')}")
    if engine == "plain":
        found = _plain_growth(e)
        return Found(found, lambda: f"every growing layer's own bytes on one of tp {e.scenario.layout.tp} ranks: {float(found):,.0f}")
    one = ranks.rank(e)
    if ranks.is_compressed(one):
        ratio = ranks.sglang_ratio(e, max(layer.window for layer in one.layers))
        each = ranks.compressed_bytes_per_token(one, ratio)
        return Found(each, lambda: f"compressed records + {shorten(float(ratio), 6)} × windows and running states")
    cell = ranks.sglang_cell(e)
    ratio = ranks.sglang_ratio(e, cell.window)
    target = cell.per_full_token(ratio)
    draft = cell.draft_per_full_token(ratio) if ranks.draft_share(e, cell) > 1 else Fraction(0)
    return Found(target + draft, lambda: f"{cell.full:,}" + (f" + {shorten(float(ratio), 6)} × {cell.sliding:,}" if cell.sliding else "") + (f" + draft {float(draft):,.0f}" if draft else ""))


@_quantity("engine_kv_bytes_per_session", "Per session on a rank", "bytes", "what one session of the context holds on one rank: blocks × block bytes, or tokens of each pool; the mean over a mix", BOTH)
def engine_kv_bytes_per_session(e: Evaluation) -> Found:
    e.input("context")
    mix = e.scenario.mix
    count = sum(number for _, number in mix)
    total = Fraction(sum(_session(e, length) * number for length, number in mix), count)
    growing = e["engine_kv_bytes_per_token"]
    return Found(total, lambda: f"{_gib(total)} at a mean of {token_text(floor(sum(a * b for a, b in mix) / count))} tokens, of which {float(growing):,.0f} bytes per token grow on")


def _plain_growth(e: Evaluation) -> Fraction:
    tp = e.scenario.layout.tp
    return max(plain.growth(caches, tp, value_bytes(e)) for caches in stages(e.model, e.scenario.layout.pp))


def _plain_session(e: Evaluation, length: int) -> Fraction:
    tp = e.scenario.layout.tp
    return max(plain.session_bytes(caches, tp, value_bytes(e), length) for caches in stages(e.model, e.scenario.layout.pp))


def _session(e: Evaluation, length: int) -> Fraction | int:
    """Bytes one session of `length` tokens holds on one rank."""
    if e.input("engine") == "vllm":
        plan = ranks.vllm_plan(e)
        return plan.request_blocks(length) * plan.block_bytes
    if e.input("engine") == "plain":
        return _plain_session(e, length)
    one = ranks.rank(e)
    if ranks.is_compressed(one):
        return ranks.compressed_bytes_per_token(one, ranks.sglang_ratio(e, max(layer.window for layer in one.layers))) * length
    cell = ranks.sglang_cell(e)
    sliding = min(length, cell.window + e.input("chunk")) if cell.window else 0
    return length * (cell.full + cell.draft_full) + sliding * (cell.sliding + cell.draft_sliding) + cell.state


@_quantity("engine_kv_tokens", "The log's token line", "tokens", "vLLM: concurrency × max_model_len (before 0.20.2: blocks / groups × block); SGLang: max_total_num_tokens; of one replica", BOTH,
           "sessions: the line is not a capacity where layers differ")  # fmt: skip
def engine_kv_tokens(e: Evaluation) -> Found:
    memory, engine = e["kv_memory_per_rank"], e.input("engine")
    if engine == "vllm":
        plan = ranks.vllm_plan(e)
        return Found(plan.tokens(memory), lambda: _token_line(plan, memory))
    if engine == "plain":
        each = _plain_growth(e)
        if not each:
            raise Unavailable("no layer grows with the context")
        return Found(int(memory // each), lambda: f"{_gib(memory)} / {float(each):,.0f} bytes")
    found = ranks.sglang_pools(e)
    return Found(found.full, lambda: f"{_gib(memory)} in whole pages of {e.input('block_size')}: {found.full:,}")


def _token_line(plan, memory: Fraction) -> str:
    blocks = plan.blocks(memory)
    length = plan.options.max_model_len
    if plan.options.release < TOKENS_ARE_CONCURRENCY:
        return f"{blocks:,} blocks // {len(plan.groups)} groups × {min(g.block for g in plan.groups):,} tokens" + (f" × dcp {plan.options.dcp}" if plan.options.dcp > 1 else "")
    return f"{blocks:,} blocks / {plan.request_blocks(length):,} per request × {length:,} tokens"


def _pools(e: Evaluation) -> sglang.Pools:
    if e.input("engine") not in ("sglang", "sglang-unified"):
        raise Unavailable("only SGLang keeps pools apart; vLLM shares one pool of blocks")
    return ranks.sglang_pools(e)


@_quantity("engine_full_pool_tokens", "Full pool", "tokens", "floor(memory / (F + ratio × S)) in whole pages, per rank", BOTH)
def engine_full_pool_tokens(e: Evaluation) -> Found:
    found = _pools(e)
    return Found(found.full, lambda: e.quantity("engine_kv_tokens").working)


@_quantity("engine_swa_pool_tokens", "Sliding pool", "tokens", "floor(ratio × full pool) in whole pages, per rank", BOTH)
def engine_swa_pool_tokens(e: Evaluation) -> Found:
    found = _pools(e)
    if not found.sliding:
        raise Unavailable("no layer slides apart, so there is one pool")
    ratio = ranks.sglang_ratio(e, max(layer.window for layer in ranks.rank(e).layers))
    return Found(found.sliding, lambda: f"{shorten(float(ratio), 6)} × {found.full:,}")


@_quantity("engine_max_concurrency", "Maximum concurrency", "ratio", "requests of max_model_len that one replica's memory holds, as vLLM prints it", BOTH)
def engine_max_concurrency(e: Evaluation) -> Found:
    memory, length = e["kv_memory_per_rank"], e.input("max_model_len")
    if e.input("engine") == "vllm":
        plan = ranks.vllm_plan(e)
        return Found(plan.concurrency(memory), lambda: f"{plan.blocks(memory):,} blocks / {plan.request_blocks(length):,} per request")
    found, _ = e.once(_held, ((length, 1),))
    return Found(found, lambda: f"{float(found):,.2f} requests of {token_text(length)} tokens")


def _held(e: Evaluation, mix: tuple[tuple[int, int], ...]) -> tuple[Fraction, str]:
    """Groups of sessions of these lengths that one replica holds outside vLLM, as a fraction, and what runs out first."""
    memory = e["kv_memory_per_rank"]
    if e.input("engine") == "plain":
        each = sum(_session(e, length) * count for length, count in mix)
        if not each:
            raise Unavailable("a session keeps nothing in memory, so memory sets no limit")
        return memory / each, "memory"
    found, page = ranks.sglang_pools(e), e.input("block_size")
    window = max((layer.window for layer in ranks.rank(e).layers), default=0)
    held = Fraction(found.full, sum(-(-length // page) * page * count for length, count in mix))
    if not found.sliding or found.sliding == found.full:
        return held, "memory"
    slid = Fraction(found.sliding, sum(min(length, window + e.input("chunk")) * count for length, count in mix))
    return (slid, "the sliding pool") if slid < held else (held, "the full pool")


@_quantity("engine_largest_model_len", "Largest request", "tokens", "the largest max_model_len whose one request fits, by the engine's own check", BOTH,
           "the positions the model was made for")  # fmt: skip
def engine_largest_model_len(e: Evaluation) -> Found:
    memory, engine = e["kv_memory_per_rank"], e.input("engine")
    if engine == "vllm":
        plan = ranks.vllm_plan(e)
        found = plan.largest_length(memory)
        if found is None:
            raise Unavailable("a request stops growing, so memory sets no largest length")
        return Found(found, lambda: f"{token_text(found)} tokens need {_gib(plan.request_bytes(max(found, 1)))} of {_gib(plan.usable(memory))}")
    if engine == "plain":
        each, fixed = e["engine_kv_bytes_per_token"], _session(e, 0)
        if not each:
            raise Unavailable("no layer grows with the context")
        return Found(max(0, int((memory - fixed) // each)), lambda: f"({_gib(memory)} − {_gib(fixed)}) / {float(each):,.0f} bytes")
    found = ranks.sglang_pools(e)
    return Found(found.full, lambda: f"one request may take the whole full pool: {found.full:,} tokens")


@_quantity("smallest_memory_fraction", "Smallest fraction", "share", "the smallest memory_fraction that starts: vLLM needs one request of max_model_len beside weights, activations and graphs; SGLang more than the weights and one state slot", BOTH)
def smallest_memory_fraction(e: Evaluation) -> Found:
    hbm, held = Fraction(e.input("hbm")), e["engine_weights_per_rank"]
    if e.input("engine") == "vllm":
        plan = ranks.vllm_plan(e)
        request = Fraction(plan.request_bytes(e.input("max_model_len"))) + plan.checked_bytes
        held = held + e["engine_activations"] + e["engine_graphs"] + request
    elif e.input("engine") != "plain":
        held = held + _least_states(e)
    found = held / hbm
    words = f"{_gib(held)} of {_gib(hbm)}"
    return Found(found, lambda: words, "" if found <= 1 else f"{words}: no fraction starts on such a GPU")


def _least_states(e: Evaluation) -> Fraction:
    """What SGLang must find beside the weights before any token: one state slot, or running states; nothing without either."""
    if e.input("cache_bytes_per_token") is not None:
        return Fraction(0)
    one = ranks.rank(e)
    each = sum(layer.count * layer.state_bytes for layer in one.layers)
    return sglang.least_for_states(each, one.release, _verified(one)) + _compressed_states(e, one)


@_quantity("engine_sessions", "Sessions, as the engine counts", "sessions", "dp × the fewest of memory at the real lengths, requests at once and state slots", BOTH)
def engine_sessions(e: Evaluation) -> Found:
    each, what = _limit(e)
    dp = e.scenario.layout.dp
    return Found(each * dp, lambda: f"{what} lets {each:,} run on each of {dp} replicas")


@_quantity("engine_binds", "What binds in the engine", "text", "the limit that decides engine_sessions")
def engine_binds(e: Evaluation) -> Found:
    each, what = _limit(e)
    return Found(what, lambda: ", ".join(f"{name}: {count:,}" for count, name in sorted(limits(e))))


def _limit(e: Evaluation) -> tuple[int, str]:
    return min(limits(e))


def limits(e: Evaluation) -> list[tuple[int, str]]:
    """Sessions each limit lets run on one replica: memory first, then the caps."""
    return e.once(_limits)


def _limits(e: Evaluation) -> list[tuple[int, str]]:
    memory, mix, engine = e["kv_memory_per_rank"], e.scenario.mix, e.input("engine")
    e.input("context")
    if engine == "vllm":
        found = [(ranks.vllm_plan(e).sessions(memory, mix), "memory")]
    else:
        held, what = e.once(_held, mix)
        found = [(floor(held) * sum(count for _, count in mix), what)]
    asked, dp = e.input("max_num_seqs"), e.scenario.layout.dp
    if asked:
        found.append((asked if engine == "vllm" else max(1, asked // dp), "requests at once"))
    if engine in ("sglang", "sglang-unified"):
        if not asked:
            tokens, longest = ranks.sglang_pools(e).full, max(length for length, _ in mix)
            found.append((sglang.default_requests(tokens, longest), "requests at once"))
        if e.input("kv_memory_per_rank") is None and any(layer.state_bytes for layer in ranks.rank(e).layers):
            rest = Fraction(e.input("hbm")) * Fraction(e.input("memory_fraction")) - e["engine_weights_per_rank"]
            found.append((_state_pool(e, rest).requests, "state slots"))
    return found


@_quantity("engine_bandwidth_reached", "What engines reach of the bound", "share", "median over public decode runs without speculation of measured tokens/s over the bandwidth bound", "the runs named in envelope/engines/reached.py",
           "other cards, links and kernels than those measured")  # fmt: skip
def engine_bandwidth_reached(e: Evaluation) -> Found:
    e.rest_on("B")
    found = reached.shares()
    span = f"{found[0]:.1%} to {found[-1]:.1%} over {len(found)} points of {len(reached.RUNS)} public runs"
    return Found(reached.typical(), lambda: f"median of {span}", span)


DEFINITIONS = _registry.definitions
