"""The page as named regions of HTML, each made from the state; and the skeleton that holds them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from envelope.chart import Chart
from envelope.curves import CHARTS

from app import charts, findings, header, inputs, layers, quantities, sections
from app.markup import Markup, button, entire, join, tag
from app.sections import MAIN_CHARTS
from app.state import State

Regions = dict[str, Callable[[], Markup | None]]  # by name, what makes the HTML


@dataclass
class View:
    """What is open on the page, and what it has to say beside the state."""

    folded: frozenset[str] = inputs.FOLDED
    opened: frozenset[str] = frozenset({sections.LAYERS})
    how: tuple[str, ...] = ()
    tables: frozenset[str] = frozenset()
    notices: tuple[Markup, ...] = ()
    dialog: Markup = field(default_factory=Markup)


class Drawn:
    """The charts of one state, each computed once. `mounted` are those that the page has a place for."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._charts: dict[tuple[str, bool], Chart] = {}
        self.mounted: dict[str, None] = {}

    def mount(self, key: str) -> Markup | None:
        """The place where the figure goes; none for a chart that does not apply."""
        if not self[key].series:
            return None
        self.mounted[key] = None
        return mount(key)

    def __getitem__(self, key: str) -> Chart:
        return self._get(key, False)

    def pinned(self, key: str) -> Chart | None:
        """The same chart of the pinned state."""
        return self._get(key, True) if self._state.pinned else None

    def _get(self, key: str, pinned: bool) -> Chart:
        if (key, pinned) not in self._charts:
            self._charts[key, pinned] = CHARTS[key](self._state.pinned if pinned else self._state.envelope)
        return self._charts[key, pinned]


def regions(state: State, view: View, drawn: Drawn) -> Regions:
    """Every region of the page by name, with what makes its content."""
    made: Regions = {
        "bar": lambda: header.bar(state),
        "notices": lambda: join(view.notices),
        "answer": lambda: header.first_line(state),
        "memory": lambda: header.memory(state.envelope),
        "numbers": lambda: quantities.cards(state.envelope, view.how),
        "compared": lambda: sections.compared(state),
        "findings": lambda: findings.listed(state.envelope.findings),
        "layers": lambda: layers.table(state, sections.LAYERS in view.opened),
        "sections": lambda: sections.folded(state, view.opened, drawn),
        "dialog": lambda: view.dialog,
    }
    for name in inputs.groups():
        made[inputs.region(name)] = lambda name=name: inputs.group(state, name, view.folded)
    for key in MAIN_CHARTS:
        made[f"title-{key}"] = lambda key=key: _heading(drawn, key)
        made[f"more-{key}"] = lambda key=key: charts.more(drawn[key], key in view.tables)
    return made


def made(regions: Regions) -> dict[str, str]:
    """The HTML of regions by name."""
    return {name: str(make() or "") for name, make in regions.items()}


def _heading(drawn: Drawn, key: str) -> Markup:
    """What stands above a chart of the skeleton, whose place is always there."""
    drawn.mounted[key] = None
    return charts.heading(drawn[key])


def whole(made: dict[str, str]) -> Markup:
    """The skeleton with every region filled; `made` holds the regions' HTML."""

    def region(name: str, element: str = "div", **attributes: object) -> Markup:
        return tag(element, entire(made.get(name, "")), data_region=name, **attributes)

    return join(
        region("bar", "header", class_="bar"),
        region("notices", class_="notices"),
        region("answer", "section", class_="first", aria_label="The answer", id="answer"),
        tag(
            "div",
            tag("form", (region(inputs.region(name)) for name in inputs.groups()), class_="inputs", aria_label="Inputs"),
            tag(
                "main",
                region("memory"),
                region("numbers", class_="cards"),
                region("compared"),
                region("findings", "ul", class_="findings", aria_label="Findings"),
                tag("div", (_chart(region, key) for key in MAIN_CHARTS), class_="charts"),
                region("layers", class_="sections"),
                region("sections", class_="sections"),
            ),
            class_="columns",
        ),
        region("dialog", "dialog", aria_label="Dialog"),
        tag("p", class_="unseen", role="status", id="said", data_keep=True),
    )


def mount(key: str, inside: Markup | None = None) -> Markup:
    """A place for a figure; the page's script leaves alone what is inside."""
    return tag("div", inside, class_="plot", data_root_name=f"chart-{key}", data_keep=True, id=f"plot-{key}")


def _chart(region: Callable[..., Markup], key: str) -> Markup:
    return tag("figure", region(f"title-{key}"), mount(key), region(f"more-{key}"), class_="chart", id=f"chart-{key}")


def notice(*words: object, do: tuple[Markup, ...] = ()) -> Markup:
    """A line above the answer that can be put away."""
    return tag("p", tag("span", *words), *do, button("×", "dismiss", class_="plain", aria_label="Dismiss"), class_="notice")
