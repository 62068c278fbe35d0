"""What an evaluation takes over from an earlier one is what it would find itself."""

import gc
import random
import weakref

import pytest

from envelope import InputError, evaluate
from envelope.curves import CHARTS
from envelope.evaluation import RECENT
from envelope.scenario import BY_KEY, SETTLED, Scenario, attempt
from envelope.sections import sections
from envelope.watched import BIT, changes, facts

# Another value for every input that has one; `groups` and `name` describe a model that is in no catalogue.
OTHER = {
    "machine": "hgx-h200", "layers": "40", "global_layers": "8", "window": "4096", "q_heads": "128", "kv_heads": "4", "head_dim": "64",
    "hidden": "4096", "experts": "64", "top_k": "4", "expert_width": "1024", "latent_width": "1024", "vocabulary": "100K",
    "active_parameters": "30B", "weight_format": "fp8", "split": "bf16~routed_experts.fp8", "weight_bytes": "400GB", "gpus": "16", "pp": "2",
    "dp": "2", "tp": "4", "ep": "2", "hbm": "180GB", "bandwidth": "5TB/s", "engine": "plain", "memory_fraction": "0.8", "cache_format": "nvfp4",
    "cache_bytes_per_token": "20000", "chunk": "2048", "pool_ratio": "0.4", "headroom": "0.1", "context": "20000", "mix": "8K:3,200K:1",
    "batch": "16", "max_batch": "64", "bandwidth_share": "0.6", "verify_tokens": "4", "acceptance": "3.1", "acceptance_is": "measured",
    "gpu_hour": "3.3", "input_price": "1", "cached_price": "0.1", "output_price": "0.2", "sessions_wanted": "900", "speed_wanted": "60",
    "published_total": "500B", "host_cache_per_rank": "64GB", "host_memory": "1TB", "host_link": "50GB/s", "draft_weight_bytes": "6GB",
    "draft_cache_bytes_per_token": "3000", "step_ms": "20", "verify_ms": "31", "draft_ms": "2", "other_ms": "1", "score": "90", "harness": "lm-eval",
    "reference_score": "92", "reference_harness": "lm-eval", "turns": "12", "first_turn": "9000", "new_tokens": "700", "output_tokens": "300",
    "prefix_caching": "off", "total_tokens_per_gpu_s": "9000", "sessions_load": "64", "user_tokens_s": "30", "think_s": "1",
    "usable_per_rank": "120GB", "graph_bytes": "2GB", "reserve_bytes": "3GB", "state_reserve": "1GB", "output_reserve": "2000",
    "prompt_reserve": "30000", "arrival_per_s": "4", "residence_s": "50", "engine_version": "0.20.0", "max_model_len": "400000",
    "max_num_seqs": "40", "block_size": "64", "kv_memory_per_rank": "40GiB", "weights_per_rank": "70GiB", "activation_reserve": "5GiB",
    "graph_reserve": "1GiB", "dcp": "2", "hybrid_manager": "off", "mtp_layers": "1", "draft_model": "gpt-oss-120b", "cache_scales": "head",
    "state_format": "bf16", "state_blocks": "3",
}  # fmt: skip


# What most answers rest on, so that an answer kept for another length would show.
LENGTHS = ("context", "max_model_len", "chunk", "verify_tokens", "kv_memory_per_rank")


def said(**inputs: str) -> object:
    """Everything a state says, or why it cannot be."""
    try:
        envelope = evaluate(**inputs)
    except InputError as error:
        return str(error)
    quantities = [(one.key, type(one.value), one.value, one.tier, one.reason, one.note, one.working) for one in envelope]
    charts = [CHARTS[key](envelope) for key in ("pool-ratio", "experts")]
    return quantities, envelope.findings, charts, [one.answer(envelope) for one in sections()]


def said_afresh(**inputs: str) -> object:
    """The same with nothing to take over."""
    RECENT.clear()
    SETTLED.clear()
    return said(**inputs)


def test_every_input_has_another_value_here():
    assert set(OTHER) == set(BY_KEY) - {"model", "groups", "name"}


EDITED = pytest.mark.parametrize(
    "state",
    [
        {"model": "muse-spark-open"},
        {"model": "deepseek-v3", "machine": "hgx-h200", "engine": "vllm"},
        {"model": "gpt-oss-120b", "batch": "8", "memory_fraction": "0.85", "acceptance": "2", "cache_format": "fp8"},
    ],
    ids=lambda state: state["model"],
)


@pytest.mark.parametrize("key", OTHER)
@EDITED
def test_an_edit_says_what_the_state_says_afresh(state, key):
    edited = {**state, key: OTHER[key]}
    said_afresh(**state)
    there = said(**edited)
    back = said(**state)
    assert there == said_afresh(**edited)
    assert back == said_afresh(**state)


def settled(given: dict[str, str]) -> object:
    """Everything that a state settles, or what is wrong with it."""
    scenario, errors = attempt(given)
    return [str(error) for error in errors] if scenario is None else vars(scenario).copy()


@pytest.mark.parametrize("key", OTHER)
@EDITED
def test_another_value_of_a_stated_input_settles_as_it_does_afresh(state, key):
    stated = {**state, key: evaluate(**state).scenario.text(key) or OTHER[key]}
    SETTLED.clear()
    settled(stated)
    there, back, wrong = settled({**stated, key: OTHER[key]}), settled(stated), settled({**stated, key: "?"})
    for given, found in (({**stated, key: OTHER[key]}, there), (stated, back), ({**stated, key: "?"}, wrong)):
        SETTLED.clear()
        assert found == settled(given)


def walk(seed: int, steps: int) -> list[dict[str, str]]:
    """States that follow each other by one edit: an input stated or taken back, or another length."""
    chance = random.Random(seed)
    state, states = {"model": chance.choice(["muse-spark-open", "qwen3-235b", "deepseek-v3"])}, []
    for _ in range(steps):
        key = chance.choice([*OTHER, *LENGTHS])
        if key in LENGTHS and chance.random() < 0.5:
            state = {**state, key: str(chance.randint(1, 2_000_000))}
        elif state.pop(key, None) is None:
            state = {**state, key: OTHER[key]}
        states.append(dict(state))
    return states


@pytest.mark.parametrize("seed", range(6))
def test_no_order_of_edits_changes_what_a_state_says(seed):
    states = walk(seed, 25)
    RECENT.clear()
    SETTLED.clear()
    walked = [said(**state) for state in states]
    assert walked == [said_afresh(**state) for state in states]


def _differs(key: str, old: Scenario, new: Scenario) -> bool:
    if key == ".given":
        return set(old.given) != set(new.given)
    if key.startswith("."):
        return getattr(old, key[1:]) is not getattr(new, key[1:])
    one, other = old[key], new[key]
    return (type(one), one, old.tier(key)) != (type(other), other, new.tier(key))


@pytest.mark.parametrize("seed", range(3))
def test_what_differs_between_two_states_is_each_value_tier_and_part_that_does(seed):
    scenarios = []
    for state in walk(seed, 30):
        try:
            scenarios.append(evaluate(**state).scenario)
        except InputError:
            continue
    for old, new in zip(scenarios, scenarios[1:] + scenarios[:1], strict=True):
        assert changes(facts(old), facts(new)) == sum(bit for key, bit in BIT.items() if _differs(key, old, new))


def test_an_evaluation_that_nobody_holds_is_gone_at_once():
    envelope = evaluate("muse-spark-open", context="100000")
    assert [one.value for one in envelope] and envelope.findings and envelope["sessions"].working
    held = weakref.ref(envelope.evaluation)
    gc.disable()
    try:
        del envelope
        assert held() is None
    finally:
        gc.enable()
