"""Tensor, expert, data and pipeline parallelism: what one rank holds of the cache and the weights."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from envelope.cache import LayerCache, layer_cache, layer_caches
from envelope.model import Model


@dataclass(frozen=True)
class Layout:
    """How GPUs share a model: `gpus` = tp x pp x dp; `ep` GPUs divide the experts."""

    gpus: int
    tp: int
    pp: int
    dp: int
    ep: int

    def __post_init__(self) -> None:
        if self.tp * self.pp * self.dp != self.gpus:
            raise ValueError(
                f"tp {self.tp} × pp {self.pp} × dp {self.dp} is {self.tp * self.pp * self.dp}, not gpus {self.gpus}"
            )
        if self.gpus % self.ep:
            raise ValueError(f"ep {self.ep} does not divide gpus {self.gpus}")


def keeps_one_record(model: Model) -> bool:
    """True where the growing cache is one record per token that tensor parallelism copies instead of splitting."""
    growing = [cache for cache in layer_caches(model) if cache.growing]
    return bool(growing) and all(cache.kind.startswith(("latent", "compressed")) for cache in growing)


def heads_share(cache: LayerCache, tp: int) -> Fraction:
    """Share of a layer's cache on the fullest of `tp` ranks: KV heads are split, never below one head."""
    return Fraction(max(1, -(-cache.heads // tp)), cache.heads)


def copies(model: Model, tp: int) -> Fraction:
    """Times the growing cache is stored over `tp` ranks: 1 where it is split, tp where every rank keeps it all."""
    caches = [cache for cache in layer_caches(model) if cache.growing]
    if not caches:
        return Fraction(1)
    stored = sum(cache.growing * cache.count * heads_share(cache, tp) * tp for cache in caches)
    return stored / sum(cache.growing * cache.count for cache in caches)


def stages(model: Model, pp: int) -> tuple[tuple[LayerCache, ...], ...]:
    """Caches of each pipeline stage."""
    if pp == 1:
        return (layer_caches(model),)
    return tuple(
        tuple(LayerCache(**{**layer_cache(model.groups[index]).__dict__, "count": count}) for index, count in stage.items())
        for stage in layers_by_stage(model, pp)
    )


def layers_by_stage(model: Model, pp: int) -> tuple[dict[int, int], ...]:
    """Layers of each group in each pipeline stage, in order, as evenly as they divide, the first stages one more.

    A model whose order is unknown is taken in the order of its groups.
    """
    placed: dict[int, int] = {}
    start = 0
    for index, group in enumerate(model.groups):
        for position in group.positions or range(start, start + group.count):
            placed[position] = index
        start += group.count
    order = [placed[position] for position in sorted(placed)]
    size, extra = divmod(len(order), pp)
    found, start = [], 0
    for stage in range(pp):
        end = start + size + (stage < extra)
        inside = order[start:end]
        found.append({index: inside.count(index) for index in dict.fromkeys(inside)})
        start = end
    return tuple(found)
