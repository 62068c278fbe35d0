"""Reasons that name an input become a way to it."""

from __future__ import annotations

import re
from collections.abc import Container

from envelope.scenario import BY_KEY

from app.markup import Markup, button, join, tag

_WAY = re.compile(r'<button type="button" data-do="find" data-key="(\w+)" class="plain">(.*?)</button>')
_KEY = re.compile("|".join(rf"\b{key}\b" for key in BY_KEY if "_" in key))


def pointing(reason: str) -> Markup:
    """The reason, with each input's key as a button that opens its group in the form and goes to its field."""
    words, keys = _KEY.split(reason), _KEY.findall(reason)
    ways = (button(BY_KEY[key].label, "find", data_key=key, class_="plain") for key in keys)
    return join(words[0], ((way, after) for way, after in zip(ways, words[1:], strict=True)))


def elsewhere(content: Markup, here: Container[str], page: str) -> Markup:
    """The content, its ways to inputs that are not `here` leading to `page`, which has them all."""

    def way(found: re.Match[str]) -> str:
        return found[0] if found[1] in here else tag("a", Markup(found[2]), href=page, target="_blank", rel="noopener")

    return Markup(_WAY.sub(way, content))
