"""Speculation: bytes by concurrency, the timed cycle, and what the drafter takes."""

from __future__ import annotations

from envelope import catalog, speculation
from envelope.curves_decisions import advanced
from envelope.decisions.words import NONE, advice, applying, article, asked, needed, provenance
from envelope.evaluation import Envelope
from envelope.quantities.speculation import all_bytes, expert_ratio
from envelope.scenario import BY_KEY
from envelope.sections import Content, Section, Table
from envelope.units import shorten, significant, text

_RULES = frozenset({
    "verify_reads_more", "assumed_acceptance", "drafter_at_many_requests", "drafter_slows", "drafter_takes_sessions",
    "moe_is_not_dense", "routing_is_not_uniform",
})  # fmt: skip
_REQUESTS = (1, 2, 4, 8, 16, 32, 64, 128)
_CAVEAT = (
    "Tokens per cycle over the byte ratio is a bytes-only bound, never the verdict: past a few requests it rises, while "
    "measured gains lie above it at few requests, where latency and launches bound a step, and fall as requests grow. "
    "The verdict comes from a timed cycle and from published guidance."
)
_COMPARE = (
    "Compare both configurations at the same offered load: one arrival rate and length distribution, prefill included, "
    "then again near saturation. Count short outputs apart: a set-up that pays over 1,000 tokens may lose over 20."
)


def answer(envelope: Envelope) -> str:
    """The timed verdict; else what a verify step reads, and what guidance says: the bytes alone are no verdict."""
    gain = envelope.value("spec_speedup")
    if gain is not None:
        each, step = needed(envelope, "spec_seconds_per_token"), envelope.scenario["step_ms"]
        words = "faster" if gain > 1 else "the speed"
        return f"timed: {text(each, 'seconds')} per token against {text(step / 1000, 'seconds')}, {shorten(float(gain))}× {words}: {needed(envelope, 'spec_verdict')}"
    breaks_even = envelope.value("spec_breakeven_tokens")
    if breaks_even is not None:
        label = BY_KEY["acceptance"].label
        return f"a cycle of {text(needed(envelope, 'spec_cycle_seconds'), 'seconds')} breaks even at {shorten(float(breaks_even))} tokens; enter {label} for the verdict"
    return f"{_reads(envelope)}; {_UNTIMED[needed(envelope, 'spec_verdict')]}"


_UNTIMED = {"drop it": "published guidance drops the drafter at this many requests", "time a cycle": "time a cycle to judge the drafter"}


def _reads(envelope: Envelope) -> str:
    """`an 8-token verify step reads 7.2× the expert bytes at 1 request, 1.6× at 32`."""
    if envelope.scenario.model is None:
        return f"{envelope.scenario.name} states no shapes, so no bytes are compared"
    block, e = envelope.scenario["verify_tokens"], envelope.evaluation
    start = f"{article(block)} {block:,}-token verify step reads"
    if not e.model.mixtures():
        return f"{start} the weights of a plain step"
    one, many = (shorten(expert_ratio(e, requests), 2) for requests in (1, 32))
    return f"{start} {one}× the expert bytes at 1 request, {many}× at 32"


def content(envelope: Envelope) -> Content:
    """Ratios by concurrency, measured points, acceptances, the cycle's inputs."""
    shaped = envelope.scenario.model is not None
    routed = shaped and bool(envelope.evaluation.model.mixtures())
    step = catalog.traffic().verify_step
    timed = f"Measured on {step.machine}: a verify step at {step.concurrency} requests takes {step.value} plain steps. {provenance(step)}"
    return Content(
        quantities=(
            *(("spec_expert_ratio",) if routed else ()), *(("spec_bytes_ratio", "spec_bytes_bound") if shaped else ()),
            "spec_cycle_seconds", "spec_breakeven_tokens", "spec_seconds_per_token", "spec_speedup", "spec_verdict", "spec_sessions",
        ),
        tables=(*((_by_requests(envelope),) if shaped else ()), _measured(envelope), _acceptances(envelope)),
        charts=("speculation",) if routed else (),
        inputs=applying(
            envelope, "batch", "verify_tokens", "acceptance", "acceptance_is", "step_ms", "verify_ms", "draft_ms",
            "other_ms", "draft_weight_bytes", "draft_cache_bytes_per_token",
        ),
        paragraphs=(_CAVEAT, advice("drop_drafter"), timed, _COMPARE),
    )  # fmt: skip


def _by_requests(envelope: Envelope) -> Table:
    rates, whose = advanced(envelope.evaluation)
    rows = []
    for requests in sorted({*_REQUESTS, envelope.scenario["batch"]}):
        whole = envelope.ask(lambda e, requests=requests: all_bytes(e, requests))
        ratio = whole[0] / whole[1] if whole else None
        bounds = [_times(speculation.bytes_bound(rate, ratio)) for rate in rates] if ratio else [NONE]
        rows.append((
            f"{requests:,}",
            asked(envelope, lambda e, requests=requests: expert_ratio(e, requests), _times),
            _times(ratio) if ratio else NONE,
            " to ".join(bounds),
            _measured_at(envelope, requests),
        ))  # fmt: skip
    basis = f"The bound counts {' to '.join(map(shorten, rates))} tokens per cycle ({whose})."
    return Table("Verify over plain, by requests in flight", ("Requests", "Expert bytes", "All bytes", "Bytes-only bound", "Measured speed-up"), tuple(rows), basis)


def _times(ratio: float) -> str:
    return f"{significant(ratio)}×"


def _points(envelope: Envelope):
    slug = envelope.scenario.preset.slug if envelope.scenario.preset else None
    return sorted(catalog.traffic().speculation, key=lambda one: one.model != slug)


def _measured_at(envelope: Envelope, requests: int) -> str:
    slug = envelope.scenario.preset.slug if envelope.scenario.preset else None
    found = [one for one in _points(envelope) if one.model == slug and one.concurrency == requests]
    return ", ".join(f"{one.speedup:g}× {one.drafter}" for one in found)


def _name(model: str) -> str:
    """A preset by its name, any other model as its source has it."""
    known = catalog.models().get(model)
    return known.name if known else model


def _measured(envelope: Envelope) -> Table:
    rows = tuple(
        (_name(one.model), one.machine, one.drafter, f"{one.concurrency}", f"{one.speedup:g}×", f"{one.acceptance:g}" if one.acceptance else "", provenance(one))
        for one in _points(envelope)
    )
    return Table("Measured speed-ups over no drafter", ("Model", "Machine", "Drafter", "Requests", "Speed-up", "Tokens per cycle", "Source"), rows)


def _acceptances(envelope: Envelope) -> Table:
    rows = tuple((_name(one.model), one.traffic, f"{one.value:g}", one.acceptance_is, provenance(one)) for one in catalog.traffic().acceptances)
    note = "Tokens advanced per cycle, the bonus token included. An acceptance fraction of draft tokens is another counter."
    return Table("Tokens per cycle, published", ("Model", "Traffic", "Tokens", "Which is", "Source"), rows, note)


SECTION = Section("speculation", "Speculation", answer, content, _RULES)
