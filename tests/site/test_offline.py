"""After one visit the site works without a network, and a new version of it never mixes with an old one."""

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import CACHE, START_MILLISECONDS, Watch
from playwright.sync_api import Browser, BrowserContext, Page, expect
from steps.assemble import build, open_kitchen
from steps.serve import Handler, Serving
from steps.testing import CHROMIUM_ARGUMENTS, find_chromium

LARGEST_FIRST_VISIT = 18_000_000  # bytes from a host that compresses nothing: the target that PERFORMANCE.md names


class Host(Serving):
    """Serves whichever build is deployed, below a path; may be cut off; remembers the bodies it sent."""

    def __init__(self, folder: Path, dist: Path):
        self.sent: list[tuple[str, int]] = []
        self.is_cut = False
        self.place = folder / "calculator"
        self.deploy(dist)
        host = self

        class Deployed(Handler):
            def do_GET(self) -> None:
                if host.is_cut:
                    self.close_connection = True  # without an answer
                else:
                    super().do_GET()

            def copyfile(self, source: object, outputfile: object) -> None:
                content = source.read()
                host.sent.append((self.path, len(content)))
                outputfile.write(content)

        super().__init__(folder, Deployed)
        self.url += "calculator/"

    def deploy(self, dist: Path) -> None:
        """Replace what is served; the files of the build before are gone."""
        self.place.unlink(missing_ok=True)
        self.place.symlink_to(dist)


@pytest.fixture
def host(dist: Path, tmp_path: Path) -> Iterator[Host]:
    with Host(tmp_path, dist) as host:
        yield host


@pytest.fixture(scope="session")
def next_dist(source: Path, dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A later version: `dist` is built first, and this one differs in a word of its page and in a style."""
    folder = tmp_path_factory.mktemp("next")
    shutil.copytree(source, folder / "source")
    page, style = folder / "source/site/index.html", folder / "source/app/page.css"
    page.write_text(page.read_text().replace("<footer>Serving envelope", "<footer>Serving envelope, second edition"))
    style.write_text(style.read_text() + "/* second edition */\n")
    build(open_kitchen(folder / "source", CACHE, lambda text: print(text, file=sys.stderr)), folder / "dist")
    return folder / "dist"


@pytest.fixture
def context(browser: Browser, host: Host) -> Iterator[BrowserContext]:
    """A fresh browser profile that may keep the site."""
    with browser.new_context(base_url=host.url) as context:
        context.set_default_timeout(START_MILLISECONDS)
        yield context


@pytest.fixture
def watch(context: BrowserContext, host: Host) -> Watch:
    return Watch(context, host.url)


def open_live(page: Page, address: str = "") -> Page:
    page.goto(address)
    expect(page.locator("html")).to_have_attribute("data-state", "live", timeout=START_MILLISECONDS)
    return page


def open_kept(page: Page) -> Page:
    """Open the page and wait until its edition is kept."""
    open_live(page)
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    return page


def app_folder(dist: Path) -> str:
    return next(dist.glob("app-*")).name


def boot_address(page: Page) -> str:
    return page.locator("script[type=module]").first.get_attribute("src")


def test_without_a_network_after_the_first_visit_everything_works(page: Page, host: Host) -> None:
    open_kept(page)
    host.is_cut = True
    open_live(page)
    page.locator("input[data-key=context]").first.fill("1M")
    expect(page.locator("[data-region=answer]")).to_contain_text("38 sessions")
    open_live(page, "index.html?model=llama-3.1-70b")
    expect(page.locator("[data-region=answer]")).to_contain_text("40 sessions")
    page.goto("embed.html?v=1&model=muse-spark-open&show=pool-ratio&fields=context")
    expect(page.locator("#plot-pool-ratio .picture > svg")).to_be_visible()
    page.locator("#plot-pool-ratio").click()
    expect(page.locator("html")).to_have_attribute("data-state", "live", timeout=START_MILLISECONDS)
    expect(page.locator("#plot-pool-ratio canvas").first).to_be_visible()
    page.goto("post.html")
    expect(page.frame_locator("iframe").first.locator("#plot-pool-ratio .picture > svg")).to_be_visible()
    page.goto("method.html")
    expect(page.locator("h1")).to_have_text("Method")
    page.goto("licenses/index.html")
    expect(page.locator("td", has_text="zstddec").first).to_be_visible()


def test_nothing_is_fetched_twice(browser: Browser, host: Host, tmp_path: Path) -> None:
    # Its cache is on disk, as a reader's is; that of a context is in memory and drops what is older.
    profile = browser.browser_type.launch_persistent_context(
        tmp_path / "profile", executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS, base_url=host.url
    )
    with profile:
        visit_twice(profile.new_page(), host)


def visit_twice(page: Page, host: Host) -> None:
    open_kept(page)
    first = list(host.sent)
    open_live(page)
    open_live(page, "index.html?model=llama-3.1-70b")
    paths = [path for path, _ in host.sent if not path.endswith("/sw.js")]  # asked for again: it tells whether there is a newer one
    assert sorted(paths) == sorted(set(paths))
    assert paths == [path for path, _ in first if not path.endswith("/sw.js")]
    assert sum(size for _, size in first) <= LARGEST_FIRST_VISIT


def test_a_page_of_the_old_version_goes_on_with_its_files_and_says_there_is_a_new_one(
    page: Page, host: Host, dist: Path, next_dist: Path
) -> None:
    open_kept(page)
    open_live(page)
    old, new = app_folder(dist), app_folder(next_dist)
    host.deploy(next_dist)
    expect(page.locator("#newer")).to_be_empty()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # as when the reader comes back to it
    expect(page.locator("#newer[role=status]")).to_contain_text("A new version is here", timeout=START_MILLISECONDS)
    page.locator("input[data-key=context]").first.fill("1M")
    expect(page.locator("[data-region=answer]")).to_contain_text("38 sessions")

    other = open_live(page.context.new_page())
    assert old in boot_address(other)
    expect(other.locator("#newer")).to_contain_text("A new version is here")

    page.locator("#newer").get_by_role("button", name="Reload").click()
    expect(page.locator("footer")).to_contain_text("second edition")
    expect(page.locator("html")).to_have_attribute("data-state", "live", timeout=START_MILLISECONDS)
    assert new in boot_address(page)
    expect(page.locator("#newer")).to_be_empty()
    loaded = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
    assert not any(old in name for name in loaded)

    # The host no longer has the old files; the page that lives on them still does.
    assert other.request.get(f"{old}/first/llama-3.1-70b.json").status == 404
    assert other.evaluate(f"fetch('{old}/first/llama-3.1-70b.json').then(({{ ok }}) => ok)")
    other.locator("input[data-key=context]").first.fill("1M")
    expect(other.locator("[data-region=answer]")).to_contain_text("38 sessions")
    assert len(page.evaluate("caches.keys()")) == 2
    other.close()
    open_live(page)
    page.wait_for_function("async () => (await caches.keys()).length === 1")
    assert boot_address(page) == f"{new}/boot.mjs"


def test_a_page_whose_files_are_gone_says_so_and_offers_the_new_version(broken_page: Page, host: Host, next_dist: Path) -> None:
    def replaced(route: object) -> None:
        host.deploy(next_dist)
        route.continue_()

    broken_page.route(re.compile("/boot.mjs$"), replaced, times=1)
    broken_page.goto("")
    failure = broken_page.get_by_role("alert")
    expect(failure).to_contain_text("A new version of this page is here")
    failure.get_by_role("button", name="Reload").click()
    expect(broken_page.locator("footer")).to_contain_text("second edition")
    expect(broken_page.locator("html")).to_have_attribute("data-state", "live", timeout=START_MILLISECONDS)
