"""The built site in Chromium. A test that takes `page` also checks that nothing went wrong unseen."""

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright
from steps.assemble import build, open_kitchen
from steps.serve import Serving
from steps.testing import CHROMIUM_ARGUMENTS, find_chromium

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"
START_MILLISECONDS = 120_000  # a start takes seconds; a loaded machine may take many
expect.set_options(timeout=30_000)  # milliseconds; an answer takes a few, on a loaded machine many more


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout as it was when the session began, so that an edit meanwhile mixes no two states."""
    folder = tmp_path_factory.mktemp("source")
    for name in ("app", "envelope", "presets", "site"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("build.py", "pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="session")
def dist(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once."""
    folder = tmp_path_factory.mktemp("site") / "dist"
    build(open_kitchen(source, CACHE, lambda text: print(text, file=sys.stderr)), folder)
    return folder


@pytest.fixture(scope="session")
def site_url(dist: Path) -> Iterator[str]:
    """Address of the served site, with a slash at its end."""
    with Serving(dist) as serving:
        yield serving.url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, started once."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


class Watch:
    """What a page did that it should not: errors on its console, and requests to any other origin."""

    def __init__(self, context: BrowserContext, origin: str):
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.origin = origin
        context.on("console", self._console)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        context.on("request", lambda request: self.requests.append(request.url))

    def _console(self, message: object) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    @property
    def off_origin(self) -> list[str]:
        """Requests that left the page's own origin."""
        return [url for url in self.requests if not url.startswith((self.origin, "data:", "blob:"))]


class Held:
    """Requests for `files` of a page, which get no answer before `release`; then these go on, and so do all that come later."""

    def __init__(self, page: Page, *files: str):
        self.routes: list[Route] = []
        self.is_released = False
        for file in files:
            page.route(f"**/{file}", self._take)

    def _take(self, route: Route) -> None:
        if self.is_released:
            route.continue_()
        else:
            self.routes.append(route)

    def release(self) -> None:
        self.is_released = True
        for route in self.routes:
            route.continue_()


@pytest.fixture
def context(browser: Browser, site_url: str) -> Iterator[BrowserContext]:
    """A fresh browser profile: nothing cached, nothing stored, and no service worker, which some browsers refuse."""
    with browser.new_context(base_url=site_url) as context:
        context.add_init_script("delete Navigator.prototype.serviceWorker")
        context.set_default_timeout(START_MILLISECONDS)
        yield context


@pytest.fixture
def watch(context: BrowserContext, site_url: str) -> Watch:
    """Records errors and requests of `context`; asserts nothing by itself."""
    return Watch(context, site_url)


@pytest.fixture
def page(context: BrowserContext, watch: Watch) -> Iterator[Page]:
    """A page whose test fails on any console error, page error or request off its origin."""
    page = context.new_page()
    yield page
    assert watch.errors == []
    assert watch.off_origin == []


@pytest.fixture
def broken_page(context: BrowserContext, watch: Watch) -> Iterator[Page]:
    """A page that is expected to fail, and so may write errors; it still may not leave its origin."""
    page = context.new_page()
    yield page
    assert watch.off_origin == []


@pytest.fixture
def open_live(page: Page) -> Callable[[str], Page]:
    """Open an address relative to the site and wait until the app answers."""

    def opened(address: str = "") -> Page:
        page.goto(address)
        page.wait_for_selector("html:not([data-state=starting])", state="attached")
        assert page.locator("html").get_attribute("data-state") == "live", page.locator("#failure").inner_text()
        return page

    return opened
