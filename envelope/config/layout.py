"""What every layer is made of, by every way a file declares it."""

from __future__ import annotations

from collections.abc import Sequence

from envelope.config.families import Family
from envelope.config.keys import MISSING, Keys, Refused

LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers")
PATTERN = ("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers")
BLOCK_LISTS = ("layers_block_type", "layer_types", "hybrid_override_pattern")
MOST_LAYERS = 10_000

# The words of layer_types and its like, and the kind of layer each names.
WORDS = {
    "full_attention": "full", "attention": "full", "global": "full", "global_attention": "full", "full": "full",
    "indexed_attention": "full", "dense_attention": "full", "deepseek_sparse_attention": "full",
    "sliding_attention": "sliding", "sliding_window_attention": "sliding", "sliding_window": "sliding",
    "local": "sliding", "local_attention": "sliding", "sliding": "sliding",
    "chunked_attention": "chunked", "minimax_m3_sparse": "indexed",
    "linear_attention": "linear", "mamba": "linear", "mamba2": "linear", "conv": "linear", "kda": "linear",
    "compressed_sparse_attention": "csa", "heavily_compressed_attention": "hca",
    "hybrid": "both",
}  # fmt: skip
# Layers that are one block: attention, recurrence or feed-forward (Nemotron-H).
BLOCKS = {
    "full_attention": "full", "attention": "full", "*": "full",
    "linear_attention": "linear", "mamba": "linear", "M": "linear",
    "mlp": "dense", "-": "dense", "moe": "moe", "E": "moe",
}  # fmt: skip
# DeepSeek V4: what a layer's compress_ratios entry says (config class of the public implementation).
RATIOS = {0: "window", 4: "csa", 128: "hca"}


def count(keys: Keys) -> int:
    """Return the number of layers, from the list of blocks where the file states no number."""
    if keys.stated_or_default(*LAYERS):
        return keys.whole(*LAYERS, high=MOST_LAYERS)
    for name in BLOCK_LISTS:
        value = keys.state(name)[1]
        if isinstance(value, list | str) and 0 < len(value) <= MOST_LAYERS:
            return len(value)
    return keys.whole(*LAYERS)


def own_blocks(keys: Keys, family: Family, layers: int) -> list[str] | None:
    """Return the block each layer is, or None where a layer holds attention and feed-forward."""
    key, value = keys.state("hybrid_override_pattern")
    if value is MISSING:
        key, value = keys.state("layers_block_type", "layer_types")
        separate = isinstance(value, list) and any(word in ("moe", "mlp") for word in value)
        if not family.own_blocks and not separate:
            return None
    if not isinstance(value, str | list) or not value:
        raise Refused(keys.name(key), value, "the block of each layer")
    words = list(value)
    if len(words) != layers:
        raise Refused(keys.name(key), f"{len(words)} entries", f"one for each of the {layers} layers")
    return [translate(keys, key, word, BLOCKS) for word in words]


def kinds(keys: Keys, family: Family, layers: int) -> list[str]:
    """Return the kind of every layer: one of the values of WORDS and RATIOS, or `cross`, `none`."""
    for reader in (_words, _ratios, _block_configs, _types, _kimi, _block_sparse, _jamba, _interval, _cross):
        found = reader(keys, family, layers)
        if found is not None:
            return found
    if family.linear:
        raise Refused(keys.name("layer_types"), MISSING, "which layers attend, since the others are recurrent")
    if keys.stated_or_default("attention_chunk_size") and not family.window:
        return _chunks(keys, layers)
    return _windows(keys, family, layers)


def _words(keys: Keys, family: Family, layers: int) -> list[str] | None:
    listed = keys.listed("layer_types") or keys.listed("layers_block_type")
    if not listed:
        return None
    keys.pass_over(
        *PATTERN, "use_sliding_window", "max_window_layers", "no_rope_layers", "no_rope_layer_interval",
        "full_attention_interval", "layers_block_type", "compress_ratios", "sliding_window", "attn_layer_indices",
    )  # fmt: skip
    key, words = listed
    return [translate(keys, key, word, WORDS) for word in at_least(keys, key, words, layers)]


def _ratios(keys: Keys, family: Family, layers: int) -> list[str] | None:
    listed = keys.listed("compress_ratios")
    if not listed:
        return None
    key, values = listed
    return [translate(keys, key, value, RATIOS) for value in at_least(keys, key, values, layers)]


def _block_configs(keys: Keys, family: Family, layers: int) -> list[str] | None:
    listed = keys.listed("block_configs")
    if not listed:
        return None
    return ["none" if block["attention"]["no_op"] else "full" for block in block_configs(keys, layers)]


def block_configs(keys: Keys, layers: int) -> list[dict]:
    """Return the attention and ffn objects of each layer of a Nemotron-NAS file, checked."""
    key, blocks = keys.listed("block_configs") or ("block_configs", [])
    for index, block in enumerate(at_least(keys, key, blocks, layers)):
        for name in ("attention", "ffn"):
            part = block.get(name) if isinstance(block, dict) else None
            if not isinstance(part, dict) or not isinstance(part.get("no_op"), bool):
                raise Refused(f"{keys.name(key)}[{index}].{name}", part, "an object with no_op true or false")
            for unknown in ("replace_with_linear", "sparsify", "window_length", "num_sink_tokens"):
                if part.get(unknown):
                    raise Refused(f"{keys.name(key)}[{index}].{name}.{unknown}", part[unknown], "nothing: its shape is not known")
    return blocks[:layers]


def _types(keys: Keys, family: Family, layers: int) -> list[str] | None:
    """MiniMax marks softmax layers with 1; MiMo marks sliding ones in hybrid_layer_pattern."""
    for name, words in (("attn_type_list", {1: "full", 0: "linear"}), ("hybrid_layer_pattern", {0: "full", 1: "sliding"})):
        if listed := keys.listed(name):
            return [translate(keys, name, value, words) for value in at_least(keys, name, listed[1], layers)]
    return None


def _kimi(keys: Keys, family: Family, layers: int) -> list[str] | None:
    """Kimi names the layers of each kind, counted from 1."""
    section = keys.section("linear_attn_config")
    if section is None:
        return None
    inner = Keys(section, keys.log, path=keys.name("linear_attn_config."))
    full, linear = (
        {inner.check(name, value, 1, MOST_LAYERS) for value in (inner.listed(name) or ("", []))[1]}
        for name in ("full_attn_layers", "kda_layers")
    )
    if full & linear or full | linear != set(range(1, layers + 1)):
        raise Refused(inner.name("full_attn_layers"), sorted(full), f"with kda_layers, each of the layers 1 to {layers} once")
    return ["full" if i + 1 in full else "linear" for i in range(layers)]


def _block_sparse(keys: Keys, family: Family, layers: int) -> list[str] | None:
    """MiniMax-M3 marks the layers that pick blocks of positions by an indexer."""
    section = keys.section("sparse_attention_config")
    if section is None:
        if "index_topk_blocks" in keys.defaults:
            keys.log.assume(keys.name("sparse_attention_config"), "none", "absent: every layer attends to everything, as in this class")
        return None
    inner = Keys(section, keys.log, path=keys.name("sparse_attention_config."))
    if inner.has("use_sparse_attention") and not inner.flag("use_sparse_attention"):
        return ["full"] * layers
    listed = inner.listed("sparse_attention_freq")
    if listed is None:
        raise Refused(inner.name("sparse_attention_freq"), MISSING, "which layers have an indexer")
    return [translate(inner, listed[0], value, {0: "full", 1: "indexed"}) for value in at_least(inner, *listed, layers)]


def _jamba(keys: Keys, family: Family, layers: int) -> list[str] | None:
    if keys.has("attn_layer_indices", "full_attn_idxs"):
        key, values = keys.listed("attn_layer_indices", "full_attn_idxs")
        places = {keys.check(key, value, 0, layers - 1) for value in values}
        return ["full" if i in places else "linear" for i in range(layers)]
    if keys.stated_or_default("mamba_n_heads", "mamba_num_heads", "mamba_d_state", "conv_L_cache") and not (
        family.both or keys.stated_or_default("attn_layer_period")
    ):
        raise Refused(keys.name("layer_types"), MISSING, "which layers attend, since the others are recurrent")
    if not keys.stated_or_default("attn_layer_period"):
        return None
    period, offset = keys.whole("attn_layer_period"), keys.whole("attn_layer_offset", low=0)
    return ["full" if i % period == offset else "linear" for i in range(layers)]


def _interval(keys: Keys, family: Family, layers: int) -> list[str] | None:
    """Qwen3-Next and its like: every n-th layer is full, the others are linear."""
    if not keys.stated_or_default("linear_num_value_heads"):
        return None
    every = keys.whole("full_attention_interval", default=4, why="absent: the rule of this class")
    return ["full" if (i + 1) % every == 0 else "linear" for i in range(layers)]


def _cross(keys: Keys, family: Family, layers: int) -> list[str] | None:
    if not keys.stated_or_default("cross_attention_layers"):
        return None
    value = keys.state("cross_attention_layers")[1]
    if value is MISSING:
        value = keys.default(("cross_attention_layers",), MISSING, "")
    if not isinstance(value, list):
        raise Refused(keys.name("cross_attention_layers"), value, "a list of layers")
    places = {keys.check("cross_attention_layers", layer, 0, layers - 1) for layer in value}
    return ["cross" if i in places else "full" for i in range(layers)]


def _chunks(keys: Keys, layers: int) -> list[str]:
    """Llama 4: layers with rotary positions attend in chunks, the others to everything."""
    listed = keys.listed("no_rope_layers")
    if listed and listed[1]:
        marks = at_least(keys, listed[0], listed[1], layers)
        return ["chunked" if keys.check(listed[0], mark, 0, 1) else "full" for mark in marks]
    every = keys.whole("no_rope_layer_interval", default=4, why="absent: the rule of this class")
    return ["full" if (i + 1) % every == 0 else "chunked" for i in range(layers)]


def _windows(keys: Keys, family: Family, layers: int) -> list[str]:
    keys.pass_over("sliding_window", "max_window_layers", "use_sliding_window", *PATTERN)
    if not family.window and keys.known:
        if keys.optional("sliding_window", high=10**9):
            keys.log.assume(keys.name("layer_types"), "every layer full", "absent: this class slides only where told")
        return ["full"] * layers
    if (family.window == "late" or keys.has("use_sliding_window")) and not keys.flag("use_sliding_window"):
        return ["full"] * layers
    if not keys.optional("sliding_window", high=10**9):
        return ["full"] * layers
    if keys.stated_or_default(*PATTERN):
        return _pattern(keys, layers)
    if family.window == "late":
        first = keys.whole("max_window_layers", low=0, high=10**9)
        return ["sliding" if i >= first else "full" for i in range(layers)]
    if family.window == "all":
        return ["sliding"] * layers
    if not family.window:
        raise Refused(keys.name("layer_types"), MISSING, "which layers slide, since sliding_window is given")
    rule = "counted from the last" if family.window == "last" else "counted from the first"
    keys.log.assume(keys.name("layer_types"), f"one full in {family.every}, {rule}", "absent: the rule of this class")
    last = layers - 1
    return [
        "full" if ((last - i) if family.window == "last" else (i + 1)) % family.every == 0 else "sliding"
        for i in range(layers)
    ]


def _pattern(keys: Keys, layers: int) -> list[str]:
    """Repeat letters such as `LLLG`, or make every n-th layer full."""
    key, value = keys.state(*PATTERN)
    if value is MISSING:
        value = keys.default(PATTERN, MISSING, "")
    if isinstance(value, str):
        letters = value.upper()
        if not letters or set(letters) - set("LGSF") or len(letters) > 1000:
            raise Refused(keys.name(key), value, "letters L (sliding) and G (full), or a whole number")
        return ["sliding" if letters[i % len(letters)] in "LS" else "full" for i in range(layers)]
    every = keys.check(key, value, 1, MOST_LAYERS)
    return ["full" if (i + 1) % every == 0 else "sliding" for i in range(layers)]


def at_least(keys: Keys, key: str, values: Sequence, layers: int) -> Sequence:
    """Return the first `layers` values. Lists may go on with prediction layers; a shorter one is refused."""
    if len(values) < layers:
        raise Refused(keys.name(key), values, f"one entry for each of the {layers} layers")
    if len(values) > layers + 16:
        raise Refused(keys.name(key), values, f"no more than the {layers} layers and a few for prediction")
    return values[:layers]


def translate(keys: Keys, key: str, word: object, words: dict) -> str:
    """Return what a layer's word stands for. Raises Refused for one nobody has described."""
    if isinstance(word, bool) or not isinstance(word, str | int) or word not in words:
        raise Refused(keys.name(key), word, f"one of {', '.join(str(known) for known in words)}")
    return words[word]
