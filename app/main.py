"""The page, live: messages from the browser change the state, and what follows from it is shown again."""

from __future__ import annotations

import panel as pn

from app import browser, inputs, link, page
from app.actions import Actions
from app.browser import Browser, Message
from app.figures import Figure
from app.page import Drawn, View
from app.state import State, stated
from app.theme import palette


class Page:
    """One open page. `door` and `figures` are its roots in the Bokeh document."""

    def __init__(self, query: str = "", *, dark: bool = False, narrow: bool = False) -> None:
        self.browser = Browser()
        self.view = View(folded=inputs.FOLDED_NARROW if narrow else inputs.FOLDED)
        self.dark = dark
        self.state = State()
        self.figures: dict[str, Figure] = {}
        self._shown: dict[str, str] = {}
        self._shown_stale = False
        self._actions = Actions(self)
        self.load(query)
        self.drawn = Drawn(self.state)
        for key in page.MAIN_CHARTS:
            self.figures[key] = Figure(key, self.drawn[key])
        self._draw()
        self._shown = self._made()
        self.browser.show({"page": str(page.whole(self._shown))})
        self.browser.flush()
        self.browser.listen(self.hear)

    @property
    def query(self) -> str:
        """The address of the last good state, and of A where one is pinned."""
        return link.write(self.state.given(), stated(self.state.pinned) if self.state.pinned else None)

    def load(self, query: str) -> None:
        """Take the state from an address, and say what of it was ignored."""
        found = link.read(query)
        self.state.load(found.texts)
        self.state.unpin()
        if found.pinned is not None:
            self.state.pin(found.pinned)
        self.view.notices = (*(page.notice(words) for words in found.problems), *self._actions.catalogue_changes(found.data))

    def hear(self, message: Message) -> None:
        """Act on what the page said, then show what changed."""
        self._actions.act(message)
        self.refresh()
        self.browser.flush()

    def refresh(self) -> None:
        """Show every region and chart that is no longer what the page has."""
        self.drawn = Drawn(self.state)
        made = self._made()
        self.browser.show({name: html for name, html in made.items() if self._shown.get(name) != html})
        self._shown = made
        if self.state.stale != self._shown_stale:
            self._shown_stale = self.state.stale
            self.browser.stale(self._shown_stale)
        self.browser.flush()
        self._draw()

    def _made(self) -> dict[str, str]:
        return {name: str(make() or "") for name, make in page.regions(self.state, self.view, self.drawn).items()}

    def _draw(self) -> None:
        for key, figure in self.figures.items():
            figure.draw(self.drawn[key], palette(self.dark), self.drawn.pinned(key))


def main() -> None:
    """Put the page's roots in the current document."""
    shown = Page(browser.query(), dark=browser.prefers_dark(), narrow=browser.is_narrow())
    # Roots of the document itself: a pane would wrap each figure in a layout of its own.
    for root in (shown.browser.door, *(figure.model for figure in shown.figures.values())):
        pn.state.curdoc.add_root(root)
