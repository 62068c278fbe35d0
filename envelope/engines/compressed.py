"""DeepSeek V4's caches: a window of raw tokens in every layer, compressed records and running states beside.

vLLM: `models/deepseek_v4/`, `v1/core/kv_cache_utils.py` (0.20.0 to 0.28.0), `kv_cache_planning.py` (from 0.30.0).
SGLang: DSV4PoolConfigurator in `model_executor/pool_configurator.py` (0.5.23). Both store FP8 rows whatever is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from envelope.engines.releases import Release
from envelope.engines.stored import NotLaidOut, Stored, indexer_bytes
from envelope.engines.vllm import BATCHES_IN_FLIGHT, NULL_BLOCK_KEPT, Group, Options, Plan

# The pool stops paying for empty slots of a layer tuple from here on.
SLOTS_BY_SIZE = Release((0, 25, 1))
# SGLang keeps the ratio-128 layers' running states by request, outside the bytes per token, from here on.
STATES_FIXED = Release((0, 5, 23))

BLOCK = 256
_ROPE = 64
_ALIGNED = 576  # every page is a whole number of these
_STATE_BYTES = 4  # running states are FP32


@dataclass(frozen=True)
class Shape:
    """What matters of the model: layers by compression ratio, all of them and a draft's, in positions; record widths."""

    four: tuple[int, ...]
    hundred: tuple[int, ...]
    layers: tuple[int, ...]
    draft: tuple[int, ...]
    head_dim: int
    index_dim: int
    window: int

    @property
    def row(self) -> int:
        """Bytes of one record: FP8 except the rope part in BF16, and 8 of scales: 448 + 128 + 8 = 584."""
        return self.head_dim - _ROPE + 2 * _ROPE + 8


def shape(layers: tuple[Stored, ...]) -> Shape:
    """Read the shape from stored layers; ratio 0 keeps the window alone. Raises NotLaidOut for other ratios."""
    packed = [one for one in layers if one.compressed is not None]
    if len(packed) < len(layers) or not {one.compressed.ratio for one in packed} <= {0, 4, 128}:
        raise NotLaidOut("compressed attention is laid out for ratios 0, 4 and 128 without other layers")
    by = {ratio: tuple(p for one in packed if one.compressed.ratio == ratio for p in one.places) for ratio in (4, 128)}
    first = packed[0].compressed
    index = next((one.compressed.indexer.head_dim for one in packed if one.compressed.indexer), 128)
    everywhere = tuple(sorted(p for one in layers for p in one.places))
    draft = tuple(p for one in layers if one.draft for p in one.places)
    return Shape(by[4], by[128], everywhere, draft, first.head_dim, index, first.window)


def _page(tokens: int, row: int) -> int:
    """Bytes of a page of records, rounded up to the alignment."""
    return -(-tokens * row // _ALIGNED) * _ALIGNED


def vllm_plan(layers: tuple[Stored, ...], options: Options) -> Plan:
    """Lay out the compressed records, the windows and the running states as groups over one pool of blocks.

    Blocks are 256 tokens of compressed layers, 64 of a window, 4 and 8 of running states, which are kept like windows
    of 8 and 128 tokens: prefilling fills them for every token in flight.
    """
    if options.stages:
        raise NotLaidOut("pipeline stages of compressed attention are not laid out here")
    one = shape(layers)
    wide, index, narrow = _page(BLOCK // 4, one.row), _page(BLOCK // 4, indexer_bytes(one.index_dim)), _page(BLOCK // 128, one.row)
    full = Group("full", ((one.four, wide), (one.four, index), (one.hundred, narrow)), BLOCK)
    counts = [max(len(one.four), len(one.hundred)), len(one.layers), len(one.four), len(one.hundred)]
    slots = _least_padding([count for count in counts if count], counts[0])
    groups = [full, *_split("sliding", ((one.layers, _page(64, one.row)),), 64, one.window, slots)]
    if one.four:
        groups += _split("sliding", ((one.four, wide), (one.four, index)), 4, 8, slots)
    if one.hundred:
        groups += _split("sliding", ((one.hundred, wide),), 8, 128, slots)
    tupled = (wide + index + narrow) * slots
    if options.release >= BATCHES_IN_FLIGHT:
        block = max(group.bytes_on(None) for group in groups)
    elif options.release >= SLOTS_BY_SIZE:
        block = wide * slots + index * len(one.four) + narrow * len(one.hundred)
    else:
        block = tupled
    checked = block if options.release >= NULL_BLOCK_KEPT else tupled
    return Plan(replace(options, block_size=BLOCK), tuple(groups), block, checked, options.release < BATCHES_IN_FLIGHT)


def _split(kind: str, parts: tuple[tuple[tuple[int, ...], int], ...], block: int, window: int, slots: int) -> list[Group]:
    """Split like layers into groups of at most `slots`."""
    count = -(-len(parts[0][0]) // slots)
    return [Group(kind, tuple((places[i::count], page) for places, page in parts), block, window) for i in range(count)]


def _least_padding(counts: Sequence[int], least: int) -> int:
    """The group size from `least` up that pads these counts least; the larger of equals."""
    sizes = range(least, max(counts) + 1)
    return min(sizes, key=lambda size: (sum(-count % size for count in counts), -size))


def sglang_bytes_per_token(layers: tuple[Stored, ...], ratio: Fraction, speculates: bool, release: Release) -> Fraction:
    """Bytes one token of the full pool takes on a rank, its share of the sliding pool included.

    The windows' pool holds `ratio` of the tokens and the ratio-4 layers' running states with it: 8 slots per page of
    256, 16 with speculation, which also adds one layer in proportion. Before 0.5.23 the ratio-128 layers' states (128
    and 256 slots) were in it too, draft layers were counted one by one, and rows were not padded.
    """
    one = shape(layers)
    slots = 2 if speculates else 1
    states = Fraction(8 * slots, BLOCK) * 4 * (one.head_dim + one.index_dim) * _STATE_BYTES * len(one.four)
    if release < STATES_FIXED:
        states += Fraction(128 * slots, BLOCK) * 2 * one.head_dim * _STATE_BYTES * len(one.hundred)
        records = (Fraction(one.row, 4) + Fraction(indexer_bytes(one.index_dim), 4)) * len(one.four) + Fraction(one.row, 128) * len(one.hundred)
        return ratio * (one.row * len(one.layers) + states) + records
    row, targets = Fraction(_page(BLOCK, one.row), BLOCK), len(one.layers) - len(one.draft)
    each_four = Fraction(_page(BLOCK // 4, one.row), BLOCK) + Fraction(indexer_bytes(one.index_dim), 4)
    each_hundred = Fraction(_page(BLOCK // 128, one.row), BLOCK)
    total = ratio * (row * targets + states) + each_four * len(one.four) + each_hundred * len(one.hundred)
    return total * Fraction(targets + 1, targets) if speculates else total


def sglang_state_bytes(layers: tuple[Stored, ...], requests: int, speculates: bool, release: Release) -> int:
    """Bytes of the ratio-128 layers' running states: a ring of 128 per request (256 with speculation) and one spare."""
    if release < STATES_FIXED:
        return 0
    one = shape(layers)
    ring = 256 if speculates else 128
    rows = (requests + 1) * ring + ring + 1
    return -(-rows // 128) * 128 * 2 * one.head_dim * _STATE_BYTES * len(one.hundred)
