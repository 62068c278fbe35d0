"""HTML in parts: what is left out is what the page has."""

import re

from hypothesis import given
from hypothesis import strategies as st

from app import markup
from app.markup import Markup, changed, entire, escape, join, part, tag

_WORDS = st.text("<>&\"'-!/ part", max_size=12)
_REGION = st.lists(st.tuples(st.sampled_from("abcdef"), _WORDS, _WORDS), max_size=5, unique_by=lambda one: one[0])


def _written(region: list[tuple[str, str, str]]) -> str:
    return join(words if key == "f" else (part(tag("p", words, data_row=key), "p", data_row=key), between) for key, words, between in region)


class TestEscaping:
    def test_what_is_equal_in_python_is_not_the_same_in_html(self):
        for _ in range(2):  # the second time from what is kept
            assert tag("p", data_a=1, data_b=True, data_c="1", data_d=1.0) == '<p data-a="1" data-b data-c="1" data-d="1.0"></p>'
            assert tag("p", data_a=True, data_b=1) == '<p data-a data-b="1"></p>'
            assert tag("p", "&amp;", title="&amp;") == '<p title="&amp;amp;">&amp;amp;</p>'
            assert tag("p", Markup("&amp;"), title=Markup("&amp;")) == '<p title="&amp;">&amp;</p>'

    @given(st.text("<>&\"'a", max_size=20), st.sampled_from((1, 400)))
    def test_nothing_of_a_text_is_markup(self, words, times):
        written = tag("p", words * times, title=words * times)
        assert re.fullmatch(r'<p title="[^<>"\']*">[^<>"\']*</p>', written)
        assert written.count("&") == 2 * times * sum(words.count(letter) for letter in "<>&\"'")

    def test_a_long_text_is_not_kept(self):
        kept = markup._escaped.cache_info().currsize, markup._attribute.cache_info().currsize
        config = "<" * 100_000
        assert escape(config) == "&lt;" * 100_000
        assert tag("textarea", config, data_text=config).count("&lt;") == 200_000
        assert (markup._escaped.cache_info().currsize, markup._attribute.cache_info().currsize) == kept


class TestParts:
    @given(_REGION, _REGION)
    def test_with_what_the_page_has_nothing_is_missing(self, before, after):
        has = {key: str(tag("p", words, data_row=key)) for key, words, _ in before if key != "f"}
        sent = changed(_written(after), _written(before))
        assert re.sub(r'<p data-row="(\w)" data-same></p>', lambda found: has[found[1]], sent) == entire(_written(after))

    @given(_REGION)
    def test_whole_it_is_as_if_there_were_no_parts(self, region):
        plain = join(words if key == "f" else (tag("p", words, data_row=key), between) for key, words, between in region)
        assert entire(_written(region)) == plain

    def test_a_part_that_stays_is_an_empty_element(self):
        before, after = (join(part(tag("div", "stays", id="a"), "div", id="a"), part(tag("div", words, id="b"), "div", id="b")) for words in ("old", "new"))
        assert changed(after, before) == '<div id="a" data-same></div><div id="b">new</div>'
