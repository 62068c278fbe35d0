"""The model's layers as a table whose cells are inputs: what the reader understood, at a glance and to be changed."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from envelope import layer_table
from envelope.formats import FORMATS
from envelope.layer_table import Cell, Row
from envelope.model import Model
from envelope.units import counted, text, token_text

from app.markup import Markup, button, join, part, tag
from app.sections import LAYERS, fold
from app.state import State


def table(state: State, opened: bool) -> Markup | None:
    """The layers, folding; None for a model that states no layers. Written anew only when something in it changed."""
    scenario = state.envelope.scenario
    if scenario.model is None:
        return None
    typed = tuple((key, words) for key, words in state.texts.items() if layer_table.is_cell(key))
    errors = tuple((key, words) for key, words in state.errors.items() if layer_table.is_cell(key))
    return _folded(scenario.model, state.original, scenario["context"], scenario["cache_format"], opened, typed, errors, state.changed("groups"))


Pairs = tuple[tuple[str, str], ...]


@lru_cache(maxsize=8)
def _folded(model: Model, original: Model | None, context: int, cache_format: str, opened: bool, typed: Pairs, errors: Pairs, is_changed: bool) -> Markup:
    content = _table(model, original, context, cache_format, typed, errors, is_changed) if opened else None
    return fold(LAYERS, "Layers", in_words(model), content)


def in_words(model: Model) -> str:
    """The kinds of layers in a line: `62: 16 full, 46 sliding`."""
    counts: Counter[str] = Counter()
    for row in layer_table.rows(model, 1, "bf16"):
        counts[row.kind] += row.count.value
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    return f"{model.layers:,}: {kinds}" if len(counts) > 1 else f"{kinds}"


def _table(model: Model, original: Model | None, context: int, cache_format: str, typed: Pairs, errors: Pairs, is_changed: bool) -> Markup:
    rows = layer_table.rows(model, context, cache_format)
    has_state = any(row.state for row in rows)
    heads = ("Layers", "Attention", "Feed-forward", "Cache per token", f"Per {token_text(context)} session", *(("Fixed state",) if has_state else ()), "")
    body = (_row(index, row, heads, *sides) for index, (row, sides) in enumerate(zip(rows, _sides(model, original, typed, errors), strict=True)))
    return join(
        tag(
            "table",
            tag("thead", tag("tr", (tag("th", name, scope="col") if name else tag("td") for name in heads))),
            tag("tbody", body),
            tag("tfoot", _total(model, rows, heads)) if len(rows) > 1 else None,
            class_="rows layers",
        ),
        tag("p", f"Names are those of config.json. Caches in {FORMATS[cache_format].label}, of all layers of a row. ", _beside(model), class_="note"),
        tag("p", button("Put the layers back", "reset_layers")) if is_changed else None,
    )


@lru_cache(maxsize=8)
def _sides(model: Model, original: Model | None, typed: Pairs, errors: Pairs) -> tuple[tuple[Markup, Markup], ...]:
    """Per row what stands left of the sizes, the inputs of count, attention and feed-forward, and right of them.

    It is most of the table, and the same for every context.
    """
    rows = layer_table.rows(model, 1, "bf16")
    before = _values(original) if original is not None and len(original.groups) == len(rows) else {}
    texts, wrong = dict(typed), dict(errors)

    def cells(index: int, of: str, some: tuple[Cell, ...]) -> Markup:
        if not some:
            return Markup("")
        key = f"layers-{index}-{of}"
        return part(tag("div", (_cell(index, cell, before, texts, wrong) for cell in some), class_="cells", data_row=key), "div", data_row=key)

    def left(index: int, row: Row) -> Markup:
        return join(
            tag("th", cells(index, "count", (row.count,)), scope="row"),
            tag("td", tag("b", row.kind), cells(index, "attention", row.attention)),
            tag("td", tag("b", row.feed_forward), cells(index, "widths", row.widths)),
        )

    return tuple((left(index, row), _ways(index, len(rows) > 1)) for index, row in enumerate(rows))


@lru_cache(maxsize=8)
def _values(model: Model) -> dict[str, int]:
    return {cell.key: cell.value for row in layer_table.rows(model, 1, "bf16") for cell in (row.count, *row.attention, *row.widths)}


def _ways(index: int, can_go: bool) -> Markup:
    return tag(
        "td",
        button("+", "add_layers", class_="plain", data_group=index, title="Add a layer like these", aria_label=f"Add a layer like those of group {index + 1}"),
        button("×", "remove_layers", class_="plain", data_group=index, title="Remove these layers", aria_label=f"Remove group {index + 1}") if can_go else None,
        class_="ways",
    )


def _row(index: int, row: Row, heads: tuple[str, ...], left: Markup, right: Markup) -> Markup:
    numbers = (row.per_token, row.per_session, *((row.state,) if "Fixed state" in heads else ()))
    sizes = (tag("td", _size(number), class_="number", data_label=head) for number, head in zip(numbers, heads[3:], strict=False))
    return tag("tr", left, sizes, right, data_row=f"layers-{index}")


def _cell(index: int, cell: Cell, before: dict[str, int], typed: dict[str, str], errors: dict[str, str]) -> Markup:
    error = errors.get(cell.key)
    old = before.get(cell.key, cell.value)
    is_changed = cell.key in typed or old != cell.value
    return tag(
        "div",
        tag("label", cell.name, tag("span", f", group {index + 1}", class_="unseen"), for_=cell.key),
        tag(
            "input", type="text", inputmode="numeric", autocomplete="off", spellcheck="false", value=typed.get(cell.key, cell.text), placeholder="none" if cell.optional else None,
            id=cell.key, data_key=cell.key, aria_invalid="true" if error else None, aria_describedby=f"{cell.key}-says" if error else None,
            title=f"was {old:,}" if old != cell.value else None,
        ),
        tag("p", error, id=f"{cell.key}-says", class_="error") if error else None,
        class_=" ".join(filter(None, ("cell", "changed" if is_changed else "", "wrong" if error else ""))),
        data_row=cell.key,
    )  # fmt: skip


def _total(model: Model, rows: tuple[Row, ...], heads: tuple[str, ...]) -> Markup:
    totals = layer_table.totals(rows)
    shown = totals if "Fixed state" in heads else totals[:2]
    return tag(
        "tr",
        tag("th", f"All {model.layers:,}", scope="row"),
        tag("td"),
        tag("td"),
        (tag("td", _size(number), class_="number", data_label=head) for number, head in zip(shown, heads[3:], strict=False)),
        tag("td"),
    )


def _size(number: object) -> str:
    return text(number, "bytes") if number else "–"


def _beside(model: Model) -> str:
    """What the model has beside these layers, in words."""
    layers = sum(group.count for group in model.prediction)
    words = [f"{name} {text(size, 'parameters')}" for name, size in model.towers if size]
    words += [f"{counted(layers, 'prediction layers')} (MTP), which the totals leave out"] if layers else []
    return f"Beside them: {', '.join(words)}." if words else ""
