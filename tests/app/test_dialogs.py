"""What is pasted, dropped or fetched: a config becomes the model, a start-up log the budget, and text stays text."""

import json
from itertools import permutations

import pytest

from app import config_dialog, inputs
from envelope import catalog
from envelope.scenario import BY_KEY
from tests.app.reader import Reader
from tests.app.test_page import cards


class TestConfig:
    def test_a_config_is_read_and_used(self):
        config = catalog.model("qwen3-235b").config.decode()
        reader = Reader()
        reader.do("paste")
        assert reader.told("dialog") == [{"do": "dialog", "open": True}]
        reader.do("read_config", text=config)
        assert "Read as qwen3_moe" in reader.region("dialog").text
        reader.do("use_config", text=config)
        assert reader.told("dialog") == [{"do": "dialog", "open": False}]
        # The publisher's file counts 235,093,634,560 parameters.
        assert reader.page.state.envelope.value("resident_parameters") == 235_093_634_560
        assert cards(reader)["resident_parameters"] == "235.1 B"
        assert len(reader.page.query) <= 2000

    @pytest.mark.parametrize("text", [" ", "{", "[]", '{"model_type": 1}', "<script>", pytest.param("[" * 100_000, id="deep")])
    def test_a_config_that_cannot_be_read_is_refused_in_words(self, text: str):
        reader = Reader()
        reader.do("read_config", text=text)
        assert reader.region("dialog").one("p", class_="error").text
        assert reader.region("dialog").all("button", data_do="use_config") == []

    def test_files_are_told_apart_by_name(self):
        preset = catalog.model("deepseek-v3")
        index = {"metadata": {"total_size": 688_586_727_753}}  # as the publisher's index states
        reader = Reader()
        reader.do("paste")
        reader.do("drop_config", files=json.dumps([{"name": "model.safetensors.index.json", "status": 200, "text": json.dumps(index)}]))
        assert "config.json is still missing" in reader.region("dialog").text
        reader.do("drop_config", files=json.dumps([{"name": "config (1).json", "status": 200, "text": preset.config.decode()}, {"name": "big.json", "status": 413, "text": ""}]))
        words = reader.region("dialog").text
        assert "Read as deepseek_v3, with model.safetensors.index.json" in words and "big.json is larger" in words
        reader.do("use_config")
        assert reader.page.state.envelope.value("weight_bytes") == 688_586_727_753

    CONFIG = catalog.model("llama-3.1-70b").config.decode()
    QUANT = json.dumps({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}})
    INDEX = json.dumps({"metadata": {"total_size": 72_654_000_000}})

    def dropped(self, *files: tuple[str, str]) -> Reader:
        reader = Reader()
        reader.do("paste")
        reader.do("drop_config", files=json.dumps([{"name": name, "status": 200, "text": text} for name, text in files]))
        return reader

    @pytest.mark.parametrize("order", list(permutations(range(3))))
    def test_three_files_are_read_together_in_any_order(self, order: tuple[int, ...]):
        files = (("config.json", self.CONFIG), ("hf_quant_config.json", self.QUANT), ("model.safetensors.index (2).json", self.INDEX))
        reader = self.dropped(*(files[at] for at in order))
        assert "Read as llama, with hf_quant_config.json and model.safetensors.index.json" in reader.region("dialog").text
        reader.do("use_config")
        assert reader.page.state.envelope.value("weight_bytes") == 72_654_000_000
        assert reader.page.state.envelope.scenario["cache_format"] == "fp8"

    @pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "generation_config.json", "README.md", "model-00001-of-00030.safetensors"])
    def test_a_file_of_another_kind_is_named_and_changes_nothing(self, name: str):
        dialog = self.dropped((name, "{}"), ("config.json", self.CONFIG), (name, "x")).region("dialog")
        assert f"{name} is none of config.json" in dialog.text and "Read as llama" in dialog.text

    def test_one_file_under_any_name_is_taken_for_a_config(self):
        assert "Read as llama" in self.dropped(("llama.json", self.CONFIG)).region("dialog").text
        assert "another file took its place" in self.dropped(("config.json", self.CONFIG), ("config (1).json", "{}")).region("dialog").text

    def test_a_broken_file_beside_the_config_is_named_and_left_out(self):
        reader = self.dropped(("config.json", self.CONFIG), ("model.safetensors.index.json", "{"))
        assert "model.safetensors.index.json: found text that is not JSON" in reader.region("dialog").text
        reader.do("leave_out", key="model.safetensors.index.json")
        assert "Read as llama." in reader.region("dialog").text

    def test_a_missing_key_is_filled_in_by_hand(self):
        reader = Reader()
        values = json.loads(self.CONFIG)
        del values["hidden_size"]
        reader.do("read_config", text=json.dumps({"model_type": "wrapper", "text_config": {**values, "model_type": "lama"}}))
        fill = reader.region("dialog").one("button", data_do="fill_config")
        assert fill.attributes["data-key"] == "text_config.hidden_size"
        reader.do("fill_config", key="text_config.hidden_size", text="wide")
        assert "text_config.hidden_size: found wide; needs a whole number" in reader.region("dialog").text
        reader.do("fill_config", key="text_config.hidden_size", text="8192")
        assert "text_config.hidden_size = 8192" in reader.region("dialog").text
        reader.do("use_config")
        # The publisher's file counts 70,553,706,496 parameters.
        assert reader.page.state.envelope.value("resident_parameters") == 70_553_706_496
        by_hand = reader.page.state.envelope.scenario.assumed[0]
        assert (by_hand.key, by_hand.value, by_hand.why) == ("text_config.hidden_size", "8192", "filled in by hand")

    def test_an_unknown_structure_is_left_out_only_by_hand(self):
        reader = Reader()
        reader.do("read_config", text=json.dumps({**json.loads(self.CONFIG), "memory_rank": 64}))
        dialog = reader.region("dialog")
        assert "memory_rank: found 64" in dialog.text and dialog.all("button", data_do="use_config") == []
        reader.do("leave_out", key="memory_rank")
        assert "memory_rank = left out" in reader.region("dialog").text
        reader.do("use_config")
        assert reader.page.state.envelope.scenario.assumed[0].why == "by hand: what it describes is not sized"

    @pytest.mark.parametrize(("key", "text"), [("a.b.c", "1"), ("", "1"), ("hidden_size.x", "2"), ("quantization_config", "{")])
    def test_a_fill_without_a_place_is_said_and_harmless(self, key: str, text: str):
        reader = Reader()
        reader.do("read_config", text=self.CONFIG)
        reader.do("fill_config", key=key, text=text)
        reader.do("leave_out", key=key)
        reader.do("leave_out", key=key)
        assert reader.region("dialog").all("p", class_="error") != []

    def test_a_pasted_model_stands_beside_the_presets_and_in_their_spread(self):
        wide = json.loads(self.CONFIG) | {"num_key_value_heads": 64, "_name_or_path": "wide"}  # MHA: 8 times Llama's cache
        reader = Reader()
        reader.do("paste")
        reader.do("read_config", text=json.dumps(wide))
        reader.do("use_config")
        reader.do("fold", name="models", open="True")
        section = reader.region("sections").one("details", id="section-models")
        rows = section.one("tbody").all("tr")
        assert rows[-1].one("th").text == "wide"
        assert rows[-1].all("td")[3].text == "2.621 MB"  # 80 layers of 2 x 64 heads x 128 values of two bytes
        assert rows[-1].all("td")[3].attributes["data-order"] == "2621440.0"
        assert "for wide" in section.one("summary").text
        assert len(section.one("thead").all("button", data_sort=None)) == 9

    def test_the_layers_as_understood_stand_in_a_table(self):
        reader = Reader()
        reader.do("read_config", text=catalog.model("gpt-oss-120b").config.decode())
        table = reader.region("dialog").one("table", id="config-layers").one("tbody")
        rows = [[row.one("th").text, *(cell.text for cell in row.all("td"))] for row in table.all("tr")]
        # The publisher's file: 36 layers, every other one a window of 128; 64 heads, 8 of 64 wide for keys and values.
        assert [row[:4] for row in rows] == [
            ["18", "sliding", "64 query heads, 8 KV heads of 64, window of 128", "4 of 128 experts of 2,880"],
            ["18", "full", "64 query heads, 8 KV heads of 64", "4 of 128 experts of 2,880"],
        ]
        assert [row[4] for row in rows] == ["–", "36.9 kB"]  # 18 × 2 × 8 × 64 values of 2 bytes

    def answered(self, status: int, text: str = "") -> Reader:
        """A reader who asked the Hub for a model, and what it answered for config.json; it has neither other file."""
        reader = Reader()
        reader.do("paste")
        reader.do("fetch_config", text="Qwen/Qwen3-235B-A22B@v1")
        (asked,) = reader.told("fetch")
        files = [{"name": name, "status": 404, "text": ""} for name in asked["names"]]
        files[0] |= {"status": status, "text": text}
        reader.do(asked["answer"], id=asked["id"], revision=asked["revision"], files=json.dumps(files))
        return reader

    @pytest.mark.parametrize(("status", "words"), [(401, "is gated, private or not there"), (403, "is gated"), (404, "has no config.json at revision v1"), (0, "you may be offline"), (413, "larger than any config"), (500, "answered 500")])
    def test_a_hub_that_refuses_says_why(self, status: int, words: str):
        dialog = self.answered(status).region("dialog")
        assert words in dialog.one("p", class_="error").text
        assert dialog.all("button", data_do="use_config") == []

    def test_a_config_from_the_hub_carries_its_name(self):
        reader = self.answered(200, catalog.model("qwen3-235b").config.decode())
        reader.do("use_config")
        assert reader.page.state.envelope.scenario.name == "Qwen/Qwen3-235B-A22B"
        assert reader.page.state.envelope.value("resident_parameters") == 235_093_634_560

    @pytest.mark.parametrize(
        ("text", "id", "revision"),
        [
            ("org/name", "org/name", "main"),
            (" org/name ", "org/name", "main"),
            ("Org-1/na_me-2.5@v1.0+fp8", "Org-1/na_me-2.5", "v1.0+fp8"),
            ("org/name@refs/pr/12", "org/name", "refs/pr/12"),
            ("https://huggingface.co/org/name", "org/name", "main"),
            ("hf.co/org/name/", "org/name", "main"),
            ("https://huggingface.co/org/name/tree/main?show_file_info=x", "org/name", "main"),
            ("https://huggingface.co/org/name/tree/refs%2Fpr%2F3", "org/name", "refs/pr/3"),
            ("https://huggingface.co/org/name/blob/0a1b2c/config.json#L3", "org/name", "0a1b2c"),
        ],
    )
    def test_a_model_is_named_as_people_name_it(self, text: str, id: str, revision: str):
        assert config_dialog.wanted(text) == config_dialog.Wanted(id, revision)

    @pytest.mark.parametrize("text", ["", "qwen", "a/b/c", "a/b@", "a/b@x//y", "https://example.org/a/b", "a/b@%2e%2e/x", "é/b", "a/b@\u202e", "a/b@x y", "-a/b", "../../x", "a/..", "a/b@../x", "<script>/x", "a b/c"])
    def test_what_is_no_model_on_the_hub_is_not_asked_for(self, text: str):
        reader = Reader()
        reader.do("fetch_config", text=text)
        assert reader.told("fetch") == []
        assert "Write org/name" in reader.region("dialog").one("p", class_="error").text

    def test_an_answer_after_closing_opens_nothing(self):
        reader = Reader()
        reader.do("paste")
        reader.do("fetch_config", text="a/b")
        reader.do("close")
        reader.do("fetched_config", id="a/b", revision="main", files="[]")
        assert reader.region("dialog").text == "" and reader.told("dialog") == []


# The figures of a public report (voipmonitor/rtx6kpro, MiniMax M2.5) in the lines that vLLM 0.19.0 prints, with a path
# that somebody might have chosen to be read as HTML.
LOG = """
INFO [core.py:75] Initializing a V1 LLM engine (v0.19.0) with config: model='/m', dtype=torch.bfloat16, max_seq_len=196608, tensor_parallel_size=4, pipeline_parallel_size=1, kv_cache_dtype=auto, device_config=cuda
(Worker_TP0) INFO [gpu_model_runner.py:4821] Model loading took 53.75 GiB memory and 100.123456 seconds
(Worker_TP0) INFO [gpu_worker.py:436] <img src=x onerror=alert(1)> Available KV cache memory: 23.62 GiB
(EngineCore_DP0) INFO [kv_cache_utils.py:1319] GPU KV cache size: 399,424 tokens
"""


class TestLog:
    def open(self) -> Reader:
        reader = Reader("?model=qwen3-235b")
        reader.do("paste_log")
        assert reader.told("dialog") == [{"do": "dialog", "open": True}]
        reader.do("read_log", text=LOG)
        return reader

    def test_every_figure_stands_beside_the_prediction(self):
        dialog = self.open().region("dialog")
        assert "vLLM 0.19.0" in dialog.text
        lines = {row.one("th").text.partition(" line ")[0]: [cell.text for cell in row.all("td")] for row in dialog.one("tbody").all("tr")}
        measured = {cells[0] for cells in lines.values()}
        assert {"53.75 GiB", "23.62 GiB", "399,424 tokens"} <= measured
        assert all(len(cells) == 4 and cells[3] for cells in lines.values())

    def test_a_log_stays_text_and_out_of_the_address(self):
        reader = self.open()
        dialog = reader.region("dialog")
        assert dialog.all("img") == [] and "<img src=x onerror=alert(1)>" in dialog.text
        assert dialog.one("textarea").text == ""
        reader.do("use_log", text=LOG)
        assert all(word not in reader.page.query for word in ("img", "Worker", "loading", "399"))

    def test_its_budget_is_one_step_marked_and_undone(self):
        reader = self.open()
        before = reader.page.state.texts
        reader.do("use_log", text=LOG)
        assert reader.told("dialog") == [{"do": "dialog", "open": False}]
        state = reader.page.state
        assert state.texts["kv_memory_per_rank"] == "23.62 GiB" and state.texts["weights_per_rank"] == "53.75 GiB"
        assert "kv_memory_per_rank=25361781882.88" in reader.page.query
        assert all(inputs.CALIBRATED in inputs.row(state, BY_KEY[key]) for key in ("kv_memory_per_rank", "weights_per_rank"))
        assert inputs.CALIBRATED not in inputs.row(state, BY_KEY["tp"])
        reader.do("undo")
        assert state.texts == before and not state.can_undo

    @pytest.mark.parametrize("text", ["", "hello", "<script>", "\x00" * 1000])
    def test_a_text_that_is_no_log_changes_nothing(self, text: str):
        reader = Reader()
        reader.do("read_log", text=text)
        assert reader.region("dialog").all("button", data_do="use_log") == []
        reader.do("use_log", text=text)
        assert reader.page.state.texts == {} and reader.told("address") == []
        assert not reader.page.state.can_undo
