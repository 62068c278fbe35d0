"""The start-up lines of vLLM, SGLang and TensorRT-LLM that say what they did with memory.

Texts as printed by the releases named in the policies beside this file; TensorRT-LLM's from public logs. SGLang and older
vLLM print 2^30 bytes and write GB. Every pattern is bounded and has no nested repetition: the text is hostile.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from envelope.units import GIB

_N = r"(\d[\d,]{0,17})"
_D = r"(\d[\d,]{0,9}(?:\.\d{1,6})?)"


def _count(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


def _gib(text: str) -> Fraction:
    """Both engines print 2^30 bytes, SGLang and older vLLM under the name GB."""
    return _count(text) * GIB


def word(text: str) -> str:
    """A word as inputs know it."""
    return text.lower()


@dataclass(frozen=True)
class Pattern:
    """A line with `marker` in it that matches `expression` measures `key`; `engine` is whose line it is, if one's."""

    engine: str
    key: str
    label: str
    unit: str
    marker: str
    expression: re.Pattern[str]
    make: Callable[[str], Fraction | str] = _count


def _patterns(*rows: tuple) -> tuple[Pattern, ...]:
    return tuple(Pattern(*row[:5], re.compile(row[5]), *row[6:]) for row in rows)


_VLLM = _patterns(
    ("vllm", "version", "version", "text", "vLLM API server version", r"vLLM API server version (\d[\w.+]{1,40})", word),
    ("vllm", "version", "version", "text", "LLM engine (v", r"LLM engine \(v(\d[\w.+]{1,40})\)", word),
    ("vllm", "kv_memory", "available cache memory", "bytes", "Available KV cache memory", rf"Available KV cache memory: {_D} GiB", _gib),
    ("vllm", "kv_memory", "available cache memory", "bytes", "reserved for KV Cache is", rf"reserved for KV Cache is {_D}GiB", _gib),
    ("vllm", "kv_memory", "available cache memory", "bytes", "available KV cache memory (", rf"available KV cache memory \({_D} GiB\)", _gib),
    ("vllm", "tokens", "token line", "tokens", "KV cache size:", rf"KV cache size: {_N} tokens"),
    ("vllm", "concurrency", "maximum concurrency", "ratio", "Maximum concurrency for", rf"Maximum concurrency for [\d,]{{1,15}} tokens per request: {_D}x"),
    ("vllm", "max_model_len", "longest request", "tokens", "Maximum concurrency for", rf"Maximum concurrency for {_N} tokens per request"),
    ("vllm", "max_model_len", "longest request", "tokens", "max_seq_len=", rf"max_seq_len={_N}"),
    ("vllm", "max_model_len", "longest request", "tokens", "max seq len (", rf"max seq len \({_N}\)"),
    ("vllm", "needed", "one request needs", "bytes", "GiB KV", rf"\({_D} GiB KV", _gib),
    ("vllm", "largest", "largest length that fits", "tokens", "estimated maximum model length", rf"estimated maximum model length is {_N}"),
    ("vllm", "weights", "weights", "bytes", "Model loading took", rf"Model loading took {_D} ?G", _gib),
    ("vllm", "weights", "weights", "bytes", "model weights took", rf"model weights took {_D} ?G", _gib),
    ("vllm", "weights", "weights", "bytes", "model weights take", rf"model weights take {_D} ?G", _gib),
    ("vllm", "activations", "activation peak", "bytes", "activation peak memory takes", rf"activation peak memory takes {_D} ?G", _gib),
    ("vllm", "activations", "activation peak", "bytes", "for peak activation", rf"{_D} GiB for peak activation", _gib),
    ("vllm", "graphs", "graphs, estimated", "bytes", "Estimated CUDA graph memory", rf"Estimated CUDA graph memory: {_D} GiB", _gib),
    ("vllm", "captured", "graphs, captured", "bytes", "Graph capturing finished", rf"took {_D} GiB", _gib),
    ("vllm", "memory_fraction", "memory fraction", "share", "(util)", rf"Requested memory: {_D} \(util\)"),
    ("vllm", "memory_fraction", "memory fraction", "share", "gpu_memory_utilization", rf"gpu_memory_utilization'?[:= (]{{1,3}}{_D}"),
    ("vllm", "total", "memory of the GPU", "bytes", "total_gpu_memory", rf"total_gpu_memory \({_D}GiB\)", _gib),
    ("vllm", "total", "memory of the GPU", "bytes", "Free memory on device", rf"\(\d[\d.]{{0,9}}/{_D} GiB\)", _gib),
    ("vllm", "requested", "memory requested", "bytes", "(util)", rf"\(util\), {_D} GiB", _gib),
    ("vllm", "block", "attention block", "tokens", "Setting attention block size", rf"Setting attention block size to {_N} tokens"),
    ("vllm", "blocks", "blocks", "count", "# GPU blocks:", rf"# GPU blocks: {_N}"),
    ("vllm", "chunk", "tokens per step", "tokens", "max_num_batched_tokens", rf"max_num_batched_tokens'?[:=] ?{_N}"),
    ("vllm", "max_num_seqs", "requests at once", "count", "max_num_seqs", rf"max_num_seqs'?[:=] ?{_N}"),
    ("vllm", "tp", "TP", "count", "tensor_parallel_size", rf"tensor_parallel_size'?[:=] ?{_N}"),
    ("vllm", "pp", "PP", "count", "pipeline_parallel_size", rf"pipeline_parallel_size'?[:=] ?{_N}"),
    ("vllm", "dp", "DP", "count", "data_parallel_size", rf"data_parallel_size'?[:=] ?{_N}"),
    ("vllm", "dcp", "DCP", "count", "decode_context_parallel_size", rf"decode_context_parallel_size'?[:=] ?{_N}"),
    ("", "kv_dtype", "cache format", "text", "kv_cache_dtype", r"kv_cache_dtype'?[:=] ?'?([\w]{2,24})", word),
)  # fmt: skip

_SGLANG = _patterns(
    ("sglang", "allocated", "cache allocated", "bytes", "KV Cache is allocated", rf"#tokens: \d{{1,15}}, K size: {_D} GB, V size: {_D} GB", _gib),
    ("sglang", "allocated", "cache allocated", "bytes", "KV Cache is allocated", rf"#tokens: \d{{1,15}}, KV size: {_D} GB", _gib),
    ("sglang", "tokens", "token line", "tokens", "KV Cache is allocated", rf"#tokens: {_N}"),
    ("sglang", "tokens", "token line", "tokens", "max_total_num_tokens=", rf"max_total_num_tokens={_N}"),
    ("sglang", "full_tokens", "full pool", "tokens", "full_layer_tokens=", rf"full_layer_tokens={_N}"),
    ("sglang", "swa_tokens", "sliding pool", "tokens", "swa_layer_tokens=", rf"swa_layer_tokens={_N}"),
    ("sglang", "bytes_per_token", "bytes per token", "bytes", "bytes_per_full_token=", rf"bytes_per_full_token={_D}"),
    ("sglang", "state_slots", "state slots", "count", "Mamba Cache is allocated", rf"max_mamba_cache_size: {_N}"),
    ("sglang", "weights", "weights", "bytes", "Load weight end", rf"mem usage={_D} GB", _gib),
    ("sglang", "total", "memory before loading", "bytes", "Load weight begin", rf"avail mem={_D} GB", _gib),
    ("sglang", "captured", "graphs, captured", "bytes", "graph end", rf"mem usage={_D} GB", _gib),
    ("sglang", "memory_fraction", "memory fraction", "share", "mem_fraction_static=", rf"mem_fraction_static={_D}"),
    ("sglang", "chunk", "tokens per step", "tokens", "chunked_prefill_size=", rf"chunked_prefill_size={_N}"),
    ("sglang", "max_num_seqs", "requests at once", "count", "max_running_requests=", rf"max_running_requests={_N}"),
    ("sglang", "max_model_len", "longest request", "tokens", "context_len=", rf"context_len={_N}"),
    ("sglang", "all_tp", "TP", "count", "tp_size=", rf"\btp_size={_N}"),
    ("sglang", "replicas", "DP", "count", "dp_size=", rf"\bdp_size={_N}"),
    ("sglang", "attention_dp", "attention DP", "count", "attn_dp_size=", rf"\battn_dp_size={_N}"),
    ("sglang", "dp_attention", "DP attention", "text", "enable_dp_attention=", r"enable_dp_attention=(True)", word),
    ("sglang", "pp", "PP", "count", "pp_size=", rf"\bpp_size={_N}"),
    ("sglang", "pool_ratio", "pool ratio", "ratio", "swa_full_tokens_ratio=", rf"swa_full_tokens_ratio={_D}"),
    ("sglang", "page", "page", "tokens", "page_size=", rf"\bpage_size={_N}"),
)  # fmt: skip

_TENSORRT = _patterns(
    ("tensorrt-llm", "version", "version", "text", "TensorRT-LLM version:", r"TensorRT-LLM version: (\d[\w.+]{1,40})", word),
    ("tensorrt-llm", "kv_memory", "cache allocated", "bytes", "max tokens in paged KV cache", rf"Allocated {_D} GiB for max tokens", _gib),
    ("tensorrt-llm", "kv_memory", "cache allocated", "bytes", "bytes for k/v cache", rf"Allocate {_N} bytes for k/v cache"),
    ("tensorrt-llm", "tokens", "token line", "tokens", "in paged KV cache", rf"paged KV cache \({_N}\)"),
    ("tensorrt-llm", "tokens", "token line", "tokens", "tokens in paged KV cache", rf"(?:Using {_N} tokens|tokens in paged KV cache: {_N})"),
    ("tensorrt-llm", "weights", "weights", "bytes", "for model weights", rf"uses {_D} GB for model weights", _gib),
    ("tensorrt-llm", "peak", "peak while profiling", "bytes", "Peak memory during memory usage profiling", rf"non-torch\): {_D} GiB", _gib),
    ("tensorrt-llm", "memory_fraction", "memory fraction", "share", "fraction is set", rf"fraction is set {_D}"),
    ("tensorrt-llm", "bytes_per_token", "bytes per token", "bytes", "kv size is", rf"kv size is {_N}"),
    ("tensorrt-llm", "page", "block", "tokens", "Number of tokens per block", rf"tokens per block: {_N}"),
)  # fmt: skip

PATTERNS = _VLLM + _SGLANG + _TENSORRT
