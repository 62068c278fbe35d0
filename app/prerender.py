"""The first view, made at build time: the page and the embeds as they stand before Python has started.

Markup, styles and the layout of charts are the live page's own, so that taking over moves nothing.
"""

from __future__ import annotations

from envelope import catalog

from app import embed, page
from app.embed import Embed
from app.markup import Markup, tag
from app.page import Drawn, View
from app.picture import picture
from app.state import State

DEFAULT = catalog.slugs()[0]
EMBEDDED = (embed.NUMBERS, *page.MAIN_CHARTS)  # what a frame shows as a picture at once


def slugs() -> tuple[str, ...]:
    """The models that have a first view."""
    return catalog.slugs()


def page_view(slug: str) -> Markup:
    """A preset's default state as the page shows it: what stands in #page."""
    state = State({"model": slug})
    drawn = Drawn(state)
    return _pictured(page.whole(page.made(page.regions(state, View(), drawn))), drawn)


def embed_view(slug: str, show: str) -> Markup:
    """A preset's default state as a frame shows it, without inputs."""
    state, shown = State({"model": slug}), Embed(show)
    drawn = Drawn(state)
    return _pictured(embed.whole(shown, page.made(embed.regions(shown, state, View(), drawn))), drawn)


def without_scripts(slug: str) -> Markup:
    """What a reader is told whose browser runs no scripts, so that nothing on the page can be changed."""
    scenario = State({"model": slug}).envelope.scenario
    return tag(
        "noscript",
        tag(
            "p",
            "This page computes in your browser and needs JavaScript, which is turned off here. What stands below is ",
            f"{scenario.name} on {scenario.machine.short_name} × {scenario['gpus']:,}, computed when the site was built. The ",
            tag("a", "method page", href="method.html"),
            " has every formula and needs no JavaScript.",
            class_="failure",
        ),
    )


def _pictured(html: Markup, drawn: Drawn) -> Markup:
    """The page with a picture in each chart's place."""
    for key in drawn.mounted:
        if drawn[key].series:
            html = Markup(html.replace(page.mount(key), page.mount(key, picture(drawn[key]))))
    return html
