"""How one layer attends: heads, latent records, compressed records; with biases and norms."""

from __future__ import annotations

from dataclasses import dataclass

from envelope.config import linear
from envelope.config.families import Family
from envelope.config.keys import Keys, Refused
from envelope.model import Attention, CompressedAttention, HeadAttention, Indexer, LatentAttention

HEADS = ("num_attention_heads", "n_heads", "n_head")
KV_HEADS = ("num_key_value_heads", "multi_query_group_num", "num_attention_groups", "num_kv_heads", "kv_n_heads", "n_kv_heads", "num_query_groups")
HEAD_DIM = ("head_dim", "attention_head_dim", "kv_channels")
BIAS = ("attention_bias", "qkv_bias", "use_qkv_bias", "add_qkv_bias", "use_bias", "add_bias_linear", "bias")
# Which of these a file uses decides; a key about queries, keys and values alone leaves the output without one.
QKV_ONLY = ("qkv_bias", "use_qkv_bias", "add_qkv_bias")


BLOCK_INDEX = ("index_n_heads", "index_head_dim", "index_block_size", "index_topk_blocks", "index_local_blocks")


@dataclass(frozen=True)
class Built:
    """One layer's attention, the norm parameters it carries, and other vectors beside it."""

    attention: Attention
    norms: int = 0
    other: int = 0


def is_latent(keys: Keys) -> bool:
    """True where keys and values are compressed to one record per token."""
    if not keys.stated_or_default("kv_lora_rank"):
        return False
    off = keys.has("use_mla") and not keys.flag("use_mla")
    if "kv_lora_rank" in keys.values and keys.values["kv_lora_rank"] is None:
        if keys.defaults.get("kv_lora_rank") is not None and not off:
            raise Refused(keys.name("kv_lora_rank"), None, "the width of the compressed record, which this family always keeps")
        return False
    return not off


def build(keys: Keys, family: Family, kind: str, hidden: int, shared: bool, indexed: bool) -> Built:
    """Return the attention of a layer of one kind.

    `shared`: the layer reads another layer's cache. `indexed`: the layer has an indexer of its own, where any has.
    """
    if kind == "none":
        return Built(None)
    if kind == "linear":
        return Built(*linear.build(keys, family, hidden))
    if kind in ("csa", "hca", "window"):
        return compressed(keys, kind, hidden)
    if is_latent(keys):
        return latent(keys, family, hidden, indexed)
    return heads(keys, family, kind, hidden, shared)


def heads(keys: Keys, family: Family, kind: str, hidden: int, shared: bool) -> Built:
    """Return attention whose cache holds keys and values per head."""
    query = keys.whole(*HEADS)
    kv = keys.whole(*KV_HEADS, default=query, why="absent: every query head has its own (MHA)")
    dim = head_dim(keys, query, hidden)
    value = keys.optional("v_head_dim") or dim
    if query % kv:
        raise Refused(keys.name("num_key_value_heads"), kv, f"a divisor of the {query} query heads")
    window = 0
    if kind == "sliding":
        window = _window(keys, family)
    elif kind == "chunked":
        window = keys.whole("attention_chunk_size", high=10**9)
    one_matrix = kind == "full" and keys.has("attention_k_eq_v") and keys.flag("attention_k_eq_v")
    keys_and_values = 0 if shared else kv * (dim if one_matrix else dim + value)
    vectors = biases(keys, family, query * dim, keys_and_values, hidden) + (query if _has_sinks(keys, family, kind) else 0)
    norms = qk_norms(keys, family, query, 0 if shared else kv, dim) if kind != "cross" else 2 * dim
    indexer, index_norms = _block_indexer(keys, kind)
    return Built(
        HeadAttention(
            query, kv, dim, value, window, kind == "chunked", gate(keys, family), owns_cache=not shared,
            projects_kv=not shared, shares_kv_projection=one_matrix, cross=kind == "cross", indexer=indexer, vectors=vectors,
        ),
        norms + index_norms,
        2 if kind == "cross" else 0,  # one gate for attention and one for the feed-forward
    )  # fmt: skip


def _window(keys: Keys, family: Family) -> int:
    """Return how many tokens a sliding layer keeps. MiMo counts the tokens before the current one."""
    if family.window_extra and keys.has("sliding_window_size"):
        keys.pass_over("sliding_window")
        return keys.whole("sliding_window_size", high=10**9) + family.window_extra
    window = keys.whole("sliding_window", high=10**9)
    if family.window_extra:
        why = "absent: sliding_window counts the current token, as in the class default"
        keys.log.assume(keys.name("sliding_window_size"), window - 1, why)
    other = keys.state("sliding_window_size")[1]
    if other not in (window, None) and keys.has("sliding_window_size"):
        raise Refused(keys.name("sliding_window_size"), other, f"the same as sliding_window, which is {window}")
    return window


def _has_sinks(keys: Keys, family: Family, kind: str) -> bool:
    if kind == "sliding" and keys.has("add_swa_attention_sink_bias"):
        return keys.flag("add_swa_attention_sink_bias")
    if kind == "full" and keys.has("add_full_attention_sink_bias"):
        return keys.flag("add_full_attention_sink_bias")
    return family.sinks == "all" or family.sinks == kind


def gate(keys: Keys, family: Family) -> str:
    """Return the output gate: `full`, `head` or none."""
    if keys.has("gating", "gating_types"):
        value = _gating(keys)
        words = {True: "head", "per-head": "head", False: "", "per-element": "full"}
        if not isinstance(value, bool | str) or value not in words:
            raise Refused(keys.name("gating"), value, "true, false, per-head or per-element")
        return words[value]
    if keys.has("use_head_wise_attn_gate"):
        return "head" if keys.flag("use_head_wise_attn_gate") else ""
    if keys.has("attn_output_gate", "attention_output_gate"):
        return "full" if keys.flag("attn_output_gate", "attention_output_gate") else ""
    return family.gate


def _gating(keys: Keys) -> object:
    """Return Laguna's gating, from one key or from a list that says the same for every layer."""
    listed = keys.listed("gating_types")
    if listed is None:
        return keys.state("gating")[1]
    words = {word.replace("_", "-") if isinstance(word, str) else word for word in map(_hashable, listed[1])}
    stated = keys.state("gating")[1]
    if stated in ("per-element", "per-head"):
        words.add(stated)
    if len(words) != 1:
        raise Refused(keys.name("gating_types"), listed[1], "the same gate in every layer")
    return words.pop()


def _hashable(value: object) -> object:
    return value if isinstance(value, str | bool | int) else repr(value)[:40]


def head_dim(keys: Keys, query: int, hidden: int) -> int:
    """Return the width of a head: stated, the class default, or hidden over heads."""
    if keys.stated_or_default(*HEAD_DIM):
        return keys.whole(*HEAD_DIM)
    if hidden % query:
        raise Refused(keys.name("head_dim"), "nothing", f"the width of a head, as {hidden} / {query} is not whole")
    keys.log.assume(keys.name("head_dim"), hidden // query, "absent: hidden_size / num_attention_heads")
    return hidden // query


def biases(keys: Keys, family: Family, query: int, keys_and_values: int, hidden: int) -> int:
    """Return the number of bias parameters in one layer's attention."""
    if family.bias == "always":
        keys.pass_over("no_bias")
        return query + keys_and_values
    if family.bias == "never":
        return 0
    names = [name for name in BIAS if keys.has(name) or name in keys.defaults] or [BIAS[0]]
    stated = keys.flag(names[0])
    output = stated and family.bias == "all" and names[0] not in QKV_ONLY
    if names[0] in QKV_ONLY and keys.has("add_bias_linear"):
        output = keys.flag("add_bias_linear")
    if keys.stated_or_default("attention_out_bias"):
        output = keys.flag("attention_out_bias")
    return (query + keys_and_values if stated else 0) + (hidden if output else 0)


def qk_norms(keys: Keys, family: Family, query: int, kv: int, dim: int) -> int:
    """Return the norm parameters on queries and keys; `kv` 0 where the layer has no keys of its own."""
    if (family.qk_norm_key or not keys.known) and not keys.flag("use_qk_norm", "qk_norm"):
        return 0
    keys.pass_over("use_qk_norm", "qk_norm", "qk_norm_type")
    if not keys.known:
        keys.log.assume(keys.name("use_qk_norm"), "one vector of a head's width each", "the common choice")
        return 2 * dim
    return {"": 0, "head": dim + (dim if kv else 0), "full": (query + kv) * dim}[family.qk_norm]


def _block_indexer(keys: Keys, kind: str) -> tuple[Indexer | None, int]:
    """Return the scorer of key blocks (MiniMax-M3) and its norms."""
    section = keys.section("sparse_attention_config")
    if kind != "indexed":
        return None, 0
    inner = Keys(section or {}, keys.log, path=keys.name("sparse_attention_config."))

    def value(name: str, old: str) -> int:
        return inner.whole(old) if inner.has(old) else keys.whole(name)

    dim = value("index_head_dim", "sparse_index_dim")
    reads = value("index_topk_blocks", "sparse_topk_blocks") * value("index_block_size", "sparse_block_size")
    return Indexer(value("index_n_heads", "sparse_num_index_heads"), dim, reads), 2 * dim


def latent(keys: Keys, family: Family, hidden: int, indexed: bool) -> Built:
    """Return multi-head latent attention. Head widths and KV head counts of other designs mean nothing here."""
    query = keys.whole(*HEADS)
    rank = keys.whole("kv_lora_rank")
    nope = keys.whole("qk_nope_head_dim", low=0)
    rope = keys.whole("qk_rope_head_dim", low=0)
    if keys.stated_or_default("v_head_dim"):
        value = keys.whole("v_head_dim")
    elif hidden % query:
        raise Refused(keys.name("v_head_dim"), "nothing", "the width of a value head")
    else:
        value = hidden // query
        keys.log.assume(keys.name("v_head_dim"), value, "absent: hidden_size / num_attention_heads")
    query_rank = keys.optional("q_lora_rank")
    keys.pass_over(*HEAD_DIM, *KV_HEADS, "use_mla", "mla_scale_q_lora", "mla_scale_kv_lora")
    stated = keys.optional("qk_head_dim")
    if stated and stated != nope + rope:
        raise Refused(keys.name("qk_head_dim"), stated, f"qk_nope_head_dim + qk_rope_head_dim, {nope + rope}")
    vectors = (query_rank + rank + rope + hidden) if keys.flag("attention_bias") else 0
    indexer, index_norms = None, 0
    if keys.stated_or_default("index_n_heads"):
        dim = keys.whole("index_head_dim")
        indexer = Indexer(keys.whole("index_n_heads"), dim, keys.whole("index_topk"), indexed)
        index_norms = 2 * dim if indexed else 0
    wide = "full" if keys.stated_or_default("mla_use_output_gate") and keys.flag("mla_use_output_gate") else ""
    return Built(
        LatentAttention(query, rank, nope, rope, value, query_rank, wide, indexer=indexer, vectors=vectors),
        query_rank + rank + index_norms,
    )


def indexed_layers(keys: Keys, layers: int) -> list[bool]:
    """True for each layer whose indexer is its own (GLM-5.2: the others reuse the last one's choice).

    Source: `configuration_glm_moe_dsa.py`: a list, a pattern of F and S, or a frequency with an offset.
    """
    key, value = keys.state("indexer_types", "index_topk_pattern")
    if isinstance(value, str | list):
        words = {"F": True, "full": True, "S": False, "shared": False}
        if len(value) < layers or not all(isinstance(word, str) and word in words for word in value):
            raise Refused(keys.name(key), value, f"full or shared for each of the {layers} layers")
        return [words[word] for word in value[:layers]]
    if keys.has(key):
        raise Refused(keys.name(key), value, "a pattern of F and S or a list of full and shared")
    frequency = keys.optional("index_topk_freq") or 1
    offset = keys.optional("index_skip_topk_offset") if keys.has("index_skip_topk_offset") else 2
    return [max(i - offset + 1, 0) % frequency == 0 for i in range(layers)]


def compressed(keys: Keys, kind: str, hidden: int) -> Built:
    """Return attention over a window and compressed records (`modeling_deepseek_v4.py`).

    The sparse kind overlaps its compression windows, so that its two series double every compressor matrix, and
    keeps the last window's keys and gates as state; only it has an indexer.
    """
    query, dim = keys.whole(*HEADS), keys.whole("head_dim")
    if keys.whole(*KV_HEADS) != 1:
        raise Refused(keys.name("num_key_value_heads"), keys.whole(*KV_HEADS), "1, as compressed records have no heads")
    rank = keys.whole("q_lora_rank")
    keys.pass_over("qk_rope_head_dim", "compress_ratios", "compress_rates")
    output_rank, output_groups = keys.whole("o_lora_rank"), keys.whole("o_groups")
    window = keys.whole("sliding_window", high=10**9)
    norms, indexer, state, compressor, index_compressor = rank + dim, None, 0, 0, 0
    ratio = {"window": 0, "csa": _rate(keys, "csa", 4), "hca": _rate(keys, "hca", 128)}[kind]
    if kind == "csa":
        index_dim = keys.whole("index_head_dim")
        indexer = Indexer(keys.whole("index_n_heads"), index_dim, keys.whole("index_topk"))
        compressor = 2 * dim * ratio + 2 * 2 * dim * hidden
        index_compressor = 2 * index_dim * ratio + 2 * 2 * index_dim * hidden
        state = 2 * ratio * (dim + index_dim)
        norms += dim + index_dim
    elif kind == "hca":
        compressor = dim * ratio + 2 * dim * hidden
        norms += dim
    return Built(
        CompressedAttention(
            query, dim, ratio, window, rank, output_rank, output_groups, indexer.reads if indexer else 0, indexer,
            compressor, index_compressor, state, vectors=query,
        ),
        norms,
    )  # fmt: skip


def _rate(keys: Keys, kind: str, default: int) -> int:
    word = {"csa": "compressed_sparse_attention", "hca": "heavily_compressed_attention"}[kind]
    if keys.has(f"compress_rate_{kind}"):
        return keys.whole(f"compress_rate_{kind}")
    if section := keys.section("compress_rates"):
        return Keys(section, keys.log, path=keys.name("compress_rates.")).whole(word)
    return default
