"""The bench's figures that count, with their aims, and their history: one line per commit in a CSV file."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass

WORSE = 0.10  # beyond what two runs on a quiet machine differ by


@dataclass(frozen=True)
class Figure:
    """One figure: its place in the bench's JSON, what it is, and the most it should be. Less is better for all."""

    path: str
    meaning: str
    aim: float | None = None

    def of(self, result: Mapping[str, object]) -> float | None:
        """Its value in a bench's JSON; null where it was not taken."""
        value: object = result
        for key in self.path.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        return value if isinstance(value, (int, float)) else None


FIGURES = (
    Figure("medians.bare_cold_s", "bare Pyodide live, cold: how fast the machine was"),
    Figure("medians.first_readable_s", "first readable numbers, cold", 0.3),
    Figure("medians.charts_s", "both main charts standing, cold", 1.0),
    Figure("medians.live_cold_s", "live, cold"),
    Figure("medians.live_warm_s", "live, warm"),
    Figure("ratios.live_cold_over_bare", "live over bare Pyodide, cold", 0.5),
    Figure("ratios.live_warm_over_bare", "live over bare Pyodide, warm", 0.65),
    Figure("ratios.live_cold_over_micropip", "live over micropip, cold", 0.2),
    Figure("bytes.cold", "bytes, cold, nothing compressed by the host", 18_000_000),
    Figure("bytes.warm", "bytes, warm", 0),
    Figure("medians.edit_s", "edit to every number and chart in view", 0.05),
    Figure("p95.edit_s", "the same, 95%", 0.1),
    Figure("medians.evaluate_ms", "evaluate, CPython", 2),
    Figure("medians.evaluate_browser_ms", "evaluate, browser", 10),
    Figure("medians.read_config_ms", "reading the largest config, CPython", 5),
    Figure("medians.read_config_browser_ms", "reading the largest config, browser", 30),
    Figure("memory.tab_mb", "memory of the tab, MB", 400),
    Figure("longest_task_ms", "longest task from the first frame on, with scrolling", 300),
    Figure("medians.embeds_standing_s", "a post's three embeds standing, since the post was opened", 0.3),
    Figure("medians.embed_picture_s", "the slowest of the three, since its own frame was opened", 0.3),
    Figure("bytes.embeds_untouched", "bytes of that post before a touch"),
    Figure("medians.embed_live_s", "an embed, touch to live"),
    Figure("bytes.second_embed", "bytes of touching a second embed", 0),
    Figure("medians.firefox_cold_s", "Firefox live, cold"),
    Figure("medians.firefox_warm_s", "Firefox live, warm"),
    Figure("medians.webkit_cold_s", "WebKit live, cold"),
    Figure("medians.webkit_warm_s", "WebKit live, warm"),
)
LABELS = ("date", "commit", "load")
COLUMNS = (*LABELS, *(figure.path for figure in FIGURES))

Line = dict[str, str]


def line(result: Mapping[str, object]) -> Line:
    """A bench's JSON as one line of the history."""
    figures = {figure.path: figure.of(result) for figure in FIGURES}
    return {label: str(result[label]) for label in LABELS} | {path: "" if value is None else f"{value:.10g}" for path, value in figures.items()}


def lines(text: str) -> list[Line]:
    """The lines of the history, oldest first; a column of before that is no figure now is left out."""
    return [{name: row.get(name) or "" for name in COLUMNS} for row in csv.DictReader(io.StringIO(text))]


def appended(text: str, new: Line) -> str:
    """The history with one more line, in the place of the last if that is of the same commit."""
    kept = lines(text)
    if kept and kept[-1]["commit"] == new["commit"]:
        kept.pop()
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows([*kept, new])
    return out.getvalue()


def change(before: str, now: float | None) -> str:
    """How a figure has changed against its text in the history: `+12% worse`, `-3%`; nothing where either is missing."""
    if not before or now is None:
        return ""
    old = float(before)
    if old == 0:
        return "" if now == 0 else "worse: was 0"
    part = now / old - 1
    return f"{part:+.0%}{' worse' if part > WORSE else ''}"


def table(result: Mapping[str, object], last: Line | None) -> str:
    """The figures to read: value, aim and whether it is met, change against the last line of the history."""
    rows = []
    for figure in FIGURES:
        value = figure.of(result)
        aim = "" if figure.aim is None else f"{'' if value is None or value <= figure.aim else 'over '}{figure.aim:,}"
        shown = "not taken" if value is None else f"{value:,}"
        rows.append(f"  {figure.meaning:<54}{shown:>12}  {aim:<16}{change(last[figure.path], value) if last else ''}".rstrip())
    against = f"; change against {last['commit']} of {last['date']}, taken under load {last['load']}" if last else ""
    return "\n".join([f"  value, aim{against}", *rows])
