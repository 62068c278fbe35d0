"""The part of the page that others show in a frame."""

import pytest

from envelope import catalog
from envelope.sections import sections
from tests.app.reader import Reader


class TestEmbed:
    def test_shows_one_chart_its_inputs_and_the_way_back(self):
        reader = Reader("?model=muse-spark-open&context=1M&show=pool-ratio&fields=context,chunk", embedded=True)
        assert [row.attributes["data-row"] for row in reader.region("fields").all("div")] == ["context", "chunk"]
        assert list(reader.page.drawn.mounted) == ["pool-ratio"]
        assert reader.region("shown").one("h3").text == "The default ratio fits 11 of 38 sessions"
        assert reader.region("back").one("a").attributes["href"] == f"./?v=1&data={catalog.date()}&model=muse-spark-open&context=1M"

    def test_model_and_machine_are_choices_there_too(self):
        fields = Reader("?show=quantities&fields=machine,model", embedded=True).region("fields")
        machine, model = fields.all("select")
        assert "HGX B300" in machine.text and "gpt-oss 120b" in model.text

    def test_never_adds_a_step_to_the_history_around_it(self):
        reader = Reader("?show=quantities&fields=context", embedded=True)
        reader.commit("context", "1M")
        assert [one["settled"] for one in reader.told("address")] == [False]
        assert reader.told("address")[0]["query"].endswith("&context=1M&show=quantities&fields=context")

    @pytest.mark.parametrize("section", sections(), ids=lambda one: one.key)
    def test_shows_any_section(self, section):
        reader = Reader(f"?show=section-{section.key}", embedded=True)
        assert reader.region("shown").all("h3")[0].text == section.title

    def test_says_what_it_cannot_show(self):
        reader = Reader("?show=moon&fields=context,nonsense", embedded=True)
        assert "There is no 'moon' to show" in reader.region("notices").text
        assert "'nonsense' is not an input" in reader.region("notices").text

    def test_leads_to_the_whole_page_for_an_input_the_frame_has_not(self):
        shown = Reader("?show=section-pools", embedded=True).region("shown")
        assert not shown.all("button", data_do="find")
        assert {way.attributes["href"] for way in shown.all("a", target="_blank") if way.text == "Host cache per rank"} == {f"./?v=1&data={catalog.date()}&model=muse-spark-open"}
        offered = Reader("?show=section-pools&fields=host_cache_per_rank", embedded=True).region("shown")
        assert {way.attributes["data-key"] for way in offered.all("button", data_do="find")} == {"host_cache_per_rank"}
