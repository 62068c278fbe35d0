"""Engine releases: which one is meant, and which of two came first."""

from __future__ import annotations

import re
from functools import total_ordering
from dataclasses import dataclass

_RELEASE = re.compile(r"v?(\d{1,3})\.(\d{1,4})(?:\.(\d{1,4}))?(?:\.?(rc|a|b|dev|post)\.?\d{0,8})?[\w.+-]{0,40}", re.IGNORECASE)

# The newest releases whose source the policies were read in.
NEWEST = {"vllm": "0.33.0", "sglang": "0.5.23", "sglang-unified": "0.5.23"}


@total_ordering
@dataclass(frozen=True)
class Release:
    """A release such as 0.27.1; candidates and development builds come before it, post releases after."""

    numbers: tuple[int, int, int]
    stage: int = 0

    def __str__(self) -> str:
        return ".".join(map(str, self.numbers)) + ("rc" if self.stage < 0 else ".post" if self.stage else "")

    def __lt__(self, other: Release) -> bool:
        return (self.numbers, self.stage) < (other.numbers, other.stage)


def release(text: str) -> Release:
    """Read a version as engines print it: `0.20.2rc1`, `v0.19.0`, `0.5.10.post1`; later words are ignored. Raises ValueError."""
    first, _, _ = text.strip().partition(" ")
    match = _RELEASE.fullmatch(first)
    if match is None:
        raise ValueError("accepts a release such as 0.33.0")
    major, minor, patch, stage = match.groups()
    place = 0 if stage is None else 1 if stage.lower() == "post" else -1
    return Release((int(major), int(minor), int(patch or 0)), place)
