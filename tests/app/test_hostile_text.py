"""Whatever is typed or linked stays text: it adds no element, no handler and no address."""

from urllib.parse import quote

from hypothesis import given, settings

from envelope import catalog
from tests.app.reader import Element, Reader
from tests.app.strategies import edits, hostile


class TestHostileText:
    @staticmethod
    def assert_harmless(top: Element) -> None:
        for element in top.all():
            assert element.name not in ("script", "img", "svg", "object", "embed", "base", "link", "meta")
            assert not any(name.startswith("on") for name in element.attributes)
            assert not (element.attributes.get("href") or "").lower().startswith("javascript")

    @given(hostile, edits())
    @settings(max_examples=40)
    def test_typed(self, text, edit):
        reader = Reader()
        for key in ("name", "groups", "context", edit[0]):
            reader.type(key, text)
        for name in reader.page._shown:
            self.assert_harmless(reader.region(name))

    @given(hostile)
    @settings(max_examples=20)
    def test_in_an_address(self, text):
        reader = Reader(f"?model={quote(text)}&context={quote(text)}&{quote(text)}={quote(text)}&data={quote(text)}&a.batch={quote(text)}")
        self.assert_harmless(reader.page_html)
        self.assert_harmless(reader.region("notices"))

    def test_the_name_of_a_model_is_shown_as_typed(self):
        reader = Reader()
        reader.do("read_config", text=catalog.model("gpt-oss-120b").config.decode())
        reader.do("use_config")
        reader.commit("name", "<b>mine</b>")
        assert reader.page.state.errors == {}
        reader.do("pin")
        assert "A: <b>mine</b> on" in reader.region("compared").text
        self.assert_harmless(reader.region("compared"))
