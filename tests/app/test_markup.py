"""HTML in parts: what is left out is what the page has."""

import re

from hypothesis import given
from hypothesis import strategies as st

from app.markup import changed, entire, join, part, tag

_WORDS = st.text("<>&\"'-!/ part", max_size=12)
_REGION = st.lists(st.tuples(st.sampled_from("abcdef"), _WORDS, _WORDS), max_size=5, unique_by=lambda one: one[0])


def _written(region: list[tuple[str, str, str]]) -> str:
    return join(words if key == "f" else (part(tag("p", words, data_row=key), "p", data_row=key), between) for key, words, between in region)


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
