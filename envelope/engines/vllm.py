"""vLLM: how many blocks a rank holds, how many one request needs, and the lines it prints about them.

Read in the wheels of 0.11.0, 0.19.0, 0.20.0, 0.20.2, 0.25.1, 0.27.1, 0.28.0, 0.30.0 to 0.33.0:
`vllm/v1/core/kv_cache_utils.py`, `v1/core/kv_cache_planning.py` (from 0.30), `v1/kv_cache_interface.py`,
`platforms/interface.py`. A boundary below names the first of these releases that has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from envelope.engines.releases import Release

# "GPU KV cache size" was blocks // groups × block size, and is concurrency × max_model_len from here on.
TOKENS_ARE_CONCURRENCY = Release((0, 20, 2))
# Sliding layers are charged for every batch in flight, two with asynchronous scheduling, from here on.
BATCHES_IN_FLIGHT = Release((0, 27, 1))
# Groups are projected on each pipeline stage from here on; before, the whole model's need met the smallest stage.
STAGES_APART = Release((0, 19, 0))
# The start-up check leaves the null block out from here on.
NULL_BLOCK_KEPT = Release((0, 30, 0))

_LONGEST = 2**40


def blocks_for(tokens: int, block: int) -> int:
    """Blocks that hold `tokens`."""
    return -(-tokens // block)


@dataclass(frozen=True)
class Options:
    """What the launch fixes. `batched_tokens` is max_num_batched_tokens; `state_blocks` one session's per state group."""

    release: Release
    max_model_len: int
    batched_tokens: int
    block_size: int = 16
    dcp: int = 1
    stages: tuple[range, ...] = ()
    state_blocks: int = 2
    hybrid_manager: bool = True
    latent: bool = False

    @cached_property
    def in_flight(self) -> int:
        """Tokens scheduled and not yet settled: one batch, or one per stage and one more being prepared (0.27.1)."""
        if self.release < BATCHES_IN_FLIGHT:
            return self.batched_tokens
        return self.batched_tokens * (max(1, len(self.stages)) + 1)


@dataclass(frozen=True)
class Group:
    """Layers that share one block table. `parts` are (layer positions, bytes of one layer's page)."""

    kind: str
    parts: tuple[tuple[tuple[int, ...], int], ...]
    block: int
    window: int = 0

    @property
    def layers(self) -> int:
        """Layers in the group, padding apart."""
        return sum(len(places) for places, _ in self.parts)

    def bytes_on(self, stage: range | None) -> int:
        """Bytes of one block of this group's layers on a stage, on all where None."""
        return sum(sum(stage is None or place in stage for place in places) * page for places, page in self.parts)

    def request_blocks(self, length: int, options: Options) -> int:
        """Blocks one request of `length` tokens may come to hold.

        Sliding: window - 1 + tokens in flight, never more than the length, plus one block for the window's start.
        Chunked local the same without that block. Context parallelism shards growing layers only.
        """
        if self.kind == "state":
            return options.state_blocks
        if self.kind == "sliding":
            return blocks_for(min(self.window - 1 + options.in_flight, length), self.block) + 1
        if self.kind == "chunked":
            return blocks_for(min(self.window + options.in_flight, length), self.block)
        return blocks_for(blocks_for(length, options.dcp), self.block)


@dataclass(frozen=True)
class Plan:
    """The layout of one rank: groups of layers over one pool of blocks.

    `block_bytes` is what one block takes on the stage that pays most, `checked_bytes` what the start-up check counts
    it at. `by_bytes`: the concurrency line divides bytes by the first group's page instead of adding blocks.
    """

    options: Options
    groups: tuple[Group, ...]
    block_bytes: int
    checked_bytes: int
    by_bytes: bool = False

    def blocks(self, memory: Fraction) -> int:
        """Blocks that `memory` bytes of one rank hold."""
        return max(0, int(memory // self.block_bytes))

    def request_blocks(self, length: int) -> int:
        """Blocks one request of `length` tokens needs, over all groups."""
        return sum(group.request_blocks(length, self.options) for group in self.groups)

    def request_bytes(self, length: int) -> int:
        """Bytes one request of `length` tokens needs on one rank, as the start-up check counts them."""
        return self.request_blocks(length) * self.checked_bytes

    @property
    def growth(self) -> Fraction:
        """Bytes each further token of context takes on one rank, padding included."""
        growing = [group for group in self.groups if group.kind == "full"]
        return sum((Fraction(self.block_bytes, group.block * self.options.dcp) for group in growing), Fraction(0))

    def concurrency(self, memory: Fraction) -> Fraction:
        """The line "Maximum concurrency for L tokens per request"."""
        length = self.options.max_model_len
        needed = self.request_blocks(length)
        if self.by_bytes:
            pages = [group.request_blocks(length, self.options) * group.bytes_on(None) for group in self.groups]
            needed = blocks_for(sum(pages), self.groups[0].bytes_on(None))
        return Fraction(self.blocks(memory), needed)

    def tokens(self, memory: Fraction) -> int:
        """The line "GPU KV cache size", in the meaning of this release."""
        if self.options.release < TOKENS_ARE_CONCURRENCY:
            block = min(group.block for group in self.groups)
            return self.blocks(memory) // len(self.groups) * block * self.options.dcp
        return int(self.concurrency(memory) * self.options.max_model_len)

    def usable(self, memory: Fraction) -> Fraction:
        """Bytes that the start-up check compares with one request's need."""
        return memory - (self.checked_bytes if self.options.release >= NULL_BLOCK_KEPT else 0)

    def largest_length(self, memory: Fraction) -> int | None:
        """The largest max_model_len that starts; 0 where none does, None where length does not matter."""
        usable = self.usable(memory)
        if usable < self.request_bytes(1):
            return 0
        if usable >= self.request_bytes(_LONGEST):
            return None
        # Each growing group alone needs a block per `block` tokens and shard, so all the blocks there are bound the length.
        blocks = int(usable // self.checked_bytes)
        bounds = [blocks * group.block * self.options.dcp + 1 for group in self.groups if group.kind == "full"]
        return _largest(lambda length: self.request_bytes(length) <= usable, min((*bounds, _LONGEST)))

    def sessions(self, memory: Fraction, mix: tuple[tuple[int, int], ...]) -> int:
        """Whole sessions that run at once at the lengths of `mix`, in whole groups; one block stays unused."""
        each = sum(self.request_blocks(length) * count for length, count in mix)
        return max(0, self.blocks(memory) - 1) // each * sum(count for _, count in mix)


def _largest(fits: Callable[[int], bool], too_long: int) -> int:
    """The largest length that fits, where 1 does and `too_long` does not."""
    low, high = 1, too_long
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
