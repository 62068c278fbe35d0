"""Keys nobody here reads: inert ones pass, ones that name a structure are refused, the rest is listed."""

from __future__ import annotations

import re

from envelope.config.keys import Keys, Refused

# Keys that say how a model computes, trains, samples or is saved, and nothing about how many weights it has.
INERT = frozenset(
    """
    model_type architectures auto_map torch_dtype dtype transformers_version _name_or_path quantization_config
    compression_config use_cache use_bfloat16 return_dict is_decoder is_encoder_decoder add_cross_attention
    id2label label2id problem_type task_specific_params finetuning_task tokenizer_class prefix pruned_heads torchscript
    bad_words_ids begin_suppress_tokens suppress_tokens do_sample early_stopping diversity_penalty length_penalty
    repetition_penalty exponential_decay_length_penalty min_length max_length max_new_tokens num_beams num_beam_groups
    num_return_sequences no_repeat_ngram_size encoder_no_repeat_ngram_size remove_invalid_values temperature top_k top_p
    typical_p tie_encoder_decoder tf_legacy_loss chunk_size_feed_forward cache_implementation use_flash_attn
    ep_size pretraining_tp num_logits_to_keep norm_topk_prob scoring_func topk_method n_group topk_group seq_aux
    num_expert_group use_grouped_topk moe_renormalize moe_router_activation_func moe_capacity moe_use_aux_free
    moe_shared_expert_overlap moe_router_dtype shared_moe_mode use_routing_bias use_moe_router_bias use_expert_bias
    moe_router_use_sigmoid moe_router_enable_expert_bias moe_apply_router_weight_on_input moe_layer_freq_offset
    router_dtype expert_dtype mamba_ssm_cache_dtype mamba_ssm_dtype residual_in_fp32 rescale_prenorm_residual
    use_mamba_kernels use_mambapy use_associative_scan chunk_size mamba_chunk_size time_step_rank time_step_min
    time_step_max time_step_floor time_step_limit mamba_norm_before_gate mla_use_nope use_gemma_norm use_mrope
    original_max_position_embeddings max_position_embeddings initial_context_length max_seq_len seq_length
    model_max_length max_sequence_length activation_sparsity_pattern layer_rope_theta mup_enabled dim_model_base
    scale_emb scale_depth query_pre_attn_scalar use_bidirectional_attention output_gate_type num_hash_layers
    index_share_for_mtp_iteration language_model_only use_unified_vision_chunk process_image_mode num_reward_heads
    image_grid_pinpoints image_seq_length image_token_length mm_tokens_per_image tokens_per_second img_token_compression_config
    vision_feature_layer vision_feature_select_strategy vision_soft_tokens_per_image multimodal_projector_bias
    ignore_index image_placeholder video_placeholder for_llm_compressor block_size org_vocab_size eod_token_id
    altup_active_idx altup_coef_clip clip_qkv logn_attn use_dynamic_ntk use_logn_attn use_flash_attn_2 softmax_in_fp32
    fp32 fp16 bf16 onnx_safe zero_expert_type routed_scaling_factor attention_softmax_in_fp32 apply_residual_connection_post_layernorm
    max_window_layers seed use_rotary scale_attn_weights num_input_proj attn_implementation _attn_implementation
    _attn_implementation_autoset image_size no_rope_layers no_rope_layer_interval attn_temperature_tuning floor_scale
    router_aux_loss_coef unused_layers enable_moe_fp32_combine kda_lower_bound kda_safe_gate attention_chunk_size
    use_double_wide_mlp use_sliding_window full_attention_interval mlp_only_layers decoder_sparse_step
    index_skip_topk_offset index_topk_freq vocab_size_per_layer_input post_layer_norm rmsnorm original_rope
    interleaved_qkv bias_dropout_fusion fp32_residual_connection apply_query_key_layer_scaling quantization_bit
    pre_seq_len prefix_projection layernorm_compute_fp32 hidden_dropout_prob num_labels ffn_mult swiglu_limits
    swiglu_limits_shared postnorm attention_method init_method normalization_function norm_type position_embedding_type
    layer_switch order_of_interleaved_layers use_parallel_block use_parallel_embedding use_gated_activation moe_gate
    num_media_embeds anyres_pooling_size pool_type dense_list vit_mapping_type vit_norm_type vit_patch vit_token
    mask_init_id calc_logits_for_entire_prompt mlp_expansion_factor merged_hidden_size
    """.split()
)
_INERT_NAME = re.compile(
    r"_ids?$|token_index$|dropout|pdrop$|_eps$|epsilon$|rope|rotary|initializer|_std$|_beta$|alpha|theta|_factors?$|scale|scaling"
    r"|multiplier|temperature|softcap|_limit$|_coeff?$|loss|hidden_act|activation|_act$|^output_(attentions|hidden|router|scores|mult)"
    r"|^return_dict|jitter|_dtype$|^use_cache|_clip$|_version$|^mrope|sinkhorn|clipping|capping|_lambda$|^layernorm_.*beta|resolution"
    r"|^(image|video|audio|vision)_(start|end|pad)"
)
# A key of such a name tells of widths, states or ways to attend: read without it, a count would be of something else.
_STRUCTURE = re.compile(
    r"rank|lora|latent|compress|ssm|mamba|d_state|state_(size|dim)|conv|recurr|rwkv|retention|hyena|delta|kda|gla_|lightning"
    r"|(^|_)kv(_|$)|n_kv|head_dim|(^|_)(num_|n_)?heads?(_|$)|attn_type|attention_types?$|layer_types?|block_types?|layers_block|pattern"
    r"|attention_layers|attn_layer|linear_attn|sparse_attention|altup|laurel|memory|share_q|cla_|hyper|n_layers|num_layers|index_n|index_h"
    r"|_layers$|layer_(group|step|freq|interval|period)|moe_.*(step|freq|interval|every|period|stride)"  # which layers are which
    r"|window|local_att|multi_query$"
    r"|residual_(moe|mlp)|mlp_res$|^use_residual$"  # a dense block beside the experts
    r"|ut_steps|(^|_)n?loops?(_|$)|recur"  # layers run several times, each run with a cache
    r"|ngram|engram|embedding_size|word_embed|embed_dim|embed_proj|emb_dim|type_vocab"  # tables of another size
    r"|^draft_|eagle|medusa"
    r"|codebook|product_key|low_dim|bottleneck|factor_dim|hidden_sizes?$|intermediate_sizes?$|d_ff$|ffn_hidden|num_.*experts|zero_expert"
)


def unknown(keys: Keys, top: Keys) -> tuple[str, ...]:
    """Return the keys that nobody here reads and that may change a count.

    Raises Refused for one whose name tells of a structure: that is never sized as something else.
    """
    listed: list[str] = []
    for owner in (keys, top) if keys.path != top.path else (keys,):
        for key, value in owner.values.items():
            if not isinstance(key, str) or owner.name(key) in owner.log.used or not _active(value):
                continue
            if key in INERT or _INERT_NAME.search(key):
                continue
            short = owner.name(key)[:80]
            if isinstance(value, dict) and key.endswith("_config"):
                owner.log.assume(short, "left out", "nobody has described this part here: not in the total")
            elif _STRUCTURE.search(key):
                raise Refused(short, value, "a structure that is known here; leave the key out to read the rest without it")
            listed.append(short)
    return tuple(dict.fromkeys(listed))


def _active(value: object) -> bool:
    """True for a value that could add weights: switches that are off, fractions and empty values cannot."""
    if isinstance(value, float) and not value.is_integer():
        return False
    return value not in (None, False, 0, "", [], {})
