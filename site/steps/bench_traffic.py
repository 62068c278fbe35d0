"""What a server sent while it was measured: every body by request, a service worker's fetches included."""

import hashlib
import threading
import time
from dataclasses import dataclass, field

from steps.serve import Handler

QUIET_SECONDS = 2.0  # without a request, after which a page is taken to have asked for all it wants
LIMIT_SECONDS = 120.0
PIECE = 1 << 16


@dataclass
class Traffic:
    """Bodies in the order in which they were sent, as (path, bytes, digest of the content)."""

    sent: list[tuple[str, int, str]] = field(default_factory=list)
    answering: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    def begin(self) -> None:
        """A request has come in."""
        self._answering(+1)

    def end(self) -> None:
        """A request has been answered."""
        self._answering(-1)

    def _answering(self, more: int) -> None:
        with self.changed:
            self.answering += more
            self.changed.notify_all()

    def wait_until_quiet(self) -> None:
        """Wait until the page asks for nothing more."""
        until = time.monotonic() + LIMIT_SECONDS
        with self.changed:
            while self.changed.wait(QUIET_SECONDS) or self.answering:
                if time.monotonic() > until:
                    raise SystemExit(f"build.py: the page still asks for files after {LIMIT_SECONDS:.0f} s")

    @property
    def bytes(self) -> int:
        """Bytes of all bodies."""
        return sum(size for _, size, _ in self.sent)

    def requests(self) -> list[list[object]]:
        """Path and bytes of every body, the largest first."""
        return [[path, size] for path, size, _ in sorted(self.sent, key=lambda one: -one[1])]

    def asked(self, end: str) -> bool:
        """Whether a body was sent for a path with this end."""
        return any(path.endswith(end) for path, _, _ in self.sent)


def sent_twice(sent: list[tuple[str, int, str]]) -> list[str]:
    """The paths whose content was sent before, under the same path or another."""
    seen: set[str] = set()
    repeated = []
    for path, size, digest in sent:
        if size and digest in seen:
            repeated.append(path)
        seen.add(digest)
    return repeated


def counting(traffic: Traffic) -> type[Handler]:
    """A handler that notes in `traffic` what it sends."""

    class Counting(Handler):
        def do_GET(self) -> None:
            traffic.begin()
            try:
                super().do_GET()
            finally:
                traffic.end()

        def copyfile(self, source: object, outputfile: object) -> None:
            written, digest = 0, hashlib.sha256()
            try:
                while piece := source.read(PIECE):
                    digest.update(piece)
                    outputfile.write(piece)
                    written += len(piece)
            finally:  # a browser that hangs up half-way has had the half
                traffic.sent.append((self.path, written, digest.hexdigest()))

    return Counting
