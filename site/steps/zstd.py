"""Zstandard: packs what the page unpacks, 30% smaller than gzip. Browsers inflate gzip only, so a decoder is shipped."""

import base64
import hashlib
import importlib
import platform
import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from steps.commands import pip_download
from steps.lock import BuildError, Lock
from steps.packages import Tree, npm_tree

# 22 against 19 is 2% smaller in twice the time. A decoder holds the window in memory: 16 MB, or 8 MB at 2% more bytes.
LEVEL = 19
WINDOW_LOG = 24

# The decoder's module for WebAssembly stands in its script as base64, which a page that loads no `data:` cannot use.
_DECODER, _MODULE = "dist/zstddec-stream.mjs", re.compile(r'\bwasm = "([A-Za-z0-9+/=]+)"')


def decoder(package: Path) -> Tree:
    """The decoder as a file of its own."""
    found = _MODULE.search(npm_tree(package)[_DECODER].decode())
    if found is None:
        raise BuildError(f"{package.name} holds no module where it was; correct site/steps/zstd.py.")
    return {"zstd.wasm": base64.b64decode(found.group(1))}


def packer(lock: Lock, cache: Path, say: Callable[[str], None]) -> Callable[[bytes], bytes]:
    """A function that packs; the same bytes on every machine, and kept in the cache because it takes a minute."""

    def packed(content: bytes) -> bytes:
        key = hashlib.sha256(f"{lock.packer} {LEVEL} {WINDOW_LOG}".encode() + content).hexdigest()
        kept = cache / "packed" / f"{key}.zst"
        if not kept.exists():
            say(f"packing {len(content) / 1e6:.1f} MB")
            zstandard = _module(lock, cache, say)
            parameters = zstandard.ZstdCompressionParameters.from_level(LEVEL, window_log=WINDOW_LOG, enable_ldm=True)
            kept.parent.mkdir(parents=True, exist_ok=True)
            partial = kept.with_suffix(".part")
            partial.write_bytes(zstandard.ZstdCompressor(compression_params=parameters).compress(content))
            partial.rename(kept)
        return kept.read_bytes()

    return packed


def _module(lock: Lock, cache: Path, say: Callable[[str], None]) -> ModuleType:
    name, version = lock.packer["name"], lock.packer["version"]
    here = f"{name}-{version}-{sys.implementation.cache_tag}-{sys.platform}-{platform.machine()}"
    wheels = cache / "downloads" / here
    if not wheels.exists():
        say(f"fetching {name} {version}")
        partial = wheels.with_name(wheels.name + ".part")
        partial.mkdir(parents=True, exist_ok=True)
        pip_download(f"{name}=={version}", partial)
        partial.rename(wheels)
    folder = cache / here
    if not folder.exists():
        partial = folder.with_name(folder.name + ".part")
        with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
            wheel.extractall(partial)
        partial.rename(folder)
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
