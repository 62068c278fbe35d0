"""The page, live: messages from the browser change the state, and what follows from it is shown again."""

from __future__ import annotations

from copy import copy

import panel as pn
from bokeh.document import Document

from app import browser, embed, inputs, link, page, sections
from app.actions import Actions
from app.browser import Browser, Message
from app.embed import Embed
from app.figures import Figure
from app.markup import changed
from app.page import Drawn, Regions, View
from app.state import State, stated
from app.theme import palette

NEARBY = 24  # contexts that are rehearsed, the last 1.4 times as long as the reader's
REGIONS_A_TURN = 4  # all at once would be a task of 0.2 to 0.4 s when none of it is compiled


class Page:
    """One open page in a Bokeh document. With `embedded`, the part of it that other pages show in a frame."""

    def __init__(self, document: Document, query: str = "", *, embedded: bool = False, dark: bool = False, narrow: bool = False) -> None:
        self.document = document
        self.browser = Browser()
        self.view = View(folded=inputs.FOLDED_NARROW, opened=frozenset()) if narrow else View()
        self.embed: Embed | None = None
        self.dark = dark
        self.state = State()
        self.figures: dict[str, Figure] = {}
        self._actions = Actions(self)
        self.load(query, embedded=embedded)
        self.state.forget()
        self.drawn = Drawn(self.state)
        self._owed: Regions = {}
        document.add_root(self.browser.door)
        self._shown = page.made(self._regions(self.state, self.drawn))
        self._shown_stale = False
        self._draw()
        for key in self.drawn.mounted:
            self._explain(key)
        self._placed = frozenset(self.drawn.mounted)
        self.browser.show({"page": str(embed.whole(self.embed, self._shown) if self.embed else page.whole(self._shown))})
        self.browser.flush()
        self.browser.listen(self.hear)

    @property
    def query(self) -> str:
        """The address of the last good state with what is open, and of A where one is pinned."""
        other = self.embed.query if self.embed else sections.open_query(self.view.opened)
        return link.write(self.state.given(), stated(self.state.pinned.scenario) if self.state.pinned else None, other)

    def load(self, query: str, *, embedded: bool = False) -> None:
        """Take the state from an address, and say what of it was ignored."""
        found = link.read(query)
        self.state.load(found.texts)
        self.state.unpin()
        if found.pinned is not None:
            self.state.pin(found.pinned)
        problems = found.problems
        if embedded:
            self.embed, more = Embed.read(found.other)
        else:
            # A step back in the history closes nothing that the reader has opened since.
            opened, more = sections.asked(found.other)
            self.view.opened |= opened
        problems += more
        self.view.notices = (*(page.notice(words) for words in problems), *self._actions.catalogue_changes(found.data))

    def hear(self, message: Message) -> None:
        """Act on what the page said, then show what changed: at once what is in sight there, the rest when it asks."""
        if message["do"] == "rest":
            self._show(self._owed, rest=True)
            self._owed = {}
            self._explain(str(message.get("pointed")))
            return
        unseen = frozenset(message.get("unseen", ()))
        if message["do"] == "rehearse":
            self._rehearse(int(str(message["turn"])), unseen)
            return
        self._actions.act(message)
        self._owed = self._answer(self.state, unseen)

    def _answer(self, state: State, unseen: frozenset[str]) -> Regions:
        """Show what is in sight of a state; returns the rest."""
        self.drawn = Drawn(state)
        regions = self._regions(state, self.drawn)
        owed = {name: make for name, make in regions.items() if name in unseen}
        self._show({name: make for name, make in regions.items() if name not in unseen}, rest=not owed)
        return owed

    def _show(self, regions: Regions, *, rest: bool) -> None:
        """Show those of the regions, and of their charts, that are no longer what the page has."""
        made = page.made(regions)
        before = self._shown
        self.browser.show({name: changed(html, before.get(name, "")) for name, html in made.items() if before.get(name) != html})
        self._shown |= made
        if self.state.stale != self._shown_stale:
            self._shown_stale = self.state.stale
            self.browser.stale(self._shown_stale)
        self.browser.flush()
        self._draw()
        for key in self.drawn.mounted.keys() - self._placed:
            self.browser.place(self.figures[key].model.id, key)
        self._placed = frozenset(self.drawn.mounted) if rest else self._placed.union(self.drawn.mounted)
        self.browser.flush()

    def _rehearse(self, turn: int, unseen: frozenset[str]) -> None:
        """Show a state nearby and this one again, between two frames: what an edit runs is compiled then, some regions more each turn."""
        drawn = self.drawn
        later = [*self._regions(self.state, self.drawn)][REGIONS_A_TURN * turn :]
        unseen |= {"bar", *later}  # the bar's menu may be open
        nearby = copy(self.state)
        nearby.type("context", str(self.state.envelope.scenario["context"] * (65 + turn % NEARBY) // 64))
        self._answer(nearby, unseen)
        self._answer(self.state, unseen)
        self.drawn = drawn

    def _regions(self, state: State, drawn: Drawn) -> Regions:
        return embed.regions(self.embed, state, self.view, drawn) if self.embed else page.regions(state, self.view, drawn)

    def _draw(self) -> None:
        """Put the data of every mounted chart into its figure, made when first needed."""
        for key in self.drawn.mounted:
            if key not in self.figures:
                self.figures[key] = Figure(key, self.drawn[key])
                self.document.add_root(self.figures[key].model)
            self.figures[key].draw(self.drawn[key], palette(self.dark), self.drawn.pinned(key))

    def _explain(self, key: str) -> None:
        """Let the chart that the pointer is on answer it; a new answer repaints the chart, so the others wait until they are asked."""
        if key in self.drawn.mounted:
            self.figures[key].explain()


def main() -> None:
    """Put the page's roots in the current document."""
    Page(
        pn.state.curdoc, browser.query(), embedded=browser.is_embedded(), dark=browser.prefers_dark(), narrow=browser.is_narrow()
    )
