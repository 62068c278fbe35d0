"""Parallelism: collectives, experts and weights per rank, balance, and whether the expert exchange can hide."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import checkpoint, experts, parallelism
from envelope.formats import FORMATS
from envelope.model import MixtureOfExperts
from envelope.parallelism import Placement, RankWeights
from envelope.quantities.registry import SECOND, SEED, Found, Registry, Unavailable
from envelope.units import counted, shorten, text

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

_registry = Registry("parallelism")
_quantity = _registry.quantity

_PLACEMENT = "what an engine's own placement adds or divides otherwise; measure the fullest rank"
_PEAK = "that expert matrices over few tokens run far below peak, which makes the exchange easier to hide"


def mixture(e: Evaluation) -> MixtureOfExperts:
    """The experts of the model, those of most layers where they differ. Raises Unavailable without any."""
    mixtures = e.model.mixtures()
    if not mixtures:
        raise Unavailable("the model has no routed experts")
    return max(mixtures, key=lambda pair: pair[0])[1]


@_quantity("parallel_collectives", "Collectives per token", "collectives", "2 × layers where tp > 1: one after attention, one after the feed-forward", SEED,
           "expert parallelism, which replaces the second of each layer by an exchange")  # fmt: skip
def parallel_collectives(e: Evaluation) -> Found:
    layers, tp = e.model.layers, e.scenario.layout.tp
    if tp == 1:
        return Found(0, lambda: "tp 1: no matrix is divided, so nothing is added up between ranks")
    return Found(parallelism.COLLECTIVES_PER_LAYER * layers, lambda: f"2 × {counted(layers, 'layers')}")


@_quantity("parallel_experts_per_rank", "Experts per rank", "experts", "experts / ep, per layer; the fullest rank", SEED)
def parallel_experts_per_rank(e: Evaluation) -> Found:
    routed, ep = mixture(e).experts, e.scenario.layout.ep
    return Found(-(-routed // ep), lambda: f"{routed} / {ep}")


def _placement(e: Evaluation) -> Placement:
    weights = Fraction(e["weight_bytes"])
    if e.scenario.model is None:
        return Placement(RankWeights(divided=weights / e.input("gpus")), weights)
    return parallelism.placement(e.model, e.split, e.scenario.layout, weights)


@_quantity("rank_expert_bytes", "Experts on the fullest rank", "bytes", "routed expert bytes of the stage / ranks that hold one copy of them", SECOND, _PLACEMENT)
def rank_expert_bytes(e: Evaluation) -> Found:
    rank, layout = _placement(e).fullest, e.scenario.layout
    return Found(rank.experts, lambda: f"over {counted(parallelism.expert_ranks(layout), 'ranks')}: ep {layout.ep}, tp {layout.tp}")


@_quantity("rank_other_bytes", "Everything else on it", "bytes", "what tp divides / tp + what every rank copies", SECOND, _PLACEMENT)
def rank_other_bytes(e: Evaluation) -> Found:
    rank, layout = _placement(e).fullest, e.scenario.layout
    return Found(rank.other, lambda: f"divided over tp {layout.tp}: {text(rank.divided, 'bytes')}; whole on every rank: {text(rank.copied, 'bytes')}")


@_quantity("rank_weight_bytes", "Weights on the fullest rank", "bytes", "rank_expert_bytes + rank_other_bytes", SECOND, _PLACEMENT)
def rank_weight_bytes(e: Evaluation) -> Found:
    shared, other = e["rank_expert_bytes"], e["rank_other_bytes"]
    return Found(shared + other, lambda: f"experts {text(shared, 'bytes')} + other {text(other, 'bytes')}")


@_quantity("rank_naive_bytes", "If the file were divided evenly", "bytes", "weight_bytes / gpus", SECOND, "everything that ranks copy")
def rank_naive_bytes(e: Evaluation) -> Found:
    weights, gpus = Fraction(e["weight_bytes"]), e.input("gpus")
    return Found(weights / gpus, lambda: f"{text(weights, 'bytes', 4)} / {gpus}")


@_quantity("rank_cluster_bytes", "Weights on all ranks", "bytes", "sum over ranks of their weights", SECOND, _PLACEMENT)
def rank_cluster_bytes(e: Evaluation) -> Found:
    total, weights, gpus = _placement(e).cluster, e["weight_bytes"], e.input("gpus")
    return Found(total, lambda: f"{counted(gpus, 'ranks')}; the file is {text(weights, 'bytes', 4)}, so {text(total - weights, 'bytes')} are copies")


@_quantity("parallel_experts_read_per_rank", "Experts read per rank", "experts read", "experts × (1 − (1 − top_k / experts)^batch) / ep, mean over ranks", SEED,
           "skew and correlation of real routing")  # fmt: skip
def parallel_experts_read_per_rank(e: Evaluation) -> Found:
    moe, ep, batch = mixture(e), e.scenario.layout.ep, e.input("batch")
    read = experts.touched(moe.experts, moe.top_k, batch)
    return Found(read / ep, lambda: f"{shorten(read)} of {moe.experts} at batch {batch:,} / ep {ep}")


@_quantity("parallel_busiest_rank", "Busiest rank over the mean", "ratio", "expected maximum over ep ranks of the experts read / their mean", "derived here from the coverage curve",
           "skewed routing, which makes it worse, and expert copies, which make it better")  # fmt: skip
def parallel_busiest_rank(e: Evaluation) -> Found:
    return balance(e, e.input("batch"))


def balance(e: Evaluation, tokens: int) -> Found:
    """How much more the busiest rank reads than the mean, with `tokens` in one step."""
    moe, ep = mixture(e), e.scenario.layout.ep
    if ep == 1:
        raise Unavailable("ep 1: no rank holds other experts than the rest")
    held = moe.experts // ep
    if not held:
        raise Unavailable(f"ep {ep} exceeds the {counted(moe.experts, 'experts')}")
    chance = experts.touched(moe.experts, moe.top_k, tokens) / moe.experts
    most = parallelism.busiest(held, chance, ep)
    return Found(most / (held * chance), lambda: f"{shorten(most)} / {shorten(held * chance)} experts of {held} with {counted(tokens, 'tokens')} in the step")


@_quantity("parallel_idle_ranks", "Ranks without a token", "share", "(chance that one token picks no expert of a rank)^batch, per layer", "derived here from the coverage curve")
def parallel_idle_ranks(e: Evaluation) -> Found:
    moe, ep, batch = mixture(e), e.scenario.layout.ep, e.input("batch")
    held = -(-moe.experts // ep)
    found = parallelism.idle_share(moe.experts, moe.top_k, held, batch)
    return Found(found, lambda: f"(C({moe.experts - held}, {moe.top_k}) / C({moe.experts}, {moe.top_k}))^{batch:,}")


def exchanged_format(e: Evaluation) -> str:
    """How a value is sent to its expert: in the experts' format where the machine multiplies it as stored, else BF16."""
    stored = {piece.format.key: 0 for piece in checkpoint.pieces(e.model, e.split)}
    for piece in checkpoint.pieces(e.model, e.split):
        if piece.tensor.part == "routed_experts":
            stored[piece.format.key] += piece.parameters
    main = max(stored, key=lambda key: stored[key])
    return main if e.scenario.machine.rate(main) else "bf16"


@_quantity("parallel_exchange_intensity", "Expert FLOP per exchanged byte", "FLOP/byte", "2 × matrices × expert_width / (bytes sent + bytes returned per value); the token's width cancels", SEED,
           "what routing and padding add to the exchange")  # fmt: skip
def parallel_exchange_intensity(e: Evaluation) -> Found:
    moe, sent = mixture(e), FORMATS[exchanged_format(e)]
    returned = FORMATS["bf16"].bytes_per_value
    found = parallelism.exchange_intensity(moe.matrices, moe.width, sent.bytes_per_value, returned)
    return Found(
        found,
        lambda: f"{2 * moe.matrices} × {moe.width:,} / ({shorten(float(sent.bytes_per_value), 6)} {sent.label} out + {shorten(float(returned), 6)} BF16 back)",
        f"takes tokens to travel in {sent.label} and results in BF16",
    )


@_quantity("parallel_exchange_intensity_local", "… less the local experts", "FLOP/byte", "parallel_exchange_intensity / (1 − 1/ep)", SEED)
def parallel_exchange_intensity_local(e: Evaluation) -> Found:
    found, ep = e["parallel_exchange_intensity"], e.scenario.layout.ep
    if ep == 1:
        raise Unavailable("ep 1: every expert is local and nothing is exchanged")
    return Found(parallelism.without_local(found, ep), lambda: f"{shorten(float(found), 5)} / (1 − 1/{ep})")


@_quantity("parallel_machine_balance", "What the machine asks", "FLOP/byte", "dense FLOP/s of the experts' format / link bandwidth in one direction", SEED, _PEAK)
def parallel_machine_balance(e: Evaluation) -> Found:
    machine, key = e.scenario.machine, exchanged_format(e)
    rate, link = machine.rate(key), machine.scale_up
    if rate is None or link is None:
        missing = "bf16" if rate is None else "scale_up"
        raise Unavailable(f"{machine.short_name}: {machine.absent.get(missing, 'no link between GPUs is known')}")
    e.rest_on(rate.tier)
    e.rest_on(link.tier)
    return Found(Fraction(rate.value) / Fraction(link.value), lambda: f"{text(rate.value, 'FLOP/s')} {FORMATS[key].label} / {text(link.value, 'bytes/s')}")


@_quantity("parallel_exchange_hides", "Exchange behind the experts", "text", "whether parallel_exchange_intensity_local reaches parallel_machine_balance", SEED, _PEAK)
def parallel_exchange_hides(e: Evaluation) -> Found:
    does, asks = e["parallel_exchange_intensity_local"], e["parallel_machine_balance"]
    verdict = "can hide" if does >= asks else "cannot fully hide"
    return Found(verdict, lambda: f"{shorten(float(does), 5)} {'≥' if does >= asks else '<'} {shorten(float(asks), 5)} FLOP per byte at peak rate")


DEFINITIONS = _registry.definitions
