"""What is pasted, dropped or fetched: a config becomes the model, a start-up log the budget, and text stays text."""

import json

import pytest

from app import inputs
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

    @pytest.mark.parametrize("text", [" ", "{", "[]", '{"model_type": 1}', "<script>"])
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

    @pytest.mark.parametrize("text", ["", "qwen", "a/b/c", "../../x", "a/..", "a/b@../x", "<script>/x", "a b/c"])
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
