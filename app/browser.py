"""The only door to the browser: address, history, clipboard, files and messages to a parent page.

Everything passes as text through one Bokeh model, which the page's own script (page.mjs) listens to. So the app runs
the same in the page, in a worker, under a server, and in tests, where nobody listens.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from bokeh.core.properties import String
from bokeh.model import DataModel

Message = dict[str, object]


class Door(DataModel):
    """What the page has said last, and what it was told last; each is JSON."""

    heard = String("")
    told = String("")


class Browser:
    """Tells the page what to do, and hands on what it says. Nothing is sent before `flush`."""

    def __init__(self) -> None:
        self.door = Door(name="door")
        self._waiting: list[Message] = []
        self._number = 0

    def listen(self, handle: Callable[[Message], None]) -> None:
        """Call `handle` with each message of the page."""
        self.door.on_change("heard", lambda _name, _old, new: handle(json.loads(new)))

    def show(self, regions: dict[str, str]) -> None:
        """Put HTML into regions of the page, by name."""
        if regions:
            self._tell("show", regions=regions)

    def address(self, query: str, *, settled: bool) -> None:
        """Write the query into the address; a settled one becomes a step of the history."""
        self._tell("address", query=query, settled=settled)

    def copy(self, text: str, said: str) -> None:
        """Put text on the clipboard and say so."""
        self._tell("copy", text=text, said=said)

    def copy_link(self, query: str, said: str) -> None:
        """Put this page's full address with another query on the clipboard."""
        self._tell("copy_link", query=query, said=said)

    def save(self, name: str, kind: str, text: str) -> None:
        """Offer a text as a file; `kind` is its media type."""
        self._tell("save", name=name, kind=kind, text=text)

    def save_picture(self, figure: str, name: str) -> None:
        """Offer a figure, named by its model id, as a PNG file."""
        self._tell("picture", figure=figure, name=name)

    def place(self, figure: str, key: str) -> None:
        """Put a figure, named by its model id, where the page has a place for that chart."""
        self._tell("place", figure=figure, key=key)

    def say(self, text: str) -> None:
        """Let screen readers announce a sentence, once typing has paused."""
        self._tell("say", text=text)

    def stale(self, stale: bool) -> None:
        """Mark the results as those of the last inputs that could be used."""
        self._tell("stale", stale=stale)

    def dialog(self, *, open: bool) -> None:
        """Open or close the page's dialog."""
        self._tell("dialog", open=open)

    def find(self, key: str) -> None:
        """Go to an input's field in the form, once what is shown with this is there."""
        self._tell("find", key=key)

    def fetch(self, id: str, revision: str, names: tuple[str, ...], answer: str) -> None:
        """Ask the Hub for files of a model's revision; what comes of it arrives as the message `answer`."""
        self._tell("fetch", id=id, revision=revision, names=names, answer=answer)

    def flush(self) -> None:
        """Send what is waiting, in order, at once."""
        if not self._waiting:
            return
        self._number += 1
        waiting, self._waiting = self._waiting, []
        self.door.told = json.dumps({"number": self._number, "do": waiting})

    def _tell(self, what: str, **more: object) -> None:
        self._waiting.append({"do": what, **more})


def query() -> str:
    """The query of the page's address; empty where there is no page."""
    try:
        from js import location
    except ImportError:
        return ""
    return str(location.search)


def folder() -> str:
    """The page's address without its file name and query; empty where there is no page."""
    try:
        from js import location
    except ImportError:
        return ""
    return f"{location.origin}{str(location.pathname).rpartition('/')[0]}/"


def is_embedded() -> bool:
    """Whether this is embed.html, which other pages show in a frame."""
    try:
        from js import document
    except ImportError:
        return False
    return document.documentElement.getAttribute("data-view") == "embed"


def prefers_dark() -> bool:
    """Whether the page is shown dark; False where there is no page."""
    return _matches("(prefers-color-scheme: dark)")


def is_narrow() -> bool:
    """Whether the page is one column wide, as page.css has it; False where there is no page."""
    return _matches("(max-width: 720px)")


def _matches(media: str) -> bool:
    try:
        from js import matchMedia
    except ImportError:
        return False
    return bool(matchMedia(media).matches)
