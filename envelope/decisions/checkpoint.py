"""Checkpoint: which format, what it really weighs, and what this machine does with it."""

from __future__ import annotations

from envelope import checkpoint
from envelope.decisions.words import applying, needed, said
from envelope.evaluation import Envelope, evaluate
from envelope.formats import FORMATS
from envelope.sections import Content, Section, Table
from envelope.units import shorten, text

FAMILIES = ("bf16", "fp8", "nvfp4", "mxfp4", "int4")
_EVERYTHING = "nvfp4"
_RULES = frozenset({"name_is_not_bits", "count_does_not_land", "count_unchecked", "format_saves_memory_only"})


def answer(envelope: Envelope) -> str:
    """`NVFP4 532.7 GB is 5.2 bits per parameter; native on this machine`."""
    bits, size = needed(envelope, "checkpoint_bits_per_parameter"), needed(envelope, "weight_bytes")
    machine = needed(envelope, "checkpoint_multiplied")
    ending = "native on this machine" if machine == "native" else f"on this machine it {machine}"
    name = needed(envelope, "checkpoint_main_format").split(" (")[0]
    return f"{name} {text(size, 'bytes', 4)} is {shorten(float(bits), 2)} bits per parameter; {ending}"


def content(envelope: Envelope) -> Content:
    """Formats side by side, the split by part, and what the name hides."""
    name, batch = needed(envelope, "checkpoint_main_format"), envelope.scenario["batch"]
    share, read = needed(envelope, "checkpoint_main_share_parameters"), needed(envelope, "checkpoint_main_share_bytes")
    hidden = f"A name is not its bits: {name} stores {float(share):.0%} of the parameters and {float(read):.0%} of the bytes one session alone reads per token."
    return Content(
        quantities=(
            "checkpoint_bits_per_parameter", "checkpoint_main_format", "checkpoint_main_share_parameters",
            "checkpoint_main_share_bytes", "checkpoint_hub_displayed", "checkpoint_multiplied",
            "checkpoint_tokens_per_second", "checkpoint_count_gap",
        ),
        tables=(_formats(envelope, batch), _parts(envelope, batch)),
        inputs=applying(envelope, "weight_format", "split", "weight_bytes", "published_total"),
        paragraphs=(hidden, "The ceiling is memory bandwidth over bytes read by one session alone: an upper bound."),
    )  # fmt: skip


def _formats(envelope: Envelope, batch: int) -> Table:
    preset = envelope.scenario.preset
    published = {one.key.split("_")[0]: one.key for one in preset.checkpoints} if preset else {}
    rows = []
    if "split" in envelope.scenario.given:
        rows.append(_format_row(envelope, "your split", batch))
    for family in FAMILIES:
        key = published.get(family, family)
        other = evaluate(envelope.scenario.with_(weight_format=key, split=None, weight_bytes=None))
        basis = "published" if family in published else "assumed split"
        rows.append(_format_row(other, f"{FORMATS[key].label}, {basis}", batch))
    everything = evaluate(envelope.scenario.with_(weight_format=None, split=_EVERYTHING, weight_bytes=None))
    rows.append(_format_row(everything, "4.5 bits for everything", batch))
    columns = ("Format", "File", "Bits per parameter", *_read_heads(batch), "BF16 at batch 1", "Hub displays", "This machine", "At most")
    note = "An assumed split converts every matrix but embeddings, head, routers and towers. Native: the matrix units multiply the format as stored."
    return Table("Formats side by side", columns, tuple(rows), note)


def _batches(batch: int) -> tuple[int, ...]:
    """One session alone, and the batch that is set where it is another."""
    return (1,) if batch == 1 else (1, batch)


def _read_heads(batch: int) -> tuple[str, ...]:
    return tuple(f"Read at batch {one:,}" for one in _batches(batch))


def _format_row(envelope: Envelope, label: str, batch: int) -> tuple[str, ...]:
    alone = envelope.evaluation.read(1)
    kept = sum(size for (_, key), size in alone.items() if key == "bf16") / sum(alone.values())
    return (
        label,
        said(envelope, "weight_bytes", 4),
        said(envelope, "checkpoint_bits_per_parameter"),
        *(text(sum(envelope.evaluation.read(one).values()), "bytes") for one in _batches(batch)),
        f"{kept:.0%}",
        said(envelope, "checkpoint_hub_displayed", 4),
        said(envelope, "checkpoint_multiplied"),
        said(envelope, "checkpoint_tokens_per_second"),
    )


def _parts(envelope: Envelope, batch: int) -> Table:
    e = envelope.evaluation
    held: dict[tuple[str, str], list[checkpoint.Piece]] = {}
    for piece in checkpoint.pieces(e.model, e.split):
        held.setdefault((piece.tensor.part, piece.format.key), []).append(piece)
    by_size = sorted(held.items(), key=lambda item: -sum(piece.bytes for piece in item[1]))
    rows = tuple(
        (
            part.replace("_", " "),
            FORMATS[key].label,
            _layers(pieces),
            text(sum(piece.parameters for piece in pieces), "parameters"),
            text(sum(piece.bytes for piece in pieces), "bytes"),
            *(text(e.read(one).get((part, key), 0.0), "bytes") for one in _batches(batch)),
        )
        for (part, key), pieces in by_size
    )
    columns = ("Part", "Format", "Layers", "Parameters", "In the file", *_read_heads(batch))
    return Table("What is stored how", columns, rows, f"Split: {envelope.scenario['split']}")


def _layers(pieces: list[checkpoint.Piece]) -> str:
    """How many layers hold these tensors; empty outside layers."""
    by_group = {piece.tensor.group: piece.layers for piece in pieces if piece.tensor.group >= 0}
    return f"{sum(by_group.values()):,}" if by_group else ""


SECTION = Section("checkpoint", "Checkpoint", answer, content, _RULES)
