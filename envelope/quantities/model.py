"""Parameters, bytes per step, cache per token, expert coverage, crossovers: what follows from the model alone."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from envelope import cache, checkpoint, decode, experts, flops, parameters
from envelope.formats import FORMATS
from envelope.quantities.registry import SEED, Found, Registry, Unavailable
from envelope.units import significant, text

if TYPE_CHECKING:
    from envelope.evaluation import Evaluation

_registry = Registry("model")
_quantity = _registry.quantity

_PART_NAMES = {
    "embeddings": "embeddings", "attention": "attention", "latent_projections": "latent projections",
    "dense": "dense feed-forward", "routed_experts": "routed experts", "shared_experts": "shared experts",
    "router": "routers", "norms": "norms", "head": "head", "towers": "towers", "prediction": "prediction layers",
    "other": "other",
}  # fmt: skip


def sum_of_parts(parts: dict[str, float], unit: str) -> str:
    """Write `attention 13.5 B + routers 0.13 B`, largest first, empty parts left out."""
    terms = sorted(((size, name) for name, size in parts.items() if size), reverse=True)
    return " + ".join(f"{_PART_NAMES.get(name, name)} {text(size, unit)}" for size, name in terms)


@_quantity("resident_parameters", "Resident parameters", "parameters", "sum over layers of every matrix's rows × columns, plus vectors", SEED,
           "prediction (MTP) layers, which only speculation uses")  # fmt: skip
def resident_parameters(e: Evaluation) -> Found:
    preset = e.scenario.preset
    if e.scenario.model is None and preset and preset.published_total:
        stated = preset.published_total
        e.rest_on(stated.tier)
        return Found(stated.value, lambda: f"as published: {stated.source}", stated.note)
    parts = parameters.resident_by_part(e.model)
    total = parameters.resident(e.model)
    predicted = parts.pop("prediction")
    notes = [_lands(e, total)] if preset and preset.published_total else []
    notes += [f"the file also holds {text(predicted, 'parameters')} of prediction layers"] if predicted else []
    note = "; ".join(notes)
    return Found(total, lambda: f"{sum_of_parts(parts, 'parameters')} = {total:,}", note)


def _lands(e: Evaluation, total: int) -> str:
    """How the rebuilt total compares with what the publisher states, to half a percent."""
    stated = e.scenario.preset.published_total.value
    off = total / stated - 1
    written = text(stated, "parameters", 4)
    return f"lands on the published {written}" if abs(off) < 0.005 else f"{off:+.1%} from the published {written}"


@_quantity("active_parameters", "Active parameters", "parameters", "attention + latent projections + feed-forward + top_k experts + routers, per token", SEED,
           "norms, embeddings and head")  # fmt: skip
def active_parameters(e: Evaluation) -> Found:
    given = e.input("active_parameters")
    if given is not None:
        return Found(given, lambda: "as given")
    parts = {part: size for part, size in parameters.active_by_part(e.model).items() if part in parameters.ACTIVE_PARTS}
    total = parameters.active(e.model)
    return Found(total, lambda: f"{sum_of_parts(parts, 'parameters')} = {total:,}")


@_quantity("active_with_head", "Active with head", "parameters", "active_parameters + head")
def active_with_head(e: Evaluation) -> Found:
    total = parameters.active_with_head(e.model)
    return Found(total, lambda: f"{text(parameters.active(e.model), 'parameters')} + head = {total:,}")


@_quantity("active_with_embeddings", "Active with embeddings", "parameters", "everything a token passes through: layers, norms, head and the embedding table")
def active_with_embeddings(e: Evaluation) -> Found:
    total = parameters.active_with_embeddings(e.model)
    return Found(total, lambda: f"{text(parameters.active(e.model), 'parameters')} + norms + head + embeddings = {total:,}")


@_quantity("active_attention_share", "Attention's share of active", "share", "attention / (active_parameters − routers)", SEED)
def active_attention_share(e: Evaluation) -> Found:
    parts = parameters.active_by_part(e.model)
    blocks = parameters.active(e.model) - parts["router"]
    if not blocks:
        raise Unavailable("no layer multiplies a token by anything")
    return Found(Fraction(parts["attention"], blocks), lambda: f"{text(parts['attention'], 'parameters')} / {text(blocks, 'parameters')}")


@_quantity("weight_bytes", "Weight bytes", "bytes", "sum over tensors of parameters × bytes per value, scales included", SEED, "file headers")
def weight_bytes(e: Evaluation) -> Found:
    given = e.input("weight_bytes")
    if given is not None:
        return Found(given, lambda: "as given")
    published = _published_bytes(e)
    if published is not None:
        e.rest_on(published.tier)
        return Found(Fraction(published.value), lambda: f"as published: {published.source}", published.note)
    if e.scenario.model is None:
        raise Unavailable(f"{e.scenario.name} states no shapes: give weight_bytes", "weight_bytes")
    parts = checkpoint.bytes_by_part(e.model, e.split)
    total = sum(parts.values())
    return Found(total, lambda: f"{sum_of_parts({k: float(v) for k, v in parts.items()}, 'bytes')} = {text(total, 'bytes', 4)}")


def _published_bytes(e: Evaluation):
    """The published size of the chosen checkpoint, as long as neither its shapes nor its split were changed."""
    scenario = e.scenario
    if scenario.preset is None or scenario.model_edited or "split" in scenario.given:
        return None
    for one in scenario.preset.checkpoints:
        if one.key == scenario["weight_format"]:
            return one.published_bytes
    return None


@_quantity("bytes_per_step", "Bytes per step", "bytes", "weights read once per step; routed experts × distinct experts touched by the batch / experts", SEED,
           "caches, activations; real routing is skewed, so above batch 1 this is an upper bound")  # fmt: skip
def bytes_per_step(e: Evaluation) -> Found:
    batch = e.input("batch")
    read = e.read(batch)
    total = sum(read.values())

    def working() -> str:
        terms = sorted(((size, part, format) for (part, format), size in read.items()), reverse=True)
        return " + ".join(f"{_PART_NAMES[part]} {FORMATS[format].label} {text(size, 'bytes')}" for size, part, format in terms) + f" = {text(total, 'bytes')} at batch {batch:,}"

    return Found(total, working)


@_quantity("bytes_per_step_bf16_share", "BF16 share of bytes per step", "share", "BF16 bytes / bytes_per_step", SEED)
def bytes_per_step_bf16_share(e: Evaluation) -> Found:
    read = e.read(e.input("batch"))
    kept = sum(size for (_, format), size in read.items() if format == "bf16")
    total = sum(read.values())
    return Found(kept / total, lambda: f"{text(kept, 'bytes')} / {text(total, 'bytes')}")


@_quantity("cache_bytes_per_token", "Cache per token", "bytes", "sum over layers whose cache grows of stored values × bytes per value", SEED,
           "windows and fixed state, which do not grow; an engine's own packing and padding")  # fmt: skip
def cache_bytes_per_token(e: Evaluation) -> Found:
    given = e.input("cache_bytes_per_token")
    if given is not None:
        stated = "cache_bytes_per_token" not in e.scenario.given
        return Found(given, lambda: "as its publisher states" if stated else "as given")
    each = value_bytes(e)
    caches = [one for one in cache.layer_caches(e.model) if one.growing]
    total = cache.growing_per_token(e.model) * each

    def working() -> str:
        terms = " + ".join(f"{one.count} {one.kind} layers × {significant(float(one.growing), 4)} values" for one in caches)
        return f"({terms or 'no layer grows'}) × {text(each, 'bytes')} = {float(total):,.0f} bytes"

    return Found(total, working)


def value_bytes(e: Evaluation) -> Fraction:
    """Bytes of one cached value."""
    return FORMATS[e.input("cache_format")].bytes_per_value


def session_bytes(e: Evaluation, context: int) -> Fraction:
    """Bytes one session of `context` tokens keeps: growing, windows and state."""
    if e.input("cache_bytes_per_token") is not None:
        return e["cache_bytes_per_token"] * context
    return cache.session_values(e.model, context) * value_bytes(e)


def group_bytes(e: Evaluation) -> Fraction:
    """Bytes one whole group of the sessions asked for keeps."""
    return e.once(_group_bytes)


def _group_bytes(e: Evaluation) -> Fraction:
    mix = e.scenario.mix
    if e.input("cache_bytes_per_token") is not None:
        return Fraction(e["cache_bytes_per_token"]) * sum(length * count for length, count in mix)
    return cache.group_values(e.model, mix) * value_bytes(e)


@_quantity("cache_bytes_per_session", "Cache per session", "bytes", "cache_bytes_per_token × context + windows + fixed state; the mean over a mix", SEED)
def cache_bytes_per_session(e: Evaluation) -> Found:
    mix = e.scenario.mix
    e.input("context")
    count = sum(number for _, number in mix)
    total, each = group_bytes(e) / count, e["cache_bytes_per_token"]

    def working() -> str:
        growing = each * Fraction(sum(length * number for length, number in mix), count)
        return f"growing {text(growing, 'bytes')} + windows and state {text(total - growing, 'bytes')} = {text(total, 'bytes')}"

    return Found(total, working)


def longest(e: Evaluation) -> int:
    """Tokens of the longest session held: the context, or the longest of a mix."""
    e.input("context")
    return max(length for length, _ in e.scenario.mix)


def step_at(e: Evaluation, batch: int) -> float:
    """Seconds of one decode step with `batch` sessions."""
    weights = sum(e.read(batch).values())
    caches = batch * float(e["cache_bytes_per_session"])
    return decode.step_seconds(weights, caches, e.input("gpus"), float(e.input("bandwidth")), float(e.input("bandwidth_share")))


@_quantity("window_bytes_per_session", "Windows and state", "bytes", "what a session keeps whatever its length, windows full")
def window_bytes_per_session(e: Evaluation) -> Found:
    if e.input("cache_bytes_per_token") is not None:
        return Found(Fraction(0), lambda: "a stated cache adds no window")
    each = value_bytes(e)
    caches = cache.layer_caches(e.model)
    total = sum(((one.windowed * one.window + one.state) * one.count for one in caches), Fraction(0)) * each

    def working() -> str:
        terms = [f"{c.count} {c.kind} layers × {c.windowed * c.window + c.state:,} values" for c in caches if c.windowed or c.state]
        return f"({' + '.join(terms) or 'none'}) × {text(each, 'bytes')} = {text(total, 'bytes')}"

    return Found(total, working)


@_quantity("experts_tokens_90", "90% of experts read at", "tokens", "ln(0.1) / ln(1 − top_k / experts)", SEED, "skew and correlation of real routing, which read fewer")
def experts_tokens_90(e: Evaluation) -> Found:
    _, mixture = _slowest_mixture(e)
    chosen = mixture.experts + mixture.zero_experts
    needed = experts.tokens_to_touch(chosen, mixture.top_k, 0.9)
    return Found(needed, lambda: f"ln(0.1) / ln(1 − {mixture.top_k}/{chosen}) = {significant(needed)}")


def _slowest_mixture(e: Evaluation):
    mixtures = e.model.mixtures()
    if not mixtures:
        raise Unavailable("the model has no routed experts: every step reads every weight")
    return min(mixtures, key=lambda pair: Fraction(pair[1].top_k, pair[1].experts + pair[1].zero_experts))


@_quantity("experts_touched", "Experts read per layer", "experts", "experts × (1 − (1 − top_k / experts)^batch)", SEED)
def experts_touched(e: Evaluation) -> Found:
    _, mixture = _slowest_mixture(e)
    batch = e.input("batch")
    chosen = mixture.experts + mixture.zero_experts
    found = experts.touched(chosen, mixture.top_k, batch) * mixture.experts / chosen
    return Found(found, lambda: f"{mixture.experts} × (1 − (1 − {mixture.top_k}/{chosen})^{batch}) = {significant(found)}")


def _crossover(e: Evaluation, find, cost, twice: bool) -> Found:
    active = e["active_parameters"]
    found = find(e.model, active)
    if found is None:
        raise Unavailable("no layer's attention grows with context")
    total = flops.attention_cost(e.model, cost)

    def working() -> str:
        kinds: dict[str, Fraction] = {}
        for group, layer in zip(e.model.groups, cache.layer_caches(e.model), strict=True):
            slope = cost(group.attention).slope * group.count
            kinds[layer.kind] = kinds.get(layer.kind, Fraction(0)) + slope
        slopes = ", ".join(f"{kind} {text(slope, 'FLOP')}" for kind, slope in kinds.items() if slope)
        start = "2 × " if twice else ""
        return f"{start}(2 × {text(active, 'parameters', 4)} + {text(total.constant, 'FLOP')}) / {text(total.slope, 'FLOP')} per position ({slopes}) = {found:,.0f} tokens"

    return Found(found, working)


@_quantity("crossover_decode", "Attention crossover", "tokens", "(2 × active_parameters + constant attention) / attention FLOP per position", SEED,
           "linear layers' state updates, below 1% of their projections")  # fmt: skip
def crossover_decode(e: Evaluation) -> Found:
    return _crossover(e, flops.crossover_decode, flops.decode_cost, False)


@_quantity("crossover_prefill", "Prefill crossover", "tokens", "2 × (2 × active_parameters + constant attention) / attention FLOP per position; MLA expanded", SEED)
def crossover_prefill(e: Evaluation) -> Found:
    return _crossover(e, flops.crossover_prefill, flops.prefill_cost, True)


def prefill_work(e: Evaluation) -> flops.PrefillWork:
    """FLOP to prefill the context, the longest of a mix."""
    return e.once(_prefill_work)


def _prefill_work(e: Evaluation) -> flops.PrefillWork:
    return flops.prefill_work(e.model, e["active_parameters"], longest(e))


@_quantity("prefill_attention_share", "Growing attention's share of prefill", "share", "growing attention FLOP / all FLOP of prefilling the context, the longest of a mix; the mean position is half of it", SEED)
def prefill_attention_share(e: Evaluation) -> Found:
    work = prefill_work(e)
    if not work.total:
        raise Unavailable("no layer multiplies a token by anything")
    return Found(work.growing_share, lambda: f"{text(work.growing, 'FLOP')} / {text(work.total, 'FLOP')}")


DEFINITIONS = _registry.definitions
