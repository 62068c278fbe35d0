"""What is measured in Chromium: one page's start, its edits, its scrolling, and a post with three embeds."""

import json
import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import BrowserContext, Frame, Page, Playwright

from steps.bench_python import EVALUATE, IN_PAGE, READ_CONFIG
from steps.bench_traffic import Traffic, sent_twice
from steps.testing import CHROMIUM_ARGUMENTS, find_chromium

Note = Callable[[str, "float | None"], None]

PROBE = Path(__file__).resolve().parents[1] / "bench" / "probe.js"
TIMEOUT_MILLISECONDS = 600_000  # the micropip page takes minutes on a busy machine
WINDOW = {"width": 1280, "height": 1400}  # the inputs, every number and both main charts are in view
WINDOW_OF_POST = {"width": 1280, "height": 3200}  # its three frames are in view, which load when they are
EDITS = 25
EDITED, SETTLED = "edited ", "settled "  # what probe.js says on the console
WHEEL = 400  # px, one turn

# With a service worker: wait until it has stored what it serves offline.
INSTALLED = """async () => {
  if ((await navigator.serviceWorker?.getRegistrations())?.length) await navigator.serviceWorker.ready;
}"""


@contextmanager
def profile(playwright: Playwright) -> Iterator[BrowserContext]:
    """A Chromium with an empty profile of its own, so that its caches are on disk as for a reader."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        context = playwright.chromium.launch_persistent_context(
            folder, executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS, headless=True, viewport=WINDOW
        )
        context.set_default_timeout(TIMEOUT_MILLISECONDS)
        context.add_init_script(path=PROBE)
        yield context
        context.close()


def visit(context: BrowserContext, url: str) -> Page:
    """Open a page and wait until it is live."""
    page = context.new_page()
    if _settled(page, lambda: page.goto(url, wait_until="commit")) == "failed":
        raise SystemExit(f"build.py: {url} did not start: {page.inner_text('body')[:500]}")
    return page


def _settled(page: Page, start: Callable[[], object]) -> str:
    """Begin a start and wait for its end: `live` or `failed`."""
    with page.expect_console_message(lambda said: said.text.startswith(SETTLED)) as heard:
        start()
    return heard.value.text.removeprefix(SETTLED)


def settle(page: Page, traffic: Traffic) -> None:
    """Wait until the page asks for nothing more and its service worker, if it has one, is installed."""
    traffic.wait_until_quiet()
    page.evaluate(INSTALLED)
    traffic.wait_until_quiet()


def live_seconds(page: Page | Frame) -> float:
    """Seconds from navigation to the mark that the page sets when Python has taken over."""
    return page.evaluate("performance.getEntriesByName('live')[0].startTime") / 1000


def shown_seconds(page: Page | Frame, name: str) -> float | None:
    """Seconds from navigation to the frame that first had something on display; null when there was none."""
    found = page.evaluate("name => bench.shown[name] ?? null", name)
    return None if found is None else found / 1000


def edit(page: Page, text: str) -> dict[str, float]:
    """Type a context length; milliseconds by what had changed (see probe.js)."""
    page.locator("input[data-key=context]").first.select_text()
    page.evaluate("bench.expectEdit()")
    with page.expect_console_message(lambda said: said.text.startswith(EDITED)) as heard:
        page.keyboard.insert_text(text)
    return json.loads(heard.value.text.removeprefix(EDITED))


def scroll(page: Page) -> None:
    """Turn the wheel to the end of the page and back."""
    turns = math.ceil(page.evaluate("document.documentElement.scrollHeight") / WHEEL)
    page.mouse.move(WINDOW["width"] / 2, WINDOW["height"] / 2)
    for step in [WHEEL] * turns + [-WHEEL] * turns:
        page.mouse.wheel(0, step)
        page.evaluate("new Promise(requestAnimationFrame)")


def longest_task(page: Page) -> tuple[float, float]:
    """Milliseconds of the longest task of the main thread after the numbers were readable, and when it began."""
    readable = 1000 * (shown_seconds(page, "readable") or 0)
    after = [(duration, begun) for begun, duration in page.evaluate("bench.longTasks") if begun + duration > readable]
    return max(after, default=(0.0, 0.0))


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


def measure_start(playwright: Playwright, name: str, url: str, note: Note, traffic: Traffic) -> None:
    """Seconds to live of one page, on a first visit and on a second in the same profile."""
    with profile(playwright) as context:
        page = visit(context, url)
        note(f"{name}_cold_s", live_seconds(page))
        settle(page, traffic)
        page.close()
        note(f"{name}_warm_s", live_seconds(visit(context, url)))


def measure_page(playwright: Playwright, url: str, note: Note, traffic: Traffic, config: str) -> dict[str, object]:
    """All figures of this page; what is said beside them: the cold visit's requests, those sent twice, the longest task's beginning."""
    with profile(playwright) as context:
        traffic.sent.clear()
        page = visit(context, url)
        note("live_cold_s", live_seconds(page))
        note("bytes_until_live", traffic.bytes)
        settle(page, traffic)
        said: dict[str, object] = {"cold_requests": traffic.requests(), "twice": sent_twice(traffic.sent)}
        note("bytes_cold", traffic.bytes)
        note("first_readable_s", shown_seconds(page, "readable"))
        note("charts_s", shown_seconds(page, "charts"))
        scroll(page)
        milliseconds, begun = longest_task(page)
        note("longest_task_ms", milliseconds)
        said["longest_task_at_s"] = round(begun / 1000, 2)
        for turn in range(EDITS):
            made = edit(page, f"{100 + turn}K")
            note("edit_s", made["visible"] / 1000)
            note("edit_numbers_s", made["numbers"] / 1000)
            note("edit_all_s", made["all"] / 1000)
        note("tab_mb", tab_megabytes(context))
        evaluated, read = page.evaluate(IN_PAGE, [[EVALUATE, READ_CONFIG], config])
        for key, values in (("evaluate_browser_ms", evaluated), ("read_config_browser_ms", read)):
            for value in values:
                note(key, value)
        page.close()
        traffic.sent.clear()
        page = visit(context, url)
        note("live_warm_s", live_seconds(page))
        note("first_edit_s", edit(page, "99K")["visible"] / 1000)  # at once: live means that an edit is answered
        settle(page, traffic)
        note("bytes_warm", traffic.bytes)
        return said


def _frames(page: Page) -> list[Frame]:
    return [frame for frame in page.frames if frame != page.main_frame]


def _touch(page: Page, frame: Frame) -> float:
    """Click a frame's start button; seconds from the click to live."""
    frame.evaluate("addEventListener('click', ({ timeStamp }) => (bench.touched = timeStamp), { capture: true, once: true })")
    _settled(page, frame.locator("#waiting button").click)
    return frame.evaluate("(performance.getEntriesByName('live')[0].startTime - bench.touched) / 1000")


def measure_embeds(playwright: Playwright, url: str, note: Note, traffic: Traffic) -> None:
    """A post with three embeds: its pictures, what it costs until one is touched, and what each touch costs."""
    with profile(playwright) as context:
        traffic.sent.clear()
        page = context.new_page()
        page.set_viewport_size(WINDOW_OF_POST)
        page.goto(f"{url}post.html", wait_until="load")
        for frame in _frames(page):
            frame.wait_for_function("() => bench.shown.frame")
        origin = page.evaluate("performance.timeOrigin")
        standing = [frame.evaluate("[performance.timeOrigin, bench.shown.frame]") for frame in _frames(page)]
        note("embeds_standing_s", max(opened + shown - origin for opened, shown in standing) / 1000)
        note("embed_picture_s", max(shown for _, shown in standing) / 1000)
        settle(page, traffic)
        note("bytes_embeds_untouched", traffic.bytes)
        started = sum(frame.locator("html").get_attribute("data-state") != "waiting" for frame in _frames(page))
        note("embeds_started_untouched", started)
        first, second, _ = _frames(page)
        note("embed_live_s", _touch(page, first))
        settle(page, traffic)
        traffic.sent.clear()
        note("second_embed_live_s", _touch(page, second))
        settle(page, traffic)
        note("bytes_second_embed", traffic.bytes)
