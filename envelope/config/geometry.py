"""What one layer sees of a config whose values differ by layer or by kind of layer."""

from __future__ import annotations

from envelope.config.families import Family
from envelope.config.keys import Keys, Refused
from envelope.config.layout import block_configs

# Keys that may hold one value per layer, and the plain key each stands for.
PER_LAYER = {
    "num_attention_heads_per_layer": "num_attention_heads",
    "num_key_value_heads": "num_key_value_heads",
    "intermediate_size": "intermediate_size",
    "moe_intermediate_size": "moe_intermediate_size",
    "num_experts": "num_experts",
    "moe_topk": "moe_topk",
    "num_shared_expert": "num_shared_expert",
}
# What one layer's object in per_layer_config may state.
GEOMETRY = ("num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size")
# MiMo-V2 and Step-3.7: the geometry of sliding layers.
SLIDING = {
    "swa_num_attention_heads": "num_attention_heads",
    "num_sliding_attention_heads": "num_attention_heads",
    "swa_num_key_value_heads": "num_key_value_heads",
    "swa_head_dim": "head_dim",
    "swa_v_head_dim": "v_head_dim",
}


def views(keys: Keys, family: Family, kinds: list[str]) -> list[Keys]:
    """Return, for each layer, the config as that layer sees it. Layers alike share one object."""
    layers = len(kinds)
    by_kind = {kind: _of_kind(keys, family, kind) for kind in dict.fromkeys(kinds)}
    columns = _columns(keys, layers)
    stated = _stated(keys, layers)
    made: dict[tuple, Keys] = {}
    found = []
    for layer, kind in enumerate(kinds):
        own = tuple((name, values[layer]) for name, values in columns) + stated.get(layer, ())
        if (kind, own) not in made:
            made[kind, own] = keys.overlay({**by_kind[kind], **dict(own)}) if own or by_kind[kind] else keys
        found.append(made[kind, own])
    return found


def _stated(keys: Keys, layers: int) -> dict[int, tuple[tuple[str, int], ...]]:
    """Return what per_layer_config states for single layers (configs saved by recent versions)."""
    found = {}
    for key, section in (keys.section("per_layer_config") or {}).items():
        if not isinstance(key, str) or not key.isascii() or not key.isdigit() or int(key) >= layers or not isinstance(section, dict):
            raise Refused(keys.name("per_layer_config"), key, f"an object for layers 0 to {layers - 1}")
        inner = Keys(section, keys.log, path=keys.name(f"per_layer_config.{key}."))
        unknown = [name for name in section if name not in GEOMETRY]
        if unknown:
            raise Refused(inner.name(unknown[0][:40]), section[unknown[0]], f"one of {', '.join(GEOMETRY)}")
        found[int(key)] = tuple((name, inner.whole(name)) for name in section)
    return found


def _of_kind(keys: Keys, family: Family, kind: str) -> dict[str, object]:
    """Return the values that replace the plain ones in layers of one kind."""
    if kind == "sliding":
        found = {plain: keys.whole(name) for name, plain in SLIDING.items() if keys.has(name)}
        if other := keys.section("attention_other_setting"):
            inner = Keys(other, keys.log, path=keys.name("attention_other_setting."))
            inner.pass_over("attention_type", "true_head_dim")
            found["num_attention_heads"] = inner.whole("num_attention_heads")
            found["num_key_value_heads"] = inner.whole("num_attention_groups", "num_key_value_heads")
            found["head_dim"] = inner.whole("head_dim", default=keys.whole("head_dim"))
        if family.window_extra and not keys.has("swa_num_key_value_heads"):
            found["num_key_value_heads"] = 2 * keys.whole("num_key_value_heads")
        return found
    if kind == "full" and keys.stated_or_default("global_head_dim") and not keys.has("per_layer_config"):
        found = {"head_dim": keys.whole("global_head_dim")}
        if keys.flag("attention_k_eq_v") and (own := keys.optional("num_global_key_value_heads")):
            found["num_key_value_heads"] = own
        keys.pass_over("num_global_key_value_heads")
        return found
    keys.pass_over(*SLIDING, "attention_other_setting")
    return {}


def _columns(keys: Keys, layers: int) -> list[tuple[str, list[int]]]:
    """Return (plain key, value per layer) for every key that the file states as a list."""
    found = [
        (plain, keys.per_layer(layers, name, low=1)) for name, plain in PER_LAYER.items() if keys.is_list(name)
    ]
    for name, plain in PER_LAYER.items():
        if name == plain or keys.listed(name):
            continue
        if name in keys.defaults:
            keys.log.assume(keys.name(name), f"{plain} in every layer", keys.origin)
    if keys.has("block_configs"):
        found += _block_columns(keys, layers)
    return found


def _block_columns(keys: Keys, layers: int) -> list[tuple[str, list]]:
    """Nemotron-NAS: queries per KV head, and a multiplier of the width, per layer.

    The width is 2/3 of multiplier times hidden, rounded up to a multiple of 256 (`configuration_decilm.py`).
    """
    heads, hidden = keys.whole("num_attention_heads"), keys.whole("hidden_size")
    kv, widths = [], []
    for index, block in enumerate(block_configs(keys, layers)):
        path = f"block_configs[{index}]"
        each = 0
        if not block["attention"]["no_op"]:
            group = keys.check(f"{path}.attention.n_heads_in_group", block["attention"].get("n_heads_in_group"))
            if heads % group:
                raise Refused(keys.name(f"{path}.attention.n_heads_in_group"), group, f"a divisor of the {heads} query heads")
            each = heads // group
        kv.append(each or heads)
        factor = block["ffn"].get("ffn_mult")
        if block["ffn"]["no_op"]:
            widths.append(0)
            continue
        if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 < factor <= 100:
            raise Refused(keys.name(f"{path}.ffn.ffn_mult"), factor, "a number from 0 to 100")
        widths.append(-(-int(2 * factor * hidden / 3) // 256) * 256)
    return [("num_key_value_heads", kv), ("intermediate_size", widths)]


def shared_caches(keys: Keys, layers: int) -> list[bool]:
    """True for each layer that reads another layer's keys and values and keeps none of its own."""
    last = keys.optional("num_kv_shared_layers", high=layers - 1)  # the first must keep a cache to share
    if keys.has("use_cla") and keys.flag("use_cla"):
        factor = keys.whole("cla_share_factor")
        return [i % factor != 0 for i in range(layers)]
    keys.pass_over("cla_share_factor")
    return [i >= layers - last for i in range(layers)]
