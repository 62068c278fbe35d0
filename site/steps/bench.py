"""Measure the page's start beside bare Pyodide and micropip: headless Chromium, localhost, one run.

Cold is a fresh browser profile, warm the second visit in it. The three pages take turns, so that a
busy moment of the machine meets all of them; read the ratios before the seconds.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, Playwright, sync_playwright

from steps.assemble import build, open_kitchen
from steps.baselines import write_bare, write_micropip
from steps.serve import Handler, Serving
from steps.testing import CHROMIUM_ARGUMENTS, find_chromium

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_MILLISECONDS = 180_000
EDITS = 25

LONG_TASKS = """
window.longTasks = [];
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.longTasks.push([task.startTime, task.duration]);
}).observe({ type: "longtask", buffered: true });
"""

# One edit: the field takes a text as if typed; done in the first frame after the shown number has changed.
EDIT = """([field, shown, text]) => new Promise((resolve) => {
  const before = shown.textContent;
  const begun = performance.now();
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  const look = () => {
    if (shown.textContent === before) requestAnimationFrame(look);
    else requestAnimationFrame(() => resolve(performance.now() - begun));
  };
  look();
})"""

# Milliseconds to evaluate the largest preset, with all quantities and findings; a new context each time.
EVALUATE = """
import time
from envelope import evaluate
def milliseconds(context):
    begun = time.perf_counter()
    made = evaluate("muse-spark-open", context=str(context))
    [quantity.value for quantity in made], list(made.findings)
    return (time.perf_counter() - begun) * 1000
times = [milliseconds(100_000 + turn) for turn in range(40)][10:]
"""
EVALUATE_IN_PAGE = """async (code) => {
  const boot = document.querySelector("script[type=module]").src;
  const { startPython } = await import(boot.replace("boot.mjs", "python.mjs"));
  const python = await startPython(() => {});
  return python.runPython(`${code}\ntimes`).toJs();
}"""


class CountingHandler(Handler):
    """Counts the bytes of bodies sent, by path."""

    sent: dict[str, int] = {}

    def copyfile(self, source: object, outputfile: object) -> None:
        content = source.read()
        self.sent[self.path] = self.sent.get(self.path, 0) + len(content)
        outputfile.write(content)


@contextmanager
def profile(playwright: Playwright) -> Iterator[BrowserContext]:
    """A Chromium with an empty profile of its own, so that its caches are on disk as for a reader."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        context = playwright.chromium.launch_persistent_context(
            folder, executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS, headless=True
        )
        context.set_default_timeout(TIMEOUT_MILLISECONDS)
        yield context
        context.close()


def visit(context: BrowserContext, url: str) -> Page:
    """Open a page and wait until it is live."""
    page = context.new_page()
    page.add_init_script(LONG_TASKS)
    page.goto(url)
    page.wait_for_selector("html[data-state=live], html[data-state=failed]", state="attached")
    if page.locator("html").get_attribute("data-state") == "failed":
        raise SystemExit(f"build.py: {url} did not start: {page.inner_text('body')[:500]}")
    return page


def seconds_to(page: Page, mark: str) -> float | None:
    """Seconds from navigation to a performance mark or paint; null when there was none."""
    found = page.evaluate("name => performance.getEntriesByName(name)[0]?.startTime ?? null", mark)
    return None if found is None else found / 1000


def edit_seconds(page: Page) -> list[float]:
    """Seconds from a typed context length to the frame that shows its answer and its charts."""
    field = page.locator("input[data-key=context]").first.element_handle()
    shown = page.locator("[data-region=answer]").element_handle()
    return [page.evaluate(EDIT, [field, shown, f"{100 + turn}K"]) / 1000 for turn in range(EDITS)]


def evaluate_ms() -> list[float]:
    """Milliseconds of one evaluation under this Python."""
    names: dict[str, object] = {}
    exec(EVALUATE, names)
    return names["times"]


def longest_task_ms(page: Page) -> float:
    """The longest task of the main thread after the first paint."""
    painted = 1000 * (seconds_to(page, "first-contentful-paint") or 0)
    return max((duration for begun, duration in page.evaluate("longTasks") if begun + duration > painted), default=0.0)


def tab_megabytes(context: BrowserContext) -> float | None:
    """Proportional memory of the largest renderer process, in 1e6 bytes; null where the system does not tell."""
    session = context.browser.new_browser_cdp_session() if context.browser else context.new_cdp_session(context.pages[0])
    largest = None
    for process in session.send("SystemInfo.getProcessInfo")["processInfo"]:
        rollup = Path(f"/proc/{process['id']}/smaps_rollup")
        if process["type"] == "renderer" and rollup.exists():
            pss = next(line for line in rollup.read_text().splitlines() if line.startswith("Pss:"))
            largest = max(largest or 0, int(pss.split()[1]) * 1024 / 1e6)
    return largest


def measure(playwright: Playwright, urls: dict[str, str], repeats: int, say: Callable[[str], None]) -> dict[str, list[float]]:
    """All single figures, by key, in the order they were taken."""
    figures: dict[str, list[float]] = {}

    def note(key: str, value: float | None) -> None:
        if value is not None:
            figures.setdefault(key, []).append(value)

    for turn in range(repeats):
        for name, url in urls.items():
            with profile(playwright) as context:
                CountingHandler.sent.clear()
                page = visit(context, url)
                note(f"{name}_cold_s", seconds_to(page, "live"))
                if name == "live":
                    note("bytes_cold", sum(CountingHandler.sent.values()))
                    note("first_readable_s", seconds_to(page, "first-contentful-paint"))  # the numbers are in the HTML
                    note("charts_s", seconds_to(page, "charts"))
                    note("longest_task_ms", longest_task_ms(page))
                    for value in edit_seconds(page):
                        note("edit_s", value)
                    note("tab_mb", tab_megabytes(context))
                    for value in page.evaluate(EVALUATE_IN_PAGE, EVALUATE):
                        note("evaluate_browser_ms", value)
                    for value in evaluate_ms():
                        note("evaluate_ms", value)
                page.close()
                CountingHandler.sent.clear()
                note(f"{name}_warm_s", seconds_to(visit(context, url), "live"))
                if name == "live":
                    note("bytes_warm", sum(CountingHandler.sent.values()))
            say(f"run {turn + 1} of {repeats}, {name}: {figures[f'{name}_cold_s'][-1]:.2f} s cold, {figures[f'{name}_warm_s'][-1]:.2f} s warm")
    return figures


def report(figures: dict[str, list[float]]) -> dict[str, object]:
    """The figures as the JSON that `--json` writes."""
    medians = {key: round(statistics.median(values), 4) for key, values in figures.items() if key.endswith("_s") or key.startswith("evaluate")}
    edits = sorted(figures["edit_s"])
    return {
        "medians": medians,
        "p95": {"edit_s": round(edits[min(len(edits) - 1, int(0.95 * len(edits)))], 4)},
        "ratios": {
            "live_cold_over_bare": round(medians["live_cold_s"] / medians["bare_cold_s"], 3),
            "live_warm_over_bare": round(medians["live_warm_s"] / medians["bare_warm_s"], 3),
            "live_cold_over_micropip": round(medians["live_cold_s"] / medians["micropip_cold_s"], 3),
        },
        "bytes": {"cold": max(figures["bytes_cold"]), "warm": max(figures["bytes_warm"])},
        "memory": {"tab_mb": round(statistics.median(figures["tab_mb"]), 1) if "tab_mb" in figures else None},
        "longest_task_ms": round(statistics.median(figures["longest_task_ms"]), 1),
        "repeats": len(figures["live_cold_s"]),
    }


def table(result: dict[str, object]) -> str:
    """The figures as lines to read."""
    lines = []
    for group in ("medians", "p95", "ratios", "bytes", "memory"):
        lines += [f"  {group}.{key:<28} {value}" for key, value in result[group].items()]
    return "\n".join([*lines, f"  longest_task_ms{'':<20} {result['longest_task_ms']}"])


def main(arguments: list[str]) -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--json", type=Path)
    options.add_argument("--repeats", type=int, default=5)
    chosen = options.parse_args(arguments)

    def say(text: str) -> None:
        print(f"  {text}", flush=True)

    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        kitchen = open_kitchen(ROOT, ROOT / ".cache", say)
        writers = {"bare": write_bare, "micropip": write_micropip, "live": build}
        urls = {}
        for name, write in writers.items():
            write(kitchen, Path(folder) / name)
            urls[name] = stack.enter_context(Serving(Path(folder) / name, CountingHandler)).url
        result = report(measure(stack.enter_context(sync_playwright()), urls, chosen.repeats, say))
    print(table(result))
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
