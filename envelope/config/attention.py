"""How one layer attends: heads, latent records, compressed records; with biases and norms."""

from __future__ import annotations

from dataclasses import dataclass

from envelope.config.families import Family
from envelope.config.keys import Keys, Refused
from envelope.model import Attention, HeadAttention, Indexer, LatentAttention

HEADS = ("num_attention_heads",)
KV_HEADS = ("num_key_value_heads", "multi_query_group_num")
HEAD_DIM = ("head_dim", "attention_head_dim", "kv_channels")
BIAS = ("attention_bias", "qkv_bias", "use_qkv_bias", "use_bias")


@dataclass(frozen=True)
class Built:
    """One layer's attention and the norm parameters it carries."""

    attention: Attention
    norms: int = 0


def is_latent(keys: Keys) -> bool:
    """True where keys and values are compressed to one record per token."""
    if not keys.stated_or_default("kv_lora_rank"):
        return False
    return keys.flag("use_mla", default=True)


def build(keys: Keys, family: Family, kind: str, hidden: int, indexed: bool = True) -> Built:
    """Return the attention of a layer of one kind: `full`, `sliding` or `chunked`."""
    if is_latent(keys):
        return latent(keys, family, hidden, indexed)
    return heads(keys, family, kind, hidden)


def heads(keys: Keys, family: Family, kind: str, hidden: int) -> Built:
    """Return attention whose cache holds keys and values per head."""
    query = keys.whole(*HEADS)
    kv = keys.whole(*KV_HEADS, default=query, why="absent: every query head has its own (MHA)")
    dim = head_dim(keys, query, hidden)
    value = keys.optional("v_head_dim") or dim
    if query % kv:
        raise Refused(keys.name("num_key_value_heads"), kv, f"a divisor of the {query} query heads")
    window = 0
    if kind in ("sliding", "chunked"):
        name = "sliding_window" if kind == "sliding" else "attention_chunk_size"
        window = keys.whole(name, high=10**9)
    vectors = biases(keys, family, query * dim, kv * (dim + value), hidden) + (query if family.sinks else 0)
    norms = qk_norms(keys, family, query, kv, dim)
    gate = family.gate
    return Built(HeadAttention(query, kv, dim, value, window, kind == "chunked", gate, vectors=vectors), norms)


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
        return query + keys_and_values
    if family.bias == "never":
        return 0
    stated = keys.flag(*BIAS)
    output = stated and family.bias == "all"
    if keys.stated_or_default("attention_out_bias"):
        output = keys.flag("attention_out_bias")
    return (query + keys_and_values if stated else 0) + (hidden if output else 0)


def qk_norms(keys: Keys, family: Family, query: int, kv: int, dim: int) -> int:
    """Return the norm parameters on queries and keys."""
    kind = family.qk_norm
    if family.qk_norm_key and not keys.flag("use_qk_norm"):
        return 0
    keys.pass_over("use_qk_norm")
    return {"": 0, "head": 2 * dim, "full": (query + kv) * dim}[kind]


def latent(keys: Keys, family: Family, hidden: int, indexed: bool) -> Built:
    """Return multi-head latent attention. Head widths and KV head counts of other designs mean nothing here."""
    query = keys.whole(*HEADS)
    rank = keys.whole("kv_lora_rank")
    nope = keys.whole("qk_nope_head_dim", low=0)
    rope = keys.whole("qk_rope_head_dim", low=0)
    value = keys.whole("v_head_dim")
    query_rank = keys.optional("q_lora_rank")
    keys.pass_over("head_dim", "num_key_value_heads", "qk_head_dim")
    vectors = (query_rank + rank + rope + hidden) if keys.flag("attention_bias") else 0
    indexer, index_norms = None, 0
    if keys.stated_or_default("index_n_heads"):
        dim = keys.whole("index_head_dim")
        indexer = Indexer(keys.whole("index_n_heads"), dim, keys.whole("index_topk"), indexed)
        index_norms = 2 * dim if indexed else 0
    return Built(
        LatentAttention(query, rank, nope, rope, value, query_rank, indexer=indexer, vectors=vectors),
        query_rank + rank + index_norms,
    )
