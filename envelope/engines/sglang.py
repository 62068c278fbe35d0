"""SGLang: tokens its pools hold on one rank, and the requests its state pool lets run.

Read in the wheels of 0.5.5.post3, 0.5.10.post1 and 0.5.23: `srt/model_executor/pool_configurator.py`,
`srt/mem_cache/kv_cache_configurator.py`, `srt/arg_groups/memory_hook.py`. A boundary below names the first that has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from envelope.engines.releases import Release
from envelope.engines.stored import NotLaidOut, Stored

# Draft layers are charged inside the bytes per token from here on; before, their pool came on top.
DRAFT_IN_CELL = Release((0, 5, 23))
# Layers of unlike widths are told apart from here on; before, sliding layers were sized like full ones.
WIDTHS_APART = Release((0, 5, 10))
# One more state slot, for padding, is allocated from here on.
PADDING_SLOT = Release((0, 5, 23))

# mamba_full_memory_ratio: bytes for states over bytes for tokens.
STATE_RATIO = Fraction(9, 10)
# State slots a running request may hold while the radix cache is on.
SLOTS_PER_REQUEST = 3


@dataclass(frozen=True)
class Cell:
    """Bytes per token on one rank, all layers of a kind together.

    `full` and `sliding` are the target's, `draft_full` and `draft_sliding` the draft's, `state` one session's.
    `window` is the longest window, 0 where nothing slides apart.
    """

    full: int
    sliding: int
    draft_full: int
    draft_sliding: int
    state: int
    window: int

    def per_full_token(self, ratio: Fraction) -> Fraction:
        """Bytes of the target per token of the full pool, with its share of the sliding pool: F·n_f + r·S·n_s."""
        if not self.full:
            return Fraction(self.sliding)
        return self.full + ratio * self.sliding

    def draft_per_full_token(self, ratio: Fraction) -> Fraction:
        """Bytes the draft adds per token of the full pool."""
        if not self.full:
            return Fraction(self.draft_full + self.draft_sliding)
        return self.draft_full + ratio * self.draft_sliding


def cell(layers: tuple[Stored, ...], release: Release, split: bool, dcp: int = 1) -> Cell:
    """Add up one rank's layers. `split` is False where this engine counts sliding layers as full (`hybrid_manager`).

    Context parallelism shards what grows; the indexer stays whole on each rank, so a token costs `dcp` of it. Chunked
    layers share the sliding pool.
    """
    slides = [one for one in layers if one.kind in ("sliding", "chunked")]
    whole = [one for one in layers if one.grows and one.kind != "compressed"]
    if not split:
        whole, slides = whole + slides, []
    full_width = next((one.token_bytes for one in whole if not one.draft), 0)

    def total(found: list[Stored], draft: bool, alike: bool = False) -> int:
        copies = {"indexer": dcp}
        return sum(
            one.count * (full_width if alike and full_width else one.token_bytes) * copies.get(one.kind, 1)
            for one in found
            if one.draft == draft
        )

    alike = release < WIDTHS_APART
    return Cell(
        full=total(whole, False),
        sliding=total(slides, False, alike),
        draft_full=total(whole, True),
        draft_sliding=total(slides, True),
        state=sum(one.count * one.state_bytes for one in layers),
        window=max((one.window for one in slides), default=0),
    )


@dataclass(frozen=True)
class Pools:
    """Tokens per rank: `full` is `max_total_num_tokens` (or all there is, where nothing stays whole), `sliding` may be 0."""

    full: int
    sliding: int


def pools(memory: Fraction, one: Cell, ratio: Fraction, page: int) -> Pools:
    """Split `memory` bytes of the target's caches on one rank into two pools at a ratio, in whole pages."""
    per_token = one.per_full_token(ratio)
    if not per_token:
        raise NotLaidOut("no layer keeps a cache per token")
    full = _whole_pages(int(memory // per_token), page)
    if not one.full:
        return Pools(full, full)
    return Pools(full, _whole_pages(int(full * ratio), page) if one.sliding else 0)


def unified(memory: Fraction, one: Cell, ratio: Fraction, page: int) -> Pools:
    """One arena split at run time (--enable-unified-memory): the largest whole-page full pool whose spans fit.

    `memory` includes the draft's caches. The draft spans every slot the arena could be cut into.
    """
    if not one.full:
        return pools(memory, one, ratio, page)
    draft = one.draft_full + one.draft_sliding

    def taken(pages: int) -> int:
        full = pages * page
        target = full * one.full + _whole_pages(int(full * ratio), page) * one.sliding
        span = max(target // one.full - 1, 0)
        return target + (_whole_pages(span + page - 1, page) + page) * draft

    most = int(memory // one.full // page)
    full = _most(lambda pages: taken(pages) <= memory, most) * page
    return Pools(full, _whole_pages(int(full * ratio), page) if one.sliding else 0)


def _most(fits: Callable[[int], bool], most: int) -> int:
    """The largest count up to `most` that fits, 0 where none does."""
    low, high = 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _whole_pages(tokens: int, page: int) -> int:
    return tokens // page * page


@dataclass(frozen=True)
class StatePool:
    """Recurrent states on one rank: `slots` of them, their `bytes`, and the `requests` they let run."""

    slots: int
    bytes: int
    requests: int


def state_pool(rest: Fraction, each: int, release: Release, draft_tokens: int, max_requests: int) -> StatePool:
    """Size the state pool from what is left after the weights: q/(1+q) of it, q = 0.9.

    Speculation holds a state per draft token of every running request beside. A request may hold three slots while
    prefixes are cached. Source: `kv_cache_configurator.py` _handle_max_mamba_cache.
    """
    if not each:
        return StatePool(0, 0, max_requests)
    budget = rest * STATE_RATIO / (1 + STATE_RATIO)
    spare = 1 if release >= PADDING_SLOT else 0
    if draft_tokens:
        slots = int((budget - spare * each * (1 + draft_tokens)) // (each * (1 + Fraction(draft_tokens, SLOTS_PER_REQUEST))))
    else:
        slots = int((budget - spare * each) // each)
    if slots <= 0:
        raise NotLaidOut("no state slot fits; SGLang refuses to start")
    requests = min(max_requests, slots // SLOTS_PER_REQUEST)
    verified = each * (requests + spare) * draft_tokens
    return StatePool(slots, (slots + spare) * each + verified, requests)


def least_for_states(each: int, release: Release, draft_tokens: int) -> Fraction:
    """Bytes the weights must leave for one state slot: the budget of `state_pool` solved for one."""
    spare = 1 if release >= PADDING_SLOT else 0
    budget = each * (1 + Fraction(draft_tokens, SLOTS_PER_REQUEST) + spare * (1 + draft_tokens))
    return budget * (1 + STATE_RATIO) / STATE_RATIO


def default_requests(tokens: int, context: int) -> int:
    """max_running_requests where nobody sets it: 512 per context that fits, 2,048 to 4,096, at most half the tokens."""
    return min(max(2048, min(4096, tokens * 512 // context)), tokens // 2)


# (memory below, prefill chunk, largest decode graph at TP below 4, at TP 4 and more), memory in GiB.
_BY_CARD = ((20, 2048, 8, 8), (35, 4096, 48, 160), (60, 4096, 32, 160), (160, 8192, 256, 512))


def chunk_and_graphs(memory: Fraction, tp: int) -> tuple[int, int]:
    """Default chunked_prefill_size and largest decode graph of a card with `memory` bytes."""
    for below, chunk, small, large in _BY_CARD:
        if memory < below * 2**30:
            return chunk, small if tp < 4 else large
    return 16384, 512


def default_fraction(memory: Fraction, tp: int, pp: int, dp_attention: int, latent: bool) -> Fraction:
    """mem_fraction_static where nobody sets it, to three digits. `memory` in bytes; `dp_attention` 1 where off.

    What is kept back, in MiB: 512 + 1.5 per prefill token + 128 per rank + 2 per graph slot + 8 per prefill graph
    (latent: 1,536), DP attention 3 (4.5 above 300) per slot and replica; at least 10,240 above 60 GiB.
    """
    chunk, graphs = chunk_and_graphs(memory, tp)
    kept = 512 + Fraction(3, 2) * max(chunk, 2048) + tp * pp * 128 + 2 * graphs
    if dp_attention > 1:
        kept += graphs * dp_attention * (3 if graphs <= 300 else Fraction(9, 2))
    kept += 1536 if latent else 8 * _prefill_graphs(chunk)
    if memory > 60 * 2**30:
        kept = max(kept, Fraction(10_240))
    total = memory / 2**20
    return Fraction(round((total - kept) / total * 1000), 1000)


def _prefill_graphs(chunk: int) -> int:
    """Prefill graphs captured up to one chunk."""
    steps = ((4, 33, 4), (48, 257, 16), (288, 513, 32), (576, 1025, 64), (1280, 4097, 256), (4608, chunk + 1, 512))
    return sum(1 for start, end, step in steps for size in range(start, end, step) if size <= chunk)
