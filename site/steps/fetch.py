"""Bring the pinned files into the cache, verified. Needs pip, npm (or Node's wheel) and the network, once."""

import io
import json
import re
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

from steps.commands import pip_download, run
from steps.lock import BuildError, Lock, Pin, verified
from steps.node import npm_command

TIMEOUT_SECONDS = 30


def obtain(lock: Lock, pin: Pin, cache: Path, say: Callable[[str], None]) -> Path:
    """Path of the pinned file in the cache; fetched if it is not there yet."""
    path = cache / "downloads" / pin.file
    if path.exists():
        verified(pin, path.read_bytes())
        return path
    say(f"fetching {pin.name} {pin.version}")
    content = {"npm": _from_npm, "pypi": _from_pypi, "pyodide": _from_distribution}[pin.source](lock, pin, cache, say)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    partial.write_bytes(verified(pin, content))
    partial.rename(path)
    return path


def _from_npm(lock: Lock, pin: Pin, cache: Path, say: Callable[[str], None]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        command = npm_command(lock, cache, say)
        run([*command, "pack", "--silent", f"{pin.name}@{pin.version}", "--pack-destination", folder], f"npm pack {pin.name}")
        return (Path(folder) / pin.file).read_bytes()


def _from_pypi(lock: Lock, pin: Pin, cache: Path, say: Callable[[str], None]) -> bytes:
    # One fixed platform, so that every machine takes the same file.
    options = ["--platform", pin.platform, "--abi", "cp311", "--implementation", "cp"] if pin.platform else []
    with tempfile.TemporaryDirectory() as folder:
        pip_download(f"{pin.name}=={pin.version}", Path(folder), "--python-version", "3.11", *options)
        files = sorted(Path(folder).iterdir())
        if [file.name for file in files] != [pin.file]:
            raise BuildError(f"pip gave {[file.name for file in files]} for {pin.file}; correct the name in site/lock.toml.")
        return files[0].read_bytes()


def _from_distribution(lock: Lock, pin: Pin, cache: Path, say: Callable[[str], None]) -> bytes:
    core = obtain(lock, lock.pin("pyodide"), cache, say)
    with tarfile.open(core) as archive:
        loader = archive.extractfile("package/pyodide.mjs").read().decode()
    version = lock.pin("pyodide").version
    address = re.search(r"`(https://[^`]+)\$\{\w+\}/full/`", loader).group(1) + f"{version}/full/{pin.file}"
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as answer:
            return answer.read()
    except OSError:
        copy = lock.distribution_copy
        say(f"the distribution does not answer; reading {pin.file} out of {copy['name']} {copy['version']}")
        return _from_wheel_by_range(_wheel_address(copy), copy["folder"] + pin.file)


def _wheel_address(copy: dict[str, str]) -> str:
    requirement = f"{copy['name']}=={copy['version']}"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--no-deps", "--ignore-installed"]
        options = ["--only-binary", ":all:", "--python-version", "3.11", "--target", folder, "--report", "-"]
        report = run([*command, *options, requirement], f"pip lookup of {requirement}")
    return json.loads(report)["install"][0]["download_info"]["url"]


class _RangeFile(io.RawIOBase):
    """A remote file read by HTTP ranges: 3.5 MB instead of 106 MB for numpy out of a large wheel."""

    def __init__(self, address: str):
        self.address, self.position = address, 0
        request = urllib.request.Request(address, method="HEAD")
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            self.size = int(answer.headers["Content-Length"])

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.position = (0, self.position, self.size)[whence] + offset
        return self.position

    def readinto(self, buffer: memoryview) -> int:
        count = min(len(buffer), self.size - self.position)
        if count <= 0:
            return 0
        wanted = {"Range": f"bytes={self.position}-{self.position + count - 1}"}
        request = urllib.request.Request(self.address, headers=wanted)
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            if answer.status != 206:
                raise OSError("the file host does not answer range requests")
            content = answer.read()
        buffer[: len(content)] = content
        self.position += len(content)
        return len(content)


def _from_wheel_by_range(address: str, member: str) -> bytes:
    try:
        with zipfile.ZipFile(io.BufferedReader(_RangeFile(address), 1 << 22)) as wheel:
            return wheel.read(member)
    except (OSError, zipfile.BadZipFile, urllib.error.URLError) as error:
        raise BuildError(f"{member}: could not be read ({error}); check the network and run again.") from error
