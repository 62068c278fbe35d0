"""What the files declare about how weights are stored: formats, what is left out, the cache's format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from envelope.config.keys import Log

# Past this many names a list is no list of modules: the longest public one, of single experts, holds 22,422.
_MOST_NAMES = 100_000


@dataclass(frozen=True)
class Target:
    """Modules stored in `format`: those that `patterns` name, or every linear layer where there are none."""

    format: str
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Quantization:
    """Declared storage. The first target that names a module stores it; what `exclude` names stays BF16.

    `head` tells whether the output head counts among the linear layers a method converts, `experts` under which name
    the family keeps its experts.
    """

    method: str
    targets: tuple[Target, ...]
    exclude: tuple[str, ...] = ()
    head: bool = False
    cache_format: str = ""
    experts: str = "mlp.experts"


def quantization(text: Mapping, top: Mapping, other: Mapping | None, family: str, log: Log) -> Quantization | None:
    """Read a `quantization_config`, a `compression_config` or the `hf_quant_config.json` beside; None without one.

    A declaration nobody has described here is assumed away aloud, since BF16 is the largest it can be.
    """
    for owner in (text, top):
        for key in ("quantization_config", "compression_config"):
            if isinstance(owner.get(key), dict) and owner[key]:
                return _declared(owner[key], owner, family, log)
    dtype = next((owner[key] for owner in (text, top) for key in ("dtype", "torch_dtype") if isinstance(owner.get(key), str)), "")
    inner = other.get("quantization") if other else None
    if not inner and dtype.removeprefix("torch.") not in ("", "auto", "bfloat16", "float16"):
        log.assume("torch_dtype", "16 bits", f"says {dtype[:40]}, and no quantization is declared: weights are sized as they are usually served")
    return _declared(inner, top, family, log) if isinstance(inner, dict) and inner else None


def _declared(stated: Mapping, owner: Mapping, family: str, log: Log) -> Quantization | None:
    algorithm = str(stated.get("quant_algo") or "").upper()
    unnamed = "modelopt" if algorithm else "compressed-tensors" if isinstance(stated.get("config_groups"), dict) else ""
    method = str(stated.get("quant_method") or unnamed).lower().replace("_", "-")[:40]
    read = _METHODS.get(method)
    found = read(stated, owner, family) if read else None
    if found is None or not found.targets:
        log.assume("quantization_config", method or "unnamed", "a way to store weights nobody has described here: sized as BF16")
        return None
    # Gemma 4 keeps its experts beside `mlp`, so that leaving `mlp` out leaves them in (`modeling_gemma4.py`).
    return replace(found, experts="experts") if family == "gemma4_text" else found


def _names(stated: Mapping, *keys: str) -> tuple[str, ...]:
    for key in keys:
        value = stated.get(key)
        if isinstance(value, list):
            return tuple(name[:200] for name in value[:_MOST_NAMES] if isinstance(name, str))
    return ()


def _cache(stated: Mapping) -> str:
    """Read the cache's format: modelopt names an algorithm, compressed-tensors a scheme of bits."""
    algorithm = str(stated.get("kv_cache_quant_algo") or "").lower()
    scheme = stated.get("kv_cache_scheme")
    bits = scheme.get("num_bits") if isinstance(scheme, dict) else None
    if algorithm in ("fp8", "nvfp4"):
        return algorithm
    return "fp8" if bits == 8 else "nvfp4" if bits == 4 else ""


# Whose 128 × 128 blocks carry BF16 scales; others carry FP32. Source: the dtype maps of Qwen/Qwen3-32B-FP8 and
# deepseek-ai/DeepSeek-V3 on the Hub.
_BF16_SCALES = ("qwen",)


def _fp8(stated: Mapping, owner: Mapping, family: str) -> Quantization:
    block = stated.get("weight_block_size")
    scaled = "fp8_block_bf16" if family.startswith(_BF16_SCALES) else "fp8_block"
    targets = [Target(scaled if isinstance(block, list) and block else "fp8_tensor")]
    # DeepSeek V4 says fp8 and keeps its experts in 4 bits; only this key tells.
    if owner.get("expert_dtype") == "fp4" or stated.get("expert_dtype") == "fp4":
        targets.insert(0, Target("mxfp4", ("mlp.experts",)))
    # Re-quantized experts of such a file are named one layer at a time.
    targets[:0] = _named_layers(stated)
    return Quantization("fp8", tuple(targets), _names(stated, "modules_to_not_convert", "ignored_layers"), cache_format=_cache(stated))


def _mxfp4(stated: Mapping, owner: Mapping, family: str) -> Quantization:
    return Quantization("mxfp4", (Target("mxfp4", ("mlp.experts",)),), _names(stated, "modules_to_not_convert"))


def _integer(stated: Mapping, owner: Mapping, family: str) -> Quantization | None:
    """AWQ and GPTQ: integers of `bits` in groups along the input."""
    bits, group = stated.get("bits"), stated.get("group_size")
    if bits == 8:
        format = "int8"
    elif bits == 4 and group == 32:
        format = "int4_g32"
    elif bits == 4 and group == 128:
        # Both methods store zero points; a symmetric GPTQ stores them too, all equal.
        format = "int4_awq"
    else:
        return None
    return Quantization(str(stated.get("quant_method")), (Target(format),), _names(stated, "modules_to_not_convert"))


def _auto_round(stated: Mapping, owner: Mapping, family: str) -> Quantization | None:
    """Auto-round in the layout of GPTQ or AWQ; with `extra_config` some layers have widths of their own."""
    packing = str(stated.get("packing_format") or "")
    return _integer(stated, owner, family) if packing.endswith(("gptq", "awq", "gemm")) and not stated.get("extra_config") else None


def _bitsandbytes(stated: Mapping, owner: Mapping, family: str) -> Quantization | None:
    """8 bits with a scale per row, or 4 bits in groups of 64 whose FP32 scales may be quantized again to 8 bits."""
    if stated.get("load_in_8bit") is True:
        format = "int8"
    elif stated.get("load_in_4bit") is True:
        format = "nf4_double" if stated.get("bnb_4bit_use_double_quant") is True else "nf4"
    else:
        return None
    return Quantization("bitsandbytes", (Target(format),), _names(stated, "llm_int8_skip_modules"))


def _fbgemm(stated: Mapping, owner: Mapping, family: str) -> Quantization:
    return Quantization("fbgemm-fp8", (Target("fp8_channel"),), _names(stated, "modules_to_not_convert"))


_EXPERT = re.compile(r"experts\.\d+\.")
_MODELOPT = {"NVFP4": "nvfp4_modelopt", "W4A16_NVFP4": "nvfp4_modelopt", "NVFP4_AWQ": "nvfp4_modelopt", "FP8": "fp8_tensor",
             "FP8_PER_CHANNEL_PER_TOKEN": "fp8_channel", "FP8_PB_WO": "fp8_block", "MXFP8": "mxfp8", "MXFP4": "mxfp4"}  # fmt: skip


def _named_layers(stated: Mapping) -> tuple[Target, ...]:
    """Read `quantized_layers`, which names every converted module with its algorithm. Experts are named once for all."""
    layers = stated.get("quantized_layers")
    named: dict[str, dict[str, None]] = {}
    for name, how in list(layers.items())[:_MOST_NAMES] if isinstance(layers, dict) else ():
        algorithm = str(how.get("quant_algo")).upper() if isinstance(how, dict) else ""
        if algorithm in _MODELOPT:
            named.setdefault(_MODELOPT[algorithm], {})[_EXPERT.sub("experts.", str(name)[:200])] = None
    return tuple(Target(format, tuple(names)) for format, names in named.items())


def _modelopt(stated: Mapping, owner: Mapping, family: str) -> Quantization | None:
    exclude = _names(stated, "exclude_modules", "ignore")
    if stated.get("quantized_layers"):
        return Quantization("modelopt", _named_layers(stated), exclude, True, _cache(stated))
    if isinstance(stated.get("config_groups"), dict):
        return _compressed_tensors(stated, owner, family)
    format = _MODELOPT.get(str(stated.get("quant_algo")).upper())
    return Quantization("modelopt", (Target(format),), exclude, True, _cache(stated)) if format else None


def _compressed_tensors(stated: Mapping, owner: Mapping, family: str) -> Quantization | None:
    targets = []
    groups = stated.get("config_groups")
    for group in list(groups.values())[:64] if isinstance(groups, dict) else ():
        weights = group.get("weights") if isinstance(group, dict) else None
        format = _scheme(weights) if isinstance(weights, dict) else None
        if format is None:
            return None
        patterns = _names(group, "targets")
        targets.append(Target(format, () if "Linear" in patterns else patterns))
    # Groups that name modules come first: "Linear" takes what is left.
    targets.sort(key=lambda target: not target.patterns)
    return Quantization("compressed-tensors", tuple(targets), _names(stated, "ignore"), True, _cache(stated))


def _scheme(weights: Mapping) -> str | None:
    """Read one group's weight scheme: bits, type, and what shares a scale."""
    bits, kind, group = weights.get("num_bits"), weights.get("type"), weights.get("group_size")
    strategy = weights.get("strategy")
    if kind == "float" and bits == 4:
        return "mxfp4" if group == 32 else "nvfp4_modelopt"
    if kind == "float" and bits == 8:
        return {"channel": "fp8_channel", "block": "fp8_block", "group": "mxfp8"}.get(str(strategy), "fp8_tensor")
    if kind == "int" and bits == 8:
        return "int8"
    if kind == "int" and bits == 4:
        symmetric = weights.get("symmetric") is not False
        return {32: "int4_g32", 128: "int4" if symmetric else "int4_awq"}.get(group if isinstance(group, int) else 128)
    return None


def _quark(stated: Mapping, owner: Mapping, family: str) -> Quantization | None:
    inner = stated.get("global_quant_config")
    weight = inner.get("weight") if isinstance(inner, dict) else None
    weight = weight[0] if isinstance(weight, list) and weight else weight
    kind = str(weight.get("dtype") if isinstance(weight, dict) else "")
    format = {"fp4": "mxfp4", "fp8_e4m3": "fp8_tensor"}.get(kind)
    return Quantization("quark", (Target(format),), _names(stated, "exclude"), True) if format else None


_METHODS = {
    "fp8": _fp8, "mxfp4": _mxfp4, "awq": _integer, "gptq": _integer, "modelopt": _modelopt, "modelopt-fp4": _modelopt,
    "compressed-tensors": _compressed_tensors, "quark": _quark, "auto-round": _auto_round, "intel/auto-round": _auto_round,
    "bitsandbytes": _bitsandbytes, "fbgemm-fp8": _fbgemm,
}  # fmt: skip


def total_size(index: Mapping) -> int:
    """Tensor bytes that a safetensors index states, 0 where it states none that can be."""
    metadata = index.get("metadata")
    size = metadata.get("total_size") if isinstance(metadata, dict) else None
    return size if isinstance(size, int) and not isinstance(size, bool) and 0 < size < 10**16 else 0
