"""Layers with a state of fixed size: gated delta rule, KDA, Mamba, Mamba 2, lightning, short convolutions."""

from __future__ import annotations

from envelope.config.families import Family
from envelope.config.keys import MISSING, Keys, Refused
from envelope.model import LinearAttention

MAMBA2_HEADS = ("mamba_num_heads", "mamba_n_heads")
MAMBA_HEAD_DIM = ("mamba_head_dim", "mamba_d_head")
STATE = ("ssm_state_size", "mamba_d_state")
KERNEL = ("conv_kernel", "mamba_d_conv")
EXPAND = ("expand", "mamba_expand")
GROUPS = ("n_groups", "mamba_n_groups")
CONV_BIAS = ("use_conv_bias", "mamba_conv_bias")
KDA = (
    "num_heads", "head_dim", "short_conv_kernel_size", "use_full_rank_gate", "gate_lower_bound", "full_attn_layers",
    "kda_layers",
)  # fmt: skip
KEYS = (
    *MAMBA2_HEADS, *MAMBA_HEAD_DIM, *STATE, *KERNEL, *EXPAND, *GROUPS, *CONV_BIAS, "mamba_proj_bias", "mamba_dt_rank",
    "mamba_d_ssm", "mamba_rms_norm", "conv_L_cache", "conv_bias", "linear_num_heads", "linear_head_dim",
    "linear_conv_kernel_dim",
)  # fmt: skip


def build(keys: Keys, family: Family, hidden: int) -> tuple[LinearAttention, int]:
    """Return a recurrent layer and its norm parameters, by the keys that describe its state."""
    if keys.stated_or_default("linear_num_value_heads"):
        return gated_delta(keys)
    if keys.has("linear_attn_config", "linear_num_heads"):
        return kda(keys)
    if keys.stated_or_default(*MAMBA2_HEADS):
        return mamba2(keys, hidden)
    if keys.stated_or_default(*STATE):
        return mamba(keys, hidden)
    if keys.stated_or_default("conv_L_cache"):
        return short_convolution(keys, hidden)
    if family.linear == "lightning":
        return lightning(keys)
    raise Refused(keys.name("layer_types"), "linear layers", "the sizes of their state, as no key gives them")


def gated_delta(keys: Keys) -> tuple[LinearAttention, int]:
    """Gated delta rule (`modeling_qwen3_next.py`): projections follow from the heads, one gate and one decay each."""
    key_heads, key_dim = keys.whole("linear_num_key_heads"), keys.whole("linear_key_head_dim")
    heads, value_dim = keys.whole("linear_num_value_heads"), keys.whole("linear_value_head_dim")
    kernel = keys.whole("linear_conv_kernel_dim")
    if heads % key_heads:
        raise Refused(keys.name("linear_num_value_heads"), heads, f"a multiple of the {key_heads} key heads")
    keys.pass_over("full_attention_interval")
    channels = 2 * key_heads * key_dim + heads * value_dim
    vectors = channels * kernel + 2 * heads
    return LinearAttention("gated_delta", heads, key_dim, value_dim, channels, kernel, key_heads, vectors=vectors), value_dim


def kda(keys: Keys) -> tuple[LinearAttention, int]:
    """Kimi delta attention (`modeling_kimi_linear.py`): decay and output gate are low rank, one head wide.

    Kimi-K3's output gate is one full matrix, which `use_full_rank_gate` says.
    """
    section = keys.section("linear_attn_config")
    if section is None:
        heads, dim = keys.whole("linear_num_heads"), keys.whole("linear_head_dim")
        kernel, full_gate = keys.whole("linear_conv_kernel_dim"), False
    else:
        plain = {"use_full_rank_gate": False}
        inner = Keys(section, keys.log, plain, "absent: the low-rank gate of Kimi Linear", keys.name("linear_attn_config."))
        heads, dim = inner.whole("num_heads"), inner.whole("head_dim")
        kernel = inner.whole("short_conv_kernel_size")
        full_gate = inner.flag("use_full_rank_gate")
        for name in section:
            if name not in KDA:
                raise Refused(inner.name(str(name)[:60]), section[name], f"one of {', '.join(KDA)}")
    channels = 3 * heads * dim
    vectors = channels * kernel + heads * dim + heads
    return LinearAttention("kda", heads, dim, dim, channels, kernel, heads, full_gate, vectors=vectors), dim


def mamba2(keys: Keys, hidden: int) -> tuple[LinearAttention, int]:
    """Mamba 2 (`modeling_nemotron_h.py`, `modeling_bamba.py`, `modeling_falcon_h1.py`)."""
    heads, state = keys.whole(*MAMBA2_HEADS), keys.whole(*STATE)
    groups, kernel = keys.whole(*GROUPS), keys.whole(*KERNEL)
    expanded = keys.optional("mamba_d_ssm") or keys.whole(*EXPAND) * hidden
    keys.pass_over(*EXPAND)
    dim = _mamba_head_dim(keys, heads, expanded)
    inner = heads * dim
    if inner != expanded and not keys.has("mamba_head_dim"):
        raise Refused(keys.name("mamba_n_heads"), heads, f"heads x head width = {expanded}, the inner width")
    channels = inner + 2 * groups * state
    vectors = channels * kernel + 3 * heads + (channels if keys.flag(*CONV_BIAS, default=True) else 0)
    if keys.flag("mamba_proj_bias", "use_bias") if keys.has("mamba_proj_bias", "use_bias") else False:
        vectors += channels + inner + heads + hidden
    if keys.has("mamba_use_mlp") and not keys.flag("mamba_use_mlp"):
        raise Refused(keys.name("mamba_use_mlp"), False, "true: layers without a feed-forward are not known here")
    normed = not keys.stated_or_default("mamba_rms_norm") or keys.flag("mamba_rms_norm")
    return LinearAttention("mamba2", heads, state, dim, channels, kernel, groups, vectors=vectors), inner if normed else 0


def _mamba_head_dim(keys: Keys, heads: int, inner: int) -> int:
    key, value = keys.state(*MAMBA_HEAD_DIM)
    if value is MISSING:
        value = keys.default(MAMBA_HEAD_DIM, "auto", "absent: inner width over heads")
    if value != "auto":
        return keys.check(key, value)
    if inner % heads:
        raise Refused(keys.name(key), value, f"a number, as {inner} / {heads} is not whole")
    return inner // heads


def mamba(keys: Keys, hidden: int) -> tuple[LinearAttention, int]:
    """Mamba with per-channel state and norms on its three small projections (`modeling_jamba.py`)."""
    state, kernel = keys.whole(*STATE), keys.whole(*KERNEL)
    inner = keys.whole(*EXPAND) * hidden
    key, rank = keys.state("mamba_dt_rank")
    if rank is MISSING:
        rank = keys.default(("mamba_dt_rank",), "auto", "absent: hidden / 16")
    rank = -(-hidden // 16) if rank == "auto" else keys.check(key, rank)
    vectors = inner * (kernel + state + 2) + (inner if keys.flag(*CONV_BIAS, default=True) else 0)
    if keys.flag("mamba_proj_bias"):
        vectors += 2 * inner + hidden
    projections = inner * (rank + 2 * state) + rank * inner
    normed = not keys.has("mamba_inner_layernorms") or keys.flag("mamba_inner_layernorms")
    small = rank + 2 * state if normed else 0
    return LinearAttention("mamba", 1, state, inner, inner, kernel, 1, projections=projections, vectors=vectors), small


def lightning(keys: Keys) -> tuple[LinearAttention, int]:
    """Lightning attention (`modeling_minimax.py`): queries, keys, values and a gate as wide as all heads."""
    heads = keys.whole("num_attention_heads")
    dim = keys.whole("head_dim") if keys.has("head_dim") else _even(keys, heads)
    return LinearAttention("lightning", heads, dim, dim), heads * dim


def _even(keys: Keys, heads: int) -> int:
    hidden = keys.whole("hidden_size")
    if hidden % heads:
        raise Refused(keys.name("head_dim"), MISSING, f"the width of a head, as {hidden} / {heads} is not whole")
    keys.log.assume(keys.name("head_dim"), hidden // heads, "absent: hidden_size / num_attention_heads")
    return hidden // heads


def short_convolution(keys: Keys, hidden: int) -> tuple[LinearAttention, int]:
    """A gated convolution over the last few tokens (`modeling_lfm2.py`)."""
    kernel, bias = keys.whole("conv_L_cache"), keys.flag("conv_bias")
    vectors = hidden * kernel + (5 * hidden if bias else 0)
    return LinearAttention("short_conv", 0, 0, 0, hidden, kernel, vectors=vectors), 0
