"""What a family's name means beyond its keys: biases, norms and placements that no key states.

One row per `model_type`. Everything a key states is read from the key; a row holds only what the public
implementation (Hugging Face transformers 5.24.0, `modeling_<name>.py`) does without being told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Family:
    """Facts about one `model_type`.

    `bias` says what the attention bias key covers: `all` (query, key, value, output), `qkv`, or `always` where
    query, key and value have one without any key. `qk_norm` is `head` (one vector of the head's width for queries
    and one for keys), `full` (as wide as all heads) or empty; `qk_norm_key` when `use_qk_norm` decides. `norms`
    counts vectors as wide as the model in each layer and `norm_vectors` is 2 where a norm also has a bias.
    `window` says which layers slide when nothing in the file does: `all`, `late` (from max_window_layers on),
    `every` (all but each n-th), `last` (the same counted from the end), or empty where the class ignores windows.
    """

    bias: str = "all"
    qk_norm: str = ""
    qk_norm_key: bool = False
    norms: int = 2
    norm_vectors: int = 1
    final_norm: bool = True
    gate: str = ""
    sinks: bool = False
    matrices: int = 3
    window: str = ""
    every: int = 0
    shared_experts: int = 0
    shared_gate: bool = False
    expert_bias: bool = False
    router_bias: bool = False
    latent_norms: bool = False
    layer_vectors: int = 0
    tied: bool | None = None


_LLAMA = Family()
_QWEN3 = Family(qk_norm="head", window="late")
_DEEPSEEK = Family()

FAMILIES: dict[str, Family] = {
    "llama": _LLAMA,
    "mistral": Family(window="all"),
    "mixtral": Family(window="all"),
    "qwen2": Family(bias="always", window="late"),
    "qwen3": _QWEN3,
    "qwen3_moe": replace(_QWEN3, window="late"),
    "gpt_oss": Family(sinks=True, expert_bias=True, router_bias=True, window="every", every=2),
    "deepseek_v3": _DEEPSEEK,
    "kimi_k2": _DEEPSEEK,
    "muse_spark_text": Family(norms=3, gate="full", window="last", every=4, latent_norms=True, layer_vectors=2),
}
