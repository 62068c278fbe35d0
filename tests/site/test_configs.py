"""Configs in a browser: fetched from a stand-in of the Hub on another origin, dropped several at once, filled by hand."""

import http.server
import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Watch
from playwright.sync_api import BrowserContext, Page, expect
from steps.assemble import HUB, HUB_FILES
from steps.serve import Server, Serving

from envelope import catalog

CONFIG = catalog.model("llama-3.1-70b").config
INDEX = json.dumps({"metadata": {"total_size": 141_107_412_992}, "weight_map": {"model.norm.weight": "model-00030-of-00030.safetensors"}}).encode()
COMMIT = "0123456789abcdef0123456789abcdef01234567"
DROP = """(files) => {
    const transfer = new DataTransfer();
    for (const [name, text] of files) transfer.items.add(new File([text], name));
    const target = document.querySelector('dialog');
    for (const kind of ['dragover', 'drop']) target.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""


class Hub(http.server.BaseHTTPRequestHandler):
    """Answers as the Hub does: small files through a relative redirect on its own host, large ones from another host."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        path = self.path.partition("?")[0]
        if path.startswith("/api/resolve-cache/") or path.startswith("/delivered/"):
            return self._answer(200, INDEX if path.endswith(".index.json") else CONFIG)
        model, _, name = path.partition("/resolve/")
        if model == "/org/gated":
            return self._answer(403, b"Access to this model is restricted")
        if model == "/org/none":
            return self._answer(401, b"Invalid username or password.")
        if model == "/org/huge" and name.endswith("/config.json"):
            return self._flood()
        if name.endswith("/hf_quant_config.json") or model == "/org/empty":
            return self._answer(404, b"Entry not found")
        if model == "/org/large" and name.endswith(".index.json"):
            return self._answer(302, b"", f"{self.server.delivery}delivered/{name}?Expires=1")
        return self._answer(307, b"", f"/api/resolve-cache/models{model}/{COMMIT}/{name.rpartition('/')[2]}?etag=x")

    def _answer(self, status: int, content: bytes, location: str = "") -> None:
        self.send_response(status)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Length", str(len(content)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(content)

    def _flood(self) -> None:
        """More than any config is, until nobody listens."""
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for _ in range(200):
                self.wfile.write(b" " * 1_000_000)
        except OSError:
            self.close_connection = True

    def log_message(self, *arguments: object) -> None:
        """Stay quiet."""


@pytest.fixture
def servers() -> Iterator[tuple[Server, Server]]:
    """The stand-in of the Hub, and the host it delivers large files from."""
    both = tuple(Server(("127.0.0.1", 0), Hub) for _ in range(2))
    for server in both:
        server.asked = []
        server.url = f"http://127.0.0.1:{server.server_address[1]}/"
        threading.Thread(target=server.serve_forever, daemon=True).start()
    both[0].delivery = both[1].url
    yield both
    for server in both:
        server.shutdown()
        server.server_close()


@pytest.fixture
def hub(context: BrowserContext, servers: tuple[Server, Server], dist: Path, tmp_path: Path) -> Iterator[Page]:
    """The site as it would be built for another base URL and another delivery host, its dialog open."""
    for path in dist.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "index.html").unlink()
    built = (dist / "index.html").read_text()
    delivery, base = (server.url.rstrip("/") for server in reversed(servers))
    (tmp_path / "index.html").write_text(built.replace(HUB_FILES.split()[0], delivery).replace(HUB, base))
    with Serving(tmp_path) as serving:
        page = context.new_page()
        page.goto(serving.url)
        page.wait_for_selector("html[data-state=live]", state="attached")
        page.get_by_role("button", name="Paste config").click()
        yield page


def fetch(page: Page, model: str) -> None:
    page.get_by_label("From the Hub").fill(model)
    page.get_by_label("From the Hub").press("Enter")


def says(page: Page):
    return page.get_by_role("dialog").get_by_role("alert")


def test_small_files_come_through_a_redirect_on_the_same_host(hub: Page, servers: tuple[Server, Server]) -> None:
    assert servers[0].asked == []
    fetch(hub, "org/model@refs/pr/3")
    expect(hub.locator("#config-layers")).to_contain_text("64 query heads, 8 KV heads of 128")
    asked = [path for path in servers[0].asked if "/resolve/" in path]
    assert sorted(asked) == [f"/org/model/resolve/refs%2Fpr%2F3/{name}" for name in ("config.json", "hf_quant_config.json", "model.safetensors.index.json")]
    assert servers[1].asked == []
    hub.get_by_role("button", name="Use this model").click()
    expect(hub.locator("#card-resident_parameters")).to_contain_text("70.55 B")  # the publisher's 70,553,706,496
    assert "&name=org/model&" in hub.url and "weight_bytes=" in hub.url


def test_a_large_index_comes_from_the_delivery_host(hub: Page, servers: tuple[Server, Server]) -> None:
    fetch(hub, "org/large")
    expect(hub.get_by_text("Read as llama, with model.safetensors.index.json")).to_be_visible()
    assert servers[1].asked == ["/delivered/main/model.safetensors.index.json?Expires=1"]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("org/gated", "gated, private or not there (the Hub answered 403)"),
        ("org/none", "gated, private or not there (the Hub answered 401)"),
        ("org/empty@v9", "has no config.json at revision v9"),
        ("org/huge", "larger than any config is"),
    ],
)
def test_a_refusal_is_said_in_words(hub: Page, model: str, words: str) -> None:
    fetch(hub, model)
    expect(says(hub)).to_contain_text(words)
    expect(hub.get_by_role("button", name="Use this model")).to_have_count(0)


def test_offline_is_said_and_the_way_by_hand(hub: Page) -> None:
    hub.context.set_offline(True)
    fetch(hub, "org/model")
    expect(says(hub)).to_contain_text("you may be offline")
    hub.context.set_offline(False)
    fetch(hub, "org/model")
    expect(hub.locator("#config-layers")).to_be_visible()


def test_no_other_host_can_be_reached(hub: Page, watch: Watch, servers: tuple[Server, Server]) -> None:
    other = Server(("127.0.0.1", 0), Hub)
    servers[0].delivery = f"http://127.0.0.1:{other.server_address[1]}/"
    fetch(hub, "org/large")
    expect(says(hub)).to_contain_text("model.safetensors.index.json was not read: it cannot be reached")
    expect(hub.locator("#config-layers")).to_be_visible()
    assert any("Content Security Policy" in error for error in watch.errors)
    other.server_close()


class TestDropped:
    FILES = (("config.json", CONFIG.decode()), ("model.safetensors.index.json", INDEX.decode()))

    @pytest.fixture
    def dialog(self, open_live: Callable[..., Page]) -> Page:
        page = open_live()
        page.get_by_role("button", name="Paste config").click()
        return page

    @pytest.mark.parametrize("files", [FILES, FILES[::-1]], ids=["config first", "index first"])
    def test_two_at_once_in_any_order(self, dialog: Page, files: tuple) -> None:
        dialog.evaluate(DROP, list(files))
        expect(dialog.get_by_text("Read as llama, with model.safetensors.index.json")).to_be_visible()
        dialog.get_by_role("button", name="Use this model").click()
        expect(dialog.locator("#card-resident_parameters")).to_contain_text("70.55 B")
        expect(dialog).to_have_url(re.compile("&weight_bytes=141107412992$"))

    def test_a_wrong_kind_and_a_broken_one(self, dialog: Page) -> None:
        dialog.evaluate(DROP, [["model-00001-of-00030.safetensors", "\x00\x01"], self.FILES[0], ["model.safetensors.index.json", '{"metadata":']])
        alerts = says(dialog)
        expect(alerts.nth(0)).to_contain_text("model-00001-of-00030.safetensors is none of config.json")
        expect(alerts.nth(1)).to_contain_text("model.safetensors.index.json: found text that is not JSON")
        dialog.get_by_role("button", name="Leave it out").click()
        expect(dialog.get_by_text("Read as llama.")).to_be_visible()

    def test_a_refused_key_is_filled_in_and_the_page_goes_on(self, dialog: Page) -> None:
        values = json.loads(CONFIG)
        del values["vocab_size"]
        dialog.evaluate(DROP, [["config.json", json.dumps(values)]])
        expect(says(dialog)).to_contain_text("vocab_size: found nothing; needs a whole number")
        dialog.get_by_label("vocab_size", exact=True).fill("128256")
        dialog.keyboard.press("Enter")
        expect(dialog.get_by_text("vocab_size = 128256")).to_be_visible()
        dialog.get_by_role("button", name="Use this model").click()
        expect(dialog.locator("#card-resident_parameters")).to_contain_text("70.55 B")
