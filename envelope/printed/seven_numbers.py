"""The figures the first seed prints about the seven numbers and the pools, recomputed by the code the page runs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from envelope import checkpoint, experts, flops, parameters
from envelope.evaluation import Envelope, evaluate
from envelope.scenario import resolve

MUSE = "muse-spark-open"


def muse(**inputs: object) -> Envelope:
    """Muse Spark Open on one HGX B300, as the seed sets it up."""
    return evaluate(MUSE, **inputs)


def _model():
    model = resolve({"model": MUSE}).model
    assert model is not None
    return model


def _part(part: str, active: bool = False) -> int:
    by_part = parameters.active_by_part if active else parameters.resident_by_part
    return by_part(_model())[part]


def _blocks() -> int:
    return _part("routed_experts") + _part("attention") + _part("latent_projections")


def _active_blocks() -> int:
    return parameters.active(_model()) - _part("router", active=True)


def _split() -> checkpoint.Split:
    split = resolve({"model": MUSE}).split
    assert split is not None
    return split


def _stored(format: str, what: Callable[[checkpoint.Piece], int]) -> int:
    return sum(what(piece) for piece in checkpoint.pieces(_model(), _split()) if piece.format.key == format)


def _scales(piece: checkpoint.Piece) -> int:
    return piece.stored_elements - piece.parameters // piece.format.values_per_byte


def _read(part: str, format: str) -> float:
    return muse().evaluation.read(1)[part, format]


def _read_dense() -> float:
    return sum(size for (part, _), size in muse().evaluation.read(1).items() if part != "routed_experts")


def _step(tokens: float) -> float:
    return sum(muse().evaluation.read(tokens).values())


def _growing(model: str, **inputs: object) -> Any:
    return evaluate(model, **inputs).value("cache_bytes_per_token")


def _launch_bytes() -> Fraction:
    return _growing(MUSE, global_layers="62", cache_format="bf16") * 2**20


def _n90(top_k: int, routed: int) -> Callable[[], float]:
    return lambda: experts.tokens_to_touch(routed, top_k, 0.9)


def _printed_crossover(find) -> float:
    """From the active count as the seed rounds it; the unrounded shapes give 169,072."""
    return find(_model(), 42.78e9)


def _pools(context: int, **inputs: object) -> Envelope:
    return muse(context=context, **inputs)


def _share_of_best(context: int, ratio: str) -> Fraction:
    return Fraction(_pools(context, pool_ratio=ratio).value("sessions"), _pools(context).value("sessions"))


_MIX = "32K:1,128K:1"


def _mixed(**inputs: object) -> Envelope:
    return muse(mix=_MIX, **inputs)


def _file(format: str) -> Fraction:
    return muse(weight_format=format).value("weight_bytes")


def _uniform() -> float:
    """Everything a token reads, at 4.5 bits."""
    return checkpoint.read_parameters(_model()) * 0.5625


_MACS = {"machine": "mac-studio-m5-ultra", "gpus": 2, "bandwidth_share": 1}

CHECKS: dict[str, Callable[[], Any]] = {
    "params.blocks": _blocks,
    "params.total": lambda: muse().value("resident_parameters"),
    "params.attention": lambda: _part("attention"),
    "params.latent": lambda: _part("latent_projections"),
    "hf.nvfp4_displayed": lambda: checkpoint.hub_displayed(_model(), _split()),
    "hf.nvfp4_packed": lambda: _stored("nvfp4", lambda piece: piece.parameters // 2),
    "hf.nvfp4_scales": lambda: _stored("nvfp4", _scales),
    "hf.nvfp4_bf16": lambda: _stored("bf16", lambda piece: piece.parameters),
    "active.blocks": _active_blocks,
    "active.with_routers": lambda: muse().value("active_parameters"),
    "active.experts": lambda: _part("routed_experts", active=True),
    "active.routers": lambda: _part("router", active=True),
    "active.attention_share_resident": lambda: _part("attention") / _blocks(),
    "active.attention_share_active": lambda: muse().value("active_attention_share"),
    "step.fp4_experts": lambda: _read("routed_experts", "nvfp4"),
    "step.bf16_experts": lambda: _read("routed_experts", "bf16"),
    "step.dense": _read_dense,
    "step.total": lambda: muse().value("bytes_per_step"),
    "step.bf16_share": lambda: muse().value("bytes_per_step_bf16_share"),
    "step.at73": lambda: _step(73),
    "step.all": lambda: _step(1e9),
    "kv.muse_1m_bf16": lambda: _growing(MUSE, cache_format="bf16") * 2**20,
    "kv.muse_1m_bf16_with_window": lambda: muse(cache_format="bf16", context="1M").value("cache_bytes_per_session"),
    "kv.muse_1m_fp8_with_window": lambda: muse(context="1M").value("cache_bytes_per_session"),
    "kv.launch_post": _launch_bytes,
    "kv.launch_factor": lambda: _launch_bytes() / muse(cache_format="bf16", context="1M").value("cache_bytes_per_session"),
    "kv.spread": lambda: _growing("llama-3.1-70b") / _growing("deepseek-v4.1-flash"),
    "kv.llama": lambda: _growing("llama-3.1-70b"),
    "kv.qwen3": lambda: _growing("qwen3-235b"),
    "kv.gptoss": lambda: _growing("gpt-oss-120b"),
    "kv.dsv3": lambda: _growing("deepseek-v3"),
    "kv.dsv41_flash": lambda: _growing("deepseek-v4.1-flash"),
    "kv.dsv41_flash_1m": lambda: evaluate("deepseek-v4.1-flash", context="1M").value("cache_bytes_per_session"),
    "experts.n90.8of256": _n90(8, 256),
    "experts.n90.4of128": _n90(4, 128),
    "experts.n90.8of128": _n90(8, 128),
    "experts.n90.8of384": _n90(8, 384),
    "crossover.muse": lambda: _printed_crossover(flops.crossover_decode),
    "crossover.muse_prefill": lambda: 2 * round(_printed_crossover(flops.crossover_decode)),
    "crossover.qwen3": lambda: evaluate("qwen3-235b", active_parameters="22B").value("crossover_decode"),
    "crossover.prefill_share": lambda: muse(context="1M").value("prefill_attention_share"),
    "capacity.pool": lambda: muse().value("pool_bytes"),
    "capacity.ceiling_128k": lambda: muse().value("ceiling_sessions"),
    "capacity.ceiling_1m": lambda: muse(context="1M").value("ceiling_sessions"),
    "capacity.launch_post_1m": lambda: muse(context="1M", global_layers="62").value("ceiling_sessions"),
    "capacity.cache_per_token_128k": lambda: muse().value("cache_bytes_per_session"),
    "checkpoint.fp4_share_parameters": lambda: checkpoint.parameters_by_format(_model(), _split())["nvfp4"] / parameters.resident(_model()),
    "checkpoint.fp4_share_bytes": lambda: _read("routed_experts", "nvfp4") / muse().value("bytes_per_step"),
    "checkpoint.nvfp4": lambda: _file("nvfp4"),
    "checkpoint.mxfp4": lambda: _file("mxfp4"),
    "checkpoint.bf16": lambda: _file("bf16"),
    "checkpoint.mac_nvfp4": lambda: 2 * float(resolve(_MACS)["bandwidth"]) / muse().value("bytes_per_step"),
    "checkpoint.mac_uniform": lambda: 2 * float(resolve(_MACS)["bandwidth"]) / _uniform(),
    "pool.share_default": lambda: muse(pool_ratio="0.8").value("sliding_share"),
    "pool.default_32k_fraction": lambda: _share_of_best(32_768, "0.8"),
    "pool.r01_32k_fraction": lambda: _share_of_best(32_768, "0.1"),
    "pool.mix_ratio": lambda: _mixed().value("best_pool_ratio"),
    "pool.mix_sessions": lambda: _mixed().value("sessions"),
    "pool.mix_sized_for_long": lambda: _mixed(pool_ratio="0.078125").value("sessions"),
    "pool.mix_default": lambda: _mixed(pool_ratio="0.8").value("sessions"),
    "pool.share_best_128k": lambda: muse().value("sliding_share"),
    "pool.share_best_1m": lambda: muse(context="1M").value("sliding_share"),
    "pool.default_loss_128k": lambda: Fraction(muse().value("sessions"), muse().value("sessions_default_ratio")),
    **{
        f"pool.best_ratio_{context}": lambda context=context: _pools(context).value("best_pool_ratio")
        for context in (32_768, 131_072, 1_048_576)
    },
    **{
        f"pool.best_sessions_{context}": lambda context=context: _pools(context).value("sessions")
        for context in (32_768, 131_072, 1_048_576)
    },
    **{
        f"pool.default_sessions_{context}": lambda context=context: _pools(context, pool_ratio="0.8").value("sessions")
        for context in (131_072, 1_048_576)
    },
    **{
        f"pool.sessions_131072_r{ratio}": lambda ratio=ratio: muse(pool_ratio=ratio).value("sessions")
        for ratio in ("0.4", "0.1", "0.15", "0.2")
    },
}  # fmt: skip

CHECKS |= {
    f"cache.breakeven_{rent.replace('.', '')}": lambda rent=rent: muse(gpu_hour=rent).value("cache_breakeven_seconds")
    for rent in ("6.77", "9.50", "7.35")
}

OPEN: dict[str, str] = {}
