"""Which layers route to experts, and how wide every feed-forward block is."""

from __future__ import annotations

from dataclasses import dataclass

from envelope.config.families import Family
from envelope.config.keys import MISSING, Keys, Refused
from envelope.model import Dense, FeedForward, MixtureOfExperts

EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
TOP_K = ("num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_topk", "moe_k", "moe_top_k", "top_k_experts")
EXPERT_WIDTH = ("moe_intermediate_size", "expert_ffn_hidden_size", "expert_intermediate_size", "moe_ffn_hidden_size")
SHARED_COUNT = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert")
SHARED_WIDTH = (
    "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size",
    "share_expert_dim",
)  # fmt: skip
DENSE_ONLY_WIDTH = ("intermediate_size_mlp", "dense_intermediate_size")
WIDTH = ("intermediate_size", "ffn_hidden_size")
LATENT = ("moe_latent_size", "moe_hidden_size", "routed_expert_hidden_size")
GATED = ("silu", "swish", "swiglu", "swigluoai", "gelu_pytorch_tanh", "geglu", "xielu")
UNGATED = ("relu2", "relu", "gelu", "gelu_new", "gelu_fast")
ACTIVATION = ("mlp_hidden_act", "hidden_act", "hidden_activation", "activation_function")


@dataclass(frozen=True)
class Blocks:
    """The feed-forward of every layer, and what norms it holds."""

    per_layer: tuple[FeedForward, ...]
    norms: int = 0


def routed(keys: Keys) -> bool:
    """True where the model has experts at all."""
    key, value = keys.state(*EXPERTS)
    if value is MISSING:
        value = keys.default(EXPERTS, 0, "")
        if not value and keys.has(*TOP_K):
            raise Refused(keys.name(key), MISSING, f"the number of experts, since {keys.state(*TOP_K)[0]} is given")
    return keys.check(key, value, 0, 10**6) > 1 if not isinstance(value, list | tuple) else True


def sparse_layers(keys: Keys, layers: int) -> list[bool]:
    """True for each layer that routes to experts, by every way of declaring it that the file uses."""
    listed = keys.listed("mlp_layer_types")
    if listed:
        words = {"sparse": True, "moe": True, "dense": False}
        return [_word(keys, listed[0], word, words) for word in _at_least(keys, listed, layers)]
    mask = [True] * layers
    first = keys.optional("first_k_dense_replace", "num_dense_layers")
    mask = [value and i >= first for i, value in enumerate(mask)]
    if keys.is_list("moe_layer_freq"):
        freq = keys.listed("moe_layer_freq")
        mask = [value and bool(keys.check(freq[0], f, 0, 1)) for value, f in zip(mask, _at_least(keys, freq, layers), strict=True)]
    elif step := keys.optional("moe_layer_freq"):
        mask = [value and i % step == 0 for i, value in enumerate(mask)]
    start = keys.optional("moe_layer_start_index")
    end = keys.whole("moe_layer_end_index", default=-1, low=-1)
    interval = keys.optional("moe_layer_interval") or 1
    end = layers - 1 if end == -1 else end
    mask = [value and start <= i <= end and (i + 1) % interval == 0 for i, value in enumerate(mask)]
    step = keys.optional("decoder_sparse_step", "interleave_moe_layer_step") or 1
    only = keys.listed("mlp_only_layers")
    dense = {keys.check(only[0], i, 0, 10**6) for i in only[1]} if only else set()
    mask = [value and (i + 1) % step == 0 and i not in dense for i, value in enumerate(mask)]
    if period := keys.optional("expert_layer_period"):
        offset = keys.optional("expert_layer_offset")
        mask = [value and i % period == offset for i, value in enumerate(mask)]
    return mask


def _at_least(keys: Keys, listed: tuple[str, list], layers: int) -> list:
    key, values = listed
    if len(values) < layers:
        raise Refused(keys.name(key), values, f"one entry for each of the {layers} layers")
    return values[:layers]


def _word(keys: Keys, key: str, word: object, words: dict[str, bool]) -> bool:
    if not isinstance(word, str) or word not in words:
        raise Refused(keys.name(key), word, f"one of {', '.join(words)}")
    return words[word]


def matrices(keys: Keys, family: Family) -> int:
    """Return how many matrices a feed-forward has: 3 with a gate, 2 without."""
    if family.matrices:
        return family.matrices
    act = keys.word(*ACTIVATION)
    if act in UNGATED:
        keys.log.assume("feed-forward", "2 matrices", f"the activation {act} usually has no gate")
        return 2
    if act and act not in GATED:
        raise Refused(keys.name("hidden_act"), act, f"one of {', '.join(GATED + UNGATED)}")
    keys.log.assume("feed-forward", "3 matrices", f"gate, up and down, as with {act or 'most models'}")
    return 3


def blocks(keys: Keys, family: Family, layers: int, hidden: int) -> Blocks:
    """Return the feed-forward of each of `layers` layers."""
    count = matrices(keys, family)
    bias = keys.flag("mlp_bias", "use_bias")
    if not routed(keys):
        widths = keys.per_layer(layers, *WIDTH, low=1)
        return Blocks(tuple(_dense(width, count, hidden, bias) for width in widths))
    mask = sparse_layers(keys, layers)
    mixture = experts(keys, family, count, hidden) if any(mask) else None
    dense = None
    if not all(mask):
        name = DENSE_ONLY_WIDTH if keys.stated_or_default(*DENSE_ONLY_WIDTH) else WIDTH
        dense = _dense(keys.whole(*name), count, hidden, bias)
    else:
        keys.pass_over(*DENSE_ONLY_WIDTH, *WIDTH)
    norms = 2 * mixture.latent if mixture and family.latent_norms else 0
    return Blocks(tuple(mixture if sparse else dense for sparse in mask), norms)


def _dense(width: int, count: int, hidden: int, bias: bool) -> Dense:
    return Dense(width, count, (width * (count - 1) + hidden) if bias else 0)


def experts(keys: Keys, family: Family, count: int, hidden: int) -> MixtureOfExperts:
    """Return the mixture that routed layers hold."""
    number = keys.whole(*EXPERTS, high=10**6)
    top_k = keys.whole(*TOP_K)
    width = _expert_width(keys)
    latent = keys.optional(*LATENT)
    zero = keys.optional("zero_expert_num")
    if top_k > number + zero:
        raise Refused(keys.name(keys.state(*TOP_K)[0]), top_k, f"at most the number of experts, {number + zero}")
    shared = _shared_width(keys, family, width)
    return MixtureOfExperts(
        number,
        top_k,
        width,
        count,
        latent if latent != hidden else 0,
        shared,
        shared_gate=bool(shared) and family.shared_gate,
        zero_experts=zero,
        expert_vectors=(2 * width + hidden) if family.expert_bias else 0,
        router_vectors=number if family.router_bias else 0,
    )


def _expert_width(keys: Keys) -> int:
    if keys.stated_or_default(*EXPERT_WIDTH):
        return keys.whole(*EXPERT_WIDTH)
    # Without a width of their own the experts are as wide as intermediate_size says (Mixtral, gpt-oss).
    if not keys.known:
        keys.log.assume(keys.name(EXPERT_WIDTH[0]), "intermediate_size", "no width is stated for experts alone")
    return keys.whole(*WIDTH)


def _shared_width(keys: Keys, family: Family, width: int) -> int:
    own = keys.optional(*SHARED_WIDTH)
    number = keys.optional(*SHARED_COUNT) or family.shared_experts
    if own:
        return own
    return number * width
