"""The lock file: what the page is made of, by name, version and SHA-256."""

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path


class BuildError(Exception):
    """Something stops the build. The text is one line that says what to do."""


@dataclass(frozen=True)
class Pin:
    """One pinned file. `source` is npm, pypi or pyodide; `use` is page, build, bench or test."""

    name: str
    version: str
    source: str
    file: str
    sha256: str
    license: str
    use: str
    platform: str | None = None


@dataclass(frozen=True)
class Lock:
    """All pins, the wheel that carries a copy of the distribution, the Node to fetch if none is here, and what packs."""

    pins: tuple[Pin, ...]
    distribution_copy: dict[str, str]
    node: dict[str, str]
    packer: dict[str, str]
    sha256: str

    def pin(self, name: str) -> Pin:
        """The pin of that name."""
        return next(pin for pin in self.pins if pin.name == name)

    def used_by(self, use: str) -> tuple[Pin, ...]:
        """Pins for one use, in the order of the file."""
        return tuple(pin for pin in self.pins if pin.use == use)


def read_lock(path: Path) -> Lock:
    """Read `site/lock.toml`."""
    raw = path.read_bytes()
    data = tomllib.loads(raw.decode())
    return Lock(
        pins=tuple(Pin(**entry) for entry in data["file"]),
        distribution_copy=data["distribution_copy"],
        node=data["node"],
        packer=data["packer"],
        sha256=hashlib.sha256(raw).hexdigest(),
    )


def verified(pin: Pin, content: bytes) -> bytes:
    """`content` if its SHA-256 is the pinned one, else a BuildError."""
    digest = hashlib.sha256(content).hexdigest()
    if digest != pin.sha256:
        raise BuildError(
            f"{pin.file}: SHA-256 is {digest}, site/lock.toml says {pin.sha256}; "
            "not used. Check the lock entry, or try another network if it is right."
        )
    return content
