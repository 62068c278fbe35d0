"""The layer table on the page: cells are inputs, an edit is the canonical text, and the last good results stay."""

import pytest

from envelope import catalog, groups
from envelope.published import architecture
from tests.app.reader import Element, Reader

KV, QUERY, HEAD = "layers-0-attention-kv_heads", "layers-0-attention-query_heads", "layers-0-attention-key_dim"


def rows(reader: Reader) -> list[Element]:
    return reader.region("layers").one("tbody").all("tr")


def cell(reader: Reader, key: str) -> Element:
    return reader.region("layers").one("input", data_key=key)


class TestShown:
    @pytest.mark.parametrize("slug", catalog.slugs())
    def test_every_preset_whose_layers_are_known(self, slug: str):
        reader = Reader(f"?model={slug}")
        model = architecture(slug)
        if model is None:
            assert reader.region("layers").text == ""
        else:
            assert len(rows(reader)) == len(model.groups)
            labels = {label.attributes["for"] for label in reader.region("layers").all("label")}
            assert labels == {one.attributes["id"] for one in reader.region("layers").all("input")}

    def test_what_each_kind_keeps(self):
        reader = Reader()
        # 16 of 62 layers keep the whole context: 16 x 2 x 16 heads x 64 values of one byte; 46 windows of 2,048.
        numbers = [[one.text for one in row.all("td", class_="number")] for row in rows(reader)]
        assert numbers == [["32.8 kB", "4.29 GB"], ["–", "193 MB"]]
        assert reader.region("layers").one("tfoot").text == "All 62 32.8 kB 4.49 GB"
        assert "62: 16 full, 46 sliding" in reader.region("layers").one("summary").text

    def test_is_folded_on_a_narrow_page_and_written_when_opened(self):
        reader = Reader(narrow=True)
        assert reader.region("layers").all("table") == []
        reader.do("fold", name="layers", open="True")
        assert len(rows(reader)) == 2

    def test_another_field_leaves_it_alone(self):
        reader = Reader()
        reader.type("batch", "8")
        (shown,) = reader.told("show")
        assert "numbers" in shown["regions"] and "layers" not in shown["regions"]


class TestEdited:
    def test_an_edit_is_the_canonical_text_in_the_address(self):
        reader = Reader("?model=llama-3.1-70b")
        reader.type(KV, "4")
        # 80 layers of 2 x 4 heads x 128 values of two bytes.
        assert reader.page.state.envelope.value("cache_bytes_per_token") == 80 * 2 * 4 * 128 * 2
        assert ".kv4." in reader.page.query
        assert Reader(reader.page.query).page.state.envelope.value("cache_bytes_per_token") == 80 * 2 * 4 * 128 * 2
        reader.commit(KV, "4")
        assert [one["settled"] for one in reader.told("address")] == [True]
        assert cell(reader, KV).attributes["title"] == "was 8"

    def test_a_slip_stands_at_its_cell_and_the_results_stay(self):
        reader = Reader("?model=llama-3.1-70b")
        before = reader.page.state.envelope
        reader.type(KV, "7")
        assert cell(reader, KV).attributes["aria-invalid"] == "true"
        assert cell(reader, KV).attributes["value"] == "7"
        says = cell(reader, KV).attributes["aria-describedby"]
        assert "num_attention_heads 64 must be a multiple" in reader.region("layers").one("p", id=says).text
        assert reader.page.state.envelope is before
        assert reader.told("stale") == [{"do": "stale", "stale": True}]

    def test_while_something_is_wrong_no_layers_of_another_model_are_added(self):
        reader = Reader()
        reader.type("context", "abc")
        reader.commit("model", "qwen3-235b")
        reader.do("add_layers", group="0")
        assert "once every field can be used" in reader.region("notices").text
        reader.commit("context", "64K")
        assert reader.page.state.given() == {"model": "qwen3-235b", "context": "64K"}

    def test_two_cells_that_only_fit_together_follow_one_another(self):
        reader = Reader("?model=llama-3.1-70b")
        reader.commit(QUERY, "60")
        assert reader.page.state.stale
        reader.commit(KV, "20")
        assert not reader.page.state.stale
        attention = reader.page.state.envelope.scenario.model.groups[0].attention
        assert (attention.query_heads, attention.kv_heads) == (60, 20)

    def test_typing_over_a_width_moves_only_what_followed_it_before(self):
        reader = Reader("?model=llama-3.1-70b")
        reader.commit("layers-0-attention-value_dim", "96")
        for typed in ("9", "96", "960"):  # on its way it is as wide as the values
            reader.type(HEAD, typed)
        reader.commit(HEAD, "960")
        attention = reader.page.state.envelope.scenario.model.groups[0].attention
        assert (attention.key_dim, attention.value_dim) == (960, 96)

    def test_undo_redo_and_the_presets_layers(self):
        reader = Reader("?model=llama-3.1-70b")
        reader.commit(KV, "4")
        reader.commit(HEAD, "64")
        edited = reader.page.state.envelope.scenario.model
        reader.do("undo")
        reader.do("undo")
        assert reader.page.state.texts == {"model": "llama-3.1-70b"} and not reader.page.state.can_undo
        reader.do("redo")
        reader.do("redo")
        assert reader.page.state.envelope.scenario.model == edited
        reader.do("reset_layers")
        assert reader.page.state.envelope.scenario.model == architecture("llama-3.1-70b")
        assert reader.page.state.texts == {"model": "llama-3.1-70b"}

    def test_typing_the_presets_value_again_is_no_change(self):
        reader = Reader("?model=llama-3.1-70b")
        reader.commit(KV, "4")
        reader.commit(KV, "8")
        assert reader.page.state.given() == {"model": "llama-3.1-70b"}

    def test_takes_in_what_the_fields_changed(self):
        reader = Reader("?model=llama-3.1-70b&layers=60")
        reader.commit(KV, "4")
        model = reader.page.state.envelope.scenario.model
        assert model.layers == 60 and model.groups[0].attention.kv_heads == 4
        assert set(reader.page.state.given()) == {"model", "groups"}

    def test_rows_are_added_and_taken_away(self):
        reader = Reader("?model=llama-3.1-70b")
        reader.do("add_layers", group="0")
        assert [row.one("input", data_key=f"layers-{at}-group-count").attributes["value"] for at, row in enumerate(rows(reader))] == ["80", "1"]
        reader.do("remove_layers", group="0")
        assert reader.page.state.envelope.scenario.model.layers == 1
        assert reader.region("layers").all("button", data_do="remove_layers") == []
        reader.do("remove_layers", group="0")
        reader.do("remove_layers", group="x")
        assert reader.page.state.envelope.scenario.model.layers == 1

    def test_another_model_drops_what_is_half_typed(self):
        reader = Reader("?model=llama-3.1-70b")
        reader.type(KV, "7")
        reader.commit("model", "qwen3-235b")
        assert reader.page.state.texts == {"model": "qwen3-235b"} and not reader.page.state.stale

    def test_hostile_text_stays_text(self):
        reader = Reader()
        reader.type(KV, '"><img src=x onerror=alert(1)>')
        assert reader.region("layers").all("img") == []
        assert cell(reader, KV).attributes["value"] == '"><img src=x onerror=alert(1)>'


class TestPasted:
    def pasted(self) -> Reader:
        reader = Reader()
        reader.do("paste")
        reader.do("read_config", text=catalog.model("gpt-oss-120b").config.decode())
        reader.do("use_config")
        return reader

    def test_is_edited_like_a_preset_and_put_back_to_its_config(self):
        reader = self.pasted()
        read = reader.page.state.envelope.scenario.model
        assumed = reader.page.state.envelope.scenario.read_assumptions
        assert reader.region("layers").all("button", data_do="reset_layers") == []
        reader.commit("layers-0-attention-window", "256")
        assert reader.page.state.envelope.scenario.read_assumptions == assumed
        reader.do("reset_layers")
        assert reader.page.state.envelope.scenario.model == read

    def test_putting_every_field_back_keeps_the_model(self):
        reader = self.pasted()
        given = reader.page.state.given()
        reader.commit("context", "64K")
        reader.commit("groups", groups.write(architecture("llama-3.1-70b")))
        reader.do("reset_all")
        assert reader.page.state.given() == {key: text for key, text in given.items() if key != "context"}
        assert not reader.page.state.stale
