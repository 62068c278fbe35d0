"""The top of the page: which model and machine, the answer in one line, and where the memory goes."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from envelope import Envelope
from envelope.pools import round_up
from envelope.units import counted, shorten, text, token_text

from app.markup import Markup, button, join, tag
from app.pointing import pointing
from app.state import State

_BINDS = {"both": "both pools bind", "full": "the full pool binds", "sliding": "the sliding pool binds"}
EXPORTS = (
    ("markdown", "Markdown table"),
    ("json", "JSON file"),
    ("python", "Python call"),
    ("shell", "Shell line"),
    ("vllm", "vLLM launch line"),
    ("sglang", "SGLang launch line"),
)


class _Choice(NamedTuple):
    """A choice at the top: what is chosen, (value, label) of what there is, and what is wrong."""

    chosen: str
    choices: tuple[tuple[str, str], ...]
    error: str | None


def bar(state: State) -> Markup:
    """Brand, the two choices, and what can be done with the whole state."""
    return _bar(_choice(state, "model"), _choice(state, "machine"), len(state.changes()), state.can_undo, state.can_redo, state.pinned is not None)


@lru_cache(maxsize=8)  # typing in a field leaves it as it is
def _bar(model: _Choice, machine: _Choice, changes: int, can_undo: bool, can_redo: bool, compares: bool) -> Markup:
    return join(
        tag("h1", "Serving envelope"),
        _chooser("model", model),
        _changed(changes, can_undo, can_redo),
        _chooser("machine", machine),
        button("Paste config", "paste"),
        button("Paste log", "paste_log"),
        tag(
            "div",
            button("Stop comparing" if compares else "Compare", "unpin" if compares else "pin"),
            button("Copy link", "copy_link"),
            button("Embed", "embed"),
            tag(
                "details",
                tag("summary", "Export"),
                tag("div", (button(label, "export", data_form=form) for form, label in EXPORTS), class_="menu"),
                class_="export",
                data_menu=True,
            ),
            class_="actions",
        ),
    )


def _choice(state: State, key: str) -> _Choice:
    scenario = state.envelope.scenario
    return _Choice(state.texts.get(key, scenario.text(key)), scenario.choices(key), state.errors.get(key))


def _chooser(key: str, choice: _Choice) -> Markup:
    options = (tag("option", label, value=value, selected=value == choice.chosen) for value, label in choice.choices)
    return tag(
        "span",
        tag("label", key.capitalize(), for_=f"choose-{key}", class_="unseen"),
        tag("select", options, id=f"choose-{key}", data_key=key, data_choice=True),
        tag("span", choice.error, class_="error", role="alert") if choice.error else None,
        class_="choice",
    )


def _changed(changes: int, can_undo: bool, can_redo: bool) -> Markup:
    return tag(
        "span",
        button(f"{changes} changed ↺", "reset_all", class_="plain", title="Put every field back") if changes else None,
        button("↶", "undo", class_="plain", title="Undo", aria_label="Undo", disabled=not can_undo),
        button("↷", "redo", class_="plain", title="Redo", aria_label="Redo", disabled=not can_redo),
        class_="changed",
    )


def headline(envelope: Envelope) -> str:
    """Whether it fits, and how many sessions, in a few words."""
    sessions = envelope.value("sessions")
    scenario = envelope.scenario
    if sessions is None:
        too_large = envelope.value("pool_bytes") is None and envelope.value("weight_bytes") is not None
        return "Does not fit" if too_large else "Sessions unknown"
    if sessions == 0:
        return "Not one session fits"
    held = "of this mix" if scenario["mix"] else f"at {token_text(scenario['context'])}"
    return f"Fits · {counted(sessions, 'sessions')} {held}"


def first_line(state: State) -> Markup:
    """The answer: fit, sessions, what binds, speed, price, and the fewest GPUs."""
    e = state.envelope
    parts = [(main, small) for main, small in (_unknown(e), _ratio(e), _speed(e), _output(e), _cost(e), _fewest(e), _wanted(e)) if main]
    return join(
        tag("h2", headline(e), class_="headline"),
        tag("span", "of the last values that can be used", class_="outdated") if state.stale else None,
        (tag("span", tag("b", main), " ", tag("small", small), class_="part") for main, small in parts),
        _doubt(e),
    )


Part = tuple[str, str]


def _unknown(e: Envelope) -> Part:
    quantity = e["sessions"]
    return (pointing(quantity.reason), "") if quantity.value is None and headline(e) == "Sessions unknown" else ("", "")


def _ratio(e: Envelope) -> Part:
    ratio = e.value("pool_ratio")
    if ratio is None or not e.value("sessions"):
        return "", ""
    shown = shorten(float(round_up(ratio) if e.scenario["pool_ratio"] == "best" else ratio), 3)
    return f"pool ratio {shown}", _BINDS.get(e.value("pool_binds"), "")


def _speed(e: Envelope) -> Part:
    speed = e.value("capacity_tokens_per_second_per_user")
    return (f"at most {text(speed, 'tokens/s', 2)}", f"per user at {e.value('sessions'):,}") if speed else ("", "")


def _output(e: Envelope) -> Part:
    speed, each = e.value("capacity_output_tokens_per_second"), e.value("capacity_output_tokens_per_second_per_gpu")
    gpus = e.scenario["gpus"]
    if not speed:
        return "", ""
    shared = "on 1 GPU" if gpus == 1 else f"on {counted(gpus, 'GPUs')}, {text(each, 'tokens/s', 2)} per GPU"
    return f"at most {text(speed, 'tokens/s', 2)}", shared


def _cost(e: Envelope) -> Part:
    cost = e.value("cost_per_million_output")
    return (text(cost, "USD"), "per million output") if cost is not None else ("", "")


def _fewest(e: Envelope) -> Part:
    fewest = e.value("gpus_minimum")
    return (f"needs {counted(fewest, 'GPUs')}", "at least") if fewest else ("", e["gpus_minimum"].reason)


def _wanted(e: Envelope) -> Part:
    wanted = e["gpus_for_wanted"]
    if e.scenario["sessions_wanted"] is None and e.scenario["speed_wanted"] is None:
        return "", ""
    if wanted.value is None:
        return "what is wanted:", wanted.reason
    rent, binds = e.value("wanted_usd_per_hour"), e.value("wanted_binds")
    price = f", {text(rent, 'USD')} per hour" if rent is not None else ""
    return f"wanted: {counted(wanted.value, 'GPUs')}{price}", f"{binds} binds" if binds in ("memory", "bandwidth") else str(binds or "")


def _doubt(e: Envelope) -> Markup | None:
    tier = e["sessions"].tier
    return chip(tier) if tier in ("C", "D") else None


_TIERS = {"C": "inferred", "D": "speculative"}


def chip(tier: str, why: str = "", *, short: bool = False) -> Markup | None:
    """A mark on what is inferred or speculative; nothing on what is sourced."""
    if tier not in _TIERS:
        return None
    word = _TIERS[tier]
    return tag("span", tier if short else word, class_="chip", title=f"{word}: {why}" if why else f"tier {tier}: {word}")


def memory(e: Envelope) -> Markup:
    """One GPU's memory as a bar: weights, caches, what is kept back."""
    hbm, weights, kept = e.scenario["hbm"], e.value("weights_per_gpu"), e.value("kept_back_per_gpu")
    if weights is None:
        return tag("p", "Memory: ", pointing(e["weights_per_gpu"].reason), ".", class_="note")
    cache = e.value("cache_per_gpu")
    assumed = " (assumed)" if e.scenario.assumes("memory_fraction") else ""
    split = _cache_split(e)
    words = {"weights": f"weights {text(weights, 'bytes')}"}
    words |= {"cache": f"cache {text(cache, 'bytes')}{split}"} if cache is not None else {"": "no room for a cache"}
    words["kept"] = f"kept back {text(kept, 'bytes')}{assumed}"
    return join(
        tag("p", tag("span", f"Memory per GPU, {text(hbm, 'bytes', 4)}"), (tag("span", said, class_=f"key {kind}") for kind, said in words.items()), class_="legend"),
        tag(
            "div",
            _part("weights", weights, "weights"),
            _part("cache", cache, "cache" + split, _sliding(e)) if cache is not None else None,
            _part("kept", kept, "kept back"),
            class_="memory" if cache is not None else "memory over",
            role="img",
            aria_label=", ".join(words.values()),
        ),
    )


def _cache_split(e: Envelope) -> str:
    share = e.value("sliding_share")
    return f", {text(share, 'share', 2)} of it sliding" if share is not None else ""


def _sliding(e: Envelope) -> Markup | None:
    share = e.value("sliding_share")
    return tag("span", class_="sliding", style=f"width:{float(share):.2%}") if share is not None else None


def _part(kind: str, size: object, label: str, inside: Markup | None = None) -> Markup:
    return tag("span", inside, tag("span", label, class_="label"), class_=f"part {kind}", style=f"flex-grow:{float(size):.0f}")
