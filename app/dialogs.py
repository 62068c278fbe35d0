"""The page's dialogs for logs and embeds, what all dialogs share; and the exports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import export, launch, logs
from envelope.scenario import BY_KEY, Scenario
from envelope.units import counted
from envelope.units import text as text_of

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
    elif form == "vllm":
        hand.copy(launch.vllm_serve(envelope) + "\n", "vLLM launch line copied")
    elif form == "sglang":
        hand.copy(launch.sglang_launch(envelope) + "\n", "SGLang launch line copied")


def titled(title: str, *content: object) -> Markup:
    """A dialog's content under its title, with the way out."""
    return join(tag("header", tag("h2", title), button("×", "close", class_="plain", aria_label="Close")), *content)


def listed(title: str, lines: Iterable[str]) -> Markup | None:
    """A list under its title; nothing where there is none."""
    lines = tuple(lines)
    return join(tag("h3", title), tag("ul", (tag("li", line) for line in lines))) if lines else None


_ENGINES = {"vllm": "vLLM", "sglang": "SGLang", "tensorrt-llm": "TensorRT-LLM"}


def paste_log(result: Markup = Markup("")) -> Markup:
    """A text area that takes a start-up log, and how it compares. The log itself stays in the text area alone."""
    return titled(
        "Paste a start-up log",
        tag("label", "Start-up lines of vLLM, SGLang or TensorRT-LLM; they stay in this page", for_="log-text"),
        tag("textarea", id="log-text", rows="7", spellcheck="false", autocomplete="off", data_sends="read_log", data_keep=True),
        result,
    )


def read_log(text: str, shown: Page) -> Markup:
    """Set a pasted log's lines beside the present state."""
    if not text.strip():
        return paste_log()
    reading = logs.read(text)
    if not reading.engine:
        return paste_log(tag("p", "No start-up line of vLLM, SGLang or TensorRT-LLM is recognised.", class_="error", role="alert"))
    scenario = shown.state.envelope.scenario
    rows = logs.compare(reading, scenario)
    version = reading.measured.get("version")
    found = len(reading.lines)
    changes = _log_changes(reading, scenario)
    return paste_log(
        join(
            tag(
                "p",
                f"{_ENGINES[reading.engine]}{f' {version.value}' if version else ''}: {counted(found, 'lines')} recognised, beside {scenario.name}.",
                " The text was longer than is read." if reading.cut else None,
            ),
            _log_table(rows) if rows else tag("p", "None of them states a figure that is predicted here."),
            listed("The budget it gives", [f"{BY_KEY[key].label}: {value}" for key, value in changes.items()]),
            tag("p", button("Use the measured budget", "use_log", data_from="log-text", class_="main")) if changes else tag("p", "This state has the log's budget."),
        )
    )


def _log_table(rows: tuple[logs.Row, ...]) -> Markup:
    columns = ("Line", "Measured", "Predicted", "Difference", "Why")
    return tag(
        "table",
        tag("thead", tag("tr", (tag("th", name, scope="col") for name in columns))),
        tag("tbody", (_log_row(row) for row in rows)),
        class_="rows",
        id="log-rows",
    )


def _log_row(row: logs.Row) -> Markup:
    difference = row.difference
    return tag(
        "tr",
        tag("th", row.label, tag("small", f" line {row.number:,}"), tag("code", row.line), scope="row"),
        tag("td", _measured(row.measured, row.unit), class_="number"),
        tag("td", _measured(row.predicted, row.unit), class_="number"),
        tag("td", "–" if difference is None else f"{difference:+.1%}", class_="number"),
        tag("td", row.explanation),
    )


def _measured(value: Fraction | None, unit: str) -> str:
    """A figure as engines print it: memory in GiB."""
    if value is None:
        return "–"
    if unit == "bytes" and value >= 2**20:
        return f"{float(value) / 2**30:,.2f} GiB"
    return text_of(value, unit, 6)


def _log_changes(reading: logs.LogReading, scenario: Scenario) -> dict[str, str]:
    """The inputs that adopting the log changes, as a person would type them."""
    said = logs.adopted(reading, scenario)
    return {key: typed for key, typed in reading.adopt.items() if key in said.given and said.values[key] != scenario.values[key]}


def use_log(text: str, shown: Page) -> bool:
    """Take over what a pasted log says, in one step; what it measured is marked. Returns whether that changed anything."""
    reading = logs.read(text)
    changes = _log_changes(reading, shown.state.envelope.scenario)
    return shown.state.calibrate(changes, frozenset(reading.calibration))


def embed(shown: Page, offered: Mapping[str, str]) -> Markup:
    """What a frame in another page would show, and the line to paste there."""
    chosen, problems = Embed.read({**offered, "fields": offered["fields"].replace(" ", "")})
    query = link.write(shown.state.given(), other=chosen.query)
    options = (tag("option", words, value=name, selected=name == chosen.show) for name, words in choices().items())
    line = frame(chosen, browser.folder() + "embed.html" + query, f"Serving envelope: {shown.state.envelope.scenario.name}")
    return titled(
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
