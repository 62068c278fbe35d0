"""The memory of a machine: what weights take, what an engine keeps back, what is left for requests."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Budget:
    """Memory of `gpus` GPUs in bytes: `hbm` each, of which `fraction` may be used, `weights` in all.

    Weights spread evenly over the GPUs, as the first seed does; what a layout really copies is counted by `ranks`.
    """

    hbm: Fraction
    gpus: int
    fraction: Fraction
    weights: Fraction

    @property
    def usable(self) -> Fraction:
        """Bytes the engine may use on all GPUs."""
        return self.hbm * self.gpus * self.fraction

    @property
    def pool(self) -> Fraction:
        """Bytes left for caches on all GPUs; negative where the weights alone do not fit."""
        return self.usable - self.weights

    @property
    def per_gpu(self) -> Fraction:
        """Bytes left for caches on one GPU."""
        return self.pool / self.gpus
