"""HTML from Python values: everything is escaped, so nothing a person or a link wrote becomes markup.

Plain strings and not markupsafe's: a page has some 900 elements and is written anew at each keystroke, which that
library's pure Python form makes five times slower.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

Child = object  # text, Markup, None, or an iterable of those

# A number, and what it counts or is measured in.
_MEASURED = re.compile(r"(?<=[0-9]) (?=(?:[kMGTP]i?B|[BTM]|[MGTP]?FLOP|[KM]? ?tok|tokens?|sessions?|GPUs?|experts?|layers?|requests?|ms|s|min|h|days)\b)")
_VOID = frozenset({"input", "br", "hr"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape(value: object) -> str:
    """The HTML of a value: itself where it is Markup, else its text with nothing special left in it."""
    if type(value) is Markup:
        return value
    text = str(value)
    return _escaped(text) if len(text) < _LONG else _replaced(text)


# Nine in ten words of a page are those of the last keystroke, and are kept; a pasted config is not.
_LONG = 300  # letters
_KEPT = 4096


def _replaced(text: str) -> str:
    # Five replacements take a fifth of the time of str.translate.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;").replace("'", "&#39;")


_escaped = lru_cache(maxsize=_KEPT)(_replaced)


def join(*children: Child) -> Markup:
    """Escape and join children; None and False leave nothing."""
    parts: list[str] = []
    _add(parts, children)
    return Markup("".join(parts))


def _add(parts: list[str], children: Iterable[Child]) -> None:
    for child in children:
        kind = type(child)
        if kind is Markup:
            parts.append(child)
        elif kind is str:
            parts.append(escape(child))
        elif child is None or child is False:
            continue
        elif kind is tuple or kind is list or hasattr(child, "__next__"):
            _add(parts, child)
        else:
            parts.append(escape(child))


def tag(element: str, /, *children: Child, **attributes: object) -> Markup:
    """An element. `class_` is the class, `data_key` is `data-key`; True is a bare attribute, None and False none."""
    parts = [f"<{element}"]
    for key, value in attributes.items():
        if value is not None and value is not False:
            parts.append(_attribute(key, value) if type(value) is not str or len(value) < _LONG else _written(key, value))
    parts.append(">")
    if element not in _VOID:
        _add(parts, children)
        parts.append(f"</{element}>")
    return Markup("".join(parts))


def unbroken(words: str) -> str:
    """The words with no line break between a number and its unit."""
    return _MEASURED.sub("\u00a0", words)


# Before a part, between what stands for it and itself, and after it. Text is escaped and so never looks like this.
_BEGIN, _IS, _END = "<!--part ", "-->", "<!--/part-->"


def part(html: Markup, element: str, /, **key: str) -> Markup:
    """One element of that name as a part of its region, which the page is sent again only when it has changed.

    `key` is the attribute by which the page knows it: `id` or `data_row`. What holds it needs such a key too where
    others of its kind come and go beside it: in an element that the page takes for new, the part would stay empty.
    """
    return Markup(f"{_BEGIN}{tag(element, **key, data_same=True)}{_IS}{html}{_END}")


@lru_cache(maxsize=64)  # what is new is what was there before at the next keystroke
def _pieces(html: str) -> tuple[tuple[str, str, str], ...]:
    """What stands for each part, the part, and the HTML after it; the first is only HTML."""
    first, *rest = html.split(_BEGIN)
    found = [("", "", first)]
    for piece in rest:
        stub, _, more = piece.partition(_IS)
        whole, _, after = more.partition(_END)
        found.append((stub, whole, after))
    return tuple(found)


def entire(html: str) -> Markup:
    """HTML with all its parts."""
    return Markup("".join(whole + after for _, whole, after in _pieces(html)))


def changed(html: str, before: str) -> Markup:
    """HTML without the parts that are in `before` as they are here: in the place of each stands an empty element."""
    held = {stub: whole for stub, whole, _ in _pieces(before)}
    return Markup("".join((stub if held.get(stub) == whole else whole) + after for stub, whole, after in _pieces(html)))


def _written(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(value)}"'


_attribute = lru_cache(maxsize=_KEPT, typed=True)(_written)  # 1 is not True, and Markup not the same text


def button(label: Child, do: str, /, **attributes: object) -> Markup:
    """A button that sends `do`, with its data attributes, to the page's handler."""
    return tag("button", label, type="button", data_do=do, **attributes)
