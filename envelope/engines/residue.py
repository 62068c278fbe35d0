"""What an engine keeps beside weights and caches: activations of one step, and captured graphs. Estimates, with a band.

No engine states these beforehand; vLLM measures them at start and its log tells them. The estimate is fitted to the
public logs named below, so it carries tier C and a band that covers them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from envelope.engines.releases import Release
from envelope.model import Dense, MixtureOfExperts, Model
from envelope.units import GIB


# vLLM subtracts an estimate of graph memory from 0.20.0 on (envs.VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS).
GRAPHS_ESTIMATED = Release((0, 20, 0))


@dataclass(frozen=True)
class Estimate:
    """Bytes on one rank, and the band that the logs it is fitted to fall in."""

    value: Fraction
    low: Fraction
    high: Fraction


def activations(model: Model, tokens: int, sequences: int, tp: int) -> Estimate:
    """Peak of one step of `tokens` tokens: a dozen hidden widths and the feed-forward's three, plus logits in FP32.

    2 bytes × tokens × (12 × hidden + 3 × feed-forward width on the rank) + 12 bytes × sequences × vocabulary. Logs:
    1.5 GiB (Qwen3-14B, 46 GB card, vllm log), 1.0 (Gemma-4-E2B, L4), 3.9 (Llama-3.1-8B, H100), 8.1 (MiniMax-M2.5,
    4 RTX PRO 6000, voipmonitor/rtx6kpro): a half to three times the estimate.
    """
    width = max((_width(group.feed_forward) for group in model.groups), default=0)
    value = 2 * tokens * (12 * model.hidden + Fraction(3 * width, tp)) + 12 * sequences * model.vocabulary
    return Estimate(value, value / 2, value * 3)


def _width(block: object) -> int:
    if isinstance(block, Dense):
        return block.width
    if isinstance(block, MixtureOfExperts):
        return block.top_k * block.width + block.shared_width
    return 0


def graphs(release: Release | None) -> Estimate:
    """Captured graphs that a vLLM release subtracts before it sizes the cache; None for engines that do not.

    2 GiB between 0.5 and 7: GLM-5.1 was charged 4.77 and 6.84 GiB while the capture took 2.23 (sjug/rtx6kpro), and
    elsewhere 0.98 of memory left too little (vllm-project/vllm#57475).
    """
    if release is None or release < GRAPHS_ESTIMATED:
        return Estimate(Fraction(0), Fraction(0), Fraction(7 * GIB))
    return Estimate(Fraction(2 * GIB), Fraction(GIB, 2), Fraction(7 * GIB))
