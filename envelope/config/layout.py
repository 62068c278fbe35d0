"""Which layers attend in which way, by every way a file declares it."""

from __future__ import annotations

from envelope.config.families import Family
from envelope.config.keys import MISSING, Keys, Refused

LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers")
PATTERN = ("sliding_window_pattern", "_sliding_window_pattern")

# The words of layer_types, and the kind of layer each names.
WORDS = {
    "full_attention": "full", "attention": "full", "global": "full", "global_attention": "full",
    "indexed_attention": "full",
    "sliding_attention": "sliding", "sliding_window_attention": "sliding", "local": "sliding", "local_attention": "sliding",
    "chunked_attention": "chunked",
    "linear_attention": "linear", "mamba": "linear", "conv": "linear",
}  # fmt: skip


def kinds(keys: Keys, family: Family, layers: int) -> list[str]:
    """Return the kind of every layer: `full`, `sliding`, `chunked` or `linear`."""
    listed = keys.listed("layer_types")
    if listed:
        keys.pass_over(*PATTERN, "use_sliding_window", "max_window_layers")
        return from_words(keys, listed, layers)
    if not _windowed(keys, family):
        return ["full"] * layers
    pattern = _pattern(keys, family)
    if pattern:
        return pattern_kinds(pattern, layers)
    if family.window == "late":
        first = keys.whole("max_window_layers", low=0)
        return ["sliding" if i >= first else "full" for i in range(layers)]
    if family.window == "all":
        return ["sliding"] * layers
    if family.window in ("every", "last"):
        keys.log.assume(keys.name("layer_types"), f"every {family.every}th layer is full", "absent: the rule of this class")
        last = layers - 1
        at = (lambda i: last - i) if family.window == "last" else (lambda i: i + 1)
        return ["full" if at(i) % family.every == 0 else "sliding" for i in range(layers)]
    if keys.known:
        return ["full"] * layers
    raise Refused(keys.name("layer_types"), MISSING, "which layers slide, since sliding_window is given")


def _windowed(keys: Keys, family: Family) -> bool:
    """True where a window is stated and not switched off."""
    keys.pass_over("sliding_window", "max_window_layers", *PATTERN)
    if not keys.known and not keys.optional("sliding_window", high=10**9):
        return False
    if family.window == "late" or keys.has("use_sliding_window"):
        return keys.flag("use_sliding_window") and bool(keys.optional("sliding_window", high=10**9))
    return bool(family.window) and bool(keys.optional("sliding_window", high=10**9)) or not keys.known


def _pattern(keys: Keys, family: Family) -> str | int:
    key, value = keys.state(*PATTERN)
    if value is MISSING:
        return 0
    if isinstance(value, str):
        if not value or set(value.upper()) - set("LGSF") or len(value) > 1000:
            raise Refused(keys.name(key), value, "letters L (sliding) and G (full), or a whole number")
        return value.upper()
    return keys.check(key, value, 1, 10**5)


def pattern_kinds(pattern: str | int, layers: int) -> list[str]:
    """Repeat `LLLG`, or make every n-th layer full."""
    if isinstance(pattern, int):
        return ["full" if (i + 1) % pattern == 0 else "sliding" for i in range(layers)]
    return ["sliding" if pattern[i % len(pattern)] in "LS" else "full" for i in range(layers)]


def from_words(keys: Keys, listed: tuple[str, list], layers: int) -> list[str]:
    """Translate a list of layer words. Raises Refused for a word nobody has described."""
    key, words = listed
    if len(words) < layers:
        raise Refused(keys.name(key), words, f"one entry for each of the {layers} layers")
    for word in words:
        if not isinstance(word, str) or word not in WORDS:
            raise Refused(keys.name(key), word, f"one of {', '.join(WORDS)}")
    return [WORDS[word] for word in words[:layers]]
