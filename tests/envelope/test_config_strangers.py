"""Configs of families that no data file holds, and files made to mislead: right to the last weight, or refused by key."""

import pytest

from envelope import cache, config, parameters

LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": False, "hidden_act": "silu",
}  # fmt: skip
STRANGER = {**LLAMA, "model_type": "newcomer"}
EIGHT_B = 8_030_261_248  # Llama 3.1 8B
QWEN = {
    "model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144, "moe_intermediate_size": 768, "num_hidden_layers": 48,
    "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 151936, "num_experts": 128,
    "num_experts_per_tok": 8, "tie_word_embeddings": False, "decoder_sparse_step": 1,
}  # fmt: skip
THIRTY_B = 30_532_122_624  # Qwen3-30B-A3B
MIXED, DENSE = 128 * (3 * 2048 * 768 + 2048), 3 * 2048 * 6144  # a layer of it with experts, and one without
DEEPSEEK = {
    "model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,
    "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128, "kv_lora_rank": 512, "q_lora_rank": 1536,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 256, "n_shared_experts": 1,
    "num_experts_per_tok": 8, "first_k_dense_replace": 3, "vocab_size": 129280, "tie_word_embeddings": False,
}  # fmt: skip
LFM_LAYERS = ["full_attention" if layer in (2, 6, 10, 14, 18, 21) else "conv" for layer in range(24)]


def without(values: dict, *keys: str) -> dict:
    return {key: value for key, value in values.items() if key not in keys}


# Totals: those that the publishers' repositories display, and for changed files the difference by hand.
RIGHT = {
    "plain": (LLAMA, EIGHT_B, 32 * 2 * 8 * 128),
    "biases of attention": ({**LLAMA, "attention_bias": True}, EIGHT_B + 32 * (32 * 128 + 2 * 8 * 128 + 4096), 65_536),
    "biases of the feed-forward": ({**LLAMA, "mlp_bias": True}, EIGHT_B + 32 * (2 * 14336 + 4096), 65_536),
    "narrow heads": ({**LLAMA, "head_dim": 64}, EIGHT_B - 32 * 4096 * 64 * (32 + 8 + 8 + 32), 32_768),
    "layers as 32.0": ({**LLAMA, "num_hidden_layers": 32.0}, EIGHT_B, 65_536),
    "a window that is off": ({**LLAMA, "sliding_window": 4096, "use_sliding_window": False}, EIGHT_B, 65_536),
    "half slide by a list": ({**LLAMA, "model_type": "mistral", "sliding_window": 4096, "layer_types": ["full_attention"] * 16 + ["sliding_attention"] * 16}, EIGHT_B, 32_768),
    "stretched positions": ({**LLAMA, "rope_scaling": {"type": "yarn", "factor": 4}, "pretraining_tp": 4}, EIGHT_B, 65_536),
    "a stranger's plain file": (STRANGER, EIGHT_B, 65_536),
    "KV heads as num_kv_heads": ({**without(STRANGER, "num_key_value_heads"), "num_kv_heads": 8}, EIGHT_B, 65_536),
    "KV heads as num_query_groups": ({**without(STRANGER, "num_key_value_heads"), "num_query_groups": 8}, EIGHT_B, 65_536),
    "KV heads as num_attention_groups": ({**without(STRANGER, "num_key_value_heads"), "num_attention_groups": 8}, EIGHT_B, 65_536),
    "biases of queries, keys and values": ({**STRANGER, "qkv_bias": True}, EIGHT_B + 32 * (32 + 16) * 128, 65_536),
    "norms of heads": ({**STRANGER, "use_qk_norm": True}, EIGHT_B + 32 * 2 * 128, 65_536),
    "widths per layer": ({**STRANGER, "intermediate_size": [14336] * 16 + [7168] * 16}, EIGHT_B - 16 * 3 * 4096 * 7168, 65_536),
    "half the layers share caches": ({**STRANGER, "num_kv_shared_layers": 16}, EIGHT_B - 16 * 2 * 4096 * 8 * 128, 32_768),
    "qwen3-30b": (QWEN, THIRTY_B, 48 * 2 * 4 * 128),
    "two layers without experts": ({**QWEN, "mlp_only_layers": [0, 1]}, THIRTY_B - 2 * (MIXED - DENSE), 49_152),
    "every other layer with experts": ({**QWEN, "decoder_sparse_step": 2}, THIRTY_B - 24 * (MIXED - DENSE), 49_152),
    "queries without a low rank": ({**DEEPSEEK, "q_lora_rank": None}, 671_026_404_352 + 61 * (7168 * 128 * 192 - 7168 * 1536 - 1536 * 128 * 192 - 1536), 61 * 576),
    "a nested omni model": ({"model_type": "qwen3_omni_moe", "thinker_config": {"text_config": {**QWEN, "model_type": "qwen3_omni_moe_text"}}, "talker_config": {"x": 1}}, THIRTY_B, 49_152),
    "internlm2-7b": ({**LLAMA, "model_type": "internlm2", "vocab_size": 92544, "bias": False}, 7_737_708_544, 65_536),
    "olmo-2-7b": ({**LLAMA, "model_type": "olmo2", "intermediate_size": 11008, "num_key_value_heads": 32, "vocab_size": 100352}, 7_298_617_344, 262_144),
    "exaone-3.5-7.8b": ({**without(LLAMA, "num_hidden_layers", "hidden_act"), "model_type": "exaone", "num_layers": 32, "head_dim": 128, "vocab_size": 102400, "activation_function": "silu"}, 7_818_448_896, 65_536),
    "baichuan2-13b": ({"model_type": "baichuan", "hidden_size": 5120, "intermediate_size": 13696, "num_hidden_layers": 40, "num_attention_heads": 40, "vocab_size": 125696, "tie_word_embeddings": False, "hidden_act": "silu"}, 13_896_668_160, 409_600),
    "apertus-8b": ({**LLAMA, "model_type": "apertus", "intermediate_size": 21504, "vocab_size": 131072, "hidden_act": "xielu", "qk_norm": True, "mlp_bias": False}, 8_053_338_176, 65_536),
    "lfm2-8b-a1b": ({"model_type": "lfm2_moe", "hidden_size": 2048, "intermediate_size": 7168, "moe_intermediate_size": 1792, "num_hidden_layers": 24, "num_attention_heads": 32, "num_key_value_heads": 8, "num_experts": 32, "num_experts_per_tok": 4, "num_dense_layers": 2, "use_expert_bias": True, "conv_L_cache": 3, "conv_bias": False, "vocab_size": 65536, "tie_word_embeddings": True, "layer_types": LFM_LAYERS}, 8_339_929_856, 6 * 2 * 8 * 64),
    "qwen3-0.6b, half of it sliding": ({"model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936, "use_sliding_window": True, "sliding_window": 4096, "max_window_layers": 14, "tie_word_embeddings": True}, 596_049_920, 14 * 2 * 8 * 128),
    "smollm3-3b": ({"model_type": "smollm3", "hidden_size": 2048, "intermediate_size": 11008, "num_hidden_layers": 36, "num_attention_heads": 16, "num_key_value_heads": 4, "vocab_size": 128256, "no_rope_layers": [1, 1, 1, 0] * 9, "tie_word_embeddings": True}, 3_075_098_624, 36 * 2 * 4 * 128),
    "gemma-2-27b": ({"model_type": "gemma2", "hidden_size": 4608, "intermediate_size": 36864, "num_hidden_layers": 46, "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128, "vocab_size": 256000, "sliding_window": 4096}, 27_227_128_320, 23 * 2 * 16 * 128),
}  # fmt: skip

REFUSED = {
    "a decoder that reads an encoder": ({**LLAMA, "is_encoder_decoder": True}, "is_encoder_decoder"),
    "an encoder": ({**STRANGER, "model_type": "bert", "architectures": ["BertForMaskedLM"]}, "architectures"),
    "segments of an encoder": ({**STRANGER, "type_vocab_size": 2}, "type_vocab_size"),
    "a dense block beside experts": ({**STRANGER, "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 1024, "residual_moe": True}, "residual_moe"),
    "the same by another name": ({**STRANGER, "num_experts": 8, "num_experts_per_tok": 2, "parallel_attn_mlp_res": True}, "parallel_attn_mlp_res"),
    "experts in some layers": ({**STRANGER, "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 1024, "moe_layer_step": 2}, "moe_layer_step"),
    "experts every other layer": ({**STRANGER, "num_experts": 8, "num_experts_per_tok": 2, "moe_every_n_layers": 2}, "moe_every_n_layers"),
    "groups of layers": ({**STRANGER, "layer_group_size": 5}, "layer_group_size"),
    "a recurrence in name only": ({**STRANGER, "model_type": "newcomer_linear"}, "model_type"),
    "layers that attend to nothing": ({**STRANGER, "layer_types": ["linear_attention"] * 16 + ["full_attention"] * 16}, "layer_types"),
    "caches made by half the layers": ({**STRANGER, "num_self_layers": 16}, "num_self_layers"),
    "every layer shares a cache": ({**STRANGER, "num_kv_shared_layers": 32}, "num_kv_shared_layers"),
    "layers run four times": ({**STRANGER, "total_ut_steps": 4}, "total_ut_steps"),
    "tables of n-grams": ({**STRANGER, "ngram_vocab_size": 10**6}, "ngram_vocab_size"),
    "an embedding of another width": ({**STRANGER, "embedding_size": 1024}, "embedding_size"),
    "windows per layer": ({**STRANGER, "window_sizes": [1024] * 32}, "window_sizes"),
    "local attention": ({**STRANGER, "local_attention": 128}, "local_attention"),
    "one KV head by a flag": ({**without(STRANGER, "num_key_value_heads"), "multi_query": True}, "multi_query"),
    "a draft's vocabulary": ({**LLAMA, "draft_vocab_size": 32000}, "draft_vocab_size"),
    "heads of a draft": ({**LLAMA, "medusa_num_heads": 4}, "medusa_num_heads"),
    "experts in a latent width": ({**STRANGER, "num_experts": 8, "num_experts_per_tok": 2, "expert_latent_dim": 512}, "expert_latent_dim"),
    "a latent family without its rank": ({**DEEPSEEK, "kv_lora_rank": None}, "kv_lora_rank"),
    "more chosen than there are": ({**QWEN, "num_experts_per_tok": 200}, "num_experts_per_tok"),
    "KV heads that do not divide": ({**LLAMA, "num_key_value_heads": 7}, "num_key_value_heads"),
    "two counts of layers": ({**LLAMA, "n_layers": 16}, "n_layers"),
    "a negative window": ({**LLAMA, "model_type": "mistral", "sliding_window": -1}, "sliding_window"),
    "an adapter": ({"peft_type": "LORA", "r": 16, "base_model_name_or_path": "x"}, "num_hidden_layers"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_to_the_last_weight(name):
    values, total, growing = RIGHT[name]
    model = config.read(values).model
    assert parameters.resident(model) == total
    assert cache.growing_per_token(model) == growing


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_the_key_that_has_no_place(name):
    values, key = REFUSED[name]
    with pytest.raises(config.Refused) as refused:
        config.read(values)
    assert refused.value.key == key


def test_another_head_is_marked():
    reading = config.read({**LLAMA, "architectures": ["LlamaForSequenceClassification"]})
    assert any(one.key == "architectures" and "other rows" in one.why for one in reading.assumed)
