"""What a config class of the public implementation puts where a file is silent about a shape.

Source: the config classes of Hugging Face transformers 5.24.0 (`configuration_<name>.py`), keys that can change a count
only. A nested config is saved as its difference from these, so that real files rely on them; a file of its own states
its main sizes, which are therefore left out where a family is never nested.
"""

CLASS_DEFAULTS: dict[str, dict[str, object]] = {
    "llama": {
        "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
        "num_attention_heads": 32, "tie_word_embeddings": False, "attention_bias": False, "mlp_bias": False,
    },
    "mistral": {
        "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "tie_word_embeddings": False, "sliding_window": 4096,
    },
    "ministral": {
        "intermediate_size": 14336, "num_key_value_heads": 8, "tie_word_embeddings": False, "sliding_window": 4096,
    },
    "ministral3": {
        "vocab_size": 131072, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 34,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "tie_word_embeddings": False,
    },
    "mixtral": {
        "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "tie_word_embeddings": False, "num_experts_per_tok": 2,
        "num_local_experts": 8, "sliding_window": None,
    },
    "mistral4": {
        "vocab_size": 131072, "hidden_size": 4096, "intermediate_size": 12288, "moe_intermediate_size": 2048,
        "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 32, "n_shared_experts": 1,
        "n_routed_experts": 128, "kv_lora_rank": 256, "q_lora_rank": 1024, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "qk_nope_head_dim": 64, "num_experts_per_tok": 4, "first_k_dense_replace": 0, "tie_word_embeddings": False,
        "attention_bias": False,
    },
    "qwen2": {
        "vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 32, "tie_word_embeddings": False, "use_sliding_window": False,
        "sliding_window": 4096, "max_window_layers": 28,
    },
    "qwen2_moe": {
        "intermediate_size": 5632, "num_key_value_heads": 16, "tie_word_embeddings": False, "use_sliding_window": False,
        "sliding_window": 4096, "max_window_layers": 28, "decoder_sparse_step": 1, "moe_intermediate_size": 1408,
        "shared_expert_intermediate_size": 5632, "num_experts_per_tok": 4, "num_experts": 60, "qkv_bias": True,
    },
    "qwen3": {
        "vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 32, "head_dim": 128, "tie_word_embeddings": False,
        "attention_bias": False, "use_sliding_window": False, "sliding_window": 4096, "max_window_layers": 28,
    },
    "qwen3_moe": {
        "vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 24,
        "num_attention_heads": 32, "num_key_value_heads": 4, "tie_word_embeddings": False, "attention_bias": False,
        "use_sliding_window": False, "sliding_window": 4096, "decoder_sparse_step": 1, "moe_intermediate_size": 768,
        "num_experts_per_tok": 8, "num_experts": 128,
    },
    "qwen3_next": {
        "intermediate_size": 5632, "num_key_value_heads": 2, "tie_word_embeddings": False, "attention_bias": False,
        "head_dim": 256, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
        "linear_num_key_heads": 16, "linear_num_value_heads": 32, "decoder_sparse_step": 1,
        "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512, "num_experts_per_tok": 10,
        "num_experts": 512,
    },
    "qwen3_5_text": {
        "vocab_size": 248320, "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 32,
        "num_attention_heads": 16, "num_key_value_heads": 4, "tie_word_embeddings": False, "attention_bias": False,
        "head_dim": 256, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
        "linear_num_key_heads": 16, "linear_num_value_heads": 32,
    },
    "qwen3_5_moe_text": {
        "vocab_size": 248320, "hidden_size": 2048, "num_hidden_layers": 40, "num_attention_heads": 16,
        "num_key_value_heads": 2, "tie_word_embeddings": False, "attention_bias": False, "head_dim": 256,
        "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
        "linear_num_key_heads": 16, "linear_num_value_heads": 32, "moe_intermediate_size": 512,
        "shared_expert_intermediate_size": 512, "num_experts_per_tok": 8, "num_experts": 256,
    },
    "qwen2_vl_text": {
        "vocab_size": 152064, "hidden_size": 8192, "intermediate_size": 29568, "num_hidden_layers": 80,
        "num_attention_heads": 64, "num_key_value_heads": 8, "use_sliding_window": False, "sliding_window": 4096,
        "max_window_layers": 80,
    },
    "qwen2_5_vl_text": {
        "vocab_size": 152064, "hidden_size": 8192, "intermediate_size": 29568, "num_hidden_layers": 80,
        "num_attention_heads": 64, "num_key_value_heads": 8, "use_sliding_window": False, "sliding_window": 4096,
        "max_window_layers": 80,
    },
    "qwen3_vl_text": {
        "vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 32, "head_dim": 128, "attention_bias": False,
    },
    "qwen3_vl_moe_text": {
        "vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 24,
        "num_attention_heads": 16, "num_key_value_heads": 16, "tie_word_embeddings": True, "attention_bias": False,
        "decoder_sparse_step": 1, "moe_intermediate_size": 1408, "num_experts_per_tok": 4, "num_experts": 60,
    },
    "gemma": {
        "intermediate_size": 24576, "num_key_value_heads": 16, "head_dim": 256, "tie_word_embeddings": True,
        "attention_bias": False,
    },
    "gemma2": {
        "vocab_size": 256000, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
        "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "tie_word_embeddings": True,
        "attention_bias": False, "sliding_window": 4096,
    },
    "gemma3_text": {
        "vocab_size": 262208, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
        "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "tie_word_embeddings": True,
        "attention_bias": False, "sliding_window": 4096,
    },
    "gemma3n_text": {
        "vocab_size": 262400, "hidden_size": 2048, "intermediate_size": 16384, "num_hidden_layers": 35,
        "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 256, "tie_word_embeddings": True,
        "attention_bias": False, "sliding_window": 512, "vocab_size_per_layer_input": 262144,
        "hidden_size_per_layer_input": 256, "altup_correct_scale": True, "altup_num_inputs": 4,
        "num_kv_shared_layers": 15, "laurel_rank": 64,
    },
    "gemma4_text": {
        "vocab_size": 262144, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 30,
        "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "tie_word_embeddings": True,
        "attention_bias": False, "global_head_dim": 512, "sliding_window": 512, "vocab_size_per_layer_input": 262144,
        "hidden_size_per_layer_input": 256, "attention_k_eq_v": False, "num_kv_shared_layers": 0,
        "enable_moe_block": False, "use_double_wide_mlp": False,
        "num_global_key_value_heads": None, "moe_intermediate_size": None,
    },
    "phi3": {
        "vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32,
        "num_attention_heads": 32, "tie_word_embeddings": False, "sliding_window": None,
    },
    "phimoe": {
        "intermediate_size": 6400, "num_key_value_heads": 8, "tie_word_embeddings": False, "num_experts_per_tok": 2,
        "num_local_experts": 16, "attention_bias": False, "lm_head_bias": False, "sliding_window": None,
    },
    "gpt_oss": {
        "num_hidden_layers": 36, "num_local_experts": 128, "vocab_size": 201088, "hidden_size": 2880,
        "intermediate_size": 2880, "head_dim": 64, "num_attention_heads": 64, "num_key_value_heads": 8,
        "sliding_window": 128, "tie_word_embeddings": False, "num_experts_per_tok": 4, "attention_bias": True,
    },
    "deepseek_v2": {
        "intermediate_size": 11008, "tie_word_embeddings": False, "attention_bias": False, "mlp_bias": False,
        "first_k_dense_replace": 0, "kv_lora_rank": 512, "q_lora_rank": 1536, "n_routed_experts": 64,
        "n_shared_experts": 2, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "moe_intermediate_size": 1407,
    },
    "deepseek_v3": {
        "vocab_size": 129280, "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,
        "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128, "n_shared_experts": 1,
        "n_routed_experts": 256, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "qk_nope_head_dim": 128, "num_experts_per_tok": 8, "first_k_dense_replace": 3, "tie_word_embeddings": False,
        "attention_bias": False, "num_mtp_layers": 1,
    },
    "deepseek_v32": {
        "intermediate_size": 18432, "moe_intermediate_size": 2048, "num_key_value_heads": 128, "n_shared_experts": 1,
        "n_routed_experts": 256, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "qk_nope_head_dim": 128, "num_experts_per_tok": 8, "tie_word_embeddings": False, "attention_bias": False,
        "index_topk": 2048, "index_head_dim": 128, "index_n_heads": 64, "mlp_bias": False, "head_dim": 64,
        "first_k_dense_replace": 3,
    },
    "deepseek_v4": {
        "moe_intermediate_size": 2048, "num_key_value_heads": 1, "head_dim": 512, "q_lora_rank": 1024,
        "num_experts_per_tok": 6, "n_routed_experts": 256, "n_shared_experts": 1, "hc_mult": 4, "sliding_window": 128,
        "o_groups": 8, "o_lora_rank": 1024, "index_n_heads": 64, "index_head_dim": 128, "index_topk": 512,
        "num_nextn_predict_layers": 1, "tie_word_embeddings": False, "attention_bias": False, "mlp_bias": False,
    },
    "kimi_linear": {
        "vocab_size": 163840, "hidden_size": 2304, "intermediate_size": 9216, "moe_intermediate_size": 1024,
        "num_hidden_layers": 27, "num_attention_heads": 32, "num_key_value_heads": 32, "n_shared_experts": 1,
        "kv_lora_rank": 512, "qk_rope_head_dim": 64, "v_head_dim": 128, "qk_nope_head_dim": 128,
        "num_experts_per_tok": 8, "tie_word_embeddings": False, "attention_bias": False, "num_local_experts": 256,
        "linear_head_dim": 128, "linear_num_heads": 32, "linear_conv_kernel_dim": 4,
        "first_k_dense_replace": 1, "q_lora_rank": None, "routed_expert_hidden_size": None,
        "latent_moe_use_norm": False, "mla_use_output_gate": False, "attn_res_block_size": None,
    },
    "glm": {
        "intermediate_size": 13696, "num_key_value_heads": 2, "head_dim": 128, "tie_word_embeddings": False,
        "attention_bias": True,
    },
    "glm4": {
        "vocab_size": 151552, "hidden_size": 4096, "intermediate_size": 13696, "num_hidden_layers": 40,
        "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128, "tie_word_embeddings": False,
        "attention_bias": True,
    },
    "glm4_moe": {
        "vocab_size": 151552, "hidden_size": 4096, "intermediate_size": 10944, "num_hidden_layers": 46,
        "num_attention_heads": 96, "num_key_value_heads": 8, "tie_word_embeddings": False, "attention_bias": False,
        "moe_intermediate_size": 1408, "num_experts_per_tok": 8, "n_shared_experts": 1, "n_routed_experts": 128,
        "first_k_dense_replace": 1, "use_qk_norm": False, "num_mtp_layers": 1,
    },
    "glm4_moe_lite": {
        "intermediate_size": 10240, "moe_intermediate_size": 1536, "num_key_value_heads": 20, "n_shared_experts": 1,
        "n_routed_experts": 64, "kv_lora_rank": 512, "q_lora_rank": 768, "qk_rope_head_dim": 64, "v_head_dim": 256,
        "qk_nope_head_dim": 192, "num_experts_per_tok": 4, "tie_word_embeddings": False, "attention_bias": False,
    },
    "glm_moe_dsa": {
        "intermediate_size": 12288, "moe_intermediate_size": 2048, "num_key_value_heads": 64, "n_shared_experts": 1,
        "n_routed_experts": 256, "kv_lora_rank": 512, "q_lora_rank": 2048, "qk_rope_head_dim": 64, "v_head_dim": 256,
        "qk_nope_head_dim": 192, "num_experts_per_tok": 8, "tie_word_embeddings": False, "attention_bias": False,
        "index_topk": 2048, "index_head_dim": 128, "index_n_heads": 32, "mlp_bias": False, "head_dim": 64,
        "first_k_dense_replace": 3,
    },
    "minimax": {
        "intermediate_size": 14336, "num_key_value_heads": 8, "tie_word_embeddings": False, "num_experts_per_tok": 2,
        "num_local_experts": 8,
    },
    "minimax_m2": {
        "intermediate_size": 1536, "num_key_value_heads": 8, "head_dim": 128, "tie_word_embeddings": False,
        "num_experts_per_tok": 8, "num_local_experts": 256,
    },
    "minimax_m3_vl_text": {
        "vocab_size": 200064, "hidden_size": 6144, "intermediate_size": 3072, "num_hidden_layers": 60,
        "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 128, "tie_word_embeddings": False,
        "num_experts_per_tok": 4, "num_local_experts": 128, "dense_intermediate_size": 12288,
        "shared_intermediate_size": 3072, "index_n_heads": 4, "index_head_dim": 128, "index_block_size": 128,
        "index_topk_blocks": 16, "index_local_blocks": 1,
    },
    "ernie4_5": {
        "intermediate_size": 3072, "num_key_value_heads": 2, "tie_word_embeddings": True, "use_bias": False,
        "head_dim": 128,
    },
    "ernie4_5_moe": {
        "intermediate_size": 12288, "num_key_value_heads": 4, "tie_word_embeddings": True, "use_bias": False,
        "moe_intermediate_size": 1536, "moe_k": 6, "moe_num_experts": 64, "moe_num_shared_experts": 2,
        "moe_layer_interval": 1, "moe_layer_start_index": 1, "moe_layer_end_index": -1,
    },
    "seed_oss": {
        "intermediate_size": 27648, "num_key_value_heads": 8, "tie_word_embeddings": False, "attention_bias": True,
        "attention_out_bias": False, "mlp_bias": False, "head_dim": 128,
    },
    "smollm3": {
        "intermediate_size": 11008, "num_key_value_heads": 4, "use_sliding_window": False, "attention_bias": False,
        "mlp_bias": False, "tie_word_embeddings": True,
    },
    "olmo": {
        "intermediate_size": 11008, "tie_word_embeddings": False, "attention_bias": False,
    },
    "olmo2": {
        "intermediate_size": 11008, "tie_word_embeddings": False, "attention_bias": False,
    },
    "olmo3": {
        "intermediate_size": 11008, "tie_word_embeddings": False, "attention_bias": False, "sliding_window": 4096,
    },
    "olmoe": {
        "intermediate_size": 2048, "tie_word_embeddings": False, "attention_bias": False, "num_experts_per_tok": 8,
        "num_experts": 64,
    },
    "cohere": {
        "intermediate_size": 22528, "tie_word_embeddings": True, "attention_bias": False, "use_qk_norm": False,
    },
    "cohere2": {
        "vocab_size": 256000, "hidden_size": 8192, "intermediate_size": 22528, "num_hidden_layers": 40,
        "num_attention_heads": 64, "tie_word_embeddings": True, "attention_bias": False, "sliding_window": 4096,
    },
    "exaone4": {
        "intermediate_size": 16384, "num_key_value_heads": 32, "tie_word_embeddings": False, "sliding_window": 4096,
        "sliding_window_pattern": 4,
    },
    "exaone_moe": {
        "intermediate_size": 16384, "num_key_value_heads": 32, "tie_word_embeddings": False, "sliding_window": 4096,
        "sliding_window_pattern": 4, "first_k_dense_replace": 1, "moe_intermediate_size": 1024, "num_experts": 64,
        "num_experts_per_tok": 8, "num_shared_experts": 1,
    },
    "llama4_text": {
        "vocab_size": 202048, "hidden_size": 5120, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
        "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
        "tie_word_embeddings": False, "num_experts_per_tok": 1, "num_local_experts": 16, "interleave_moe_layer_step": 1,
        "use_qk_norm": True, "attention_bias": False, "attention_chunk_size": 8192,
    },
    "mllama_text_model": {
        "vocab_size": 128256, "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "tie_word_embeddings": False,
        "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38],
    },
    "muse_spark_text": {
        "vocab_size": 202048, "hidden_size": 8192, "intermediate_size": 16384, "num_hidden_layers": 62,
        "num_attention_heads": 128, "num_key_value_heads": 16, "head_dim": 64, "tie_word_embeddings": False,
        "attention_bias": False, "sliding_window": 2048, "moe_intermediate_size": 4096, "num_local_experts": 256,
        "num_experts_per_tok": 8, "moe_hidden_size": 4096,
    },
    "muse_glimmer_text": {
        "vocab_size": 202048, "hidden_size": 6656, "intermediate_size": 19968, "num_hidden_layers": 52,
        "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128, "tie_word_embeddings": False,
        "attention_bias": False, "sliding_window": 2048,
    },
    "nemotron_h": {
        "tie_word_embeddings": False, "num_key_value_heads": 8, "head_dim": 128, "attention_bias": False,
        "intermediate_size": 21504, "mlp_bias": False, "ssm_state_size": 128, "mamba_num_heads": 128,
        "mamba_head_dim": 64, "n_groups": 8, "conv_kernel": 4, "expand": 2, "use_conv_bias": True,
        "mamba_proj_bias": False, "n_routed_experts": 8, "n_shared_experts": 1, "moe_intermediate_size": 7688,
        "moe_shared_expert_intermediate_size": 7688, "num_experts_per_tok": 2, "num_nextn_predict_layers": 0,
        "use_bias": False, "moe_latent_size": None,
    },
    "granite": {
        "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
        "num_attention_heads": 32, "tie_word_embeddings": False, "attention_bias": False, "mlp_bias": False,
    },
    "granitemoe": {
        "intermediate_size": 11008, "tie_word_embeddings": False, "attention_bias": False, "num_local_experts": 8,
        "num_experts_per_tok": 2,
    },
    "granitemoehybrid": {
        "intermediate_size": 11008, "tie_word_embeddings": False, "attention_bias": False, "num_local_experts": 8,
        "num_experts_per_tok": 2, "shared_intermediate_size": 1024, "mamba_n_heads": 128, "mamba_n_groups": 1,
        "mamba_d_state": 256, "mamba_d_head": "auto", "mamba_d_conv": 4, "mamba_expand": 2, "mamba_conv_bias": True,
        "mamba_proj_bias": False,
    },
    "granitemoeshared": {
        "intermediate_size": 11008, "tie_word_embeddings": False, "attention_bias": False, "num_local_experts": 8,
        "num_experts_per_tok": 2, "shared_intermediate_size": 0,
    },
    "bamba": {
        "tie_word_embeddings": False, "intermediate_size": 14336, "num_key_value_heads": 8, "mamba_n_heads": 128,
        "mamba_d_head": "auto", "mamba_n_groups": 1, "mamba_d_state": 256, "mamba_d_conv": 4, "mamba_expand": 2,
        "mamba_conv_bias": True, "mamba_proj_bias": False, "attention_bias": False, "mlp_bias": False,
    },
    "falcon": {
        "new_decoder_architecture": False, "multi_query": True, "parallel_attn": True, "bias": False,
        "tie_word_embeddings": True, "num_ln_in_parallel_attn": None,
    },
    "falcon_h1": {
        "tie_word_embeddings": False, "intermediate_size": 14336, "num_key_value_heads": 8, "mamba_d_ssm": 1024,
        "mamba_n_heads": 128, "mamba_d_head": "auto", "mamba_n_groups": 1, "mamba_d_state": 256, "mamba_d_conv": 4,
        "mamba_expand": 2, "mamba_conv_bias": True, "mamba_proj_bias": False, "mamba_rms_norm": False,
        "projectors_bias": False, "attention_bias": False, "mlp_bias": False,
    },
    "jamba": {
        "tie_word_embeddings": False, "intermediate_size": 14336, "num_key_value_heads": 8, "num_experts_per_tok": 2,
        "num_experts": 16, "expert_layer_period": 2, "expert_layer_offset": 1, "attn_layer_period": 8,
        "attn_layer_offset": 4, "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_dt_rank": "auto",
        "mamba_conv_bias": True, "mamba_proj_bias": False,
    },
    "longcat_flash": {
        "tie_word_embeddings": False, "attention_bias": False, "ffn_hidden_size": 12288, "q_lora_rank": 1536,
        "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "head_dim": 64, "v_head_dim": 128,
        "moe_topk": 12, "n_routed_experts": 512, "zero_expert_num": 256, "expert_ffn_hidden_size": 2048,
    },
    "hunyuan_v1_dense": {
        "intermediate_size": 11008, "tie_word_embeddings": False, "attention_bias": False, "use_qk_norm": True,
    },
    "hunyuan_v1_moe": {
        "intermediate_size": 11008, "tie_word_embeddings": False, "attention_bias": False, "num_experts": 1,
        "moe_topk": 1, "num_shared_expert": 1, "use_qk_norm": True,
    },
    "mimo_v2_flash": {
        "intermediate_size": 16384, "num_key_value_heads": 4, "tie_word_embeddings": False, "attention_bias": False,
        "moe_intermediate_size": 2048, "num_experts_per_tok": 8, "n_routed_experts": 256, "head_dim": 192,
        "v_head_dim": 128, "sliding_window": 129,
    },
    "laguna": {
        "intermediate_size": 8192, "num_key_value_heads": 8, "tie_word_embeddings": False, "sliding_window": 512,
        "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512, "num_experts_per_tok": 8,
        "num_experts": 256, "head_dim": 128, "attention_bias": False, "gating": True,
        "num_attention_heads_per_layer": None,
    },
    "starcoder2": {
        "intermediate_size": 12288, "num_key_value_heads": 2, "use_bias": True, "tie_word_embeddings": True,
    },
    "arcee": {
        "intermediate_size": 18432, "tie_word_embeddings": False, "attention_bias": False, "mlp_bias": False,
    },
    "dots1": {
        "intermediate_size": 10944, "moe_intermediate_size": 1408, "num_key_value_heads": 32,
        "first_k_dense_replace": 0, "tie_word_embeddings": False, "attention_bias": False, "sliding_window": 4096,
        "max_window_layers": 62,
    },
    "minicpm3": {
        "intermediate_size": 6400, "num_key_value_heads": 40, "tie_word_embeddings": True, "attention_bias": False,
        "mlp_bias": False, "kv_lora_rank": 256, "q_lora_rank": 768, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32,
    },
    "solar_open": {
        "num_key_value_heads": 8, "tie_word_embeddings": False, "attention_bias": False, "moe_intermediate_size": 1280,
        "num_experts_per_tok": 8, "n_shared_experts": 1, "n_routed_experts": 128, "head_dim": 128,
    },
    "step3p5": {
        "vocab_size": 128815, "hidden_size": 4096, "intermediate_size": 11264, "num_hidden_layers": 45,
        "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128, "tie_word_embeddings": False,
        "num_experts_per_tok": 8, "n_routed_experts": 288, "moe_intermediate_size": 1280, "share_expert_dim": 1280,
        "attention_bias": False, "mlp_bias": False, "sliding_window": None,
    },
    # Not in that library: THUDM/glm-4-9b, configuration_chatglm.py; MiMo's class is Qwen 2's, whose biases it keeps.
    "chatglm": {
        "add_qkv_bias": False, "add_bias_linear": False, "multi_query_attention": False, "multi_query_group_num": 1,
    },
    "mimo": {"attention_bias": True, "tie_word_embeddings": False, "use_sliding_window": False},
}  # fmt: skip
