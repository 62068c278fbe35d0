"""The checkpoint: true bits per parameter, what the name covers, and what the machine does with the format."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import checkpoint
from envelope.formats import FORMATS
from envelope.quantities.registry import SEED, Found, Registry, Unavailable
from envelope.units import shorten, text

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

_registry = Registry("checkpoint")
_quantity = _registry.quantity


def main_format(e: Evaluation) -> str:
    """The format that stores most parameters: what a checkpoint's name promises."""
    held = checkpoint.parameters_by_format(e.model, e.split)
    return max(held, key=lambda key: held[key])


@_quantity("checkpoint_bits_per_parameter", "Bits per parameter", "bits", "8 × file bytes / parameters in the file, scales included", SEED)
def checkpoint_bits_per_parameter(e: Evaluation) -> Found:
    held = sum(checkpoint.parameters_by_format(e.model, e.split).values())
    size = Fraction(e["weight_bytes"])
    return Found(size * 8 / held, lambda: f"8 × {text(size, 'bytes', 4)} / {text(held, 'parameters', 4)}")


@_quantity("checkpoint_main_format", "Main format", "text", "the format that stores most parameters")
def checkpoint_main_format(e: Evaluation) -> Found:
    held = checkpoint.parameters_by_format(e.model, e.split)
    terms = sorted(held.items(), key=lambda item: -item[1])
    return Found(FORMATS[main_format(e)].label, lambda: ", ".join(f"{FORMATS[key].label} {text(size, 'parameters')}" for key, size in terms))


@_quantity("checkpoint_main_share_parameters", "Its share of parameters", "share", "parameters in the main format / all parameters", SEED)
def checkpoint_main_share_parameters(e: Evaluation) -> Found:
    held = checkpoint.parameters_by_format(e.model, e.split)
    mine, total = held[main_format(e)], sum(held.values())
    return Found(Fraction(mine, total), lambda: f"{text(mine, 'parameters')} / {text(total, 'parameters')}")


@_quantity("checkpoint_main_share_bytes", "Its share of bytes read alone", "share", "bytes in the main format / bytes of one step at batch 1", SEED)
def checkpoint_main_share_bytes(e: Evaluation) -> Found:
    read, main = e.read(1), main_format(e)
    mine, total = sum(size for (_, key), size in read.items() if key == main), sum(read.values())
    return Found(mine / total, lambda: f"{text(mine, 'bytes')} / {text(total, 'bytes')} at batch 1")


@_quantity("checkpoint_hub_displayed", "What the Hub displays", "parameters", "stored elements: a byte of two 4-bit values counts once, a block scale counts once", SEED)
def checkpoint_hub_displayed(e: Evaluation) -> Found:
    shown = checkpoint.hub_displayed(e.model, e.split)
    held = sum(checkpoint.parameters_by_format(e.model, e.split).values())
    return Found(shown, lambda: f"{text(held, 'parameters', 4)} parameters are stored in {text(shown, 'parameters', 4)} elements")


@_quantity("checkpoint_multiplied", "On this machine", "text", "whether the matrix units multiply the main format as stored", SEED)
def checkpoint_multiplied(e: Evaluation) -> Found:
    key, machine = main_format(e), e.scenario.machine
    rate = machine.rate(key)
    if rate is not None:
        e.rest_on(rate.tier)
        return Found("native", lambda: f"{machine.short_name} multiplies {FORMATS[key].label} at {text(rate.value, 'FLOP/s')}")
    if FORMATS[key].rate == "bf16" and FORMATS[key].bits >= 16:
        return Found("native", lambda: f"{FORMATS[key].label} needs no conversion; the rate of {machine.short_name} is not published")
    return Found("saves memory only", lambda: f"{machine.short_name} converts {FORMATS[key].label} and multiplies it in BF16")


@_quantity("checkpoint_tokens_per_second", "Ceiling alone", "tokens/s", "gpus × bandwidth / bytes of one step at batch 1", SEED,
           "the cache, everything but memory bandwidth, and the share of it that is reached")  # fmt: skip
def checkpoint_tokens_per_second(e: Evaluation) -> Found:
    read = sum(e.read(1).values())
    rate = e.input("gpus") * Fraction(e.input("bandwidth"))
    return Found(float(rate) / read, lambda: f"{text(rate, 'bytes/s')} / {text(read, 'bytes')}")


@_quantity("checkpoint_count_gap", "Off the published count", "share", "resident_parameters / published_total − 1", SEED)
def checkpoint_count_gap(e: Evaluation) -> Found:
    stated = e.needed("published_total", "no published total is stated to check the count against")
    if e.scenario.model is None:
        raise Unavailable("the total is taken as published, so there is nothing to check it against")
    rebuilt = e["resident_parameters"]
    return Found(Fraction(rebuilt) / Fraction(stated) - 1, lambda: f"{text(rebuilt, 'parameters', 4)} / {text(stated, 'parameters', 4)} − 1 = {shorten(float(rebuilt / stated - 1) * 100)}%")


DEFINITIONS = _registry.definitions
