"""A model's one canonical text form: short, readable, and safe in a link without escaping.

`16x_full.q128.kv16.k64.gatefull_moe.e256.k8.w4096_at1-61by4` is sixteen layers of one kind. `~` joins items, `_` the
parts of a group, `.` the fields of a part. A field is its code and a whole number, or a bare flag.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace

from envelope.model import (
    Attention,
    CompressedAttention,
    Dense,
    FeedForward,
    HeadAttention,
    Indexer,
    LatentAttention,
    LayerGroup,
    LinearAttention,
    MixtureOfExperts,
    Model,
)

LONGEST = 20_000  # characters; the longest real model takes under 2,000

# field -> code in the text. A field absent here is written by its class's own rule below.
_HEADS = {
    "query_heads": "q", "kv_heads": "kv", "key_dim": "k", "value_dim": "v", "window": "win", "vectors": "vec",
    "cross": "cross", "shares_kv_projection": "onekv",
}  # fmt: skip
_INDEXER = {"heads": "ih", "head_dim": "id", "reads": "ik", "vectors": "ivec"}
_LATENT = {
    "query_heads": "q", "kv_rank": "r", "nope_dim": "nope", "rope_dim": "rope", "value_dim": "v",
    "query_rank": "qr", "vectors": "vec",
}  # fmt: skip
_COMPRESSED = {
    "query_heads": "q", "head_dim": "d", "ratio": "by", "window": "win", "query_rank": "qr", "output_rank": "or",
    "output_groups": "og", "reads": "reads", "compressor": "comp", "index_compressor": "icomp", "state": "state",
    "vectors": "vec",
}  # fmt: skip
_LINEAR = {
    "heads": "h", "key_dim": "k", "value_dim": "v", "conv_channels": "cc", "conv_kernel": "ck", "key_heads": "kh",
    "full_gate": "fullgate", "projections": "proj", "vectors": "vec",
}  # fmt: skip
_DENSE = {"width": "w", "matrices": "m", "vectors": "vec"}
_MOE = {
    "experts": "e", "top_k": "k", "width": "w", "matrices": "m", "latent": "lat", "shared_width": "sh",
    "shared_gate": "shgate", "zero_experts": "zero", "expert_vectors": "evec", "router_vectors": "rvec", "router_buffers": "rbuf",
    "vectors": "vec",
}  # fmt: skip
_MODEL = {
    "hidden": "h", "vocabulary": "v", "tied": "tied", "embedding_rows": "er", "head_rows": "hr", "final": "final",
    "other": "other", "looked_up": "looked", "head_vectors": "hvec", "prediction_extra": "mtpown",
    "prediction_copies": "mtpcopies", "max_context": "max",
}  # fmt: skip
_FLAVOURS = {flavour.replace("_", ""): flavour for flavour in LinearAttention.FLAVOURS}


def write(model: Model) -> str:
    """Write a model as its canonical text. `read` gives back an equal model."""
    items = [".".join(_codes(model, _MODEL))]
    items += [f"tower.{re.sub('[^a-z]', '', name.lower()) or 'other'}{size}" for name, size in model.towers]
    ordered = _in_order(model.groups)
    for index, group in enumerate(model.groups):
        last = index == len(model.groups) - 1
        items.append(_write_group(group, "" if ordered else "rest" if last else write_positions(group.positions)))
    items += ["mtp" + _write_group(group, "") for group in model.prediction]
    return "~".join(items)


def read(text: str) -> Model:
    """Read a model from its canonical text. Raises ValueError naming the part that cannot be read."""
    if len(text) > LONGEST:
        raise ValueError(f"is {len(text):,} characters long; at most {LONGEST:,} are read")
    head, *items = text.strip().split("~")
    values: dict[str, object] = _read_codes(head.split("."), _MODEL, Model)
    towers, groups, prediction, places = [], [], [], []
    for item in items:
        if item.startswith("tower."):
            match = re.fullmatch(r"tower\.([a-z]+)([0-9]{1,15})", item)
            if match is None:
                raise ValueError(f"cannot read the tower {item[:40]!r}")
            towers.append((match[1], int(match[2])))
        elif item.startswith("mtp"):
            prediction.append(_read_group(item[3:])[0])
        else:
            group, place = _read_group(item)
            groups.append(group)
            places.append(place)
    values |= {"towers": tuple(towers), "groups": _place(groups, places), "prediction": tuple(prediction)}
    try:
        return Model(**values)
    except TypeError:
        raise ValueError("needs at least h (hidden), v (vocabulary) and one group of layers") from None


def _codes(record: object, codes: dict[str, str]) -> list[str]:
    """Write the fields of a record that differ from their defaults."""
    written = []
    defaults = {f.name: f.default for f in fields(record)}
    for name, code in codes.items():
        value = getattr(record, name)
        if value == defaults[name]:
            continue
        written.append(code if value is True else f"{code}{value}")
    return written


def _read_codes(tokens: list[str], codes: dict[str, str], owner: type) -> dict[str, object]:
    """Read `code` and `code<number>` tokens into the fields of `owner`."""
    names = {code: name for name, code in codes.items()}
    flags = {f.name for f in fields(owner) if f.type == "bool"}
    values: dict[str, object] = {}
    for token in tokens:
        match = re.fullmatch(r"([a-z]+)([0-9]{0,18})", token)
        name = names.get(match[1]) if match else None
        if name is None or name in values or bool(match[2]) == (name in flags):
            raise ValueError(f"cannot read {token[:40]!r}; known here: {', '.join(names)}")
        values[name] = True if name in flags else int(match[2])
    return values


def _write_attention(a: Attention) -> str:
    if isinstance(a, HeadAttention):
        codes = [code for code in _codes(a, _HEADS) if code != f"v{a.key_dim}"]
        extra = [f"gate{a.gate}"] if a.gate else []
        extra += [] if a.owns_cache else ["nocache"]
        extra += [] if a.projects_kv else ["nokv"]
        extra += _write_indexer(a.indexer)
        return ".".join(["chunked" if a.chunked else "sliding" if a.window else "full", *codes, *extra])
    if isinstance(a, LatentAttention):
        extra = [f"gate{a.gate}"] if a.gate else []
        return ".".join(["mla", *_codes(a, _LATENT), *extra, *_write_indexer(a.indexer)])
    if isinstance(a, CompressedAttention):
        return ".".join(["csa", *_codes(a, _COMPRESSED), *_write_indexer(a.indexer)])
    if isinstance(a, LinearAttention):
        return ".".join([a.flavour.replace("_", ""), *_codes(a, _LINEAR)])
    return "none"


def _write_indexer(indexer: Indexer | None) -> list[str]:
    if indexer is None:
        return []
    return [*_codes(indexer, _INDEXER), *([] if indexer.owns else ["ishared"])]


def _write_feed_forward(block: FeedForward) -> str:
    if isinstance(block, Dense):
        return ".".join(["ff", *_codes(block, _DENSE)])
    if isinstance(block, MixtureOfExperts):
        return ".".join(["moe", *_codes(block, _MOE)])
    return "none"


def _write_group(group: LayerGroup, place: str) -> str:
    parts = [f"{group.count}x", _write_attention(group.attention), _write_feed_forward(group.feed_forward)]
    if group.beside:
        parts.append("beside" + _write_feed_forward(group.beside).removeprefix("ff"))
    parts += [f"norms{group.norms}"] if group.norms else []
    parts += [f"other{group.other}"] if group.other else []
    return "_".join([*parts, *([f"at{place}"] if place else [])])


def _read_attention(text: str) -> Attention:
    kind, *tokens = text.split(".")
    gate = next((token[4:] for token in tokens if token.startswith("gate")), "")
    tokens = [token for token in tokens if not token.startswith("gate")]
    if kind == "none" and not tokens:
        return None
    if kind in ("full", "sliding", "chunked"):
        switches = {"nocache": "owns_cache", "nokv": "projects_kv"}
        off = {switches[token]: False for token in tokens if token in switches}
        indexer, rest = _read_indexer([token for token in tokens if token not in switches])
        values = _read_codes(rest, _HEADS, HeadAttention)
        values.setdefault("value_dim", values.get("key_dim", 0))
        if bool(values.get("window")) != (kind != "full"):
            raise ValueError(f"{kind} attention {'has no' if kind == 'full' else 'needs a'} window (win)")
        return _build(HeadAttention, values | off | {"gate": gate, "chunked": kind == "chunked", "indexer": indexer}, text)
    if kind == "mla":
        indexer, rest = _read_indexer(tokens)
        values = _read_codes(rest, _LATENT, LatentAttention)
        return _build(LatentAttention, values | {"gate": gate, "indexer": indexer}, text)
    if kind == "csa":
        indexer, rest = _read_indexer(tokens)
        return _build(CompressedAttention, _read_codes(rest, _COMPRESSED, CompressedAttention) | {"indexer": indexer}, text)
    if kind in _FLAVOURS:
        values = _read_codes(tokens, _LINEAR, LinearAttention)
        return _build(LinearAttention, {"heads": 0, "key_dim": 0, "value_dim": 0, **values, "flavour": _FLAVOURS[kind]}, text)
    raise ValueError(f"does not know the attention {kind[:40]!r}")


def _read_indexer(tokens: list[str]) -> tuple[Indexer | None, list[str]]:
    mine = [token for token in tokens if token.rstrip("0123456789") in _INDEXER.values()]
    rest = [token for token in tokens if token not in mine and token != "ishared"]
    if not mine:
        return None, rest
    return _build(Indexer, _read_codes(mine, _INDEXER, Indexer) | {"owns": "ishared" not in tokens}, "indexer"), rest


def _read_feed_forward(text: str) -> FeedForward:
    kind, *tokens = text.split(".")
    if kind == "none" and not tokens:
        return None
    if kind == "ff":
        return _build(Dense, _read_codes(tokens, _DENSE, Dense), text)
    if kind == "moe":
        return _build(MixtureOfExperts, _read_codes(tokens, _MOE, MixtureOfExperts), text)
    raise ValueError(f"does not know the feed-forward {kind[:40]!r}")


def _build(owner: type, values: dict[str, object], text: str):
    try:
        return owner(**values)
    except TypeError:
        raise ValueError(f"{text[:60]!r} leaves out a field that {owner.__name__} needs") from None


def _read_group(text: str) -> tuple[LayerGroup, str]:
    count, *parts = text.split("_")
    match = re.fullmatch(r"([0-9]{1,6})x", count)
    if match is None or len(parts) < 2:
        raise ValueError(f"cannot read the group {text[:60]!r}; a group is <count>x_<attention>_<feed-forward>")
    attention, feed_forward = _read_attention(parts[0]), _read_feed_forward(parts[1])
    norms = other = 0
    beside, place = None, ""
    for part in parts[2:]:
        if part.startswith("at"):
            place = part[2:]
        elif part.startswith("beside"):
            beside = _build(Dense, _read_codes(part.split(".")[1:], _DENSE, Dense), part)
        elif extra := re.fullmatch(r"(norms|other)([0-9]{1,15})", part):
            norms, other = (int(extra[2]), other) if extra[1] == "norms" else (norms, int(extra[2]))
        else:
            raise ValueError(f"cannot read {part[:40]!r} in a group")
    return LayerGroup(int(match[1]), attention, feed_forward, norms, other, beside=beside), place


def _in_order(groups: tuple[LayerGroup, ...]) -> bool:
    """True where the layers simply follow one another, so that no positions need be written."""
    start = 0
    for group in groups:
        if group.positions and group.positions != tuple(range(start, start + group.count)):
            return False
        start += group.count
    return True


def write_positions(positions: tuple[int, ...]) -> str:
    """Write sorted positions as runs: `1-61by4`, `0.2-4.6-8`."""
    runs, start = [], 0
    while start < len(positions):
        step = positions[start + 1] - positions[start] if start + 1 < len(positions) else 1
        end = start
        while end + 1 < len(positions) and positions[end + 1] - positions[end] == step:
            end += 1
        if end - start < 2 and step != 1:
            runs.append(str(positions[start]))
            start += 1
            continue
        runs.append(str(positions[start]) if end == start else f"{positions[start]}-{positions[end]}" + (f"by{step}" if step > 1 else ""))
        start = end + 1
    return ".".join(runs)


def read_positions(text: str) -> tuple[int, ...]:
    positions: list[int] = []
    for run in text.split("."):
        match = re.fullmatch(r"([0-9]{1,6})(?:-([0-9]{1,6})(?:by([0-9]{1,6}))?)?", run)
        if match is None or (match[3] and int(match[3]) == 0):
            raise ValueError(f"cannot read the positions {run[:40]!r}")
        first = int(match[1])
        positions += range(first, int(match[2] or first) + 1, int(match[3] or 1))
    return tuple(sorted(positions))


def _place(groups: list[LayerGroup], places: list[str]) -> tuple[LayerGroup, ...]:
    """Give each group its positions: as written, the rest for `rest`, or one after another."""
    total = sum(group.count for group in groups)
    if total > 100_000:
        raise ValueError(f"has {total:,} layers; at most 100,000 are read")
    if not any(places):
        placed, start = [], 0
        for group in groups:
            placed.append(replace(group, positions=tuple(range(start, start + group.count))))
            start += group.count
        return tuple(placed)
    named = [read_positions(place) if place not in ("", "rest") else () for place in places]
    taken = {position for run in named for position in run}
    rest = tuple(position for position in range(total) if position not in taken)
    return tuple(
        replace(group, positions=run or rest) for group, run in zip(groups, named, strict=True)
    )
