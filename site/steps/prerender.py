"""The page's first view, made at build time: what stands before Python has started.

The app makes it (`app.prerender`), the build only places it. Without that module the page starts
with its progress line alone.
"""

from dataclasses import dataclass, field

from steps.packages import Tree


@dataclass(frozen=True)
class FirstView:
    """HTML for the page's head and for `#prerendered`, and files by path below `dist/`."""

    head: str = ""
    body: str = ""
    files: Tree = field(default_factory=dict)


def prerendered(kitchen: object) -> FirstView:
    """The first view of every preset."""
    return FirstView()
