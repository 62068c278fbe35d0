"""Parallelism: what each rank holds, how evenly experts are read, whether the exchange hides."""

from __future__ import annotations

from envelope import parallelism
from envelope.admission import gib
from envelope.decisions.example import teaching
from envelope.decisions.words import advice, applying, needed, said
from envelope.evaluation import Envelope, evaluate
from envelope.fields.base import InputError
from envelope.sections import Content, Section, Table
from envelope.units import counted, shorten, text

_RULES = frozenset({
    "kv_heads_copied", "latent_copied", "replicated_weights", "expert_parallelism_off", "exchange_below_peak", "mixed_parts",
    "whole_model_against_stage", "latent_could_be_shared",
})  # fmt: skip


def answer(envelope: Envelope) -> str:
    """`exchange does 9,591 FLOP per byte, this machine asks 15,000: it cannot fully hide`."""
    if envelope.scenario.model is None:
        each = text(needed(envelope, "rank_naive_bytes"), "bytes", 4)
        return f"{each} of weights a rank if they divide evenly; {envelope.scenario.name} states no shapes to place"
    if not envelope.evaluation.model.mixtures():
        return f"no experts to exchange; {needed(envelope, 'parallel_collectives'):,} collectives per token"
    does, ep = needed(envelope, "parallel_exchange_intensity"), envelope.scenario.layout.ep
    asks, hides = envelope["parallel_machine_balance"], envelope["parallel_exchange_hides"]
    start = f"exchange does {float(does):,.0f} FLOP per byte"
    if asks.value is None:
        return f"{start}; what this machine asks is not known ({asks.reason})"
    if hides.value is None:
        return f"{start}; {hides.reason}"
    if does < asks.value <= needed(envelope, "parallel_exchange_intensity_local"):
        start = f"exchange does {float(needed(envelope, 'parallel_exchange_intensity_local')):,.0f} FLOP per byte with 1 expert in {ep} local"
    return f"{start}, this machine asks {float(asks.value):,.0f}: it {hides.value}"


def content(envelope: Envelope) -> Content:
    """The layout's ranks beside other layouts, the exchange, the balance, published guidance."""
    shaped = envelope.scenario.model is not None
    routed = shaped and bool(envelope.evaluation.model.mixtures())
    experts = (
        "parallel_experts_per_rank", "parallel_experts_read_per_rank", "parallel_busiest_rank", "parallel_idle_ranks",
        "parallel_exchange_intensity", "parallel_exchange_intensity_local", "parallel_machine_balance", "parallel_exchange_hides",
    )  # fmt: skip
    ranks = ("rank_expert_bytes", "rank_other_bytes", "rank_weight_bytes", "rank_naive_bytes", "rank_cluster_bytes")
    return Content(
        quantities=(*(("parallel_collectives",) if shaped else ()), *(experts if routed else ()), *ranks),
        tables=(*((_parts(envelope),) if shaped else ()), _layouts(envelope), _teaching()),
        charts=("expert-balance",) if routed else (),
        inputs=applying(envelope, "gpus", "tp", "dp", "pp", "ep", "batch"),
        paragraphs=(
            *((advice("expert_parallelism"), advice("expert_parallelism_gain")) if routed else ()),
            "The exchange condition holds at peak rate: it says where hiding gets hard, not how fast a batch runs.",
        ),
    )


def _parts(envelope: Envelope) -> Table:
    """What each part of the file weighs on the fullest rank and on all, and how it gets there."""
    e, layout = envelope.evaluation, envelope.scenario.layout
    ranks = parallelism.expert_ranks(layout)
    copies = f", copied over dp {layout.dp}" if layout.dp > 1 else ""
    how = {
        "experts": f"whole experts over {counted(ranks, 'ranks')}" if layout.ep == ranks else f"over {counted(ranks, 'ranks')}",
        "divided": f"divided over tp {layout.tp}{copies}" if layout.tp > 1 else "whole on every rank: tp 1 divides nothing",
        "copied": "whole on every rank",
    }
    rows = tuple(
        (one.part.replace("_", " "), how[one.kind], text(one.file, "bytes"), text(one.rank, "bytes"), text(one.cluster, "bytes"))
        for one in parallelism.parts_on_ranks(e.model, e.split, layout)
    )
    return Table("What is split and what is replicated", ("Part", "On the ranks", "In the file", "Fullest rank", "All ranks"), rows, "KV projections stop dividing at one head. Sizes follow the split, not the published file.")


def _layouts(envelope: Envelope) -> Table:
    mine = envelope.scenario.layout
    rows = [_layout_row(f"TP {mine.tp} · DP {mine.dp} · PP {mine.pp} (as set)", envelope)]
    for tp in _other_tps(envelope):
        dp = mine.gpus // tp
        try:
            other = evaluate(envelope.scenario, tp=tp, dp=dp, pp=1)
        except InputError:
            # Some other input of this state rules the layout out.
            continue
        rows.append(_layout_row(f"TP {tp} · DP {dp}", other))
    note = "The sessions spread the weights evenly over the GPUs; a layout that copies weights holds fewer."
    return Table("Weights per rank by layout", ("Layout", "Fullest rank", "Divided evenly", "All ranks", "Sessions"), tuple(rows), note)


def _other_tps(envelope: Envelope) -> tuple[int, ...]:
    """Every GPU, as many as there are KV heads, and one, less the layout that is set."""
    gpus, heads = envelope.scenario.layout.gpus, envelope.scenario["kv_heads"]
    tps = dict.fromkeys((gpus, heads if heads and heads < gpus and gpus % heads == 0 else gpus, 1))
    mine = envelope.scenario.layout
    return tuple(tp for tp in tps if (tp, mine.pp) != (mine.tp, 1))


def _layout_row(label: str, envelope: Envelope) -> tuple[str, ...]:
    return (
        label, said(envelope, "rank_weight_bytes"), said(envelope, "rank_naive_bytes"),
        said(envelope, "rank_cluster_bytes", 4), said(envelope, "sessions"),
    )  # fmt: skip


def _teaching() -> Table:
    rows = tuple(
        (f"EP {ranks}", *(gib(teaching(ranks).value(key)) for key in ("rank_expert_bytes", "rank_other_bytes", "rank_weight_bytes", "rank_naive_bytes", "rank_cluster_bytes")))
        for ranks in (8, 16)
    )
    whole = shorten(float(teaching(8).value("weight_bytes") / 2**30))
    note = f"{whole} GiB in all. More GPUs lower what each holds and raise what all hold: what is copied stays on every rank."
    return Table("Teaching example: 320 GiB of experts, 12 GiB copied", ("Layout", "Experts", "Other", "Per rank", "Divided evenly", "All ranks"), rows, note)


SECTION = Section("parallelism", "Parallelism", answer, content, _RULES)
