"""The few elements the method page is made of. What they hold is HTML already; texts are escaped by who has them."""

import re
from collections.abc import Iterable, Sequence
from html import escape


def element(name: str, *children: str, **attributes: str) -> str:
    """An element; `class_` is its class."""
    written = "".join(f' {key.rstrip("_")}="{escape(value)}"' for key, value in attributes.items())
    return f"<{name}{written}>\n" + "\n".join(child for child in children if child) + f"\n</{name}>"


def words(rows: Iterable[tuple[str, str]], class_: str = "words") -> str:
    """A list of terms and what belongs to each."""
    return element("dl", *(f"<dt>{term}</dt><dd>{text}</dd>" for term, text in rows), class_=class_)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table that scrolls sideways by itself where it is too wide; the first cell of a row is its head."""
    head = "".join(f"<th scope=col>{escape(name)}</th>" for name in columns)
    body = "\n".join(f"<tr><th scope=row>{row[0]}</th>" + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>" for row in rows)
    return f'<div class="wide" tabindex="0" role="group" aria-label="{escape(title)}"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def fold(title: str, content: str, **attributes: str) -> str:
    """Content behind a title that opens it."""
    return element("details", f"<summary>{escape(title)}</summary>", content, **attributes)


def folded_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], more: str = "", **attributes: str) -> str:
    """A table, and what follows it, behind its title."""
    return fold(title, table(title, columns, rows) + more, **attributes)


def slug(text: str) -> str:
    """A text as part of an anchor."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
