"""Admission: the budget of the fullest rank in GiB, the cap, and the replicas a demand takes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from envelope.admission import gib
from envelope.decisions.words import NONE, applying, needed
from envelope.evaluation import Envelope
from envelope.quantities.admission import budget
from envelope.sections import Content, Section, Table
from envelope.units import counted, shorten

_RULES = frozenset({"does_not_fit", "no_session", "budget_overrun", "demand_exceeds_cap", "little_kept_back", "starts_is_not_serves"})
_STATE = (
    "Sparse attention attends to less but stores everything; compressed designs use their documented allocations; "
    "recurrent state is a fixed record per request."
)
_PEAKS = (
    "Measure per rank after loading, after graph capture and under the worst mix of prefill and decode; images, drafts "
    "and large prefills make peaks that a short text never shows."
)


def answer(envelope: Envelope) -> str:
    """`154.5 GiB per rank for requests: at most 252 of 131,072 tokens`, with the replicas where a demand is given."""
    left = envelope["admit_state_bytes"]
    if left.value is None and not left.missing:
        return f"no request is admitted: {left.reason}"
    state, cap = needed(envelope, "admit_state_bytes"), needed(envelope, "admit_cap")
    each = needed(envelope, "admit_tokens_per_request")
    words = f"{gib(state)} per rank for requests: at most {cap:,} of {counted(each, 'tokens')}"
    demand, replicas = envelope.value("admit_demand"), envelope.value("admit_replicas")
    if demand is None or replicas is None:
        return words
    return f"{words}; {shorten(float(demand))} in flight take {replicas:,} replica{'s' if replicas > 1 else ''}"


def content(envelope: Envelope) -> Content:
    """The budget in GiB, the tokens and requests it holds."""
    return Content(
        quantities=(
            "admit_tokens", "admit_tokens_per_request", "admit_rank_cap", "admit_cap", "admit_next_tokens", "admit_demand", "admit_replicas",
        ),
        tables=(_budget(envelope),),
        inputs=applying(
            envelope, "usable_per_rank", "graph_bytes", "reserve_bytes", "state_reserve", "prompt_reserve", "output_reserve",
            "arrival_per_s", "residence_s", "draft_weight_bytes", "draft_cache_bytes_per_token",
        ),
        paragraphs=(_PEAKS, _STATE),
    )  # fmt: skip


def _budget(envelope: Envelope) -> Table:
    e = envelope.evaluation
    one = budget(e)
    rows = [
        _line(envelope, "usable", "admit_usable_bytes"),
        ("weights", gib(one.weights), f"experts {gib(e['rank_expert_bytes'])} + other {gib(e['rank_other_bytes'])}", envelope["rank_weight_bytes"].definition.formula),
        *((("drafter's weights", gib(one.draft), f"{gib(e.input('draft_weight_bytes'))} / {e.input('gpus')}", "draft_weight_bytes / gpus"),) if one.draft else ()),
        ("graphs and communication", gib(one.graphs), _basis(envelope, "graph_bytes"), "graph_bytes, measured"),
        ("reserve", gib(one.reserve), _basis(envelope, "reserve_bytes"), "reserve_bytes"),
        _line(envelope, "left for request state", "admit_state_bytes"),
        _line(envelope, "fixed reserve", "admit_fixed_bytes"),
        _line(envelope, "per live token", "admit_bytes_per_token", lambda size: f"{shorten(float(size / 1024), 4)} KiB"),
    ]
    return Table("Budget of the fullest rank, in GiB (2^30 bytes)", ("What", "Size", "Here", "Formula"), tuple(rows))


def _line(envelope: Envelope, label: str, key: str, write: Callable[[Fraction], str] = gib) -> tuple[str, str, str, str]:
    """One quantity of the budget: its size or a dash, how it came about or why there is none, its formula."""
    quantity = envelope[key]
    size = NONE if quantity.value is None else write(quantity.value)
    return label, size, quantity.working or quantity.reason, quantity.definition.formula


def _basis(envelope: Envelope, key: str) -> str:
    default = envelope.scenario.defaults[key]
    return "as given" if key in envelope.scenario.given else default.source or default.why


SECTION = Section("admission", "Admission", answer, content, _RULES)
