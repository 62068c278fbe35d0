"""What stands before Python: the preset's charts in the first frame, the same ones live, and nothing dead without scripts."""

from collections.abc import Callable
from itertools import combinations

import pytest
from axe import serious
from conftest import START_MILLISECONDS, Held, Watch
from playwright.sync_api import Browser, Page, expect

# Layout shifts of a page's whole life, without those that follow an input.
SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => shifts.push(...list.getEntries().filter(({ hadRecentInput }) => !hadRecentInput).map(({ value }) => value)))
  .observe({ type: "layout-shift", buffered: true });
"""
# Rectangles of a picture's labels, and of its frame.
RECTANGLES = """(svg) => [...svg.querySelectorAll(".says"), svg].map((one) => {
    const { left, top, right, bottom } = one.getBoundingClientRect();
    return [left, top, right, bottom];
})"""
# A live figure's frame and all of it, in pixels of its place.
FRAME = """(name) => {
    const all = [...Bokeh.index.roots], view = all.find(({ model }) => model.name === name);
    const { left, top, width, height } = view.frame.bbox;
    return [left, top, width, height];
}"""


def assert_labels_clear(page: Page) -> None:
    for svg in page.locator(".picture > svg").all():
        *labels, frame = svg.evaluate(RECTANGLES)
        assert len(labels) >= 3
        for left, _, right, _ in labels:
            assert left >= frame[0] - 1 and right <= frame[2] + 1
        for a, b in combinations(labels, 2):
            # A line box is taller than its letters; two pixels of it may meet.
            assert min(a[2], b[2]) <= max(a[0], b[0]) + 1 or min(a[3], b[3]) <= max(a[1], b[1]) + 2


@pytest.mark.parametrize("light", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 768, 390])
def test_without_scripts_the_charts_stand_and_nothing_dead_is_offered(browser: Browser, site_url: str, width: int, light: str) -> None:
    with browser.new_context(base_url=site_url, java_script_enabled=False, color_scheme=light, viewport={"width": width, "height": 900}) as context:
        page = context.new_page()
        page.goto("")
        expect(page.get_by_role("img", name="The default ratio fits 95 of 258 sessions")).to_be_visible()
        expect(page.get_by_role("img", name="73 tokens in a step read nine tenths of the experts")).to_be_visible()
        expect(page.locator("[data-region=answer]")).to_contain_text("258 sessions")
        expect(page.locator("noscript p")).to_be_visible()
        expect(page.locator("noscript p")).to_contain_text("What stands below is Muse Spark Open on HGX B300 × 8")
        for control in page.locator("button, input, select, textarea").all():
            expect(control).to_be_hidden()
        assert_labels_clear(page)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.locator("noscript a").click()
        expect(page.get_by_role("heading", name="Method", exact=True)).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_live_charts_take_the_pictures_place_without_a_jump(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.add_init_script(SHIFTS)
    held = Held(page, "pyodide.asm.wasm*", "bokeh.min.js")
    page.goto("")
    pictured = {}
    for key in ("pool-ratio", "experts"):
        svg = page.locator(f"#plot-{key} .picture > svg")
        expect(svg).to_be_visible()
        place, box = page.locator(f"#plot-{key}").bounding_box(), svg.bounding_box()
        pictured[key] = [box["x"] - place["x"], box["y"] - place["y"], box["width"], box["height"]]
    expect(page.locator("html")).to_have_attribute("data-state", "starting")
    page.wait_for_function("() => performance.getEntriesByName('charts').length === 1")
    held.release()
    expect(page.locator("html")).to_have_attribute("data-state", "live", timeout=START_MILLISECONDS)
    expect(page.locator("#plot-experts canvas").first).to_be_visible()
    expect(page.locator(".picture").first).to_be_hidden()
    for key, frame in pictured.items():
        assert page.evaluate(FRAME, f"chart-{key}") == pytest.approx(frame, abs=1)
    assert sum(page.evaluate("shifts")) == 0


@pytest.mark.parametrize("query", ["?model=deepseek-v3&context=1M", "?context=1M", "?model=muse-spark-open&batch=4", "?model=gpt-oss-120b&model=deepseek-v3", "?model=gpt-oss-120b.experts"])
def test_another_state_shows_no_picture(page: Page, query: str) -> None:
    page.route("**/pyodide.asm.wasm*", lambda route: None)  # never answered
    page.goto(query)
    expect(page.get_by_role("region", name="The answer").get_by_role("heading")).to_have_text("Computing …")
    for picture in page.locator(".picture").all():
        expect(picture).to_be_hidden()


@pytest.mark.parametrize("answer", ["{}", "null", '"x"', "<!doctype html><p>Log in to the network"])
def test_a_picture_that_is_none_is_not_shown(page: Page, answer: str) -> None:
    page.route("**/pyodide.asm.wasm*", lambda route: None)  # never answered
    page.route("**/first/*.json", lambda route: route.fulfill(body=answer))
    page.goto("?model=gpt-oss-120b")
    expect(page.get_by_role("region", name="The answer").get_by_role("heading")).to_have_text("Computing …")


def test_where_nothing_starts_it_is_still_said_what_was_asked_for(broken_page: Page) -> None:
    broken_page.route("**/first.mjs", lambda route: route.fulfill(status=404, body=""))
    broken_page.goto("?model=gpt-oss-120b&context=9999")
    expect(broken_page.get_by_role("alert")).to_contain_text("Asked for: model gpt-oss-120b · context 9999")
    expect(broken_page.locator("#page")).to_be_hidden()


def test_another_state_leads_to_the_preset_that_stands_at_once(page: Page) -> None:
    page.route("**/pyodide.asm.wasm*", lambda route: None)  # never answered
    page.goto("?model=deepseek-v3&context=1M")
    page.get_by_role("link", name="the preset as published").click()
    expect(page.get_by_role("region", name="The answer")).to_contain_text("128 sessions at 128K")


def test_what_is_asked_for_stands_before_its_view_has_come(page: Page) -> None:
    held = Held(page, "first/deepseek-v3.json")
    page.route("**/python.mjs", lambda route: None)  # never answered
    page.goto("?model=deepseek-v3", wait_until="commit")
    expect(page.locator("#wanted")).to_have_text("model deepseek-v3")
    expect(page.locator("#words")).to_contain_text("on a first visit")
    expect(page.locator("#page")).to_be_hidden()
    held.release()
    expect(page.get_by_role("region", name="The answer")).to_contain_text("128 sessions at 128K")
    expect(page.locator("#wanted")).to_be_hidden()


def test_how_much_has_come_is_said_to_the_eye_alone(page: Page) -> None:
    page.route("**/python.mjs", lambda route: None)  # never answered
    page.goto("")
    page.evaluate("start.loaded(4_000_000, 11_500_000)")
    expect(page.locator("#words")).to_have_text("Starting … 4.0 of 11.5 MB")
    expect(page.locator("#doing[role=status]")).to_have_text("Starting …")
    page.evaluate("start.loaded(11_500_000, 11_500_000)")
    expect(page.locator("#words")).to_have_text("Starting …")


def test_another_preset_shows_its_own_pictures(page: Page) -> None:
    page.route("**/pyodide.asm.wasm*", lambda route: None)  # never answered
    page.goto("?v=1&model=gpt-oss-120b")
    expect(page.get_by_role("img", name="The default ratio fits 209 of 355 sessions")).to_be_visible()
    expect(page.locator("#choose-model")).to_have_value("gpt-oss-120b")


class TestEmbed:
    @pytest.mark.parametrize("light", ["light", "dark"])
    @pytest.mark.parametrize("width", [760, 328])
    @pytest.mark.parametrize("show", ["pool-ratio", "experts"])
    def test_a_preset_stands_as_a_picture_and_loads_no_bokeh(self, page: Page, watch: Watch, show: str, width: int, light: str) -> None:
        page.emulate_media(color_scheme=light)
        page.set_viewport_size({"width": width, "height": 500})
        page.goto(f"embed.html?model=muse-spark-open&show={show}")
        expect(page.locator(".picture svg").first).to_be_visible()
        page.wait_for_function("() => performance.getEntriesByName('charts').length === 1")
        assert_labels_clear(page)
        assert serious(page) == []
        assert not any("bokeh" in url or "pyodide" in url for url in watch.requests)

    def test_the_start_is_fetched_once_the_picture_stands(self, page: Page, watch: Watch) -> None:
        held = Held(page, "first/*.json")
        page.goto("embed.html?model=gpt-oss-120b&show=pool-ratio")
        assert not any(url.endswith("/boot.mjs") for url in watch.requests)
        with page.expect_response("**/boot.mjs"):
            held.release()
        expect(page.locator(".picture > svg")).to_be_visible()

    def test_it_starts_while_its_picture_is_on_its_way(self, page: Page) -> None:
        page.route("**/first/*.json", lambda route: None)  # never answered
        page.goto("embed.html?model=gpt-oss-120b&show=experts")
        expect(page.locator("#asked")).to_have_text("model gpt-oss-120b")
        with page.expect_request("**/boot.mjs"):
            page.get_by_role("button", name="Start").click()

    def test_a_missing_start_is_named(self, broken_page: Page) -> None:
        broken_page.route("**/boot.mjs", lambda route: route.fulfill(status=404, body=""))
        broken_page.goto("embed.html?show=pool-ratio")
        expect(broken_page.get_by_role("alert")).to_contain_text("A file of this page did not load")

    def test_another_state_says_what_it_would_show(self, page: Page) -> None:
        page.goto("embed.html?model=muse-spark-open&context=1M&show=pool-ratio&fields=context")
        expect(page.locator("#asked")).to_have_text("model muse-spark-open · context 1M")
        expect(page.get_by_role("button", name="Start")).to_be_visible()
        assert page.locator(".picture").count() == 0

    def test_a_click_before_the_scripts_are_there_is_remembered(self, page: Page) -> None:
        held = Held(page, "boot.mjs")
        with page.expect_request("**/boot.mjs"):
            page.goto("embed.html?model=muse-spark-open&show=pool-ratio&fields=context", wait_until="commit")
            page.get_by_role("button", name="Start").click()
        expect(page.locator("#progress")).to_be_visible()
        held.release()
        page.get_by_role("textbox", name="Context").fill("1M", timeout=START_MILLISECONDS)
        expect(page.locator("[data-region=answer]")).to_contain_text("38 sessions")

    def test_without_scripts_it_leads_to_what_needs_none(self, browser: Browser, site_url: str) -> None:
        with browser.new_context(base_url=site_url, java_script_enabled=False) as context:
            page = context.new_page()
            page.goto("embed.html?show=pool-ratio")
            expect(page.locator("noscript a", has_text="method page")).to_be_visible()
            expect(page.get_by_role("button")).to_have_count(0)


def test_the_line_to_paste_keeps_the_frame_in_a_sandbox(open_live: Callable[..., Page]) -> None:
    page = open_live()
    page.get_by_role("button", name="Embed").click()
    line = page.get_by_label("The line to paste").input_value()
    for said in ('sandbox="allow-scripts allow-same-origin', 'title="Serving envelope: Muse Spark Open"', 'loading="lazy"', 'height="360"', "/embed.html?v=1&amp;"):
        assert said in line
