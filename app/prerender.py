"""The first view, made at build time: the page and the embeds as they stand before Python has started.

Markup, styles and figures are the live page's own, so that taking over moves nothing.
"""

from __future__ import annotations

from bokeh.embed import json_item

from envelope import catalog

from app import embed, page
from app.embed import Embed
from app.figures import Figure
from app.page import Drawn, View
from app.state import State
from app.theme import palette

Json = dict[str, object]

DEFAULT = catalog.slugs()[0]
EMBEDDED = (embed.NUMBERS, *page.MAIN_CHARTS)  # what a frame shows as a picture at once


def slugs() -> tuple[str, ...]:
    """The models that have a first view."""
    return catalog.slugs()


def page_view(slug: str) -> Json:
    """A preset's default state as the page shows it: `html` of #page, and `figures` by chart and light."""
    state = State({"model": slug})
    drawn = Drawn(state)
    made = {name: str(make() or "") for name, make in page.regions(state, View(), drawn).items()}
    return {"html": str(page.whole(made)), "figures": _figures(drawn)}


def embed_view(slug: str, show: str) -> Json:
    """A preset's default state as a frame shows it, without inputs."""
    state, shown = State({"model": slug}), Embed(show)
    drawn = Drawn(state)
    made = {name: str(make() or "") for name, make in embed.regions(shown, state, View(), drawn).items()}
    return {"html": str(embed.whole(shown, made)), "figures": _figures(drawn)}


def _figures(drawn: Drawn) -> dict[str, Json]:
    return {key: {light: _figure(drawn, key, light == "dark") for light in ("light", "dark")} for key in drawn.mounted if drawn[key].series}


def _figure(drawn: Drawn, key: str, dark: bool) -> object:
    figure = Figure(key, drawn[key])
    figure.draw(drawn[key], palette(dark))
    figure.explain()
    return json_item(figure.model)
