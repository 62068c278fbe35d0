"""What a family's name means beyond its keys: biases, norms and placements that no key states.

One row per `model_type`. Whatever a key states is read from the key; a row holds only what the public implementation
does without being told. Source: Hugging Face transformers 5.24.0 (`modeling_<name>.py`), and for the rows marked
so the model's own repository.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Family:
    """Facts about one `model_type`.

    `bias` says what the attention bias key covers: `all` (query, key, value, output), `qkv`, `always` where query, key
    and value have one without any key, or `never`. `qk_norm` is `head` (a vector of the head's width for queries and
    one for keys), `full` (as wide as all heads) or empty; with `qk_norm_key`, `use_qk_norm` decides. `gate` is
    `full` or `head`. `sinks` is `all`, `sliding` or empty.

    `norms` counts vectors as wide as the model per layer, of `norm_vectors` values per width (2 with a bias, 0
    without weights); `layer_vectors` other vectors of that width. `latent_norms`: two norms inside a latent mixture.

    `router_bias`: the router has a bias that counts as a parameter; `router_buffer`: one that does not.

    `window` says which layers slide when nothing in the file does: `all`, `late` (from max_window_layers on), `every`
    (all but each `every`-th), `last` (the same counted from the end), or empty where the class ignores windows.
    `dense_first` layers are dense when nothing in the file says which. `own_blocks`: attention, recurrence and
    feed-forward are layers of their own. `both`: attention and recurrence in every layer; `twice`: two attentions
    and two dense blocks around one mixture. `linear` names the recurrence when no key tells.
    `prediction` says how prediction layers are stored: `copies` with their own embedding and head, `shared` without,
    `dense` a dense layer without a norm at the end, `typed` dense layers with a head each whose attention
    `layer_types` names, `blocks` layers of one part each; or empty where nobody has described them.
    """

    bias: str = "all"
    qk_norm: str = ""
    qk_norm_key: bool = False
    gate: str = ""
    sinks: str = ""
    norms: int = 2
    norm_vectors: int = 1
    layer_vectors: int = 0
    matrices: int = 3
    shared_experts: int = 0
    shared_gate: bool = False
    expert_bias: bool = False
    router_bias: bool = False
    router_buffer: bool = False
    latent_norms: bool = False
    window: str = ""
    every: int = 0
    window_extra: int = 0
    dense_first: int = 0
    own_blocks: bool = False
    both: bool = False
    twice: bool = False
    linear: str = ""
    prediction: str = ""


_GEMMA = Family(norms=4, window="every")
_QWEN2 = Family(bias="always", window="late")
_QWEN3 = Family(qk_norm="head", window="late")
_QWEN3_NEXT = Family(qk_norm="head", gate="full", shared_gate=True, prediction="shared")
_DEEPSEEK = Family(prediction="copies")
_DEEPSEEK_V3 = replace(_DEEPSEEK, router_buffer=True)
_GLM = Family(bias="qkv", router_buffer=True, prediction="copies")
_MUSE = Family(norms=4, gate="full", window="last", every=4)
_MINIMAX = Family(linear="lightning", bias="never")

FAMILIES: dict[str, Family] = {
    "afmoe": Family(norms=4, qk_norm="head", gate="full", router_bias=True, window="every"),
    "arcee": Family(matrices=2),
    "bamba": Family(),
    "chatglm": Family(bias="qkv"),  # THUDM/glm-4-9b, modeling_chatglm.py
    "cohere": Family(norms=1, qk_norm="full", qk_norm_key=True),
    "cohere2": Family(norms=1, window="every", every=4),
    "dbrx": Family(),
    "deepseek_v2": _DEEPSEEK,
    "deepseek_v3": _DEEPSEEK_V3,
    "deepseek_v32": _DEEPSEEK_V3,
    "deepseek_v4": Family(sinks="all", prediction="shared"),
    "dots1": Family(qk_norm="head", window="late", router_buffer=True),
    "ernie4_5": Family(),
    "ernie4_5_moe": Family(router_bias=True, prediction="dense"),
    "exaone4": Family(qk_norm="head", window="every"),
    "exaone_moe": Family(qk_norm="head", window="every", dense_first=1),
    "falcon": Family(matrices=2, norm_vectors=2),
    "falcon_h1": Family(both=True),
    "gemma": Family(),
    "gemma2": replace(_GEMMA, every=2),
    "gemma3_text": replace(_GEMMA, qk_norm="head", every=6),
    "gemma3n_text": replace(_GEMMA, qk_norm="head", every=5),
    "gemma4_text": replace(_GEMMA, qk_norm="head", every=6),
    "glm": Family(bias="qkv"),
    "glm4": Family(bias="qkv", norms=4),
    "glm4_moe": replace(_GLM, qk_norm="head", qk_norm_key=True),
    "glm4_moe_lite": replace(_GLM, bias="all", dense_first=1),
    "glm_moe_dsa": replace(_GLM, bias="all", prediction="shared"),
    "gpt_oss": Family(sinks="all", expert_bias=True, router_bias=True, window="every", every=2),
    "granite": Family(),
    "granitemoe": Family(),
    "granitemoehybrid": Family(),
    "granitemoeshared": Family(),
    "hunyuan_v1_dense": Family(qk_norm="head", qk_norm_key=True),
    "hunyuan_v1_moe": Family(qk_norm="head", qk_norm_key=True),
    "jamba": Family(),
    "kimi_linear": Family(linear="kda", router_buffer=True),
    "lfm2": Family(qk_norm="head"),
    "lfm2_moe": Family(qk_norm="head", router_buffer=True),
    "laguna": Family(qk_norm="head", gate="head", router_bias=True, dense_first=1),
    "llama": Family(),
    "llama4_text": Family(shared_experts=1),
    "longcat_flash": Family(twice=True, router_buffer=True),
    "mimo": Family(bias="qkv", window="late", prediction="shared"),
    "mimo_v2_flash": Family(bias="qkv", sinks="sliding", window_extra=1, dense_first=1, router_buffer=True),
    "minicpm3": _DEEPSEEK,
    "minimax": _MINIMAX,
    "minimax_m2": Family(qk_norm="full", router_buffer=True),
    "minimax_m3_vl_text": Family(qk_norm="head", router_buffer=True),
    "ministral": Family(window="all"),
    "ministral3": Family(window="all"),
    "mistral": Family(window="all"),
    "mistral4": _DEEPSEEK,
    "mixtral": Family(window="all"),
    "mllama_text_model": Family(),
    "muse_glimmer_text": _MUSE,
    "muse_spark_text": replace(_MUSE, norms=3, layer_vectors=2, latent_norms=True, router_buffer=True),
    "nemotron-nas": Family(),  # nvidia/Llama-3_3-Nemotron-Super-49B-v1, modeling_decilm.py
    "nemotron_h": Family(norms=1, matrices=2, router_buffer=True, own_blocks=True, prediction="blocks"),
    "olmo": Family(norm_vectors=0),
    "olmo2": Family(qk_norm="full"),
    "olmo3": Family(qk_norm="full", window="every", every=4),
    "olmoe": Family(qk_norm="full"),
    "phi3": Family(window="all"),
    "phimoe": Family(norm_vectors=2, window="all"),
    "qwen": Family(bias="always"),  # Qwen/Qwen-72B-Chat, modeling_qwen.py
    "qwen2": _QWEN2,
    "qwen2_5_vl_text": _QWEN2,
    "qwen2_moe": Family(bias="qkv", shared_gate=True, window="late"),
    "qwen2_vl_text": _QWEN2,
    "qwen3": _QWEN3,
    "qwen3_5_moe_text": _QWEN3_NEXT,
    "qwen3_5_text": _QWEN3_NEXT,
    "qwen3_moe": _QWEN3,
    "qwen3_next": _QWEN3_NEXT,
    "qwen3_vl_moe_text": Family(qk_norm="head"),
    "qwen3_vl_text": Family(qk_norm="head"),
    "seed_oss": Family(bias="qkv"),
    "smollm3": Family(),
    "solar_open": Family(),
    "starcoder2": Family(matrices=2, norm_vectors=2, window="all"),
    "step3p5": Family(qk_norm="head", gate="head", dense_first=3, router_buffer=True, prediction="typed"),
}

# Other names for the same text model: outer configs whose nested one is unnamed, renamed re-uploads, flat files.
ALIASES: dict[str, str] = {
    "deepseek_ref": "deepseek_v4",
    "deepseek_v4_text": "deepseek_v4",
    "exaone": "llama",
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "gemma4": "gemma4_text",
    "glm4v_moe_text": "glm4_moe",
    "hunyuan": "hunyuan_v1_moe",
    "internlm3": "llama",
    "kimi_k2": "deepseek_v3",
    "kimi_k25": "deepseek_v3",
    "kimi_k3": "kimi_linear",
    "llama4": "llama4_text",
    "minimax_m1": "minimax",
    "minimax_m3": "minimax_m3_vl_text",
    "minimax_m3_vl": "minimax_m3_vl_text",
    "minimax_text_01": "minimax",
    "mistral3": "mistral",
    "mllama": "mllama_text_model",
    "muse_glimmer": "muse_glimmer_text",
    "muse_spark": "muse_spark_text",
    "nemotron-h": "nemotron_h",
    "qwen2_5_vl": "qwen2_5_vl_text",
    "qwen2_vl": "qwen2_vl_text",
    "qwen2_5_omni_text": "qwen2",
    "qwen3_omni_moe_text": "qwen3_moe",
    "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
    "qwen3_vl": "qwen3_vl_text",
    "qwen3_vl_moe": "qwen3_vl_moe_text",
    "step3p5_text": "step3p5",
    "step3p7": "step3p5",
    "step3p7_text": "step3p5",
}


def find(name: object) -> tuple[str, Family] | None:
    """Return the canonical name and the facts of a `model_type`, None where nobody has described it."""
    if not isinstance(name, str):
        return None
    canonical = ALIASES.get(name, name)
    return (canonical, FAMILIES[canonical]) if canonical in FAMILIES else None
