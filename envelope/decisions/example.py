"""The second seed's teaching example: 320 GiB of experts divided over the ranks, 12 GiB copied onto each."""

from __future__ import annotations

from functools import cache

from envelope.evaluation import Envelope, evaluate

# 160 × 2^30 expert parameters (320 GiB in BF16) in 40 layers of 64 experts of two 4,096 × 8,192 matrices, and
# 6 × 2^30 others (12 GiB), most of them in the catch-all part.
TEACHING = "h4096.v131072.other3680501760~40x_full.q32.kv8.k128_moe.e64.k4.w8192.m2"


@cache
def teaching(ranks: int) -> Envelope:
    """The example on that many ranks."""
    return evaluate(model="custom", groups=TEACHING, weight_format="bf16", gpus=ranks, tp=1, dp=ranks, ep=ranks)
