"""How a checkpoint stores each weight: file bytes, bytes read per step, and what the Hub displays."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import cached_property, lru_cache

from envelope.formats import FORMATS, Format
from envelope.groups import read_positions, write_positions
from envelope.model import MixtureOfExperts, Model
from envelope.parameters import ACTIVE_PARTS, PARTS, Tensor, tensors


@dataclass(frozen=True)
class Rule:
    """Tensors that `pattern` names are stored in `format`, in the layers at `positions` or, when empty, in all.

    A pattern is a part (`routed_experts`) or a module name with `*` for anything (`self_attn.*`).
    """

    pattern: str
    format: str
    positions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise ValueError(f"format {self.format!r:.40} must be one of {', '.join(FORMATS)}")

    def names(self, tensor: Tensor) -> bool:
        """True where the pattern names this tensor's part or module."""
        return self.pattern == tensor.part or fnmatchcase(tensor.module, self.pattern)


@dataclass(frozen=True)
class Split:
    """What a checkpoint stores in which format: the first rule that names a tensor wins, `base` holds the rest.

    Vectors (norms, biases) take a rule only where it names their module in full, since no quantization packs them.
    """

    base: str
    rules: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        if self.base not in FORMATS:
            raise ValueError(f"format {self.base!r:.40} must be one of {', '.join(FORMATS)}")

    @cached_property
    def _hash(self) -> int:
        return hash((self.base, self.rules))

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        written = [self.base]
        for rule in self.rules:
            place = f".at{write_positions(rule.positions)}" if rule.positions else ""
            written.append(f"{rule.pattern}.{rule.format}{place}")
        return "~".join(written)


@lru_cache(maxsize=64)
def read_split(text: str) -> Split:
    """Read a split: `bf16~routed_experts.nvfp4.at1-60`. Raises ValueError naming the part that cannot be read."""
    base, *items = text.strip().split("~")
    rules = []
    for item in items[:200]:
        match = re.fullmatch(r"([A-Za-z_*][\w.*]*?)\.([a-z0-9_]+)(?:\.at([0-9.by-]+))?", item)
        if match is None:
            raise ValueError(f"cannot read {item[:60]!r}; a rule is <part or module>.<format>, such as routed_experts.nvfp4")
        rules.append(Rule(match[1], match[2], read_positions(match[3]) if match[3] else ()))
    return Split(base, tuple(rules))


def uniform(format: str, keep: tuple[str, ...] = ()) -> Split:
    """Every matrix in one format, except that the parts and modules in `keep` stay BF16."""
    if format in ("bf16", "fp16", "fp32"):
        return Split(format)
    return Split("bf16", tuple(Rule(name, "bf16") for name in keep) + tuple(Rule(part, format) for part in PARTS))


@dataclass(frozen=True)
class Piece:
    """Part of a tensor stored in one format: `layers` of the layers that hold it."""

    tensor: Tensor
    format: Format
    layers: int

    @cached_property
    def copy_bytes(self) -> Fraction:
        """Bytes of one copy in one layer, scales included."""
        if not self.tensor.columns:
            return Fraction(self.tensor.rows * self.format.bits, 8)
        return self.format.matrix_bytes(self.tensor.rows, self.tensor.columns)

    @property
    def bytes(self) -> Fraction:
        """Bytes of every copy in these layers."""
        return self.copy_bytes * self.tensor.copies * self.layers

    @property
    def parameters(self) -> int:
        """Parameters of every copy in these layers."""
        return self.tensor.elements * self.tensor.copies * self.layers

    @property
    def stored_elements(self) -> int:
        """Elements as the Hub counts them: a packed byte once, a block scale once."""
        scales = self.format.scales(self.tensor.rows, self.tensor.columns) if self.tensor.columns else 0
        packed = self.tensor.elements // self.format.values_per_byte
        return (packed + scales) * self.tensor.copies * self.layers


def _positions(model: Model, tensor: Tensor) -> set[int]:
    """The layers a tensor stands in; prediction layers follow the last one."""
    if tensor.group >= 0:
        return set(model.groups[tensor.group].positions)
    return set(range(model.layers, model.layers + tensor.layers)) if tensor.part == "prediction" else set()


@lru_cache(maxsize=64)
def pieces(model: Model, split: Split) -> tuple[Piece, ...]:
    """List every tensor once with the format that stores it, cut by layer where rules name positions."""
    found = []
    for tensor in tensors(model):
        positions = _positions(model, tensor)
        left = tensor.layers
        for rule in split.rules:
            if left == 0:
                break
            if not rule.names(tensor) or (not tensor.columns and rule.pattern != tensor.module):
                continue
            if not rule.positions:
                layers = left
            else:
                layers = min(left, len(positions.intersection(rule.positions)))
                positions.difference_update(rule.positions)
            if layers:
                found.append(Piece(tensor, FORMATS[rule.format], layers))
                left -= layers
        if left:
            found.append(Piece(tensor, FORMATS[split.base], left))
    return tuple(found)


def idle_rules(model: Model, split: Split) -> tuple[Rule, ...]:
    """Rules that name no tensor of the model in the layers they speak of, and so store nothing."""
    table = tensors(model)
    return tuple(rule for rule in split.rules if not any(_speaks_of(rule, tensor, model) for tensor in table))


def _speaks_of(rule: Rule, tensor: Tensor, model: Model) -> bool:
    """True where a rule may store some of a tensor; a vector only by its module's full name."""
    if not rule.names(tensor) or (not tensor.columns and rule.pattern != tensor.module):
        return False
    return not rule.positions or not _positions(model, tensor).isdisjoint(rule.positions)


def _router_buffers(model: Model) -> dict[str, int]:
    """Values by part that balance routers' choices: 4 bytes each whatever the format, and no parameters."""
    return {
        part: sum(group.count * block.router_buffers for group in groups if isinstance(block := group.feed_forward, MixtureOfExperts))
        for part, groups in (("router", model.groups), ("prediction", model.prediction))
    }


@lru_cache(maxsize=64)
def _bytes_by_part(model: Model, split: Split) -> dict[str, Fraction]:
    totals = dict.fromkeys(PARTS, Fraction(0))
    for piece in pieces(model, split):
        totals[piece.tensor.part] += piece.bytes
    for part, values in _router_buffers(model).items():
        totals[part] += 4 * values
    return totals


def bytes_by_part(model: Model, split: Split) -> dict[str, Fraction]:
    """File bytes by part, prediction layers included."""
    return dict(_bytes_by_part(model, split))


def total_bytes(model: Model, split: Split) -> Fraction:
    """Tensor bytes of the whole file, prediction layers included, file headers left out."""
    return sum(_bytes_by_part(model, split).values(), Fraction(0))


def parameters_by_format(model: Model, split: Split) -> dict[str, int]:
    """Parameters by the format that stores them."""
    totals: dict[str, int] = {}
    for piece in pieces(model, split):
        totals[piece.format.key] = totals.get(piece.format.key, 0) + piece.parameters
    return totals


def main_format(model: Model, split: Split) -> str:
    """The format of most parameters: what a checkpoint's name usually says."""
    totals = parameters_by_format(model, split)
    return max(totals, key=lambda key: totals[key])


def hub_displayed(model: Model, split: Split) -> int:
    """Elements the Hub displays for this file: packed bytes and block scales count once each."""
    return sum(piece.stored_elements for piece in pieces(model, split)) + sum(_router_buffers(model).values())


@lru_cache(maxsize=64)
def _read_once(model: Model, split: Split) -> tuple[tuple[tuple[str, str], float, MixtureOfExperts | None], ...]:
    """((part, format), bytes of one copy in all its layers, the experts it belongs to) of what a step reads."""
    found = []
    for piece in pieces(model, split):
        tensor = piece.tensor
        if tensor.read:
            block = model.groups[tensor.group].feed_forward if tensor.part == "routed_experts" else None
            mixture = block if isinstance(block, MixtureOfExperts) else None
            found.append(((tensor.part, piece.format.key), float(piece.copy_bytes * piece.layers), mixture))
    return tuple(found)


def read_per_step(model: Model, split: Split, touched: Callable[[MixtureOfExperts], float]) -> dict[tuple[str, str], float]:
    """Bytes one step reads from memory, by (part, format).

    `touched` gives the distinct experts read in a layer. Every other weight a token multiplies is read once,
    whatever the batch; an untied input embedding, towers and prediction layers are not read.
    """
    totals: dict[tuple[str, str], float] = {}
    for key, size, mixture in _read_once(model, split):
        totals[key] = totals.get(key, 0.0) + size * (touched(mixture) if mixture else 1)
    return totals


@lru_cache(maxsize=64)
def matrix_work(model: Model, split: Split) -> dict[str, tuple[int, ...]]:
    """FLOP per token of each matrix that a token's layers multiply, by the format that stores it."""
    found: dict[str, list[int]] = {}
    for piece in pieces(model, split):
        if piece.tensor.part in ACTIVE_PARTS and piece.tensor.read:
            found.setdefault(piece.format.key, []).append(2 * piece.tensor.elements * piece.tensor.read * piece.layers)
    return {key: tuple(work) for key, work in found.items()}


def read_parameters(model: Model) -> int:
    """Parameters one token makes the machine read, head included."""
    return sum(tensor.active for tensor in tensors(model))
