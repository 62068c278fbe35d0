"""The page's dialogs: paste a config, embed a view; and the exports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from envelope import export
from envelope.config import Refused
from envelope.config import read as read_config
from envelope.pasted import assumptions, inputs

from app import browser, link
from app.embed import Embed, choices, frame
from app.markup import Markup, button, join, tag

if TYPE_CHECKING:
    from app.main import Page


def export_as(form: str, shown: Page) -> None:
    """Hand the state over in one of the forms people take it in."""
    envelope, hand = shown.state.envelope, shown.browser
    if form == "markdown":
        hand.copy(export.markdown(envelope), "Markdown table copied")
    elif form == "json":
        hand.save(f"{envelope.scenario['model']}.json", "application/json", json.dumps(export.to_json(envelope), ensure_ascii=False, indent=1, allow_nan=False) + "\n")
    elif form == "python":
        hand.copy(export.python_call(envelope.scenario), "Python call copied")
    elif form == "shell":
        hand.copy(export.shell_line(envelope.scenario), "Shell line copied")


def _titled(title: str, *content: object) -> Markup:
    return join(tag("header", tag("h2", title), button("×", "close", class_="plain", aria_label="Close")), *content)


def paste(text: str = "", result: Markup = Markup("")) -> Markup:
    """A text area that takes a config.json, and what came of it."""
    return _titled(
        "Paste a config.json",
        tag("label", "The file's text", for_="config-text"),
        tag("textarea", text, id="config-text", rows="10", spellcheck="false", data_sends="read_config"),
        result,
    )


def read(text: str) -> Markup:
    """Read a pasted config: its layers and what was assumed, or the refusal."""
    try:
        reading = read_config(text)
    except Refused as refusal:
        return paste(text, tag("p", str(refusal), class_="error", role="alert"))
    given = inputs(reading)
    return paste(
        text,
        join(
            tag("p", f"Read as {reading.model_type or 'a model without a model_type'}."),
            tag("pre", given["groups"]),
            _list("Assumed", [f"{one.key} = {one.value}: {one.why}" for one in reading.assumed]),
            _list("Not known here, may change a count", list(reading.ignored)),
            _list("Notes", list(reading.notes)),
            tag("p", button("Use this model", "use_config", data_from="config-text", class_="main")),
        ),
    )


def _list(title: str, lines: list[str]) -> Markup | None:
    return join(tag("h3", title), tag("ul", (tag("li", line) for line in lines))) if lines else None


def use(text: str, shown: Page) -> None:
    """Fill the form from a pasted config."""
    reading = read_config(text)
    shown.state.adopt(inputs(reading), assumptions(reading))


def embed(shown: Page, offered: Mapping[str, str]) -> Markup:
    """What a frame in another page would show, and the line to paste there."""
    chosen, problems = Embed.read({**offered, "fields": offered["fields"].replace(" ", "")})
    query = link.write(shown.state.given(), other=chosen.query)
    options = (tag("option", words, value=name, selected=name == chosen.show) for name, words in choices().items())
    line = frame(chosen, browser.folder() + "embed.html" + query, f"Serving envelope: {shown.state.envelope.scenario.name}")
    return _titled(
        "Embed in your page",
        tag(
            "div",
            tag("label", "Show", for_="embed-show"),
            tag("select", options, id="embed-show", name="show", data_sends="embed"),
            tag("label", "Inputs", for_="embed-fields"),
            tag("input", type="text", id="embed-fields", name="fields", value=offered["fields"], placeholder="context, chunk", spellcheck="false", autocomplete="off", data_sends="embed"),
            class_="pairs",
        ),
        (tag("p", words, class_="error") for words in problems),
        tag("iframe", src="embed.html" + query, title="Preview", height=chosen.height, class_="preview"),
        tag("label", "The line to paste", for_="embed-line"),
        tag("textarea", line, id="embed-line", rows="4", readonly=True, spellcheck="false"),
        tag("p", button("Copy", "copy_frame", data_from="embed-line", class_="main")),
    )
