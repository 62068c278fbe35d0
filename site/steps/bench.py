"""Measure the page's start beside bare Pyodide and micropip, its edits and its embeds, on localhost, in one run.

Cold is a fresh browser profile, warm the second visit in it. The pages take turns, so that a busy moment of the
machine meets all of them; a ratio is the median of each turn's own, and is to be read before the seconds.
"""

import argparse
import datetime
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Playwright, sync_playwright

from steps import bench_history
from steps.assemble import build, open_kitchen
from steps.baselines import write_bare, write_micropip
from steps.bench_chromium import measure_embeds, measure_page, measure_start
from steps.bench_engines import measure_engines
from steps.bench_python import EVALUATE, READ_CONFIG, largest_config, times
from steps.bench_traffic import Traffic, counting
from steps.serve import Serving
from steps.version import git_version

ROOT = Path(__file__).resolve().parents[2]
HISTORY = ROOT / "site" / "bench" / "history.csv"

# The baselines lie in a folder whose files the browser keeps without asking again, as it keeps this page's.
KEPT = "runtime-stock/"

Figures = dict[str, list[float]]
Said = dict[str, object]
Say = Callable[[str], None]


def measure(playwright: Playwright, urls: dict[str, str], traffic: Traffic, repeats: int, say: Say) -> tuple[Figures, Said]:
    """All single figures, by key, in the order they were taken; and what is said beside them, as of the last turn."""
    figures: Figures = {}
    said: Said = {}
    config = largest_config(ROOT).read_text()

    def note(key: str, value: float | None) -> None:
        if value is not None:
            figures.setdefault(key, []).append(value)

    for turn in range(1, repeats + 1):
        names = list(urls)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:  # no page is always the first
            if name == "live":
                said |= measure_page(playwright, urls[name], note, traffic, config)
            else:
                measure_start(playwright, name, urls[name], note, traffic)
        measure_embeds(playwright, urls["live"], note, traffic)
        said["engines"] = measure_engines(urls["live"], note)
        for value in times(EVALUATE, ""):
            note("evaluate_ms", value)
        for value in times(READ_CONFIG, config):
            note("read_config_ms", value)
        shown = (f"{name} {figures[f'{name}_cold_s'][-1]:.2f} / {figures[f'{name}_warm_s'][-1]:.2f}" for name in urls)
        task = f"longest task {figures['longest_task_ms'][-1]:.0f} ms at {said['longest_task_at_s']} s"
        say(f"run {turn} of {repeats}, live cold / warm in s: {', '.join(shown)}; {task}; load {os.getloadavg()[0]:.1f}")
    return figures, said


def _ratio(figures: Figures, over: str, under: str) -> float:
    pairs = zip(figures[over], figures[under], strict=True)
    return round(statistics.median(one / other for one, other in pairs), 3)


def report(figures: Figures, said: Said) -> dict[str, object]:
    """The figures as the JSON that `--json` writes."""
    edits = sorted(figures["edit_s"])
    timed = {key: values for key, values in figures.items() if key.endswith(("_s", "_ms")) and key != "longest_task_ms"}
    most = {key: int(max(values)) for key, values in figures.items() if key.startswith("bytes_")}
    return {
        "medians": {key: round(statistics.median(values), 4) for key, values in timed.items()},
        "p95": {"edit_s": round(edits[min(len(edits) - 1, int(0.95 * len(edits)))], 4)},
        "ratios": {
            "live_cold_over_bare": _ratio(figures, "live_cold_s", "bare_cold_s"),
            "live_warm_over_bare": _ratio(figures, "live_warm_s", "bare_warm_s"),
            "live_cold_over_micropip": _ratio(figures, "live_cold_s", "micropip_cold_s"),
        },
        "bytes": {key.removeprefix("bytes_"): value for key, value in most.items()},
        "memory": {"tab_mb": round(statistics.median(figures["tab_mb"]), 1) if "tab_mb" in figures else None},
        "longest_task_ms": round(statistics.median(figures["longest_task_ms"]), 1),
        "embeds_started_untouched": int(max(figures["embeds_started_untouched"])),
        **said,
        "repeats": len(figures["live_cold_s"]),
    }


def spoken(result: dict[str, object]) -> list[str]:
    """What the table does not hold, as sentences."""
    twice, started = result["twice"], result["embeds_started_untouched"]
    ways = "; ".join(f"{name} starts {said}" if said.startswith("from") else f"{name} {said}" for name, said in result["engines"].items())
    return [
        f"sent twice on a cold visit: {', '.join(twice)}" if twice else "nothing is sent twice on a cold visit",
        f"{started} embeds start Python untouched" if started else "no embed starts Python untouched",
        ways,
        f"processes that wanted one of {os.cpu_count()} cores, mean of a minute, before and after: {result['load']}; beyond one a core, pages wait for others",
    ]


def options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="build.py bench", description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--record", action="store_true")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    chosen = options(arguments)

    def say(text: str) -> None:
        print(f"  {text}", flush=True)

    traffic, load = Traffic(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        kitchen = open_kitchen(ROOT, ROOT / ".cache", say)
        urls = {}
        for name, write, below in (("bare", write_bare, KEPT), ("micropip", write_micropip, KEPT), ("live", build, "")):
            write(kitchen, Path(folder) / name / below)
            urls[name] = stack.enter_context(Serving(Path(folder) / name, counting(traffic))).url + below
        result = report(*measure(stack.enter_context(sync_playwright()), urls, traffic, chosen.repeats, say))
    result |= {
        "date": datetime.date.today().isoformat(),
        "commit": git_version(ROOT),
        "load": f"{load:.1f}-{os.getloadavg()[0]:.1f}",
    }
    history = HISTORY.read_text() if HISTORY.exists() else ""
    print(bench_history.table(result, next(reversed(bench_history.lines(history)), None)))
    for sentence in spoken(result):
        print(f"  {sentence}")
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1) + "\n")
    if chosen.record:
        HISTORY.write_text(bench_history.appended(history, bench_history.line(result)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
