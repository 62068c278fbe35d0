"""Files whose keys mean something else than the same keys elsewhere, turned into plain ones.

One entry per `model_type`, with its source: a switch on the name is right only here, where one key has two meanings.
"""

from __future__ import annotations

from collections.abc import Callable

from envelope.config.keys import Keys, Refused


def qwen(keys: Keys) -> dict[str, object]:
    """Qwen 1 states twice the width of its feed-forward, and MHA by silence (Qwen/Qwen-72B-Chat, modeling_qwen.py)."""
    width = keys.whole("intermediate_size")
    if width % 2:
        raise Refused(keys.name("intermediate_size"), width, "an even number: this class halves it")
    keys.pass_over("no_bias")
    return {"intermediate_size": width // 2, "num_key_value_heads": keys.whole("num_attention_heads"), "mlp_bias": False}


def chatglm(keys: Keys) -> dict[str, object]:
    """ChatGLM pads its vocabulary and groups KV heads by a switch (THUDM/glm-4-9b, modeling_chatglm.py)."""
    found: dict[str, object] = {}
    if keys.has("padded_vocab_size"):
        found["vocab_size"] = keys.whole("padded_vocab_size")
        found["padded_vocab_size"] = None
    if not keys.flag("multi_query_attention"):
        found["multi_query_group_num"] = keys.whole("num_attention_heads")
    return found


def falcon(keys: Keys) -> dict[str, object]:
    """Falcon: KV heads and norms by three switches, a feed-forward of 4 times the width (`modeling_falcon.py`)."""
    heads = keys.whole("num_attention_heads", "n_head")
    new, parallel = keys.flag("new_decoder_architecture"), keys.flag("parallel_attn", default=True)
    if new:
        kv = keys.whole("num_kv_heads", "n_head_kv", default=heads, why="absent: every query head has its own (MHA)")
    else:
        kv = 1 if keys.flag("multi_query", default=True) else heads
    norms = (keys.optional("num_ln_in_parallel_attn") or 2) if new else 1 if parallel else 2
    keys.pass_over("num_kv_heads", "n_head_kv", "multi_query", "alibi")
    width = keys.optional("ffn_hidden_size") or 4 * keys.whole("hidden_size")
    found = {"num_kv_heads": None, "num_key_value_heads": kv, "ffn_hidden_size": width, "norm_count": norms}
    return found | {"mlp_bias": keys.flag("bias"), "attention_bias": keys.flag("bias")}


def dbrx(keys: Keys) -> dict[str, object]:
    """DBRX nests its attention and feed-forward (`modeling_dbrx.py`)."""
    attention, ffn = keys.section("attn_config") or {}, keys.section("ffn_config") or {}
    inner = Keys(ffn, keys.log, path="ffn_config.")
    heads = Keys(attention, keys.log, path="attn_config.")
    return {
        "hidden_size": keys.whole("d_model"),
        "num_attention_heads": keys.whole("n_heads"),
        "n_heads": None,
        "num_hidden_layers": keys.whole("n_layers"),
        "n_layers": None,
        "num_key_value_heads": heads.whole("kv_n_heads"),
        "moe_num_experts": inner.whole("moe_num_experts"),
        "moe_top_k": inner.whole("moe_top_k"),
        "ffn_hidden_size": inner.whole("ffn_hidden_size"),
        "max_position_embeddings": keys.optional("max_seq_len", high=10**12),
    }


TRANSLATE: dict[str, Callable[[Keys], dict[str, object]]] = {
    "qwen": qwen,
    "chatglm": chatglm,
    "falcon": falcon,
    "dbrx": dbrx,
}
