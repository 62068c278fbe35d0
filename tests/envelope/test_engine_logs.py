"""Public start-up logs: given the memory a rank had, the lines that its engine printed."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from envelope import evaluate
from envelope.config import read
from envelope.groups import write
from envelope.quantities.engine_rank import vllm_plan

DATA = Path(__file__).parents[1] / "data"
LOGS = json.loads((DATA / "engine_logs.json").read_text())["cases"]
BY_ID = {case["id"]: case for case in LOGS}
GIB = 2**30


def tolerance(case):
    """0.5% where the rule was known before the log, 1% where source confirmed it afterwards."""
    return 0.01 if case["rule_status"].startswith("fitted") else 0.005


def layers(case):
    if "layers" in case:
        return case["layers"]
    return write(read((DATA / "configs" / case["config"]).read_text()).model)


def state(case, **more):
    given = {"model": "custom", "groups": layers(case), "gpus": "1", **case["inputs"], **more}
    if "kv_gib_per_rank" in case:
        given["kv_memory_per_rank"] = f"{case['kv_gib_per_rank']} GiB"
    return evaluate(**given)


COMPARED = [case for case in LOGS if "inputs" in case]
WITH_TOKENS = [case for case in COMPARED if "kv_tokens_measured" in case and "kv_gib_per_rank" in case and case["id"] != "A59"]
WITH_CONCURRENCY = [case for case in COMPARED if "max_concurrency_measured" in case and "kv_gib_per_rank" in case]
WITHOUT_MEMORY = [case for case in COMPARED if "kv_gib_per_rank" not in case]


@pytest.mark.parametrize("case", WITH_TOKENS, ids=lambda case: case["id"])
def test_token_line(case):
    predicted = state(case).value("engine_kv_tokens")
    assert predicted == pytest.approx(case["kv_tokens_measured"], rel=tolerance(case))


@pytest.mark.parametrize("case", WITH_CONCURRENCY, ids=lambda case: case["id"])
def test_concurrency_line(case):
    predicted = float(state(case).value("engine_max_concurrency"))
    # The log rounds to hundredths, which is 0.4% of the smallest.
    assert predicted == pytest.approx(case["max_concurrency_measured"], rel=tolerance(case), abs=0.0051)


@pytest.mark.parametrize("id, needed", [("A39", 4.54), ("A58", 6.75)])
def test_memory_one_request_needs(id, needed):
    """The refusal names what one request needs; GiB with two decimals."""
    envelope = state(BY_ID[id])
    plan = vllm_plan(envelope.evaluation)
    assert round(plan.request_bytes(plan.options.max_model_len) / GIB, 2) == needed


def test_a59_tests_the_whole_model_against_the_smallest_stage():
    """0.15.2: 34,736 tokens of the whole model in one stage's 3.18 GiB; from 0.19.0 each stage is tested alone."""
    case = BY_ID["A59"]
    assert state(case).value("engine_largest_model_len") == pytest.approx(case["kv_tokens_measured"], rel=0.005)
    assert state(case, engine_version="0.19.0").value("engine_largest_model_len") == pytest.approx(2 * 34_736, rel=0.005)


@pytest.mark.parametrize("case", WITHOUT_MEMORY, ids=lambda case: case["id"])
def test_a_whole_number_of_blocks_prints_the_line(case):
    """Where no memory was logged: only a right need per request leaves a whole number of blocks that prints the tokens."""
    plan = vllm_plan(state(case).evaluation)
    tokens, concurrency = case["kv_tokens_measured"], case["max_concurrency_measured"]
    about = concurrency * plan.request_blocks(plan.options.max_model_len)
    printed = [
        blocks
        for blocks in range(int(about * 0.995), int(about * 1.005) + 2)
        if plan.tokens(Fraction(blocks * plan.block_bytes)) == tokens
        and abs(float(plan.concurrency(Fraction(blocks * plan.block_bytes))) - concurrency) <= 0.0051
    ]
    assert len(printed) == 1


def test_rounded_reports_agree_with_the_meaning_of_the_line():
    """From 0.20.2 the token line is concurrency × max_model_len."""
    for id in ("A66", "A68", "A69"):
        case = BY_ID[id]
        assert case["max_concurrency_measured"] * case["max_model_len"] == pytest.approx(case["kv_tokens_measured"], rel=0.001)


def test_tp8_keeps_eight_copies_of_v4_flash():
    """A54, A55: eight pools hold 7.7 times one; each rank of TP 8 holds what a whole replica does."""
    given = {"model": "custom", "engine": "vllm", "engine_version": "0.25.1", "gpus": "8", "kv_memory_per_rank": "100 GiB",
             "max_model_len": "1M", "context": "1M", "groups": write(read((DATA / "configs/deepseek-ai--DeepSeek-V4-Flash.json").read_text()).model)}  # fmt: skip
    one, eight = evaluate(**given, tp="8"), evaluate(**given, tp="1")
    assert one.value("engine_max_concurrency") == eight.value("engine_max_concurrency")
    assert eight.value("engine_sessions") == 8 * one.value("engine_sessions")


def test_every_log_is_compared_or_says_why_not():
    assert len(LOGS) == 45
    assert {case["id"] for case in LOGS if "inputs" not in case} == {"A42", "A54", "A55", "A64", "A65", "A66", "A68", "A69"}
    assert all(case.get("not_compared") or case.get("inputs") for case in LOGS)
    independent = [case for case in LOGS if case["rule_status"] == "independent"]
    assert len(independent) == 22 and all("inputs" in case for case in independent)
