"""The page starts from its own files alone, and says in words what keeps it from starting."""

from collections.abc import Callable, Iterator

import pytest
from conftest import START_MILLISECONDS, Watch
from playwright.sync_api import Browser, Page, expect

START_IN_WORKER = """() => new Promise((resolve) => {
    const boot = document.querySelector('script[type=module]').src;
    const worker = new Worker(boot.replace('boot.mjs', 'worker.mjs'), { type: 'module' });
    window.worker = worker;
    worker.onmessage = ({ data }) => {
        if (data.type === 'render' || data.type === 'failed') resolve(data);
    };
})"""

# What the reader did, as page.mjs would say it; resolves with the answers once the worker is idle again.
TELL_WORKER = """([door, message]) => new Promise((resolve) => {
    const told = [];
    worker.onmessage = ({ data }) => {
        if (data.type === 'patch') told.push(...data.patch.events.filter(({ attr }) => attr === 'told').map((event) => event.new));
        if (data.type === 'failed') resolve(data.text);
        if (data.type === 'idle') resolve(told.join());
    };
    worker.postMessage({ type: 'patch', patch: { events: [
        { kind: 'ModelChanged', model: { id: door }, attr: 'heard', new: JSON.stringify(message) },
    ] } });
})"""


def test_starts_with_a_clean_console_and_no_foreign_request(open_live: Callable[..., Page], watch: Watch) -> None:
    page = open_live()
    expect(page.locator("#page").get_by_role("textbox").first).to_be_visible()
    expect(page.locator("#progress")).to_be_hidden()
    assert any(url.endswith("/packages.zip") for url in watch.requests)
    assert len(watch.requests) == len(set(watch.requests)), "a file was asked for twice"


def test_says_its_version_and_catalogue_date(page: Page) -> None:
    page.goto("")
    expect(page.locator("footer")).to_contain_text("catalogue of 20")
    expect(page.locator("footer")).to_contain_text("version ")


def test_licences_are_one_step_away(page: Page) -> None:
    page.goto("")
    page.locator("footer a", has_text="Licences").click()
    for shipped in ("Pyodide", "CPython", "numpy", "bokeh", "panel", "markupsafe"):
        expect(page.locator("td", has_text=shipped).first).to_be_visible()
    for link in page.locator("td a").all():
        assert page.request.get(link.evaluate("element => element.href")).ok


@pytest.mark.parametrize(
    "file", ["pyodide.asm.wasm", "stdlib.zip", "packages.zip", "app.zip", "pyodide.mjs", "bokeh.min.js", "python.mjs"]
)
def test_names_a_missing_file(broken_page: Page, file: str) -> None:
    broken_page.route(f"**/{file}", lambda route: route.fulfill(status=404, body=""))
    broken_page.goto("")
    failure = broken_page.get_by_role("alert")
    expect(failure).to_contain_text("A file of this page did not load", timeout=START_MILLISECONDS)
    expect(failure).to_contain_text("Reload the page")
    expect(broken_page.locator("#progress")).to_be_hidden()


def test_a_damaged_core_is_reported(broken_page: Page) -> None:
    broken_page.route(
        "**/pyodide.asm.wasm", lambda route: route.fulfill(body=b"\0asm\1\0\0\0damaged", content_type="application/wasm")
    )
    broken_page.goto("")
    expect(broken_page.get_by_role("alert")).to_contain_text("could not start", timeout=START_MILLISECONDS)


def test_without_webassembly_says_so(page: Page) -> None:
    page.add_init_script("delete globalThis.WebAssembly")
    page.goto("")
    expect(page.get_by_role("alert")).to_contain_text("this browser has no WebAssembly")
    expect(page.get_by_role("alert")).to_contain_text("current Chrome, Edge, Firefox or Safari")


def test_with_webassembly_blocked_by_policy_says_so(broken_page: Page) -> None:
    def stricter(route: object) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, headers={**answer.headers, "content-security-policy": "script-src 'self' 'unsafe-inline'"})

    broken_page.route("**/", stricter)
    broken_page.goto("")
    expect(broken_page.get_by_role("alert")).to_contain_text("WebAssembly is blocked here by a security policy")


def test_without_javascript_says_so(browser: Browser, site_url: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(site_url)
        expect(page.locator("noscript p")).to_be_visible()
        assert "needs JavaScript" in page.content()


def _named(node: object, name: str) -> Iterator[str]:
    """Ids of the models of that name in a serialized Bokeh document."""
    if isinstance(node, dict):
        if isinstance(node.get("attributes"), dict) and node["attributes"].get("name") == name:
            yield node["id"]
        node = list(node.values())
    if isinstance(node, list):
        for value in node:
            yield from _named(value, name)


def test_the_same_app_answers_in_a_module_worker(open_live: Callable[..., Page]) -> None:
    page = open_live()
    rendered = page.evaluate(START_IN_WORKER)
    assert rendered["type"] == "render", rendered
    door = next(_named(rendered["docs"], "door"))
    told = page.evaluate(TELL_WORKER, [door, {"number": 1, "do": "commit", "key": "context", "text": "1M"}])
    # The printed figure: 38 sessions of a million tokens at the best ratio, against 258 of 128K.
    assert "38 sessions" in told
