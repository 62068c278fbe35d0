"""Presets: machines, models, prices and published measurements, read from presets/ when first asked for."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from envelope.records import (
    Acceptance,
    Alternate,
    Change,
    Checkpoint,
    Guidance,
    Machine,
    ModelPreset,
    PoolRatio,
    Price,
    Rental,
    Replay,
    Score,
    Shape,
    Sourced,
    SourcedFormats,
    SpeculationPoint,
    Traffic,
    UnknownPreset,
    VerifyStep,
)

Row = dict[str, Any]
T = TypeVar("T")


@cache
def _folder() -> Path:
    """presets/ lies inside the package when installed, beside it in a checkout.

    By path and not by importlib.resources, whose import alone takes as long as reading every preset.
    """
    package = Path(__file__).resolve().parent
    return next(folder for folder in (package / "presets", package.parent / "presets") if folder.is_dir())


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((_folder() / name).read_text(encoding="utf-8"))


def _build(kind: type[T], row: Row, sources: Mapping[str, str], **more: object) -> T:
    """One record of a TOML table: its source key becomes the source's text, nested tables their own records."""
    values: dict[str, Any] = {key: _nested(value, sources) for key, value in row.items()}
    if "source" in values:
        values["source"] = sources[row["source"]]
    return kind(**values, **more)


def _nested(value: Any, sources: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        if isinstance(value.get("value"), list):
            return _build(SourcedFormats, value, sources)
        return _build(Sourced if "tier" in value else Alternate, value, sources) if "value" in value else value
    if isinstance(value, list):
        return tuple(_nested(item, sources) for item in value)
    return value


def _rows(kind: type[T], rows: list[Row], sources: Mapping[str, str]) -> tuple[T, ...]:
    return tuple(_build(kind, row, sources) for row in rows)


def _named(kind: type[T], table: Mapping[str, Row], sources: Mapping[str, str]) -> Mapping[str, T]:
    return MappingProxyType({key: _build(kind, row, sources, key=key) for key, row in table.items()})


@cache
def machines() -> Mapping[str, Machine]:
    """Every machine by its id, in the order they are offered."""
    data = _toml("machines.toml")
    sources, found = data["sources"], {}
    for key, row in data["machine"].items():
        rental = _rows(Rental, row.pop("rental", []), sources)
        absent = MappingProxyType(row.pop("absent", {}))
        found[key] = _build(Machine, row, sources, id=key, rental=rental, absent=absent)
    return MappingProxyType(found)


def machine(machine_id: str) -> Machine:
    """The machine of that id. Raises UnknownPreset."""
    if machine_id not in machines():
        raise UnknownPreset("machine", machine_id, machines())
    return machines()[machine_id]


@cache
def _catalogue() -> dict[str, Any]:
    return _toml("catalogue.toml")


def slugs() -> tuple[str, ...]:
    """The models' slugs, the default first."""
    return tuple(_catalogue()["models"])


def models() -> Mapping[str, ModelPreset]:
    """Every model by its slug, the default first."""
    return MappingProxyType({slug: model(slug) for slug in slugs()})


@cache
def model(slug: str) -> ModelPreset:
    """The model of that slug. Raises UnknownPreset."""
    if slug not in slugs():
        raise UnknownPreset("model", slug, slugs())
    data = _toml(f"models/{slug}.toml")
    sources = data.pop("sources")
    shape = data.pop("shape", None)
    published = data.pop("published", {})
    checkpoints = data.pop("checkpoint", [])
    config = _folder() / f"models/{slug}.config.json"
    return _build(
        ModelPreset,
        data,
        sources,
        slug=slug,
        config=config.read_bytes() if config.is_file() else None,
        shape=_build(Shape, shape, sources) if shape else None,
        checkpoints=_rows(Checkpoint, checkpoints, sources),
        **{f"published_{key}": _nested(row, sources) for key, row in published.items()},
    )


@cache
def all_prices() -> tuple[Price, ...]:
    """Every list price, also of models that are no preset."""
    data = _toml("prices.toml")
    return _rows(Price, data["prices"]["rows"], data["sources"])


@cache
def prices(slug: str) -> tuple[Price, ...]:
    """The list prices of one model, the default first; none where none is published."""
    return tuple(price for price in all_prices() if price.slug == slug)


@cache
def traffic() -> Traffic:
    """Published workloads, pool ratios, reference scores, speculation and guidance."""
    data = _toml("traffic.toml")
    sources, speculation = data["sources"], data["speculation"]
    return Traffic(
        replays=_named(Replay, data["replay"], sources),
        pool_ratios=_rows(PoolRatio, data["pool"]["ratios"], sources),
        scores=_rows(Score, data["reference"]["scores"], sources),
        speculation=_rows(SpeculationPoint, speculation["points"], sources),
        acceptances=_rows(Acceptance, speculation["acceptances"], sources),
        verify_step=_build(VerifyStep, speculation["verify_step"], sources),
        guidance=_named(Guidance, data["guidance"], sources),
    )


def date() -> str:
    """The catalogue's date, year-month-day."""
    return str(_catalogue()["date"])


def changes_since(data: str) -> tuple[Change, ...]:
    """What the catalogue of that date held otherwise, one change per preset and input: the value that held then."""
    held: dict[tuple[str, str], Change] = {}
    for row in _catalogue().get("changes", []):
        if row["date"] > data:
            held.setdefault((row["preset"], row["key"]), Change(**row))
    return tuple(held.values())


@cache
def figures() -> tuple[dict[str, Any], ...]:
    """Every figure the two seed documents print: id, what, value, unit, places, given, status, note."""
    return tuple(json.loads((_folder() / "figures.json").read_text(encoding="utf-8")))
