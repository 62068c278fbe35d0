"""The page's dialogs: paste a config, embed a view; and the exports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from envelope import export
from envelope.config import Refused
from envelope.config import read as read_config
from envelope.pasted import assumptions, inputs

from app.markup import Markup, button, join, tag

if TYPE_CHECKING:
    from app.main import Page


def export_as(form: str, shown: Page) -> None:
    """Hand the state over in one of the forms people take it in."""
    envelope, browser = shown.state.envelope, shown.browser
    if form == "markdown":
        browser.copy(export.markdown(envelope), "Markdown table copied")
    elif form == "json":
        browser.save(f"{envelope.scenario['model']}.json", "application/json", json.dumps(export.to_json(envelope), ensure_ascii=False, indent=1, allow_nan=False) + "\n")
    elif form == "python":
        browser.copy(export.python_call(envelope.scenario), "Python call copied")
    elif form == "shell":
        browser.copy(export.shell_line(envelope.scenario), "Shell line copied")


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


def embed(shown: Page, show: str) -> Markup:
    """A preview of what an embed shows, and the line to paste."""
    return _titled("Embed")
