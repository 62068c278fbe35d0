"""The catalogue as tables of the method page: every value with its tier, date and source."""

from collections.abc import Iterable
from dataclasses import fields
from html import escape

from envelope import catalog, groups, units
from envelope.published import architecture
from envelope.records import Alternate, Machine, ModelPreset, Provenance, Sourced, SourcedFormats

from steps.method_markup import folded_table, table

# Label and unit of each value a machine has.
MACHINE_VALUES = {
    "gpus_per_node": ("GPUs per node", "GPUs"),
    "memory_marketed": ("Memory, as marketed", "bytes"),
    "memory_driver": ("Memory, as a driver reports it", "bytes"),
    "bandwidth": ("Memory bandwidth", "bytes/s"),
    "bf16": ("BF16", "FLOP/s"),
    "fp8": ("FP8", "FLOP/s"),
    "fp4": ("FP4", "FLOP/s"),
    "int8": ("INT8", "FLOP/s"),
    "fp4_formats": ("FP4 formats multiplied as stored", "text"),
    "scale_up": ("GPU to GPU, one direction", "bytes/s"),
    "host_link": ("GPU to host, one direction", "bytes/s"),
    "host_memory": ("Host memory per node", "bytes"),
    "rental": ("Rent", "USD"),
}
_COLUMNS = ("memory", "bandwidth", "bf16", "fp8", "fp4", "scale_up")


def value_text(value: Sourced | SourcedFormats | Alternate, unit: str) -> str:
    """A sourced value as people write it."""
    if isinstance(value, SourcedFormats):
        return ", ".join(value.value) or "none"
    return units.text(value.value, unit, 4)


def with_tier(text: str, tier: str) -> str:
    """A value with the letter of its tier."""
    return f"<span class=short>{escape(text)} <small>{tier}</small></span>"


def provenance(one: Provenance | Alternate) -> str:
    """Source, date and note of a value."""
    tier = f"tier {one.tier}, " if isinstance(one, Provenance) else ""
    return escape(f"{tier}{one.date or 'undated'}: {one.source}" + (f" ({one.note})" if one.note else ""))


def sourced_rows(label: str, value: Sourced | SourcedFormats, unit: str) -> list[tuple[str, str, str]]:
    """Label, value and provenance; one row more for each other value that a source gives."""
    others = value.alternates if isinstance(value, Sourced) else ()
    first = (escape(label), escape(value_text(value, unit)), provenance(value))
    return [first, *(("<small>elsewhere</small>", escape(value_text(one, unit)), provenance(one)) for one in others)]


def machine_details(machine: Machine) -> str:
    """Every value of one machine."""
    rows = []
    for name, (label, unit) in MACHINE_VALUES.items():
        value = getattr(machine, name)
        if name in machine.absent:
            rows.append((escape(label), "not known", escape(machine.absent[name])))
        elif name == "rental":
            rows += [(escape(label), escape(units.money(one.usd_per_gpu_hour)), f"{escape(one.basis)}; {provenance(one)}") for one in value]
        elif value is not None:
            rows += sourced_rows(label, value, unit)
    title = f"{machine.name}; memory here is what is {'reported by the driver' if machine.memory_is == 'driver' else 'marketed'}"
    return folded_table(title, ("Value", "Here", "Source"), rows, id=f"machine-{machine.id}")


def machines() -> str:
    """One row per machine, and every value of each with its source."""
    rows = []
    for machine in catalog.machines().values():
        cells = [f'<a href="#machine-{machine.id}">{escape(machine.short_name)}</a>']
        per_node = machine.gpus_per_node
        cells.append(with_tier(f"{per_node.value}", per_node.tier) if per_node else "—")
        for name in _COLUMNS:
            value = getattr(machine, name)
            cells.append(with_tier(units.text(value.value, "bytes" if name == "memory" else MACHINE_VALUES[name][1]), value.tier) if value else "—")
        rent = machine.gpu_hour
        cells.append(with_tier(units.money(rent.usd_per_gpu_hour), rent.tier) if rent else "—")
        rows.append(cells)
    columns = ("Machine", "GPUs per node", "Memory", "Bandwidth", "BF16", "FP8", "FP4", "GPU to GPU", "Rent per GPU hour")
    return table("Machines", columns, rows) + "\n" + "\n".join(machine_details(machine) for machine in catalog.machines().values())


def model_details(preset: ModelPreset) -> str:
    """Every published value of one model, its checkpoints and its layers."""
    rows = []
    for name, unit in (("max_context", "tokens"), ("published_total", "parameters"), ("published_active", "parameters"), ("stated_cache", "bytes")):
        value = getattr(preset, name)
        if value is not None:
            rows += sourced_rows(name.replace("_", " ").capitalize(), value, unit)
    for checkpoint in preset.checkpoints:
        sizes = [(name, getattr(checkpoint, name)) for name in ("tensor_bytes", "file_bytes", "stated_bytes", "predicted_bytes", "hub_parameters")]
        rows.append((escape(checkpoint.label), f"<code>{escape(checkpoint.split)}</code>", provenance(checkpoint)))
        for name, value in sizes:
            if value is not None:
                rows += sourced_rows(f"{checkpoint.label}: {name.replace('_', ' ')}", value, "parameters" if name == "hub_parameters" else "bytes")
    model = architecture(preset.slug)
    layers = f"<p>Layers: <code>{escape(groups.write(model))}</code></p>" if model else ""
    where = "its config.json, byte for byte" if preset.config else f"its card: {preset.shape.source}" if preset.shape else "no shapes are published"
    notes = "".join(f"<p>{escape(note)}</p>" for note in preset.notes)
    return folded_table(f"{preset.name}: {preset.repo}", ("Value", "Here", "Source"), rows, f"<p>Shapes: {escape(where)}.</p>" + layers + notes, id=f"model-{preset.slug}")


def models() -> str:
    """One row per model, and everything published of each."""
    rows = []
    for preset in catalog.models().values():
        cells = [f'<a href="#model-{preset.slug}">{escape(preset.name)}</a>']
        for name, unit in (("published_total", "parameters"), ("published_active", "parameters"), ("max_context", "tokens")):
            value = getattr(preset, name)
            cells.append(with_tier(units.text(value.value, unit), value.tier) if value else "—")
        cells.append(escape(", ".join(one.label for one in preset.checkpoints)) or "—")
        rows.append(cells)
    columns = ("Model", "Published parameters", "Published active", "Longest context", "Checkpoints")
    return table("Models", columns, rows) + "\n" + "\n".join(model_details(preset) for preset in catalog.models().values())


def _price(value: float | None) -> str:
    return "—" if value is None else units.money(value)


def prices() -> str:
    """Every list price of a model that is a preset."""
    rows = [
        (escape(price.model), escape(price.provider), _price(price.input), _price(price.cached), _price(price.output), provenance(price))
        for slug in catalog.slugs()
        for price in catalog.prices(slug)
    ]
    return folded_table(f"{len(rows)} prices", ("Model", "Provider", "Input", "Cached", "Output", "Source"), rows)


_PROVENANCE = {field.name for field in fields(Provenance)}


def _told(record: Provenance) -> str:
    """Every value of a measurement that has one, by name."""
    said = [(field.name.replace("_", " "), getattr(record, field.name)) for field in fields(record) if field.name not in _PROVENANCE]
    return escape("; ".join(f"{name} {value:,}" if isinstance(value, int | float) else f"{name} {value}" for name, value in said if value is not None))


def _measured(title: str, records: Iterable[Provenance]) -> str:
    rows = [(_told(record), provenance(record)) for record in records]
    return folded_table(title, ("Measured", "Source"), rows)


def measurements() -> str:
    """Published advice, and the measurements the checks compare with."""
    traffic = catalog.traffic()
    advice = [(escape(one.text), provenance(one)) for one in traffic.guidance.values()]
    return "\n".join(
        (
            folded_table("Guidance", ("Advice", "Source"), advice),
            _measured("Replayed benchmarks", traffic.replays.values()),
            _measured("Pool ratios in use", traffic.pool_ratios),
            _measured("Reference scores", traffic.scores),
            _measured("Speculation, speed-ups", traffic.speculation),
            _measured("Speculation, acceptance", (*traffic.acceptances, traffic.verify_step)),
        )
    )


def catalogue_parts() -> dict[str, str]:
    """The tables by the names in `site/method.html`."""
    return {"machines": machines(), "models": models(), "prices": prices(), "measurements": measurements()}
