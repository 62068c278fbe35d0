"""The page as a reader meets it: what it shows, and what follows from what is done."""

import json

import pytest
from hypothesis import given, settings

from app import inputs
from app.sections import MAIN_CHARTS
from app.state import RESETS
from envelope import catalog, evaluate, export, launch
from envelope.quantities import ALL
from envelope.records import Change
from envelope.scenario import FIELDS, resolve
from envelope.sections import Content, Section, sections
from tests.app.reader import Element, Reader, parsed
from tests.app.strategies import states

PRESETS = catalog.slugs()


def cards(reader: Reader) -> dict[str, str]:
    """The headline numbers by quantity, as shown."""
    return {card.attributes["data-quantity"]: card.one("p", class_="value").text for card in reader.region("numbers").all("div", class_="card")}


class TestFirstLook:
    def test_the_answer_is_the_first_line(self):
        # The first seed's printed figures at its defaults.
        words = Reader().region("answer").text
        for figure in ("Fits · 258 sessions at 128K", "pool ratio 0.0782", "both pools bind", "at most 30 tok/s", "981 tok/s per GPU", "$1.83 per million output", "needs 4 GPUs"):
            assert figure in words

    def test_the_numbers_are_the_seeds(self):
        shown = cards(Reader())
        assert shown == {
            "resident_parameters": "822.0 B", "active_parameters": "42.78 B", "bytes_per_step": "54.1 GB",
            "cache_bytes_per_token": "32.8 kB", "experts_tokens_90": "72.5 tokens", "crossover_decode": "169,072 tokens",
            "ceiling_sessions": "302 sessions", "cache_breakeven_seconds": "6.88 min",
        }  # fmt: skip

    @pytest.mark.parametrize("slug", PRESETS)
    def test_every_preset_opens(self, slug: str):
        reader = Reader(f"?model={slug}")
        sessions = evaluate(slug)["sessions"]
        words = f"{sessions.value:,} session" if sessions.value is not None else "Sessions unknown " + sessions.reason.replace("weight_bytes", "Weight bytes")
        assert words in reader.region("answer").text
        assert reader.region("notices").text == ""
        assert len(cards(reader)) == 8

    @pytest.mark.parametrize("machine", sorted(catalog.machines()))
    def test_every_machine_has_an_answer(self, machine: str):
        words = Reader(f"?machine={machine}").region("answer").text
        assert words.startswith(("Fits", "Does not fit", "Not one session fits"))

    def test_a_model_that_does_not_fit_says_how_many_gpus_it_takes(self):
        reader = Reader("?model=muse-spark-open&gpus=1")
        assert reader.region("answer").text.startswith("Does not fit needs 4 GPUs at least")
        finding = reader.region("findings").all("li")[0]
        assert "finding error" in finding.attributes["class"] and "533 GB" in finding.text
        assert "exceed" in cards(reader)["ceiling_sessions"]
        assert cards(reader)["resident_parameters"] == "822.0 B"

    def test_the_chip_is_only_on_what_is_inferred(self):
        shown = rows(Reader().page_html)
        assert [key for key, row in shown.items() if row.all("span", class_="chip")] == ["bandwidth_share"]


def rows(top: Element) -> dict[str, Element]:
    """The form's rows by field."""
    return {row.attributes["data-row"]: row for row in top.all("div") if "data-row" in row.attributes}


class TestForm:
    def test_has_a_labelled_input_for_every_field_that_applies(self):
        reader = Reader()
        for name in inputs.groups():
            reader.do("fold", name=name, open="True")
            reader.do("fold", name=f"{name}/more", open="True")
        scenario = resolve({})
        found = {}
        for name in inputs.groups():
            found |= rows(reader.region(inputs.region(name)))
        assert set(found) == {field.key for field in FIELDS if scenario.applies(field.key) and field.key not in RESETS}
        for field in FIELDS:
            if field.key in found:
                label = found[field.key].one("label")
                assert label.text == field.label
                assert found[field.key].one(id=label.attributes["for"]).attributes["data-key"] == field.key

    def test_fields_that_do_not_apply_are_not_there(self):
        shown = set(rows(Reader("?model=llama-3.1-70b").page_html))
        assert not {"experts", "top_k", "window", "pool_ratio"} & shown
        assert {"layers", "q_heads", "kv_heads"} <= shown

    def test_a_changed_field_is_marked_echoed_and_can_be_put_back(self):
        reader = Reader()
        reader.commit("context", "1M")
        row = rows(reader.region("inputs-workload"))["context"]
        assert row.attributes["class"] == "row changed"
        assert row.one("p").text == "1,048,576 tokens"
        assert "1 changed" in reader.region("bar").text
        reader.do("reset", key="context")
        assert reader.page.state.texts == {}
        assert reader.told("address")[0]["query"].endswith("model=muse-spark-open")

    def test_an_error_stands_at_its_field_and_the_results_stay(self):
        reader = Reader()
        before = cards(reader)
        answers = reader.type("context", "12 potatoes")
        row = rows(reader.region("inputs-workload"))["context"]
        field = row.one("input")
        assert field.attributes["aria-invalid"] == "true"
        assert row.one(id=field.attributes["aria-describedby"]).text.startswith("does not know the suffix 'potatoes'")
        assert field.attributes["value"] == "12 potatoes"
        assert cards(reader) == before
        assert {"do": "stale", "stale": True} in answers
        assert "last values that can be used" in reader.region("answer").text
        assert {"do": "stale", "stale": False} in reader.type("context", "12")

    def test_an_error_in_a_folded_group_unfolds_it(self):
        reader = Reader()
        reader.commit("gpu_hour", "cheap")
        assert "gpu_hour" in rows(reader.region("inputs-prices"))

    def test_what_few_change_stands_folded_and_opens_for_its_error(self):
        reader = Reader("?model=muse-spark-open&block_size=16")
        engine = reader.region("inputs-engine")
        assert "block_size" not in rows(engine) and engine.one("details", data_fold="Engine/more").one("summary").text == "more 1 changed"
        reader.do("fold", name="Engine/more", open="True")
        reader.commit("block_size", "none")
        reader.do("fold", name="Engine/more", open="False")
        assert "block_size" in rows(reader.region("inputs-engine"))


class TestFollowing:
    def test_only_what_changed_is_shown_again(self):
        reader = Reader()
        reader.type("input_price", "2")
        (shown,) = reader.told("show")
        assert "numbers" not in shown["regions"] and "inputs-model" not in shown["regions"]

    def test_of_a_region_the_parts_that_stay_are_not_sent_again(self):
        reader = Reader()
        reader.type("context", "64K")
        (shown,) = reader.told("show")
        form, numbers = parsed(shown["regions"]["inputs-workload"]), parsed(shown["regions"]["numbers"])
        assert [key for key, row in rows(form).items() if "data-same" not in row.attributes] == ["context"]
        assert rows(form)["batch"].children == []
        sent = [card.attributes["id"] for card in numbers.children if "data-same" not in card.attributes]
        assert sent == ["card-cache_bytes_per_token", "card-ceiling_sessions"]

    def test_what_is_out_of_sight_comes_when_it_is_asked_for(self):
        reader = Reader()
        reader.do("type", key="context", text="64K", unseen=["sections", "title-pool-ratio"])
        (shown,) = reader.told("show")
        assert "answer" in shown["regions"] and not {"sections", "title-pool-ratio"} & shown["regions"].keys()
        reader.do("rest", pointed="")
        (shown,) = reader.told("show")
        assert set(shown["regions"]) == {"sections", "title-pool-ratio"}
        assert reader.do("rest", pointed="") == []

    def test_a_chart_out_of_sight_is_drawn_with_the_rest(self):
        reader = Reader()
        before = reader.page.figures["pool-ratio"].labels.data["label"]
        reader.do("type", key="context", text="64K", unseen=["title-pool-ratio"])
        assert reader.page.figures["pool-ratio"].labels.data["label"] == before
        reader.do("rest", pointed="")
        assert reader.page.figures["pool-ratio"].labels.data["label"][0].startswith("64K: ")

    def test_a_chart_answers_the_pointer_that_comes_to_it(self):
        reader = Reader()
        points = reader.page.figures["pool-ratio"].points
        before = points.data["said"]
        reader.type("context", "64K")
        assert points.data["said"] == before
        reader.do("rest", pointed="pool-ratio")
        assert points.data["said"] != before

    def test_the_address_follows_typing_and_steps_when_settled(self):
        reader = Reader()
        reader.type("context", "64K")
        assert [(one["query"][-11:], one["settled"]) for one in reader.told("address")] == [("context=64K", False)]
        reader.commit("context", "64K")
        assert [one["settled"] for one in reader.told("address")] == [True]
        reader.commit("context", "64K")
        assert reader.told("address") == []

    def test_back_and_forward_bring_states_without_writing_the_address(self):
        reader = Reader()
        reader.do("go", query="?model=gpt-oss-120b&context=32K")
        assert reader.page.state.texts == {"model": "gpt-oss-120b", "context": "32K"}
        assert reader.told("address") == []
        choice = reader.region("bar").one("select", id="choose-model")
        assert [one.attributes["value"] for one in choice.all("option") if "selected" in one.attributes] == ["gpt-oss-120b"]

    def test_undo_and_redo(self):
        reader = Reader()
        assert "disabled" in reader.region("bar").one("button", data_do="undo").attributes
        reader.commit("context", "1M")
        reader.do("undo")
        assert "258 sessions" in reader.region("answer").text
        reader.do("redo")
        assert "38 sessions" in reader.region("answer").text

    def test_opening_a_link_is_no_step_to_undo(self):
        assert not Reader("?context=1M").page.state.can_undo

    def test_a_finding_sets_what_it_says_and_can_be_undone(self):
        reader = Reader("?pool_ratio=0.8")
        assert "95 sessions" in reader.region("answer").text
        finding = next(li for li in reader.region("findings").all("li") if li.attributes["data-finding"] == "default_pool_ratio")
        assert finding.one("button").text == "set Pool ratio 0.0782"
        reader.do("set", finding="default_pool_ratio")
        assert "258 sessions" in reader.region("answer").text
        reader.do("undo")
        assert "95 sessions" in reader.region("answer").text

    def test_screen_readers_hear_the_answer_once(self):
        reader = Reader()
        reader.type("context", "1M")
        assert [one["text"] for one in reader.told("say")] == ["Fits · 38 sessions at 1M"]

    @given(states())
    @settings(max_examples=25)
    def test_any_state_can_be_shown(self, texts):
        reader = Reader()
        reader.do("go", query="?" + "&".join(f"{key}={value}" for key, value in texts.items() if value.isalnum()))
        for name, html in reader.page._shown.items():
            assert html == "" or reader.region(name) is not None


class TestLookingCloser:
    def test_how_opens_formula_working_and_source(self):
        reader = Reader()
        reader.do("how", quantity="ceiling_sessions")
        panel = reader.region("numbers").one("div", id="how-ceiling_sessions")
        assert "floor(pool_bytes / cache_bytes_per_session)" in panel.text
        assert "1.357 TB / 4.488 GB = 302" in panel.text
        assert "tier B" in panel.text and "first seed" in panel.text
        assert panel.one("a").attributes["href"] == "method.html#ceiling_sessions"
        reader.do("copy_quantity", quantity="ceiling_sessions")
        assert reader.told("copy")[0]["text"].startswith("Ceiling: 302 sessions\n")
        reader.do("how", quantity="ceiling_sessions")
        assert reader.region("numbers").all("div", class_="panel") == []

    def test_sections_say_their_answer_and_show_the_rest_when_opened(self):
        reader = Reader()
        folded = reader.region("sections").all("details")
        assert [one.one("h3").text for one in folded] == [*(one.title for one in sections()), "All numbers"]
        assert all("open" not in one.attributes and one.one("span", class_="answer").text for one in folded)
        for one in folded:
            reader.do("fold", name=one.attributes["data-fold"], open="True")
        opened = reader.region("sections").all("div", class_="content")
        assert len(opened) == len(folded) and all(one.text for one in opened)
        assert {f"chart-{key}" for key in reader.page.drawn.mounted} <= {root.name for root in reader.page.document.roots}

    def test_a_section_nobody_opens_is_not_computed(self, monkeypatch):
        """Only the open one makes its content, on every edit; the others answer in their header and no more."""
        made = []
        monkeypatch.setattr(Section, "content", lambda self, envelope: made.append(self.key) or Content())
        reader = Reader()
        reader.commit("context", "64K")
        assert made == [] and not set(reader.page.drawn.mounted) - set(MAIN_CHARTS)
        reader.do("fold", name="turn", open="True")
        reader.commit("context", "32K")
        assert made == ["turn", "turn"]

    def test_an_open_section_explains_every_number(self):
        reader = Reader("?open=turn")
        rows = {row.all("th")[0].text: row for row in reader.region("sections").one("details", data_fold="turn").all("tr") if row.all("p", class_="formula")}
        margin = rows["Gross margin, at most"]
        assert margin.one("p", class_="working").text == "1 − $6.77 / (277.2 × $0.2597)"
        assert margin.one("p", class_="formula").text.startswith("1 − gpu_hour / (turn_conversations_per_gpu_hour × turn_bill) · first seed: the envelope post of October 2026; tier B · leaves out")
        assert margin.one("a").attributes["href"] == "method.html#turn_margin"

    def test_what_is_missing_is_asked_for_beside_its_formula(self):
        reader = Reader("?model=qwen3-235b&open=turn")
        row = next(row for row in reader.region("sections").all("tr") if row.all("th")[0].text == "Gross margin, at most")
        assert row.one("span", class_="reason").one("button", data_key="total_tokens_per_gpu_s").text == "Total per GPU"
        assert row.all("p", class_="formula")

    def test_findings_stand_in_the_section_they_belong_to(self):
        reader = Reader("?pool_ratio=0.8&open=pools")
        (found,) = reader.region("sections").all("ul", class_="findings")
        assert found.all("li")[0].attributes["data-finding"] == "default_pool_ratio"

    def test_the_address_says_what_is_open_and_opens_it_again(self):
        reader = Reader()
        reader.do("fold", name="turn", open="True")
        reader.do("fold", name="pools", open="True")
        (told,) = reader.told("address")
        assert told["query"].endswith("&model=muse-spark-open&open=pools,turn") and not told["settled"]
        again = Reader(told["query"])
        opened = [one.attributes["data-fold"] for one in again.region("sections").all("details") if "open" in one.attributes and one.attributes.get("class") == "section"]
        assert opened == ["pools", "turn"]
        again.do("go", query="?v=1&context=64K")
        assert again.page.view.opened >= {"pools", "turn"}

    def test_a_name_to_show_opens_its_section_and_an_unknown_one_is_reported(self):
        assert "turn" in Reader("?show=section-turn").page.view.opened
        assert "There is no section 'moon' here" in Reader("?open=moon,turn").region("notices").text

    def test_every_quantity_is_among_all_numbers(self):
        reader = Reader()
        reader.do("fold", name="all-numbers", open="True")
        named = [row.all("th")[0].text for table in reader.region("sections").all("tbody") for row in table.all("tr")]
        assert sorted(named) == sorted(one.label for one in ALL)


class TestTables:
    def test_models_side_by_side_can_be_put_in_order(self):
        reader = Reader()
        reader.do("fold", name="models", open="True")
        table = next(one for one in reader.region("sections").all("table") if "data-sortable" in one.attributes)
        assert all(head.one("button").attributes["type"] == "button" for head in table.one("thead").all("th"))
        column = [head.text for head in table.one("thead").all("th")].index("Cache per token")
        kept = {row.one("th").text: row.all("td")[column - 1].attributes["data-order"] for row in table.one("tbody").all("tr")}
        # Publishers: 80 layers of 8 KV heads of 128 in BF16; 890 bytes as DeepSeek states it.
        assert (kept["Llama 3.1 70B"], kept["DeepSeek V4.1-Flash"]) == ("327680.0", "890.0")


class TestComparing:
    def test_a_stays_beside_b(self):
        reader = Reader()
        reader.do("pin")
        reader.commit("context", "1M")
        table = reader.region("compared").one("tbody")
        lines = {row.one("th").text: [cell.text for cell in row.all("td")] for row in table.all("tr")}
        assert lines["Sessions"] == ["258 sessions", "38 sessions", "−220 sessions", "0.147×"]  # 38 / 258
        assert reader.told("address")[0]["query"].endswith("&context=1M&a.model=muse-spark-open&a.context=")
        again = Reader(reader.page.query)
        assert again.region("compared").text == reader.region("compared").text
        reader.do("unpin")
        assert reader.region("compared").text == ""


class TestTakingAway:
    def test_exports_are_the_cores(self):
        reader = Reader("?model=gpt-oss-120b&context=32K")
        envelope = evaluate("gpt-oss-120b", context="32K")
        reader.do("export", form="markdown")
        assert reader.told("copy")[0]["text"] == export.markdown(envelope)
        reader.do("export", form="json")
        assert json.loads(reader.told("save")[0]["text"]) == json.loads(json.dumps(export.to_json(envelope)))
        reader.do("export", form="python")
        assert reader.told("copy")[0]["text"] == "from envelope import evaluate\n\nevaluate('gpt-oss-120b', context='32K')\n"
        reader.do("export", form="shell")
        assert reader.told("copy")[0]["text"] == "python3 -m envelope gpt-oss-120b --set context=32K\n"

    def test_the_link_is_that_of_the_state(self):
        reader = Reader("?context=1M&batch=4")
        reader.do("copy_link")
        assert reader.told("copy_link")[0]["query"] == f"?v=1&data={catalog.date()}&model=muse-spark-open&context=1M&batch=4"

    def test_launch_lines_are_the_cores(self):
        reader = Reader("?model=gpt-oss-120b&tp=4&gpus=4")
        envelope = evaluate("gpt-oss-120b", tp=4, gpus=4)
        reader.do("export", form="vllm")
        assert reader.told("copy")[0]["text"] == launch.vllm_serve(envelope) + "\n"
        reader.do("export", form="sglang")
        assert reader.told("copy")[0]["text"] == launch.sglang_launch(envelope) + "\n"

    def test_the_embed_dialog_gives_a_frame_of_the_state(self):
        reader = Reader("?context=1M")
        reader.do("embed")
        reader.do("embed", name="show", text="pool-ratio")
        dialog = reader.region("dialog")
        line = dialog.one("textarea").text
        assert line.startswith('<iframe sandbox="allow-scripts allow-same-origin') and "context=1M&amp;show=pool-ratio&amp;fields=context" in line
        assert 'title="Serving envelope: Muse Spark Open"' in line and 'height="470"' in line
        assert dialog.one("iframe").attributes["src"].endswith("&context=1M&show=pool-ratio&fields=context")


class TestCatalogue:
    """A link made before the catalogue changed says what changed for its state, and offers the old value."""

    @pytest.fixture(autouse=True)
    def a_changed_rent(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(catalog, "changes_since", lambda data: (Change(preset="hgx-b300", key="gpu_hour", old="4.25", date="2026-10-01"),) if data < "2026-10-01" else ())

    def test_offers_the_old_value(self):
        reader = Reader("?v=1&data=2026-09-01&model=muse-spark-open")
        assert "Since this link was made (2026-09-01), Rent per GPU hour changed from 4.25 to 6.77." in reader.region("notices").text
        use = reader.region("notices").one("button", data_do="use")
        reader.do("use", key=use.attributes["data-key"], text=use.attributes["data-text"])
        assert reader.page.state.text("gpu_hour") == "4.25"
        reader.do("dismiss")
        assert reader.region("notices").text == ""

    @pytest.mark.parametrize("query", ["?data=2026-10-15", "?data=2026-09-01&machine=hgx-h200", "?data=2026-09-01&gpu_hour=5", "?context=1M", "?data=soon"])
    def test_says_nothing_where_nothing_changed_for_the_state(self, query: str):
        assert Reader(query).region("notices").text == ""


def test_a_link_opens_the_layer_table_where_it_is_folded_and_never_names_it():
    assert Reader(narrow=True).region("layers").one("details").attributes.get("open", "no") == "no"
    reader = Reader("?open=layers", narrow=True)
    assert "open" in reader.region("layers").one("details").attributes
    assert reader.region("notices").text == ""
    reader.do("fold", name="turn", open="True")
    assert reader.told("address")[-1]["query"].endswith("&open=turn")
