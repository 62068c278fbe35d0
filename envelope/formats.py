"""Bytes per stored value, block scales included: one table for weights, caches and the expert exchange."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property


@dataclass(frozen=True)
class Format:
    """How one value is stored.

    `bits` are the value's own; `scale_bits` one scale's, shared by `block` (rows, columns) values, rows 0 meaning
    one scale per output row of the whole width. `module_bytes` are added once per matrix. `rate` names the
    machine's matrix rate that multiplies it (`bf16`, `fp8`, `fp4`, `int8`).
    """

    key: str
    label: str
    bits: int
    scale_bits: int = 0
    block: tuple[int, int] = (1, 1)
    zero_bits: int = 0
    module_bytes: int = 0
    rate: str = "bf16"

    @cached_property
    def bytes_per_value(self) -> Fraction:
        """Bytes of one value with its share of the block's scale, ignoring edges and per-module bytes."""
        per_block = self.block[0] * self.block[1]
        scales = Fraction(self.scale_bits + self.zero_bits, per_block) if per_block else Fraction(0)
        return (self.bits + scales) / 8

    @property
    def values_per_byte(self) -> int:
        """Values packed into one stored element: 2 for 4-bit formats, else 1. What the Hub counts."""
        return 2 if self.bits == 4 else 1

    def matrix_bytes(self, rows: int, columns: int) -> Fraction:
        """Bytes of one matrix of `rows` outputs by `columns` inputs, with its scales."""
        return Fraction(rows * columns * self.bits, 8) + self.scales(rows, columns) * Fraction(
            self.scale_bits + self.zero_bits, 8
        ) + self.module_bytes

    def scales(self, rows: int, columns: int) -> int:
        """Number of scales a matrix carries; a partial block carries a whole one."""
        if not self.scale_bits:
            return 0
        block_rows, block_columns = self.block
        if not block_columns:
            return rows
        return -(-rows // block_rows) * -(-columns // block_columns)


_ALL = (
    Format("fp32", "FP32", 32),
    Format("bf16", "BF16", 16),
    Format("fp16", "FP16", 16),
    Format("fp8", "FP8", 8, rate="fp8"),
    Format("fp8_tensor", "FP8 (per tensor)", 8, module_bytes=8, rate="fp8"),
    Format("fp8_channel", "FP8 (per row, BF16 scale)", 8, scale_bits=16, block=(1, 0), rate="fp8"),
    Format("fp8_block", "FP8 (128×128, FP32 scale)", 8, scale_bits=32, block=(128, 128), rate="fp8"),
    Format("fp8_block_bf16", "FP8 (128×128, BF16 scale)", 8, scale_bits=16, block=(128, 128), rate="fp8"),
    Format("fp8_block_e8m0", "FP8 (128×128, E8M0 scale)", 8, scale_bits=8, block=(128, 128), rate="fp8"),
    Format("mxfp8", "MXFP8", 8, scale_bits=8, block=(1, 32), rate="fp8"),
    Format("int8", "INT8 (per row, FP32 scale)", 8, scale_bits=32, block=(1, 0), rate="int8"),
    Format("nvfp4", "NVFP4", 4, scale_bits=8, block=(1, 16), rate="fp4"),
    Format("nvfp4_modelopt", "NVFP4 (with two FP32 per matrix)", 4, scale_bits=8, block=(1, 16), module_bytes=8, rate="fp4"),
    Format("mxfp4", "MXFP4", 4, scale_bits=8, block=(1, 32), rate="fp4"),
    Format("int4", "INT4 (group 128)", 4, scale_bits=16, block=(1, 128)),
    Format("int4_g32", "INT4 (group 32)", 4, scale_bits=16, block=(1, 32)),
    Format("nf4", "NF4 (group 64, FP32 scale)", 4, scale_bits=32, block=(1, 64)),
    Format("nf4_double", "NF4 (group 64, 8-bit scale)", 4, scale_bits=8, block=(1, 64)),
    Format("int4_awq", "INT4 AWQ (group 128, zero point)", 4, scale_bits=16, zero_bits=4, block=(1, 128)),
)  # fmt: skip

FORMATS = {format.key: format for format in _ALL}

# What a cache can be asked for. Packed layouts such as fp8_ds_mla are an engine's, and live with the engines.
CACHE_FORMATS = ("bf16", "fp8", "nvfp4", "mxfp8", "fp32")

# What a person picks for weights; the others are read from a quantization config.
WEIGHT_FORMATS = ("bf16", "fp8", "fp8_block", "nvfp4", "mxfp4", "int4")
