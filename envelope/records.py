"""Records of the catalogue: machines, models, prices and published measurements, each value with its source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

TIERS = ("A", "B", "C", "D", "M")
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


class UnknownPreset(KeyError):
    """A model or machine that the catalogue does not have. The message says what it has."""

    def __init__(self, kind: str, asked: str, known: Mapping[str, object] | tuple[str, ...]) -> None:
        super().__init__(f"no {kind} {asked!r}; there are {', '.join(known)}")

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a value comes from. `date` is a year, month or day, None when the source is undated."""

    source: str
    tier: str
    date: str | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.tier not in TIERS:
            raise ValueError(f"tier {self.tier!r} is not one of {', '.join(TIERS)}")
        if self.date is not None and not _DATE.fullmatch(self.date):
            raise ValueError(f"date {self.date!r} is not a year, month or day")
        if not self.source:
            raise ValueError("source is empty")


@dataclass(frozen=True, kw_only=True)
class Alternate:
    """What another source says about the same value."""

    value: int | float
    source: str
    date: str | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Sourced(Provenance):
    """A positive number in the unit of its field, with what other sources say."""

    value: int | float
    alternates: tuple[Alternate, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.value > 0:
            raise ValueError(f"value must be above 0, not {self.value}")


@dataclass(frozen=True, kw_only=True)
class SourcedFormats(Provenance):
    """Format keys, possibly none."""

    value: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Rental(Provenance):
    """What one GPU costs for one hour, in USD, and what kind of price that is."""

    usd_per_gpu_hour: float
    basis: str


@dataclass(frozen=True, kw_only=True)
class Machine:
    """One kind of node. Values are per GPU, `gpus_per_node` and `host_memory` per node.

    Bytes, bytes/s (`scale_up` and `host_link` in one direction) and dense FLOP/s. What is None has its reason in
    `absent`. `fp4_formats` are the 4-bit formats that the matrix units multiply as stored.
    """

    id: str
    name: str
    short_name: str
    vendor: str
    arch: str
    memory_is: str
    memory_marketed: Sourced
    bandwidth: Sourced
    fp4_formats: SourcedFormats
    memory_driver: Sourced | None = None
    gpus_per_node: Sourced | None = None
    bf16: Sourced | None = None
    fp8: Sourced | None = None
    fp4: Sourced | None = None
    int8: Sourced | None = None
    scale_up: Sourced | None = None
    host_link: Sourced | None = None
    host_memory: Sourced | None = None
    unified: bool = False
    rental: tuple[Rental, ...] = ()
    absent: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.memory_is not in ("driver", "marketed"):
            raise ValueError(f"memory_is must be driver or marketed, not {self.memory_is!r}")
        if self.memory_is == "driver" and self.memory_driver is None:
            raise ValueError(f"{self.id}: memory_is driver, but no driver's figure is given")
        missing = {f.name for f in fields(self) if getattr(self, f.name) in (None, ())}
        if missing != set(self.absent):
            raise ValueError(f"{self.id}: absent names {sorted(self.absent)}, missing are {sorted(missing)}")

    @property
    def memory(self) -> Sourced:
        """Bytes of one GPU's memory: what `memory_is` names."""
        return self.memory_driver if self.memory_is == "driver" and self.memory_driver else self.memory_marketed

    @property
    def gpu_hour(self) -> Rental | None:
        """The default rental: the first row."""
        return self.rental[0] if self.rental else None

    def rate(self, format_key: str) -> Sourced | None:
        """Dense FLOP/s at which the machine multiplies a stored format as it is; None when it has to convert it."""
        family = format_key.split("_")[0]
        if family in ("nvfp4", "mxfp4"):
            return self.fp4 if family in self.fp4_formats.value else None
        return {"bf16": self.bf16, "fp8": self.fp8, "int8": self.int8}.get(family)


@dataclass(frozen=True, kw_only=True)
class Price(Provenance):
    """One provider's list price of one model, in USD per million tokens. `cached` is None where none is named."""

    model: str
    provider: str
    input: float
    output: float
    cached: float | None = None
    slug: str | None = None


@dataclass(frozen=True, kw_only=True)
class Checkpoint(Provenance):
    """One published file. `split` says what is stored how, in the text form that `checkpoint.read_split` reads.

    `tensor_bytes` is the sum of tensor data, `file_bytes` includes headers, `stated_bytes` is printed rounded,
    `predicted_bytes` stands in where no true size was found. `hub_parameters` is the count that the Hub displays.
    """

    key: str
    label: str
    split: str
    repo: str | None = None
    tensor_bytes: Sourced | None = None
    file_bytes: Sourced | None = None
    stated_bytes: Sourced | None = None
    predicted_bytes: Sourced | None = None
    hub_parameters: Sourced | None = None

    @property
    def published_bytes(self) -> Sourced | None:
        """The exact published size, tensors before files; None where only a rounded or predicted one is known."""
        return self.tensor_bytes or self.file_bytes


@dataclass(frozen=True, kw_only=True)
class Shape(Provenance):
    """Architecture stated by a model card in place of a config file. Widths in values, towers in parameters."""

    layers: int
    global_layers: tuple[int, ...]
    window: int
    hidden: int
    q_heads: int
    kv_heads: int
    head_dim: int
    attention_output_gate: str
    experts: int
    top_k: int
    latent_width: int
    expert_width: int
    expert_matrices: int
    vocabulary: int
    tied: bool
    norms: bool
    vision_tower: int
    audio_tower: int


@dataclass(frozen=True, kw_only=True)
class ModelPreset:
    """One model: its `config` file as published, or a `shape`, or only a `stated_cache` in bytes per token."""

    slug: str
    name: str
    repo: str
    config: bytes | None = None
    shape: Shape | None = None
    stated_cache: Sourced | None = None
    cache_format: str | None = None
    weight_format: str | None = None
    max_context: Sourced | None = None
    published_total: Sourced | None = None
    published_active: Sourced | None = None
    checkpoints: tuple[Checkpoint, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if sum(x is not None for x in (self.config, self.shape, self.stated_cache)) != 1:
            raise ValueError(f"{self.slug}: exactly one of config, shape and stated_cache")
        if self.weight_format is not None:
            self.checkpoint(self.weight_format)

    def checkpoint(self, key: str | None = None) -> Checkpoint:
        """The published checkpoint of that key, the default one when None. Raises UnknownPreset."""
        for checkpoint in self.checkpoints:
            if checkpoint.key == (key or self.weight_format):
                return checkpoint
        raise UnknownPreset(f"checkpoint of {self.slug}", str(key), tuple(c.key for c in self.checkpoints))


@dataclass(frozen=True, kw_only=True)
class Replay(Provenance):
    """A published benchmark of replayed conversations. Turns after the first add `new_tokens` of input."""

    key: str
    name: str
    model: str
    machine: str
    engine: str
    turns: int
    first_turn_tokens: int
    new_tokens: int
    output_tokens: int
    total_tokens_per_gpu_second: int
    gpus: int
    sessions: int
    tokens_per_second_per_user: int
    context_cap: int
    pool_ratio: float
    acceptance: float
    acceptance_is: str


@dataclass(frozen=True, kw_only=True)
class PoolRatio(Provenance):
    """A published ratio of sliding-pool to full-pool tokens."""

    value: float
    label: str


@dataclass(frozen=True, kw_only=True)
class Score(Provenance):
    """A reference score in percent, comparable only within its `harness`."""

    model: str
    benchmark: str
    harness: str
    low: float
    high: float
    weight_format: str | None = None


@dataclass(frozen=True, kw_only=True)
class SpeculationPoint(Provenance):
    """A measured speed-up over the same model without a drafter, at a number of concurrent requests."""

    model: str
    machine: str
    drafter: str
    concurrency: int
    speedup: float
    acceptance: float | None = None


@dataclass(frozen=True, kw_only=True)
class Acceptance(Provenance):
    """Tokens advanced per cycle, bonus included; `acceptance_is` measured or assumed."""

    model: str
    value: float
    traffic: str
    acceptance_is: str


@dataclass(frozen=True, kw_only=True)
class VerifyStep(Provenance):
    """The measured time of a verify step, in plain steps."""

    model: str
    machine: str
    concurrency: int
    value: float


@dataclass(frozen=True, kw_only=True)
class Guidance(Provenance):
    """Published advice as one sentence; `low` and `high` bound its number, in `unit`."""

    key: str
    text: str
    low: float | None = None
    high: float | None = None
    unit: str | None = None


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """Published workloads and measurements."""

    replays: Mapping[str, Replay] = field(hash=False)
    pool_ratios: tuple[PoolRatio, ...]
    scores: tuple[Score, ...]
    speculation: tuple[SpeculationPoint, ...]
    acceptances: tuple[Acceptance, ...]
    verify_step: VerifyStep
    guidance: Mapping[str, Guidance] = field(hash=False)


@dataclass(frozen=True, kw_only=True)
class Change:
    """An earlier value: until the catalogue of `date`, input `key` of `preset` was `old`, as typed."""

    preset: str
    key: str
    old: str
    date: str
