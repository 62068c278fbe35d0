"""The pages to read: the method page has every number, the post's figures are right, and both are fit for everyone."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe import serious
from conftest import START_MILLISECONDS, Held
from playwright.sync_api import Browser, Page, expect

from app import link
from envelope import catalog, evaluate
from envelope.quantities import ALL
from envelope.scenario import FIELDS
from envelope.sections import sections
from envelope.units import text

READING = ("method.html", "post.html")
LIGHTS = ("light", "dark")
# Whether a frame is as tall as what it shows, so that it has no scroll bar of its own.
WHOLE = "() => document.documentElement.scrollHeight <= innerHeight"


class Outline(HTMLParser):
    """The ids, addresses and marked figures of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.figures: list[tuple[str, str, str]] = []  # quantity, address, text
        self._figure: tuple[str, str] | None = None
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if "id" in given:
            self.ids.append(given["id"])
        self.addresses += [given[name] for name in ("href", "src") if given.get(name)]
        if "data-quantity" in given:
            self._figure = given["data-quantity"], given["href"]

    def handle_data(self, data: str) -> None:
        if self._figure:
            self.figures.append((*self._figure, data))
            self._figure = None


@pytest.fixture(scope="module")
def method(dist: Path) -> Outline:
    return Outline(dist / "method.html")


@pytest.fixture(scope="module")
def post(dist: Path) -> Outline:
    return Outline(dist / "post.html")


def test_every_quantity_input_decision_machine_and_model_has_its_anchor(method: Outline) -> None:
    wanted = {one.key for one in ALL} | {f"input-{one.key}" for one in FIELDS} | {f"section-{one.key}" for one in sections()}
    wanted |= {f"machine-{key}" for key in catalog.machines()} | {f"model-{slug}" for slug in catalog.slugs()}
    assert wanted <= set(method.ids)
    assert len(method.ids) == len(set(method.ids))


def test_every_quantity_is_worked_at_a_state_that_gives_it_a_value(dist: Path) -> None:
    page = (dist / "method.html").read_text(encoding="utf-8")
    articles = dict(re.findall(r'<article id="(\w+)" class="quantity">(.*?)</article>', page, re.DOTALL))
    for definition in ALL:
        address = re.search(r'class=at><a href="index\.html([^"]+)"', articles[definition.key]).group(1).replace("&amp;", "&")
        found = evaluate(**link.read(address).texts)[definition.key]
        assert found.value is not None, f"{definition.key}: add a state to STATES of method_inside.py that has it"


@pytest.mark.parametrize("name", READING)
def test_links_lead_to_files_and_anchors_of_the_site(dist: Path, method: Outline, name: str) -> None:
    for address in Outline(dist / name).addresses:
        if address.startswith("data:image/svg+xml,"):  # the icon stands in the page
            continue
        parts = urlsplit(address)
        assert not parts.scheme and not parts.netloc, address
        target = parts.path or name
        assert (dist / target).is_file(), address
        if parts.fragment:
            assert target == "method.html" and parts.fragment in method.ids, address


@pytest.mark.parametrize("name", READING)
def test_links_into_the_calculator_are_understood_in_full(dist: Path, name: str) -> None:
    states = [one for one in Outline(dist / name).addresses if "?" in one]
    assert states
    for address in states:
        found = link.read("?" + urlsplit(address).query)
        assert found.problems == ()
        assert found.data == catalog.date()


def test_the_figures_of_the_post_are_those_of_the_states_they_link_to(post: Outline) -> None:
    assert len(post.figures) == 7
    for key, address, shown in post.figures:
        found = evaluate(**link.read("?" + urlsplit(address).query).texts)[key]
        assert shown == text(found.value, found.unit), (key, address)


@pytest.mark.parametrize("light", LIGHTS)
@pytest.mark.parametrize("width", [1280, 390])
def test_the_method_page_opens_clean_and_fits_the_screen(page: Page, width: int, light: str) -> None:
    page.emulate_media(color_scheme=light)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("method.html#pool_ratio")
    expect(page.locator("#pool_ratio")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert serious(page) == []


def test_the_method_page_needs_no_javascript(browser: Browser, site_url: str) -> None:
    with browser.new_context(java_script_enabled=False, base_url=site_url) as context:
        page = context.new_page()
        page.goto("method.html")
        page.locator("#machine-hgx-b300 summary").click()
        expect(page.locator("#machine-hgx-b300 tbody tr").first).to_be_visible()


@pytest.mark.parametrize("light", LIGHTS)
@pytest.mark.parametrize("width", [1280, 390])
def test_the_calculator_is_fit_for_everyone(page: Page, open_live: Callable[..., Page], width: int, light: str) -> None:
    page.emulate_media(color_scheme=light)
    page.set_viewport_size({"width": width, "height": 900})
    open_live("")
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => (one.open = true))")
    assert serious(page) == []


@pytest.mark.parametrize("light", LIGHTS)
@pytest.mark.parametrize("width", [1280, 390])
def test_the_post_opens_clean_with_its_three_embeds(page: Page, width: int, light: str) -> None:
    page.emulate_media(color_scheme=light)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("post.html")
    frames = page.locator("iframe").all()
    assert len(frames) == 3
    for frame in frames:
        frame.scroll_into_view_if_needed()
        expect(frame.content_frame.locator("body")).not_to_be_empty()
        expect(frame).not_to_have_attribute("height", "440")
    for frame in page.frames[1:]:
        frame.wait_for_function(WHOLE)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert serious(page) == []


def test_an_embed_never_collapses_while_it_loads(page: Page) -> None:
    page.add_init_script("window.heights = []; addEventListener('message', ({ data }) => heights.push(data.height))")
    page.goto("post.html")
    frame = page.locator("iframe").first
    frame.scroll_into_view_if_needed()
    expect(frame.content_frame.locator("svg").first).to_be_visible()
    expect(frame).not_to_have_attribute("height", "440")
    assert min(page.evaluate("heights")) > 300


def test_an_embed_leads_to_the_same_state_of_the_calculator(page: Page) -> None:
    page.goto("post.html")
    back = page.locator("iframe").first.content_frame.get_by_role("link", name="Serving envelope")
    with page.context.expect_page() as opened:
        back.click()
    expect(opened.value).to_have_url(re.compile(r"/\?v=1&data=[\d-]+&model=muse-spark-open$"))


def test_an_embed_starts_in_the_narrowest_sandbox_it_can(page: Page) -> None:
    page.goto("post.html")
    inside = page.locator("iframe").first.content_frame
    expect(inside.locator(".picture")).to_be_visible()  # it has loaded: Chromium may drop an address that comes before
    with page.expect_event("framenavigated", lambda frame: frame.url.endswith("&fields=context")):
        page.evaluate("""() => {
            const frame = document.querySelector('iframe');
            frame.sandbox = 'allow-scripts allow-same-origin';
            frame.src = frame.src.replace('context,chunk', 'context');
        }""")
    inside.get_by_role("button", name="Start").click()
    field = inside.get_by_role("textbox", name="Context")
    field.fill("32K", timeout=START_MILLISECONDS)
    expect(inside.locator("[data-region=answer]")).to_contain_text("665 sessions")
    page.frames[1].wait_for_function(WHOLE)


# Whether the whole style was there when each step of the start began.
WATCH_STYLE = """() => {
    const doing = document.getElementById("doing"), sheet = () => Boolean(document.querySelector("link[href$='page.css']")?.sheet);
    window.styled = {};
    new MutationObserver(() => (styled[doing.textContent] ??= sheet())).observe(doing, { childList: true });
}"""


def test_an_embed_is_built_only_with_the_whole_style(page: Page) -> None:
    held = Held(page, "page.css")
    page.goto("embed.html?model=muse-spark-open&show=section-models&fields=context")
    page.evaluate(WATCH_STYLE)
    page.get_by_role("button", name="Start").click()
    page.wait_for_function("() => window.late_files", timeout=START_MILLISECONDS)  # Python is there
    held.release()
    expect(page.locator("html")).to_have_attribute("data-state", "live", timeout=START_MILLISECONDS)
    styled = page.evaluate("styled")
    assert styled["Starting Python …"] is False
    assert styled["Building the page …"] is True
    expect(page.locator(".row")).to_have_css("display", "grid")
    expect(page.locator(".rows").first).to_have_css("border-collapse", "collapse")


# Every height the first embed is given from here on.
WATCH_HEIGHT = """() => {
    const frame = document.querySelector('iframe');
    window.heights = [];
    new MutationObserver(() => heights.push(frame.getAttribute('height'))).observe(frame, { attributes: true });
}"""


def test_the_post_listens_to_nobody_but_its_embeds(page: Page) -> None:
    page.goto("post.html")
    frame = page.locator("iframe").first
    frame.scroll_into_view_if_needed()
    expect(frame).not_to_have_attribute("height", "440")
    inside = frame.content_frame.locator("body")
    page.evaluate(WATCH_HEIGHT)
    page.evaluate("() => postMessage({ type: 'serving-envelope:height', height: 777 }, '*')")
    inside.evaluate("() => parent.postMessage({ type: 'another:height', height: 777 }, '*')")
    inside.evaluate("() => parent.postMessage({ type: 'serving-envelope:height', height: '777' }, '*')")
    inside.evaluate("() => parent.postMessage({ type: 'serving-envelope:height', height: 1233.4 }, '*')")
    expect(frame).to_have_attribute("height", "1234")
    assert "777" not in page.evaluate("heights")
