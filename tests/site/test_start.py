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


def packed(content: bytes) -> bytes:
    """Up to 255 bytes as a Zstandard file: magic number, one segment of this size, one block stored as it is (RFC 8878, 3.1.1)."""
    block = (1 | len(content) << 3).to_bytes(3, "little")
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(content)]) + block + content


def test_starts_with_a_clean_console_and_no_foreign_request(open_live: Callable[..., Page], watch: Watch) -> None:
    page = open_live()
    expect(page.locator("#page").get_by_role("textbox").first).to_be_visible()
    expect(page.locator("#progress")).to_be_hidden()
    assert any(url.endswith("/snapshot.zst") for url in watch.requests)
    assert not any(url.endswith(".zip") for url in watch.requests)
    assert len(watch.requests) == len(set(watch.requests)), "a file was asked for twice"


def test_says_its_version_and_catalogue_date(page: Page) -> None:
    page.goto("")
    expect(page.locator("footer")).to_contain_text("catalogue of 20")
    expect(page.locator("footer")).to_contain_text("version ")


def test_licences_are_one_step_away(page: Page) -> None:
    page.goto("")
    page.locator("footer a", has_text="Licences").click()
    for shipped in ("Pyodide", "CPython", "param", "bokeh", "panel", "markupsafe"):
        expect(page.locator("td", has_text=shipped).first).to_be_visible()
    for link in page.locator("td a").all():
        assert page.request.get(link.evaluate("element => element.href")).ok


@pytest.mark.parametrize("file", ["pyodide.asm.wasm.zst", "zstd.wasm", "unpack.js", "pyodide.mjs", "bokeh.min.js", "python.mjs"])
def test_names_a_missing_file(broken_page: Page, file: str) -> None:
    broken_page.route(f"**/{file}", lambda route: route.fulfill(status=404, body=""))
    broken_page.goto("")
    _expect_missing_file(broken_page)


@pytest.mark.parametrize("file", ["stdlib.zip", "packages.zip", "app.zip"])
def test_names_a_missing_file_of_the_packages(broken_page: Page, file: str) -> None:
    for missing in (file, "snapshot.zst"):
        broken_page.route(f"**/{missing}", lambda route: route.fulfill(status=404, body=""))
    broken_page.goto("")
    _expect_missing_file(broken_page)


def _expect_missing_file(page: Page) -> None:
    failure = page.get_by_role("alert")
    expect(failure).to_contain_text("A file of this page did not load", timeout=START_MILLISECONDS)
    expect(failure).to_contain_text("Reload the page")
    expect(page.locator("#progress")).to_be_hidden()


@pytest.mark.parametrize("body", [packed(b"\0asm\1\0\0\0damaged"), packed(b"\0asm\1\0\0\0")[:-4], b"not packed"])
def test_a_damaged_core_is_reported(broken_page: Page, body: bytes) -> None:
    broken_page.route("**/pyodide.asm.wasm.zst", lambda route: route.fulfill(body=body))
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


HEADER = b'{"build":"another","held":{},"size":65536,"kept":[],"stored":[],"files":[]}'
SNAPSHOTS = {
    "missing": {"status": 404, "body": ""},
    "no archive": {"body": "not an archive"},
    "cut short": {"body": packed(b"\xff\0\0\0")},
    "of another build": {"body": packed(bytes([len(HEADER), 0, 0, 0]) + HEADER)},
}


@pytest.mark.parametrize("answer", SNAPSHOTS.values(), ids=SNAPSHOTS.keys())
def test_starts_from_the_packages_when_the_snapshot_does_not_serve(broken_page: Page, answer: dict) -> None:
    broken_page.route("**/snapshot.zst", lambda route: route.fulfill(**answer))
    broken_page.goto("")
    expect(broken_page.locator("html")).to_have_attribute("data-state", "live", timeout=START_MILLISECONDS)
    broken_page.locator("input[data-key=context]").first.fill("1M")
    expect(broken_page.locator("[data-region=answer]")).to_contain_text("38 sessions")


def test_the_first_view_stands_before_python(page: Page) -> None:
    page.route("**/pyodide.asm.wasm.zst", lambda route: None)  # never answered
    page.goto("")
    expect(page.locator("[data-region=answer]")).to_contain_text("258 sessions")
    expect(page.locator("#plot-pool-ratio svg").first).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-state", "starting")


def test_a_state_that_is_being_computed_says_nothing_of_another(page: Page) -> None:
    page.route("**/python.mjs", lambda route: None)  # never answered
    page.goto("?model=deepseek-v3&context=1M")
    expect(page.locator("html")).to_have_attribute("data-first", "computing")
    field = page.locator("#field-context")
    expect(field).to_have_value("1M")
    expect(page.locator("[data-row=context] .echo")).to_be_hidden()
    expect(page.locator("main")).to_be_hidden()
    assert field.evaluate("field => getComputedStyle(field, '::placeholder').color") == "rgba(0, 0, 0, 0)"


@pytest.mark.parametrize("query", ["?model=llama-3.1-70b", "?model=deepseek-v3&context=1M"])
def test_another_state_never_shows_the_default_one_as_its_own(open_live: Callable[..., Page], query: str) -> None:
    page = open_live(query)
    expected = {"?model=llama-3.1-70b": "40 sessions", "?model=deepseek-v3&context=1M": "16 sessions"}  # as python3 -m envelope says
    expect(page.locator("[data-region=answer]")).to_contain_text(expected[query])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_built_with_the_snapshot_answers_in_each_light_and_width(page: Page, scheme: str, width: int) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto("")
    expect(page.locator("html")).to_have_attribute("data-state", "live", timeout=START_MILLISECONDS)
    page.locator("input[data-key=context]").first.fill("1M")
    expect(page.locator("[data-region=answer]")).to_contain_text("38 sessions")
    expect(page.locator("#plot-pool-ratio > div:not(.picture)")).to_have_count(1)


IMPORT_LATE = """async () => {
    const boot = document.querySelector('script[type=module]').src;
    const { startPython } = await import(boot.replace('boot.mjs', 'python.mjs'));
    const python = await startPython({ progress() {}, loaded() {} });
    return python.runPython("import wave, panel.chat; f'{wave.__name__} {panel.chat.__name__}'");
}"""


def test_what_the_snapshot_leaves_out_is_imported_late(open_live: Callable[..., Page], watch: Watch) -> None:
    page = open_live()
    assert page.evaluate(IMPORT_LATE) == "wave panel.chat"
    assert any(url.endswith("/packages.zip") for url in watch.requests)


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
