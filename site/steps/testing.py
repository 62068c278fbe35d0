"""The environment that tests and measurements run in: `.venv` with pinned requirements, and the browsers."""

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable, Sequence
from pathlib import Path

from steps.commands import run
from steps.lock import BuildError

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

FIREFOX_NAMES = ("firefox-esr", "firefox")

# By package manager: its commands, the last of which takes the names of packages.
INSTALLERS = {
    "apt-get": (("update", "-qq"), ("install", "-y", "-qq")),
    "dnf": (("install", "-y", "-q"),),
    "apk": (("add", "--quiet"),),
    "brew": (("install", "--cask"),),
}

CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium() -> str | None:
    """Path of an installed Chromium or Chrome."""
    return next((found for name in CHROMIUM_NAMES if (found := shutil.which(name))), None)


def find_firefox() -> str | None:
    """Path of an installed Firefox."""
    return next((found for name in FIREFOX_NAMES if (found := shutil.which(name))), None)


def find_webkit() -> tuple[str, str] | None:
    """Paths of WebKitGTK's driver and of the small browser it drives; both need a display, which xvfb-run gives."""
    driver, display = shutil.which("WebKitWebDriver"), shutil.which("xvfb-run")
    browser = next((found for folder in ("lib*", "lib*/*") for found in Path("/usr").glob(f"{folder}/webkit2gtk-4.*/MiniBrowser")), None)
    return (driver, str(browser)) if driver and display and browser else None


def _install(manager: str, packages: Sequence[str]) -> None:
    """Install packages by name with one of INSTALLERS, as root where it wants that."""
    as_root = [] if manager == "brew" or os.geteuid() == 0 else ["sudo"]
    *before, install = INSTALLERS[manager]
    for command in (*before, (*install, *packages)):
        words = [*as_root, manager, *command]
        run(words, " ".join(words), env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def _install_chromium(say: Callable[[str], None]) -> None:
    if find_chromium():
        return
    manager = next((name for name in INSTALLERS if shutil.which(name)), None)
    if manager:
        say(f"no Chromium here; installing it with {manager}")
        _install(manager, ["chromium"])
    if not find_chromium():
        raise BuildError("no Chromium found; install Chromium or Chrome so that it is on the PATH, and run again.")


def _install_other_engines(say: Callable[[str], None]) -> None:
    """Firefox and WebKitGTK, which Debian's packages hold; elsewhere the tests take those that are there."""
    if not shutil.which("apt-get"):
        say("without apt-get the tests run in Chromium and in what there is of Firefox and WebKitGTK")
        return
    wanted = [] if find_firefox() else ["firefox-esr"]
    wanted += [] if find_webkit() else ["webkit2gtk-driver", "xvfb", "xauth"]
    if wanted:
        say(f"installing {', '.join(wanted)} with apt-get")
        _install("apt-get", wanted)


def _environment(root: Path, say: Callable[[str], None]) -> Path:
    requirements = tomllib.loads((root / "pyproject.toml").read_text())["dependency-groups"]["test"]
    folder = root / ".venv"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "requirements.sha256"
    wanted = hashlib.sha256("\n".join([sys.version, *requirements]).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    say("setting up .venv with the test requirements")
    venv.create(folder, with_pip=True, clear=True)
    run([str(python), "-m", "pip", "install", "--quiet", *requirements], "pip install of the test requirements")
    stamp.write_text(wanted)
    return python


def run_in_environment(root: Path, arguments: list[str], say: Callable[[str], None]) -> int:
    """Run Python in `.venv`, with Chromium installed; its exit code."""
    _install_chromium(say)
    python = _environment(root, say)
    path = os.pathsep.join([str(root), str(root / "site")])
    return subprocess.run([str(python), *arguments], cwd=root, env={**os.environ, "PYTHONPATH": path}, check=False).returncode


def run_tests(root: Path, arguments: list[str], say: Callable[[str], None]) -> int:
    """All suites, or what the arguments for pytest select."""
    _install_other_engines(say)
    return run_in_environment(root, ["-m", "pytest", *arguments], say)
