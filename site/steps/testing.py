"""The environment that tests and measurements run in: `.venv` with pinned requirements, and Chromium."""

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable
from pathlib import Path

from steps.commands import run
from steps.lock import BuildError

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

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


def _install_chromium(say: Callable[[str], None]) -> None:
    if find_chromium():
        return
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    for manager, commands in (
        ("apt-get", (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"])),
        ("dnf", (["dnf", "install", "-y", "-q", "chromium"],)),
        ("apk", (["apk", "add", "--quiet", "chromium"],)),
        ("brew", (["brew", "install", "--cask", "chromium"],)),
    ):
        if shutil.which(manager):
            say(f"no Chromium here; installing it with {manager}")
            prefix = [] if manager == "brew" else as_root
            for command in commands:
                run([*prefix, *command], f"{' '.join(command)}", env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
            break
    if not find_chromium():
        raise BuildError("no Chromium found; install Chromium or Chrome so that it is on the PATH, and run again.")


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
    return run_in_environment(root, ["-m", "pytest", *arguments], say)
