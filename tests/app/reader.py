"""A reader of the page without a browser: says what the page would say, and reads the HTML it is told to show."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser

from bokeh.document import Document

from app.main import Page

_VOID = {"input", "br", "hr"}


@dataclass
class Element:
    """One element of parsed HTML."""

    name: str
    attributes: dict[str, str | None]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text inside, runs of white space as one space."""
        return " ".join("".join(child if isinstance(child, str) else f" {child.text} " for child in self.children).split())

    def all(self, name: str = "", **attributes: str) -> list[Element]:
        """Every element inside with that name and those attributes, in order; `data_key` is `data-key`."""
        wanted = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if (not name or child.name == name) and all(child.attributes.get(key) == value for key, value in wanted.items()):
                    found.append(child)
                found += child.all(name, **attributes)
        return found

    def one(self, name: str = "", **attributes: str) -> Element:
        """The only such element."""
        (found,) = self.all(name, **attributes)
        return found


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.top = Element("", {})
        self._open = [self.top]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self._open[-1].children.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().name == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)

    def close(self) -> None:
        super().close()
        assert self._open == [self.top], "an element is not closed"


def parsed(html: str) -> Element:
    """The elements of HTML that nests properly; anything else fails."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    return parser.top


class Reader:
    """One open page, and what it was told in answer to the last thing done."""

    def __init__(self, query: str = "", **options: bool) -> None:
        self.page = Page(Document(), query, **options)
        self._door = self.page.browser.door
        first = json.loads(self._door.told)["do"]
        self.page_html = parsed(first[0]["regions"]["page"])
        self._number = 0
        self.answers: list[dict] = first

    def do(self, what: str, **more: str) -> list[dict]:
        """Say something as the page's script would, and return what it was told in answer."""
        answers: list[dict] = []
        listen = lambda _name, _old, new: answers.extend(json.loads(new)["do"])  # noqa: E731
        self._door.on_change("told", listen)
        self._number += 1
        self._door.heard = json.dumps({"number": self._number, "do": what, **more})
        self._door.remove_on_change("told", listen)
        self.answers = answers
        return answers

    def type(self, key: str, text: str) -> list[dict]:
        """Type into a field."""
        return self.do("type", key=key, text=text)

    def commit(self, key: str, text: str) -> list[dict]:
        """Type into a field and leave it."""
        return self.do("commit", key=key, text=text)

    def region(self, name: str) -> Element:
        """A region as the page now has it."""
        return parsed(self.page._shown[name])

    def told(self, what: str) -> list[dict]:
        """Of the last answers, those of one kind."""
        return [one for one in self.answers if one["do"] == what]
