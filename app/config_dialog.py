"""The dialog that takes a model from its config: pasted, dropped, chosen, or asked of the Hub."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import unquote

from envelope.cache import LayerCache, layer_cache
from envelope.config import Reading, Refused
from envelope.config import read as read_config
from envelope.formats import FORMATS
from envelope.model import CompressedAttention, HeadAttention, LatentAttention, LayerGroup, LinearAttention, MixtureOfExperts
from envelope.pasted import filled, inputs, states, without
from envelope.scenario import Assumption
from envelope.units import text, token_text

from app.dialogs import listed, titled
from app.markup import Markup, button, join, tag, unbroken

CONFIG, QUANT, INDEX = "config.json", "hf_quant_config.json", "model.safetensors.index.json"
NAMES = (CONFIG, QUANT, INDEX)
_HUB_ID = re.compile(r"([A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95})(?:(?:@|/(?:tree|blob|resolve)/)([\w./+-]{1,200}))?", re.ASCII)
_HUB_ADDRESS = re.compile(r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/")
_CONTEXT = 131_072  # of the layer table's session
READ, UNREACHED, TOO_LARGE = 200, 0, 413  # what the page's script says of a file, beside the Hub's own answers


@dataclass(frozen=True)
class Wanted:
    """A model on the Hub."""

    id: str
    revision: str = "main"


@dataclass(frozen=True)
class Files:
    """The texts at hand by file, where they come from, and what went wrong in getting them."""

    config: str = ""
    quant: str = ""
    index: str = ""
    hub: str = ""
    problems: tuple[str, ...] = ()
    by_hand: tuple[Assumption, ...] = ()

    @property
    def name(self) -> str:
        """The model's name where the Hub gave it."""
        return self.hub.partition("@")[0]

    def read(self) -> Reading:
        """What the files say together. Raises Refused."""
        return read_config(self.config, self.quant or None, self.index or None)

    def typed(self, config: str) -> Files:
        """A config typed or pasted over: what came with another one no longer counts."""
        return Files(config) if self.hub else replace(self, config=config, problems=(), by_hand=())

    def filled(self, key: str, typed: str) -> Files:
        """The same files with one key of the config filled in by hand."""
        return self._edited(filled, key, typed)

    def without(self, name: str) -> Files:
        """The same files without one of those beside the config, or without one key of the config."""
        if name in (QUANT, INDEX):
            return replace(self, **{"quant" if name == QUANT else "index": ""})
        return self._edited(without, name)

    def _edited(self, edit: Callable[..., tuple[str, Assumption]], key: str, *typed: str) -> Files:
        try:
            config, done = edit(self.config, key, *typed)
        except ValueError as error:
            return replace(self, problems=(str(error),))
        return replace(self, config=config, problems=(), by_hand=(*(one for one in self.by_hand if one.key != key), done))

    def with_files(self, said: str) -> Files:
        """Take files that were dropped or chosen, each by its name; one that is none of the three is not read."""
        found: dict[str, str] = {}
        problems = []
        answers = _answers(said)
        for name, status, content in answers:
            kind = "config" if len(answers) == 1 and _kind(name) == "" and status == READ and content.lstrip().startswith("{") else _kind(name)
            if status == TOO_LARGE:
                problems.append(f"{name[:80]} is larger than any such file is, and was not read.")
            elif not kind:
                problems.append(f"{name[:80]} is none of {CONFIG}, {QUANT} and {INDEX}, and was not read.")
            elif kind in found:
                problems.append(f"{name[:80]} was not read: another file took its place.")
            else:
                found[kind] = content
        by_hand = {"by_hand": ()} if "config" in found else {}
        return replace(self, hub="", problems=tuple(problems), **by_hand, **found)


def _kind(name: str) -> str:
    """Which of the three a file is by its name, as downloads rename it: `config (1).json`; empty for any other."""
    lower = name.lower()
    if not lower.endswith(".json"):
        return ""
    if lower.endswith(".index.json") or re.fullmatch(r"model\.safetensors\.index[ _(].*", lower):
        return "index"
    if lower.startswith("hf_quant"):
        return "quant"
    return "config" if re.fullmatch(r"config\b.*|.*[._-]config\.json", lower) and not _OTHER.match(lower) else ""


# What else lies in a repository under a name that ends alike.
_OTHER = re.compile(r"(generation|tokenizer|processor|preprocessor|video_preprocessor|adapter|quantize|quant|chat|training|feature_extractor|sentence_bert)_")


def _answers(said: str) -> list[tuple[str, int, str]]:
    """(name, status, text) of each file that the page's script read."""
    return [(str(one["name"]), int(one["status"]), str(one["text"])) for one in json.loads(said)]


def wanted(words: str) -> Wanted | None:
    """Read `org/name` or `org/name@revision`; None for anything else."""
    match = _HUB_ID.fullmatch(_HUB_ADDRESS.sub("", unquote(words.strip().partition("?")[0].partition("#")[0]), count=1).rstrip("/"))
    if match is None or ".." in match[0]:
        return None
    revision = (match[2] or "main").removesuffix(f"/{CONFIG}")
    return Wanted(match[1], revision) if not revision.startswith("/") and "//" not in revision else None


def from_hub(asked: Wanted, said: str) -> Files:
    """What the Hub answered: the texts, or in words why there are none."""
    found = {name: (status, content) for name, status, content in _answers(said)}
    status, config = found[CONFIG]
    hub = f"{asked.id}@{asked.revision}"
    if status != READ:
        return Files(hub=hub, problems=(_refused(asked, status),))
    others = {name: found[name] for name in (QUANT, INDEX)}
    problems = tuple(f"{name} was not read: {_briefly(answer)}." for name, (answer, _) in others.items() if answer not in (READ, 404))
    return Files(config, others[QUANT][1], others[INDEX][1], hub, problems)


def _refused(asked: Wanted, status: int) -> str:
    by_hand = "download config.json and drop it here"
    if status in (401, 403):
        return f"{asked.id} is gated, private or not there (the Hub answered {status}). Sign in on the Hub and accept its terms, then {by_hand}."
    if status == 404:
        return f"{asked.id} has no config.json at revision {asked.revision} (the Hub answered 404)."
    if status == UNREACHED:
        return f"The Hub cannot be reached from here: you may be offline, or this network blocks it. Elsewhere, {by_hand}."
    if status == TOO_LARGE:
        return f"The config.json of {asked.id} is larger than any config is, and was not read."
    return f"The Hub answered {status}; try again later, or {by_hand}."


def _briefly(status: int) -> str:
    return {UNREACHED: "it cannot be reached", TOO_LARGE: "it is too large"}.get(status, f"the Hub answered {status}")


def dialog(files: Files = Files(), asked: str = "") -> Markup:
    """Three ways to give a config, and what came of it."""
    return titled(
        "Paste a config.json",
        tag(
            "div",
            tag("label", "From the Hub", for_="hub-id"),
            tag("span", tag("input", type="text", id="hub-id", value=asked, placeholder="org/name or org/name@revision", spellcheck="false", autocomplete="off", data_enter="hub-go"),
                " ", button("Fetch", "fetch_config", data_from="hub-id", id="hub-go")),
            tag("label", "Files", for_="config-files"),
            tag("input", type="file", multiple=True, accept=".json,application/json", id="config-files", data_drops="drop_config"),
            class_="pairs",
        ),
        tag("p", f"Fetch asks the Hub for {CONFIG}, {QUANT} and {INDEX} of that model, and for nothing else. The same files can be dropped here, two or three at once.", class_="note"),
        tag("label", "The file's text", for_="config-text"),
        tag("textarea", files.config, id="config-text", rows="8", spellcheck="false", data_sends="read_config"),
        (tag("p", words, class_="error", role="alert") for words in files.problems),
        _result(files),
    )  # fmt: skip


def _result(files: Files) -> Markup | None:
    if not files.config and not files.quant and not files.index:
        return None
    if not files.config:
        return tag("p", f"{CONFIG} is still missing.", class_="error", role="alert")
    try:
        reading = files.read()
    except Refused as refusal:
        return join(tag("p", str(refusal), class_="error", role="alert"), _way_on(files, refusal.key))
    given = inputs(reading, files.name)
    beside = " and ".join(name for name, content in ((QUANT, files.quant), (INDEX, files.index)) if content)
    return join(
        tag("p", f"Read as {reading.model_type or 'a model without a model_type'}{f', with {beside}' if beside else ''}."),
        _layers(reading, FORMATS[given.get("cache_format", "bf16")].key),
        listed("By hand", (f"{one.key} = {one.value}" for one in files.by_hand)),
        listed("Assumed", (join(tag("span", "assumed", class_="chip"), f" {one.key} = {one.value}: {one.why}") for one in reading.assumed)),
        listed("Not known here, may change a count", reading.ignored),
        listed("Notes", reading.notes),
        tag("details", tag("summary", "The layers as text, which the page can edit"), tag("pre", given["groups"])),
        tag("p", button("Use this model", "use_config", class_="main")),
    )


def _way_on(files: Files, key: str) -> Markup | None:
    """The refused key to fill in or leave out; nothing where the config has no place for it."""
    leave_out = button("Leave it out", "leave_out", data_key=key)
    if key in (QUANT, INDEX):
        return tag("p", leave_out)
    stated = states(files.config, key)
    if stated is None:
        return None
    return tag(
        "p",
        tag("label", key, for_="fill-value"),
        " ",
        tag("input", type="text", id="fill-value", spellcheck="false", autocomplete="off", data_enter="fill-go"),
        " ",
        button("Read with it", "fill_config", data_key=key, data_from="fill-value", id="fill-go"),
        (" ", leave_out) if stated else None,
        class_="fill",
    )


def _layers(reading: Reading, cache_format: str) -> Markup:
    """What the reader understood, one row per kind of layer."""
    columns = ("Layers", "Kind", "Attention", "Feed-forward", "Cache per token", f"Per session of {token_text(_CONTEXT)}")
    rows = (_layer(group, layer_cache(group), cache_format, columns) for group in reading.model.groups)
    return join(
        tag("h3", f"Layers, {reading.model.layers:,} in all; caches in {FORMATS[cache_format].label}"),
        tag("table", tag("thead", tag("tr", (tag("th", name, scope="col") for name in columns))), tag("tbody", rows), class_="rows stacked", id="config-layers"),
    )


def _layer(group: LayerGroup, kept: LayerCache, cache_format: str, columns: tuple[str, ...]) -> Markup:
    each = FORMATS[cache_format].bytes_per_value * kept.count
    token, session = kept.growing * each, kept.values(_CONTEXT) * each
    cells = (kept.kind, _attention(group), _feed_forward(group), text(token, "bytes") if token else "–", text(session, "bytes") if session else "–")
    return tag("tr", tag("th", f"{group.count:,}", scope="row", data_label=columns[0]), (tag("td", unbroken(cell), data_label=name) for name, cell in zip(columns[1:], cells, strict=True)))


def _attention(group: LayerGroup) -> str:
    a = group.attention
    if isinstance(a, HeadAttention):
        width = f"{a.key_dim}" if a.output_dim == a.key_dim else f"{a.key_dim}, values of {a.output_dim}"
        window = f", {'chunks' if a.chunked else 'window'} of {a.window:,}" if a.window else ""
        return f"{a.query_heads} query heads, {a.kv_heads} KV heads of {width}{window}"
    if isinstance(a, LatentAttention):
        return f"{a.query_heads} query heads, one record of {a.kv_rank} + {a.rope_dim}{f', reads {a.indexer.reads:,}' if a.indexer else ''}"
    if isinstance(a, CompressedAttention):
        return f"{a.query_heads} query heads of {a.head_dim}, window of {a.window:,}{f', one record per {a.ratio} tokens' if a.ratio else ''}"
    if isinstance(a, LinearAttention):
        return f"{a.flavour.replace('_', ' ')}, {a.heads} heads of {a.key_dim} × {a.value_dim}"
    return "–"


def _feed_forward(group: LayerGroup) -> str:
    f = group.feed_forward
    if f is None:
        return "–"
    if isinstance(f, MixtureOfExperts):
        return f"{f.top_k} of {f.experts:,} experts of {f.width:,}{f', {f.shared_width:,} shared' if f.shared_width else ''}"
    return f"dense, {f.width:,} wide"
