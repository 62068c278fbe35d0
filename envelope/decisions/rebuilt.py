"""Parameters: the table rebuilt from the shapes beside the publisher's total, and what a file of it holds."""

from __future__ import annotations

from envelope import checkpoint, parameters
from envelope.decisions.words import applying, needed
from envelope.evaluation import Envelope
from envelope.model import Model
from envelope.sections import Content, Section, Table
from envelope.units import text

_LANDS = 0.005  # half a percent: publishers round to three digits


def answer(envelope: Envelope) -> str:
    """`671.0 B rebuilt from the shapes: lands on the published 671.0 B`."""
    rebuilt = needed(envelope, "resident_parameters")
    return f"{text(rebuilt, 'parameters', 4)} {'as published' if envelope.scenario.model is None else 'rebuilt from the shapes'}: {_lands(envelope)}"


def _lands(envelope: Envelope) -> str:
    stated, off = envelope.scenario["published_total"], envelope.value("checkpoint_count_gap")
    if off is None:
        return envelope["checkpoint_count_gap"].reason
    published = text(stated, "parameters", 4)
    if abs(off) < _LANDS:
        return f"lands on the published {published}"
    return f"{float(off):+.1%} from the published {published}, so every later number is suspect"


def content(envelope: Envelope) -> Content:
    """Every part, where the publisher's total goes, what the Hub will show, and the size of the file."""
    e = envelope.evaluation
    return Content(
        paragraphs=(*_packed(envelope), *_file(envelope)),
        inputs=applying(envelope, "published_total"),
        tables=(_parts(e.model, e.split),),
    )


def _parts(model: Model, split: checkpoint.Split) -> Table:
    held, read = parameters.resident_by_part(model), parameters.active_by_part(model)
    stored = checkpoint.bytes_by_part(model, split)
    rows = [_row(part.replace("_", " "), held[part], read[part], stored.get(part, 0)) for part in parameters.PARTS if held[part]]
    main = [part for part in parameters.PARTS if part != "prediction"]
    rows.append(_row("All", sum(held[part] for part in main), sum(read[part] for part in main), sum(stored.get(part, 0) for part in main)))
    if held["prediction"]:
        rows.append(_row("All with prediction layers", sum(held.values()), sum(read.values()), sum(stored.values())))
    note = "Multiplied: what one token passes through; of the embedding it reads a row, of towers and prediction (MTP) layers nothing."
    return Table("Rebuilt part by part", ("Part", "Parameters", "Multiplied per token", "In the file"), tuple(rows), note)


def _row(part: str, held: int, read: int, stored: object) -> tuple[str, ...]:
    return part, f"{held:,}", f"{read:,}" if read else "–", text(stored, "bytes", 4)


def _packed(envelope: Envelope) -> tuple[str, ...]:
    """Why the Hub shows another count, where files pack several values into one element."""
    e = envelope.evaluation
    shown, held = checkpoint.hub_displayed(e.model, e.split), sum(checkpoint.parameters_by_format(e.model, e.split).values())
    if abs(shown / held - 1) < _LANDS:
        return (f"The Hub will display about {text(shown, 'parameters', 4)}: what the file holds, prediction layers and scales included.",)
    return (
        f"The Hub will display {text(shown, 'parameters', 4)}, not {text(held, 'parameters', 4)}: it counts stored elements, and the file packs several values into one. The model is the same.",
    )


def _file(envelope: Envelope) -> tuple[str, ...]:
    """The predicted size of the files, beside the one that is stated where one is."""
    e = envelope.evaluation
    predicted, stated = checkpoint.total_bytes(e.model, e.split), envelope.scenario["weight_bytes"]
    words = f"By this split the files hold {text(predicted, 'bytes', 4)}"
    if stated is None:
        return (f"{words}.",)
    off = float(stated / predicted) - 1
    beside = "which agrees" if abs(off) <= 0.01 else f"{off:+.1%}: another split than this one, or another count"
    return (f"{words}; the stated size is {text(stated, 'bytes', 4)}, {beside}.",)


SECTION = Section("rebuilt", "Parameters", answer, content)
