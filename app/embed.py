"""One chart, section or the headline numbers, with a few inputs, for a frame in somebody's page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envelope.curves import CHARTS
from envelope.scenario import BY_KEY
from envelope.sections import sections as all_sections

from app import charts, header, inputs, link, quantities, sections
from app.markup import Markup, entire, join, tag
from app.page import Drawn, Regions, View
from app.pointing import elsewhere
from app.sections import SHOWN
from app.state import State

NUMBERS = "quantities"
HEIGHTS = {NUMBERS: 360}  # pixels a frame is given before the page inside says what it needs
_HEIGHT = 470
# What a frame may do: run its scripts on its own files, and open the calculator beside the post when its link is followed.
_SANDBOX = "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox"


@dataclass(frozen=True)
class Embed:
    """What the frame shows, and the inputs it offers."""

    show: str = NUMBERS
    fields: tuple[str, ...] = ()

    @classmethod
    def read(cls, other: Mapping[str, str]) -> tuple[Embed, tuple[str, ...]]:
        """Take `show` and `fields` of a link, with a sentence for each that is not known here."""
        show, problems = other.get("show", NUMBERS), []
        if show not in choices():
            problems.append(f"There is no {show[:40]!r} to show; these are the numbers.")
            show = NUMBERS
        asked = [key for key in other.get("fields", "").split(",") if key]
        problems += link.unknown((key for key in asked if key not in BY_KEY), "The link's {} is not an input here and was ignored.")
        return cls(show, tuple(dict.fromkeys(key for key in asked if key in BY_KEY))), tuple(problems)

    @property
    def query(self) -> dict[str, str]:
        """What the link says of it."""
        return {"show": self.show, **({"fields": ",".join(self.fields)} if self.fields else {})}

    @property
    def height(self) -> int:
        """Pixels to give the frame until it has said its height."""
        return HEIGHTS.get(self.show, _HEIGHT)


def choices() -> dict[str, str]:
    """Everything an embed can show, by name, in words."""
    named = {NUMBERS: "The numbers", "pool-ratio": "Chart: sessions by pool ratio", "experts": "Chart: experts read by batch"}
    return {**named, **{SHOWN + one.key: one.title for one in all_sections()}, **{key: f"Chart: {key}" for key in CHARTS if key not in named}}


def regions(shown: Embed, state: State, view: View, drawn: Drawn) -> Regions:
    """The regions of a frame by name, with what makes their content."""
    return {
        "notices": lambda: join(view.notices),
        "answer": lambda: _answer(state),
        "fields": lambda: join(inputs.row(state, BY_KEY[key]) for key in shown.fields),
        "shown": lambda: elsewhere(_content(shown, state, view, drawn), shown.fields, _whole_page(state)),
        "back": lambda: _back(state),
    }


def _answer(state: State) -> Markup:
    scenario = state.envelope.scenario
    return join(tag("b", header.headline(state.envelope)), tag("small", f" {scenario.name} on {scenario.machine.short_name} × {scenario['gpus']:,}"))


def _content(shown: Embed, state: State, view: View, drawn: Drawn) -> Markup:
    if shown.show == NUMBERS:
        return tag("div", quantities.cards(state.envelope, view.how), class_="cards")
    if shown.show in CHARTS:
        chart = drawn[shown.show]
        opened = shown.show in view.tables
        return tag("figure", charts.heading(chart), drawn.mount(shown.show), charts.more(chart, opened), class_="chart", id=f"chart-{shown.show}")
    section = next(one for one in all_sections() if SHOWN + one.key == shown.show)
    return join(tag("h3", section.title), tag("p", section.answer(state.envelope)), sections.content(state, section, drawn))


def _back(state: State) -> Markup:
    """The same state on the whole page, for the reader who wants more."""
    return tag("a", "Open in Serving envelope", href=_whole_page(state), target="_blank", rel="noopener")


def _whole_page(state: State) -> str:
    return "./" + link.write(state.given())


def whole(shown: Embed, made: Mapping[str, str]) -> Markup:
    """The frame's skeleton with every region filled."""

    def region(name: str, element: str = "div", **attributes: object) -> Markup:
        return tag(element, entire(made.get(name, "")), data_region=name, **attributes)

    return join(
        region("notices", class_="notices"),
        tag(
            "main",
            region("answer", "p", class_="answer"),
            region("fields", "form", class_="some-inputs", aria_label="Inputs") if shown.fields else None,
            region("shown"),
            region("back", "p", class_="back"),
            class_="embedded",
        ),
        tag("p", class_="unseen", role="status", id="said", data_keep=True),
    )


def frame(shown: Embed, address: str, title: str) -> str:
    """The `<iframe>` line to paste; `address` is that of embed.html."""
    return str(tag("iframe", sandbox=_SANDBOX, src=address, title=title, width="100%", height=shown.height, style="border:0", loading="lazy"))
