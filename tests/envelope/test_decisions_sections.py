"""The sections: what their headers answer, and that what they show exists and is whole."""

from dataclasses import replace

import pytest

from envelope import catalog, evaluate
from envelope import rules
from envelope.curves import CHARTS
from envelope.decisions import ALL
from envelope.quantities import BY_KEY as QUANTITIES
from envelope.rules import decisions, doubts
from envelope.scenario import BY_KEY as FIELDS
from envelope.sections import sections

SECTION = {section.key: section for section in ALL}
CYCLE = {"draft_ms": 8, "verify_ms": 42, "other_ms": 5, "step_ms": 30}
LAYERS = "h4096.v131072~40x_full.q32.kv8.k128_moe.e64.k4.w8192.m2"

STATES = {
    "muse": {},
    "muse-alone": {"gpus": 2},
    "muse-mixed": {"mix": "32K:3,128K:1", "batch": 32, "acceptance": "3.2", **CYCLE, "host_cache_per_rank": "200GB"},
    "muse-mac": {"machine": "mac-studio-m5-ultra", "gpus": 2},
    "muse-own-split": {"split": "bf16~routed_experts.fp8"},
    "gpt-oss": {"model": "gpt-oss-120b"},
    "qwen3": {"model": "qwen3-235b", "ep": 1},
    "deepseek": {"model": "deepseek-v3", "machine": "hgx-h100"},
    "llama": {"model": "llama-3.1-70b", "machine": "dgx-spark"},
    "flash": {"model": "deepseek-v4.1-flash"},
    "flash-sized": {"model": "deepseek-v4.1-flash", "weight_bytes": "510GB"},
    "muse-gaudi": {"machine": "gaudi-3"},
    "muse-one-4090": {"machine": "rtx-4090"},
    "pasted": {"model": "custom", "groups": LAYERS, "gpu_hour": 2},
}


def answer(key, **inputs):
    return SECTION[key].answer(evaluate(**inputs))


def table(key, title, **inputs):
    """The rows of a section's table by their first cell."""
    content = SECTION[key].content(evaluate(**inputs))
    return {row[0]: row[1:] for one in content.tables if one.title.startswith(title) for row in one.rows}


def test_the_sections_come_in_the_order_decisions_are_made():
    assert [section.key for section in sections()] == [
        "rebuilt", "checkpoint", "parallelism", "pools", "speculation", "context-price", "accuracy", "benchmark", "turn", "admission", "models",
    ]  # fmt: skip


class TestAnswers:
    @pytest.mark.parametrize(
        ("key", "words"),
        [
            ("rebuilt", "822.0 B rebuilt from the shapes: lands on the published 822.0 B"),
            ("checkpoint", "NVFP4 532.7 GB is 5.2 bits per parameter; native on this machine"),
            ("parallelism", "exchange does 9,591 FLOP per byte, this machine asks 15,000: it cannot fully hide"),
            ("pools", "equal 32K and 128K sessions: ratio 0.125 fits 370"),
            ("speculation", "an 8-token verify step reads 7.2× the expert bytes at 1 request, 1.6× at 32; time a cycle to judge the drafter"),
            ("context-price", "decoding costs more than the list price from about 313K on"),
            ("accuracy", "the reference is GSM8K 97.8% in SGLang launch post; a deployment more than a point below it in that harness has a fault"),
            ("benchmark", "80.3K tokens/s per GPU is 0.27% output; an agent waits 12.4 of 16.0 s"),
            ("turn", "a conversation bills $0.2597 and rents $0.024: a margin of 91% at most"),
            ("models", "cache per token spreads 368×: 890.0 B for DeepSeek V4.1-Flash, 327.7 kB for Llama 3.1 70B"),
        ],
    )
    def test_of_the_seed_s_state(self, key, words):
        assert answer(key) == words

    @pytest.mark.parametrize(
        ("key", "inputs", "words"),
        [
            ("checkpoint", {"machine": "hgx-h200"}, "NVFP4 532.7 GB is 5.2 bits per parameter; on this machine it saves memory only"),
            ("parallelism", {"model": "llama-3.1-70b"}, "no experts to exchange; 160 collectives per token"),
            ("parallelism", {"gpus": 4}, "exchange does 9,591 FLOP per byte, this machine asks 15,000: it cannot fully hide"),
            ("parallelism", {"gpus": 2}, "exchange does 19,181 FLOP per byte with 1 expert in 2 local, this machine asks 15,000: it can hide"),
            ("pools", {"mix": "32K:3,128K:1"}, "3 of 32K and 1 of 128K: ratio 0.179 fits 476"),
            ("pools", {"model": "llama-3.1-70b"}, "every layer keeps the same span, so there is one pool and no ratio"),
            ("pools", {"cache_bytes_per_token": 32_768}, "a stated cache per token adds no window, so there is one pool and no ratio"),
            (
                "pools",
                {"model": "custom", "groups": "h4096.v131072~30x_gateddelta.h32.k128.v128.cc8192.ck4.kh16_ff.w12288~10x_full.q32.kv8.k128_ff.w12288"},
                "no layer keeps a window of tokens, so there is one pool and no ratio",
            ),
            ("speculation", {**CYCLE, "acceptance": "3.2"}, "timed: 17.2 ms per token against 30.0 ms, 1.75× faster: keep it"),
            ("speculation", CYCLE, "a cycle of 55.0 ms breaks even at 1.83 tokens; enter Tokens per cycle for the verdict"),
            ("speculation", {"verify_tokens": 4}, "a 4-token verify step reads 3.8× the expert bytes at 1 request, 1.5× at 32; time a cycle to judge the drafter"),
            ("speculation", {"model": "llama-3.1-70b"}, "an 8-token verify step reads the weights of a plain step; time a cycle to judge the drafter"),
            ("speculation", {"model": "llama-3.1-70b", "batch": 65}, "an 8-token verify step reads the weights of a plain step; published guidance drops the drafter at this many requests"),
            ("accuracy", {"score": "97.6", "harness": "SGLang launch post"}, "0.20 points below the reference, the same harness and within a point: fine"),
            ("accuracy", {"score": "95", "harness": "AMD vLLM"}, "2.80 points below the reference, another harness: not comparable"),
            ("accuracy", {"score": "90"}, "7.80 points below the reference, but nothing compares before the harness is named: enter Your harness"),
            ("accuracy", {"reference_score": "90"}, "the reference is 90% in SGLang launch post; a deployment more than a point below it in that harness has a fault"),
            (
                "accuracy",
                {"model": "qwen3-235b"},
                "no reference score is known for this model: enter Reference score; a deployment more than a point below it in that harness has a fault",
            ),
            ("benchmark", {"model": "qwen3-235b"}, "0.27% of a conversation's tokens are output and 92% cache hits; enter Total per GPU for the turn time"),
            ("benchmark", {"model": "qwen3-235b", "total_tokens_per_gpu_s": 9000}, "9K tokens/s per GPU is 0.27% output; enter Sessions in flight for the turn time"),
            ("turn", {"model": "qwen3-235b"}, "a conversation bills $0.1369, so 49.4 per GPU hour pay $6.77 of rent; enter Total per GPU for the margin"),
            ("turn", {"machine": "gaudi-3", "total_tokens_per_gpu_s": 80_300}, "a conversation bills $0.2597; enter Rent per GPU hour for the margin"),
            ("pools", {"model": "deepseek-v4.1-flash"}, "a stated cache per token adds no window, so there is one pool and no ratio"),
            ("admission", {"model": "deepseek-v4.1-flash"}, "DeepSeek V4.1-Flash states no shapes: enter Weight bytes"),
            ("checkpoint", {"model": "deepseek-v4.1-flash"}, "DeepSeek V4.1-Flash states no shapes: enter Layers as text"),
            (
                "parallelism",
                {"model": "deepseek-v4.1-flash", "weight_bytes": "510GB"},
                "63.75 GB of weights a rank if they divide evenly; DeepSeek V4.1-Flash states no shapes to place",
            ),
            (
                "context-price",
                {"model": "deepseek-v4.1-flash", "weight_bytes": "510GB"},
                "holding a cache pays for 5.15 min; DeepSeek V4.1-Flash states no shapes, so no token is priced",
            ),
            ("context-price", {"machine": "gaudi-3"}, "no rental price is known for Gaudi 3: enter Rent per GPU hour"),
            ("admission", {"usable_per_rank": "60GiB"}, "no request is admitted: weights 65.51 GiB leave nothing of the usable 60 GiB per rank"),
            (
                "admission",
                {
                    "gpus": 1, "weight_bytes": "52GiB", "usable_per_rank": "80GiB", "graph_bytes": "8GiB", "reserve_bytes": "4GiB", "state_reserve": "1GiB",
                    "cache_bytes_per_token": 81_920, "prompt_reserve": 8192, "output_reserve": 1024, "arrival_per_s": 2, "residence_s": 21,
                },
                "16 GiB per rank for requests: at most 21 of 9,216 tokens; 42 in flight take 2 replicas",
            ),
        ],
    )  # fmt: skip
    def test_follow_the_state(self, key, inputs, words):
        assert answer(key, **inputs) == words


@pytest.mark.parametrize("inputs", STATES.values(), ids=STATES)
@pytest.mark.parametrize("section", ALL, ids=SECTION)
class TestContent:
    def test_names_only_what_exists(self, section, inputs):
        envelope = evaluate(**inputs)
        content = section.content(envelope)
        assert set(content.quantities) <= QUANTITIES.keys()
        assert set(content.charts) <= CHARTS.keys()
        assert all(envelope.scenario.applies(key) for key in content.inputs)
        assert set(content.inputs) <= FIELDS.keys()

    def test_tables_are_whole(self, section, inputs):
        for one in section.content(evaluate(**inputs)).tables:
            assert one.rows
            assert {len(row) for row in one.rows} == {len(one.columns)}

    def test_quantities_have_a_working_or_a_reason(self, section, inputs):
        envelope = evaluate(**inputs)
        for key in section.content(envelope).quantities:
            quantity = envelope[key]
            assert (quantity.value is None) == bool(quantity.reason)
            assert quantity.working or quantity.reason


class TestRebuilt:
    def test_the_file_of_deepseek_v3_part_by_part(self):
        rows = {row[0]: row[1:] for row in SECTION["rebuilt"].content(evaluate("deepseek-v3")).tables[0].rows}
        # The public implementation's modules: 671,026,404,352, and 684,489,830,400 with the prediction layer and its copies.
        assert rows["All"][0] == "671,026,404,352"
        assert rows["All with prediction layers"][0] == "684,489,830,400"
        assert rows["embeddings"] == ("926,679,040", "–", "1.853 GB")

    def test_a_total_that_does_not_land_makes_later_numbers_suspect(self):
        assert answer("rebuilt", model="llama-3.1-70b", layers=60).endswith("-24.3% from the published 70.55 B, so every later number is suspect")
        assert answer("rebuilt", model="llama-3.1-70b", layers=60, published_total="53.44B").endswith("lands on the published 53.44 B")

    def test_packed_files_show_another_count_on_the_hub(self):
        (words, _) = SECTION["rebuilt"].content(evaluate("gpt-oss-120b")).paragraphs
        # The publisher's page on the Hub showed 63.1 B for its MXFP4 files.
        assert words.startswith("The Hub will display 63.08 B, not 116.8 B")
        (words, _) = SECTION["rebuilt"].content(evaluate("deepseek-v3")).paragraphs
        assert words.startswith("The Hub will display about 684.5 B")  # 684.53 with block scales

    def test_a_stated_size_stands_beside_the_predicted_one(self):
        def said(**inputs: object) -> str:
            return SECTION["rebuilt"].content(evaluate("deepseek-v3", **inputs)).paragraphs[-1]

        assert said() == "By this split the files hold 688.6 GB."
        assert said(weight_bytes=688_586_727_753) == "By this split the files hold 688.6 GB; the stated size is 688.6 GB, which agrees."
        assert "another split than this one" in said(weight_bytes="350GB")


class TestFindings:
    def test_every_rule_named_in_a_section_exists(self):
        spoken = {rule.__name__ for rule in rules.ALL} | {"does_not_fit", "no_session"}
        assert {key for section in ALL for key in section.rules} <= spoken

    @pytest.mark.parametrize("rule", decisions.RULES + doubts.RULES, ids=lambda rule: rule.__name__)
    def test_every_mistake_and_doubt_is_told_in_a_section(self, rule):
        assert any(rule.__name__ in section.rules for section in ALL)

    def test_a_section_tells_its_own_and_no_other(self):
        envelope = evaluate(pool_ratio="0.8", score="95", harness="SGLang launch post")
        assert [one.key for one in SECTION["accuracy"].findings(envelope)] == ["score_below"]
        assert [one.key for one in SECTION["pools"].findings(envelope)] == ["default_pool_ratio"]
        assert SECTION["turn"].findings(envelope) == ()


class TestMissing:
    def test_the_inputs_that_are_missing_are_offered(self):
        content = SECTION["checkpoint"].content(evaluate("deepseek-v4.1-flash"))
        assert content.paragraphs == ("Not shown: DeepSeek V4.1-Flash states no shapes: enter Layers as text.",)
        assert content.inputs == ("groups",)
        assert SECTION["parallelism"].content(evaluate("deepseek-v4.1-flash")).inputs[0] == "weight_bytes"

    @pytest.mark.parametrize("slug", catalog.slugs())
    def test_every_preset_is_answered_or_asked_by_a_field_that_is_there(self, slug):
        """No header gives up: it answers, or names a field that its open section offers."""
        envelope = evaluate(slug)
        for section in ALL:
            words, content = section.answer(envelope), section.content(envelope)
            assert not words.startswith("no answer")
            asked = [words.split("enter ")[1].split(" for the ")[0].split(";")[0]] if "enter " in words else []
            assert set(asked) <= {FIELDS[key].label for key in content.inputs}

    def test_a_machine_without_a_rental_keeps_the_rest(self):
        content = SECTION["context-price"].content(evaluate(machine="gaudi-3"))
        assert [one.title for one in content.tables] == ["Cost per million output tokens by context"]
        assert "gpu_hour" in content.inputs


class TestTables:
    def test_what_is_split_and_what_is_replicated(self):
        """386.5e9 + 48.3e9 + 51.5e9 bytes of experts over eight ranks; the 2.02e9 parameters of the towers on each."""
        rows = table("parallelism", "What is split")
        assert rows["routed experts"] == ("whole experts over 8 ranks", "486 GB", "60.8 GB", "486 GB")
        assert rows["towers"] == ("whole on every rank", "4.04 GB", "4.04 GB", "32.3 GB")
        assert rows["attention"][0] == "divided over tp 8"

    def test_a_drafter_stands_in_the_budget(self):
        """8 GiB over eight GPUs is 1 GiB a rank."""
        rows = table("admission", "Budget", draft_weight_bytes="8GiB")
        assert rows["drafter's weights"] == ("1 GiB", "8 GiB / 8", "draft_weight_bytes / gpus")
        assert "drafter's weights" not in table("admission", "Budget")

    def test_a_bill_ends_with_its_sum(self):
        """Source: the first seed: $0.2597."""
        assert table("turn", "One conversation's bill")["all"] == ("1,042,834", "", "$0.2597", "")

    def test_models_side_by_side(self):
        """Source: the first seed's Muse figures; 80 × 2 × 8 × 128 BF16 values a token for Llama 3.1 70B."""
        rows = table("models", "Models")
        assert list(rows) == [preset.name for preset in catalog.models().values()]
        assert rows["Muse Spark Open"] == ("822.0 B", "42.78 B", "fp8", "32.77 kB", "4.49 GB", "34.6 GB", "72.5 tokens", "169,072 tokens")
        assert rows["Llama 3.1 70B"][3:5] == ("327.7 kB", "42.9 GB") and rows["Llama 3.1 70B"][6] == "–"

    def test_a_pasted_model_stands_below_the_presets(self):
        rows = table("models", "Models", **STATES["pasted"], mix="32K:3")
        assert list(rows)[-1] == "A model from its config"
        assert rows["A model from its config"][3] == "163.8 kB"  # 40 × 2 × 8 × 128 BF16 values

    def test_formats_side_by_side(self):
        """Source: the first seed: 1.644 TB, 532.7 GB, 508.5 GB; 54.1 GB and 75% BF16 at batch 1; 483.8 B displayed."""
        rows = table("checkpoint", "Formats")
        assert rows["BF16, published"][0] == "1.644 TB"
        assert rows["NVFP4, published"][:5] == ("532.7 GB", "5.18 bits", "54.1 GB", "75%", "483.8 B")
        assert rows["MXFP4, published"][0] == "508.5 GB"
        assert rows["4.5 bits for everything"][1] == "4.50 bits"

    def test_the_chosen_batch_has_its_own_column(self):
        assert table("checkpoint", "Formats", batch=73)["NVFP4, published"][2:4] == ("54.1 GB", "477 GB")

    def test_a_stated_split_stands_beside_the_formats(self):
        assert "your split" in table("checkpoint", "Formats", split="bf16~routed_experts.fp8")

    def test_the_split_by_part_and_layer(self):
        rows = SECTION["checkpoint"].content(evaluate()).tables[1].rows
        assert ("routed experts", "NVFP4", "60", "773 B", "435 GB", "13.6 GB") in rows
        assert ("routed experts", "BF16", "2", "25.8 B", "51.5 GB", "1.61 GB") in rows

    def test_what_each_published_ratio_fits(self):
        """Source: the first seed: 95, 146, 200, 220 and 245 of 258."""
        content = SECTION["pools"].content(evaluate())
        assert [row[1:3] for row in content.tables[0].rows] == [
            ("0.0782", "258"), ("0.8", "95"), ("0.4", "146"), ("0.2", "200"), ("0.15", "220"), ("0.1", "245"),
        ]  # fmt: skip

    def test_a_ratio_for_one_length_at_another(self):
        """Source: the first seed: 665 at 32K's own ratio, 258 at the one for 128K; 38 and 11 at a million."""
        rows = table("pools", "One ratio")
        assert rows["32K"][:4] == ("0.313", "665", "258", "61%")
        assert (rows["1M"][1], rows["1M"][4]) == ("38", "11")

    def test_costs_by_context_beside_another_cache(self):
        """Source: the first seed: $0.44, $1.83 and $13.05; with 890 bytes $0.30 and $0.34."""
        rows = table("context-price", "Cost per million")
        assert [rows[length][1] for length in ("8K", "128K", "1M")] == ["$0.44", "$1.83", "$13.05"]
        assert [rows[length][4] for length in ("8K", "128K")] == ["$0.30", "$0.34"]
        assert rows["128K"][3] == "$1.92"

    def test_measured_points_stand_beside_the_bound(self):
        """Source: the first seed: 71% at 4 requests and 31% at 32, while the bound rises."""
        rows = table("speculation", "Verify over plain")
        assert rows["4"][3].startswith("1.71× DFlash V2") and rows["32"][3].startswith("1.31× DFlash V2")
        assert float(rows["4"][2].rstrip("×")) < float(rows["32"][2].rstrip("×"))

    def test_the_teaching_example(self):
        """Source: the second seed: 52 and 32 GiB a rank, 41.5 by naive division, 512 GiB in all."""
        rows = table("parallelism", "Teaching example")
        assert rows["EP 8"] == ("40 GiB", "12 GiB", "52 GiB", "41.5 GiB", "416 GiB")
        assert (rows["EP 16"][2], rows["EP 16"][4]) == ("32 GiB", "512 GiB")

    def test_the_same_conversation_at_other_prices(self):
        """Source: the first seed: $0.0171 off-peak would not cover the rental."""
        rows = SECTION["turn"].content(evaluate()).tables[2].rows
        assert [row[1:4] for row in rows if "Flash" in row[0]] == [
            ("DeepSeek off-peak", "$0.0171", "−43%"), ("DeepSeek peak (01-04, 06-10 UTC weekdays)", "$0.0341", "28%"),
        ]  # fmt: skip

    def test_the_budget_is_in_gib(self):
        content = SECTION["admission"].content(evaluate(usable_per_rank="80GiB", weight_bytes="52GiB", gpus=1, graph_bytes="8GiB", reserve_bytes="4GiB"))
        assert "GiB" in content.tables[0].title
        assert [row[:2] for row in content.tables[0].rows][:5] == [
            ("usable", "80 GiB"), ("weights", "52 GiB"), ("graphs and communication", "8 GiB"), ("reserve", "4 GiB"), ("left for request state", "16 GiB"),
        ]  # fmt: skip

    def test_the_checklist_says_what_a_benchmark_leaves_out(self):
        rows = table("benchmark", "What a day-zero")
        assert rows["output tokens/s per GPU"][0] == "220 tok/s"
        assert rows["think time"] == ("not stated", "missing")
        assert table("benchmark", "What a day-zero", think_s=2)["think time"] == ("2.00 s between turns", "stated")


class TestCharts:
    def chart(self, key, **inputs):
        return CHARTS[key](evaluate(**inputs))

    def test_cost_meets_the_list_price(self):
        drawn = self.chart("cost-context")
        assert drawn.title == "Decoding costs more than its list price from about 313K tokens on"
        assert [mark.label for mark in drawn.marks] == [
            "128K: $1.83", "engine's sessions: $7.01", "890-byte cache: $0.44", "list price $4.25", "about 313K",
        ]  # fmt: skip
        assert [one.label for one in drawn.series] == ["at the ceiling", "engine's sessions", "with the 890-byte cache of DeepSeek V4.1-Flash", "list price"]

    def test_speculation_marks_the_printed_ratios_and_the_measured_points(self):
        drawn = self.chart("speculation")
        assert [mark.label for mark in drawn.marks][:3] == ["7.2× at 1", "5.3× at 4", "1.6× at 32"]
        measured = {(mark.x, mark.y) for mark in drawn.marks if mark.label.startswith("measured")}
        assert measured == {(4, 1.71), (32, 1.31), (4, 1.70), (32, 1.06)}
        assert {mark.label for mark in drawn.marks} >= {"all bytes", "bytes-only bound"}
        assert "gains measured on MI355X fall, so it is no verdict" in drawn.subtitle and drawn.series[2].label.startswith("bytes-only bound")

    def test_a_model_nobody_measured_has_the_published_range_and_another_s_points(self):
        """Source: vLLM on EAGLE 3.1: 2.03, 1.71 and 1.66 at 1, 4 and 16 requests; acceptances published from 2.01 to 4.16."""
        drawn = self.chart("speculation", model="qwen3-235b")
        assert {(mark.x, mark.y) for mark in drawn.marks if mark.label.startswith("measured")} == {(1, 2.03), (4, 1.71), (16, 1.66)}
        assert [one.label for one in drawn.series[2:]] == [f"bytes-only bound at {rate} tokens per cycle (published for other models)" for rate in ("2.01", "4.16")]

    def test_measured_gains_fall_while_the_bound_does_not(self):
        """From 4 to 32 requests, where the seed's points are: 71% to 31% measured, the bound from 1.30 up."""
        drawn = self.chart("speculation")
        bound = dict(zip(drawn.series[2].x, drawn.series[2].y, strict=True))
        assert bound[32] > bound[4]

    def test_margins_at_the_known_rentals(self):
        assert [mark.label for mark in self.chart("margin").marks] == ["$6.00: 92%", "$9.50: 87%", "$6.77: 91%"]

    def test_mixes(self):
        assert self.chart("pool-mix").title == "Equal 32K and 128K sessions: 371 at their own ratio, 258 at the one for 128K"

    def test_balance_improves_with_tokens(self):
        drawn = self.chart("expert-balance")
        assert list(drawn.series[0].y) == sorted(drawn.series[0].y, reverse=True)

    @pytest.mark.parametrize("key", ["cost-context", "speculation", "margin", "pool-mix", "expert-balance"])
    def test_says_why_it_does_not_apply(self, key):
        drawn = self.chart(key, model="llama-3.1-70b", machine="mac-studio-m5-ultra")
        assert drawn.reason.startswith("Not drawn: ") and not drawn.series

    @pytest.mark.parametrize("key", CHARTS)
    def test_lines_have_as_many_heights_as_places(self, key):
        for one in self.chart(key).series:
            assert len(one.x) == len(one.y) and (not one.hover or len(one.hover) == len(one.x))


def test_a_section_nobody_opens_is_not_computed():
    """The header's answer is; the content's function is not called."""
    calls = []
    section = replace(SECTION["turn"], find_content=calls.append)
    section.answer(evaluate())
    assert calls == []
