"""Which layers route to experts, and how wide every feed-forward block is."""

from __future__ import annotations

from dataclasses import dataclass

from envelope.config.families import Family
from envelope.config.keys import MISSING, Keys, Refused
from envelope.config.layout import at_least, translate
from envelope.model import Dense, FeedForward, MixtureOfExperts

EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
TOP_K = ("num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_topk", "moe_k", "moe_top_k", "top_k_experts")
EXPERT_WIDTH = ("moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size")
SHARED_COUNT = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert")
SHARED_WIDTH = (
    "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size",
    "share_expert_dim", "share_expert_dims",
)  # fmt: skip
# How wide dense layers are, where intermediate_size is the experts' width.
DENSE_ONLY_WIDTH = ("intermediate_size_mlp", "dense_intermediate_size", "mlp_intermediate_size")
WIDTH = ("intermediate_size", "ffn_hidden_size", "block_ff_dim")
LATENT = ("moe_latent_size", "moe_hidden_size", "routed_expert_hidden_size")
MLP_BIAS = ("mlp_bias", "use_bias", "add_bias_linear", "bias")
FIRST_DENSE = ("first_k_dense_replace", "num_dense_layers", "moe_layer_num_skipped")
PLACEMENT = (
    *FIRST_DENSE, "mlp_layer_types", "moe_layer_freq", "moe_layer_start_index", "moe_layers_enum", "moe_layers",
    "mlp_only_layers", "decoder_sparse_step", "interleave_moe_layer_step", "expert_layer_period",
)  # fmt: skip
GATED = ("silu", "swish", "swiglu", "swigluoai", "gelu_pytorch_tanh", "geglu")
UNGATED = ("relu2", "relu", "gelu", "gelu_new", "gelu_fast", "xielu")
ACTIVATION = ("mlp_hidden_act", "hidden_act", "hidden_activation", "activation_function")


@dataclass(frozen=True)
class Block:
    """One layer's feed-forward, a dense block beside it, and the norms the pair adds to the layer."""

    feed_forward: FeedForward
    beside: Dense | None = None
    norms: int = 0


def routed(keys: Keys) -> bool:
    """True where the model has experts at all."""
    if keys.stated_or_default("enable_moe_block") and not keys.flag("enable_moe_block"):
        keys.pass_over(*EXPERTS, *TOP_K, *EXPERT_WIDTH)
        return False
    key, value = keys.state(*EXPERTS)
    if value is MISSING and not any(name in keys.values for name in EXPERTS):
        value = keys.default(EXPERTS, MISSING, "")
    if value is MISSING or value is None:
        if keys.has(*TOP_K):
            needed = f"a number of experts, since {keys.state(*TOP_K)[0]} is given"
            raise Refused(keys.name(key), keys.values.get(key, MISSING), needed)
        return False
    if isinstance(value, list):
        return True
    return keys.check(key, value, 0, 10**6) > 1


def sparse_layers(keys: Keys, family: Family, layers: int) -> list[bool]:
    """True for each layer that routes to experts, by every way of declaring it that the file uses."""
    if listed := keys.listed("mlp_layer_types"):
        keys.pass_over(*PLACEMENT)
        words = {"sparse": True, "moe": True, "hash_moe": True, "dense": False}
        return [translate(keys, listed[0], word, words) for word in at_least(keys, listed[0], listed[1], layers)]
    chosen = _chosen(keys, layers)
    if chosen is not None:
        keys.pass_over(*PLACEMENT)
        return [i in chosen for i in range(layers)]
    first = keys.optional(*FIRST_DENSE)
    if not keys.stated_or_default(*PLACEMENT) and family.dense_first:
        first = family.dense_first
        keys.log.assume(keys.name("mlp_layer_types"), f"the first {first} dense", "absent: the rule of this class")
    mask = [i >= first for i in range(layers)]
    if keys.is_list("moe_layer_freq"):
        key, marks = keys.listed("moe_layer_freq")
        marks = [keys.check(key, mark, 0, 1) for mark in at_least(keys, key, marks, layers)]
        mask = [value and bool(mark) for value, mark in zip(mask, marks, strict=True)]
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


def _chosen(keys: Keys, layers: int) -> set[int] | None:
    """Return the layers that a list, or a text of numbers with commas, names one by one."""
    key, value = keys.state("moe_layers", "moe_layers_enum")
    if value is MISSING:
        return None
    if isinstance(value, str) and len(value) < 100_000:
        value = [int(part) if part.strip().isascii() and part.strip().isdigit() else part for part in value.split(",")]
    if not isinstance(value, list):
        raise Refused(keys.name(key), value, "a list of layers")
    return {keys.check(key, layer, 0, layers + 15) for layer in value}


def matrices(keys: Keys, family: Family) -> int:
    """Return how many matrices a feed-forward has: 3 with a gate, 2 without."""
    keys.pass_over(*ACTIVATION)
    if keys.known:
        return family.matrices
    name = next((name for name in ACTIVATION if keys.has(name)), "")
    act = keys.word(name) if name else ""
    if act in UNGATED:
        keys.log.assume("feed-forward", "2 matrices", f"no gate, as usual with the activation {act}")
        return 2
    if act and act not in GATED:
        raise Refused(keys.name(name), act, f"one of {', '.join(GATED + UNGATED)}")
    keys.log.assume("feed-forward", "3 matrices", f"gate, up and down, as usual{' with ' + act if act else ''}")
    return 3


def blocks(keys: Keys, views: list[Keys], family: Family, hidden: int, own: list[str] | None) -> list[Block]:
    """Return the feed-forward of every layer. `own` says which layers are one, where a layer is a single block."""
    count, layers = matrices(keys, family), len(views)
    has_experts = "moe" in own if own else routed(keys)
    if own:
        mask = [block == "moe" for block in own]
    else:
        mask = sparse_layers(keys, family, layers) if has_experts else [False] * layers
    keys.pass_over(*DENSE_ONLY_WIDTH, *WIDTH)
    made: dict[tuple, Block] = {}
    found = []
    shared = layers - keys.optional("num_kv_shared_layers", high=layers)
    for layer, view in enumerate(views):
        if own and own[layer] not in ("dense", "moe"):
            found.append(Block(None))
            continue
        double = layer >= shared and keys.stated_or_default("use_double_wide_mlp") and keys.flag("use_double_wide_mlp")
        key = (id(view), mask[layer], double)
        if key not in made:
            made[key] = _block(view, family, count, hidden, mask[layer], has_experts, 2 if double else 1)
        found.append(made[key])
    return found


def _block(keys: Keys, family: Family, count: int, hidden: int, sparse: bool, has_experts: bool, factor: int) -> Block:
    if not sparse:
        width = _dense_width(keys, has_experts) * factor
        return Block(_dense(keys, width, count, hidden) if width else None)
    mixture = experts(keys, family, count, hidden)
    if keys.has("enable_moe_block"):
        # Gemma 4 runs a dense block beside its experts, with three more norms (`modeling_gemma4.py`).
        return Block(mixture, _dense(keys, keys.whole(*WIDTH), count, hidden), 3 * hidden)
    normed = keys.stated_or_default("latent_moe_use_norm") and keys.flag("latent_moe_use_norm")
    latent_norms = 2 if family.latent_norms else int(normed)
    return Block(mixture, norms=latent_norms * mixture.latent)


def _dense_width(keys: Keys, has_experts: bool) -> int:
    if keys.stated_or_default(*DENSE_ONLY_WIDTH):
        return keys.whole(*DENSE_ONLY_WIDTH)
    if not has_experts and keys.has(*EXPERTS) and keys.optional(*SHARED_WIDTH):
        return keys.whole(*SHARED_WIDTH)  # Granite 4 without experts keeps its shared block alone
    width = keys.whole(*WIDTH, low=0 if keys.has("block_configs") else 1)
    if keys.stated_or_default("block_auto_adjust_ff_dim") and keys.flag("block_auto_adjust_ff_dim"):
        multiple = keys.whole("block_multiple_of")
        keys.pass_over("block_ffn_dim_multiplier")
        return -(-(2 * width // 3) // multiple) * multiple
    return width


def _dense(keys: Keys, width: int, count: int, hidden: int) -> Dense:
    learned = 2 if any(keys.has(name) and keys.word(name) == "xielu" for name in ACTIVATION) else 0  # the activation's own two
    return Dense(width, count, learned + (width * (count - 1) + hidden if _biased(keys) else 0))


def _biased(keys: Keys) -> bool:
    name = next((name for name in MLP_BIAS if keys.stated_or_default(name)), MLP_BIAS[0])
    return keys.flag(name)


def experts(keys: Keys, family: Family, count: int, hidden: int) -> MixtureOfExperts:
    """Return the mixture that a routed layer holds."""
    number = keys.whole(*EXPERTS, high=10**6)
    top_k = keys.whole(*TOP_K)
    width = _expert_width(keys)
    latent = keys.optional(*LATENT)
    zero = keys.optional("zero_expert_num")
    if top_k > number + zero:
        raise Refused(keys.name(keys.state(*TOP_K)[0]), top_k, f"at most the number of experts, {number + zero}")
    if _biased(keys) and not family.expert_bias:
        raise Refused(keys.name(MLP_BIAS[0]), True, "false: which parts of a mixture have a bias is not known")
    shared = _shared_width(keys, family, width)
    router = number if family.router_bias else 0
    if keys.has("enable_moe_block"):
        router = hidden + number  # a scale on the router's input and one for each expert
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
        router_vectors=router,
        router_buffers=number + zero if family.router_buffer else 0,
    )


def _expert_width(keys: Keys) -> int:
    if keys.stated_or_default(*EXPERT_WIDTH):
        return keys.whole(*EXPERT_WIDTH)
    if any(name in keys.defaults for name in EXPERT_WIDTH):
        raise Refused(keys.name(EXPERT_WIDTH[0]), keys.values.get(EXPERT_WIDTH[0], MISSING), "the width of an expert")
    # Without a width of their own the experts are as wide as intermediate_size says (Mixtral, gpt-oss).
    if not keys.known:
        keys.log.assume(keys.name(EXPERT_WIDTH[0]), "intermediate_size", "no width is stated for experts alone")
    return keys.whole(*WIDTH)


def _shared_width(keys: Keys, family: Family, width: int) -> int:
    if keys.has("use_mixed_mlp_moe") and not keys.flag("use_mixed_mlp_moe"):
        keys.pass_over(*SHARED_COUNT)
        return 0
    own = keys.optional(*SHARED_WIDTH)
    number = keys.optional(*SHARED_COUNT)
    if own:
        # A width beside a count is one expert's where the count is more than one (Nemotron-3 has one).
        return own * max(1, number) if keys.has(*SHARED_COUNT) else own
    return (number or family.shared_experts) * width


def dense_block(keys: Keys, family: Family, hidden: int) -> Block:
    """Return the dense block of a layer that also has experts (LongCat has two in each)."""
    return Block(_dense(keys, keys.whole(*WIDTH), family.matrices, hidden))
