"""Colours of the charts, which are drawn on a canvas and so cannot take them from base.css."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """The page's colours in one of its two lights; base.css names the same."""

    ink: str
    quiet: str
    ground: str
    line: str
    accent: str
    other: str
    warning: str


LIGHT = Palette("#1a1d21", "#5f6670", "#fbfbfa", "#e3e4e2", "#0b6e99", "#7fb6cf", "#a15c00")
DARK = Palette("#e6e7e8", "#a0a6ad", "#15171a", "#2d3136", "#5cb8dd", "#2f6f8d", "#f0b35a")
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
HEIGHT = 260  # pixels of a chart, kept free by base.css before it is drawn


def palette(dark: bool) -> Palette:
    """The colours for a dark or a light page."""
    return DARK if dark else LIGHT
