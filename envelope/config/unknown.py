"""Keys nobody here knows: refused where they name a structure, listed where they may change a count."""

from __future__ import annotations

from envelope.config.keys import Keys


def unknown(keys: Keys, top: Keys) -> tuple[str, ...]:
    return ()
