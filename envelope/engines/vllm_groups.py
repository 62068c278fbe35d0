"""vLLM's grouping of layers into block tables, by release.

Source: `v1/core/kv_cache_utils.py` (get_kv_cache_groups, unify_kv_cache_spec_page_size,
_get_kv_cache_groups_uniform_page_size) of 0.11.0 to 0.28.0, `v1/core/kv_cache_planning.py` from 0.30.0; block sizes
of state hybrids in `model_executor/models/config.py` (0.19.0) and `platforms/interface.py` (0.20.0 on).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from envelope.engines import compressed
from envelope.engines.releases import Release
from envelope.engines.stored import NotLaidOut, Stored
from envelope.engines.vllm import STAGES_APART, Group, Options, Plan

# Attention pages that do not divide the largest are padded from here on; before, the engine refuses to start.
PAGES_PADDED = Release((0, 25, 1))
# A bucket at most half as large again as the smallest sets the group size from here on; before, always the smallest.
LARGEST_SETS_SIZE = Release((0, 19, 0))
# Latent beside sliding layers whose pages do not divide are all kept whole from here on.
KEPT_WHOLE = Release((0, 28, 0))
# The configured block size joins the alignment of state hybrids from here on.
BLOCK_JOINS_ALIGNMENT = Release((0, 20, 0))

_WHOLE = ("full", "latent", "indexer")


@dataclass(frozen=True)
class _Paged:
    """Like layers with the block and page they were given."""

    stored: Stored
    block: int
    page: int

    @property
    def bucket(self) -> tuple[object, ...]:
        """What layers of one bucket share."""
        kind = "full" if self.stored.kind == "latent" else self.stored.kind
        return kind, self.stored.window, self.stored.token_bytes, self.block, self.page


def plan(layers: tuple[Stored, ...], options: Options) -> Plan:
    """Lay out these layers. Raises NotLaidOut where this release refuses to start."""
    if not layers:
        raise NotLaidOut("no layer keeps a cache")
    if any(one.compressed for one in layers):
        return compressed.vllm_plan(layers, options)
    if options.dcp > 1 and any(one.kind in ("sliding", "chunked") for one in layers):
        raise NotLaidOut("decode context parallelism does not shard sliding layers; vLLM refuses to start")
    if not options.hybrid_manager:
        layers = _all_whole(layers)
    block = block_size(layers, options)
    paged = tuple(_page(one, block) for one in layers)
    groups = _one_group(paged) or _buckets(_unified(paged, options.release), options.release)
    stages = options.stages or (None,)
    block_bytes = max(max(group.bytes_on(stage) for group in groups) for stage in stages)
    whole = max(group.bytes_on(None) for group in groups)
    checked = whole if options.release < STAGES_APART else block_bytes
    return Plan(replace(options, block_size=block), groups, block_bytes, checked)


def block_size(layers: tuple[Stored, ...], options: Options) -> int:
    """Tokens per block: as configured, or inflated until a page of attention holds one state.

    Whole steps of 16 (latent: 64, from 0.20.0 128; from 0.20.0 also the configured size), as many as the state needs.
    """
    state = max((one.state_bytes for one in layers if one.kind == "state"), default=0)
    attention = [one for one in layers if one.token_bytes and not one.draft]
    if not state or not attention:
        return options.block_size
    first = next((one for one in attention if one.kind in _WHOLE), attention[0])
    joined = options.release >= BLOCK_JOINS_ALIGNMENT
    step = max(16, options.block_size) if joined else 16
    if first.kind == "latent":
        step = max(step, 128) if joined else 64
    needed = step * -(-state // (step * first.token_bytes))
    return max(options.block_size, needed)


def _all_whole(layers: tuple[Stored, ...]) -> tuple[Stored, ...]:
    """Hybrid manager off: windows and chunks are kept as if every token stayed; states cannot be."""
    if any(one.kind == "state" for one in layers) and any(one.token_bytes for one in layers):
        raise NotLaidOut("vLLM needs its hybrid manager to keep states beside attention")
    return tuple(replace(one, kind="full", window=0) if one.kind in ("sliding", "chunked") else one for one in layers)


def _page(one: Stored, block: int) -> _Paged:
    return _Paged(one, block, one.state_bytes if one.kind == "state" else block * one.token_bytes)


def _one_group(paged: tuple[_Paged, ...]) -> tuple[Group, ...]:
    """Layers that all need the same token slots share one table, whatever their widths: pages add up."""
    kinds = {"full" if one.stored.kind in _WHOLE else one.stored.kind for one in paged}
    windows = {one.stored.window for one in paged}
    pages = {one.page for one in paged}
    if len(kinds) > 1 or len(windows) > 1 or (kinds == {"state"} and len(pages) > 1):
        return ()
    parts = tuple((one.stored.places, one.page) for one in paged)
    return (Group(kinds.pop(), parts, paged[0].block, windows.pop()),)


def _unified(paged: tuple[_Paged, ...], release: Release) -> tuple[_Paged, ...]:
    """Give every layer a page of the largest size: more tokens per block where it divides, else padding."""
    largest = max(one.page for one in paged)
    found = []
    for one in paged:
        if one.stored.kind == "state":
            found.append(replace(one, page=largest))
        elif largest % one.page == 0:
            found.append(replace(one, page=largest, block=one.block * (largest // one.page)))
        elif one.stored.kind in ("latent", "indexer"):
            return _kept_whole(paged, release)
        elif release >= PAGES_PADDED:
            found.append(replace(one, page=largest))
        else:
            raise NotLaidOut(f"pages of {one.page:,} and {largest:,} bytes do not divide; vLLM before 0.25.1 refuses to start")
    return tuple(found)


def _kept_whole(paged: tuple[_Paged, ...], release: Release) -> tuple[_Paged, ...]:
    if release < KEPT_WHOLE or any(one.stored.kind in ("state", "chunked") for one in paged):
        raise NotLaidOut("latent pages beside others do not divide; vLLM refuses to start")
    return tuple(replace(one, stored=replace(one.stored, kind="full", window=0)) for one in paged)


def _buckets(paged: tuple[_Paged, ...], release: Release) -> tuple[Group, ...]:
    """Split buckets of like layers into groups of one size; a group short of layers is padded and paid in full.

    A small draft bucket sets the size for everyone: 13 full, 39 sliding and 5 draft layers give groups of 5, so
    3 + 8 + 1 block tables.
    """
    if whole := _one_group(paged):
        return whole
    buckets: dict[tuple[object, ...], list[int]] = {}
    for one in paged:
        buckets.setdefault(one.bucket, []).extend(one.stored.places)
    sizes = [len(places) for places in buckets.values()]
    size = min(sizes)
    if release >= LARGEST_SETS_SIZE and 2 * max(sizes) < 3 * size:
        size = max(sizes)
    groups = []
    for (kind, window, _, block, page), places in buckets.items():
        count = -(-len(places) // size)
        groups += [Group(str(kind), ((tuple(places[i::count]), int(page)),), int(block), int(window)) for i in range(count)]
    return tuple(groups)
