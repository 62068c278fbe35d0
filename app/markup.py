"""HTML from Python values: everything is escaped, so nothing a person or a link wrote becomes markup.

Plain strings and not markupsafe's: a page has some 900 elements and is written anew at each keystroke, which that
library's pure Python form makes five times slower.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Child = object  # text, Markup, None, or an iterable of those

_VOID = frozenset({"input", "br", "hr"})
_SPECIAL = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;", ord("'"): "&#39;"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape(value: object) -> str:
    """The HTML of a value: itself where it is Markup, else its text with nothing special left in it."""
    return value if type(value) is Markup else str(value).translate(_SPECIAL)


def join(*children: Child) -> Markup:
    """Escape and join children; None and False leave nothing."""
    return Markup("".join(_flat(children)))


def _flat(children: Iterable[Child]) -> Iterator[str]:
    for child in children:
        if child is None or child is False:
            continue
        if isinstance(child, str):
            yield escape(child)
        elif isinstance(child, (list, tuple)) or hasattr(child, "__next__"):
            yield from _flat(child)
        else:
            yield escape(child)


def tag(element: str, /, *children: Child, **attributes: object) -> Markup:
    """An element. `class_` is the class, `data_key` is `data-key`; True is a bare attribute, None and False none."""
    opening = f"<{element}{''.join([_attribute(key, value) for key, value in attributes.items() if value is not None and value is not False])}>"
    return Markup(opening if element in _VOID else f"{opening}{''.join(_flat(children))}</{element}>")


def _attribute(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(value)}"'


def button(label: Child, do: str, /, **attributes: object) -> Markup:
    """A button that sends `do`, with its data attributes, to the page's handler."""
    return tag("button", label, type="button", data_do=do, **attributes)
