"""Parameters of the vision and audio encoders a config describes, projectors included.

One counting function per encoder, from its module list in Hugging Face transformers 5.24.0 (`modeling_<name>.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from envelope.config.keys import MISSING, Keys, Refused

VISION_SECTIONS = ("vision_config", "visual_config")
ORIGIN = "absent: class default of the public implementation"

# Class defaults of the encoders (configuration classes of the same version), the keys that can change a count.
DEFAULTS: dict[str, dict[str, object]] = {
    "siglip_vision_model": {"num_channels": 3, "vision_use_head": True, "image_size": 224, "patch_size": 16},
    "pixtral": {
        "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
        "num_channels": 3, "patch_size": 16,
    },
    "llama4_vision_model": {
        "hidden_size": 768, "num_hidden_layers": 34, "num_attention_heads": 16, "num_channels": 3,
        "intermediate_size": 5632, "vision_output_dim": 7680, "image_size": 448, "patch_size": 14,
        "projector_input_dim": 4096, "projector_output_dim": 4096,
    },
    "qwen2_vl_vision": {
        "depth": 32, "embed_dim": 1280, "hidden_size": 3584, "mlp_ratio": 4, "in_channels": 3, "patch_size": 14,
        "spatial_merge_size": 2, "temporal_patch_size": 2,
    },
    "qwen2_5_vl_vision": {
        "depth": 32, "hidden_size": 3584, "intermediate_size": 3420, "in_channels": 3, "patch_size": 14,
        "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 3584,
    },
    "qwen3_vision": {
        "depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "in_channels": 3, "patch_size": 16,
        "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 3584, "num_position_embeddings": 2304,
    },
    "kimi_k25_vision": {
        "patch_size": 14, "pos_emb_height": 64, "pos_emb_width": 64, "num_hidden_layers": 27, "hidden_size": 1152,
        "intermediate_size": 4304,
    },
    "minimax_m3_vl_vision": {
        "hidden_size": 1280, "intermediate_size": 5120, "num_hidden_layers": 32, "num_channels": 3, "patch_size": 14,
        "temporal_patch_size": 2, "spatial_merge_size": 2,
    },
    "mllama_vision_model": {
        "hidden_size": 1280, "num_hidden_layers": 32, "num_global_layers": 8, "num_channels": 3,
        "intermediate_size": 5120, "vision_output_dim": 7680, "image_size": 448, "patch_size": 14, "max_num_tiles": 4,
    },
    "step3p5_vision": {"hidden_size": 1536, "num_hidden_layers": 47, "image_size": 728, "patch_size": 14},
    "gemma4_vision": {
        "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 16, "num_attention_heads": 12,
        "head_dim": 64, "patch_size": 16, "position_embedding_size": 10240,
    },
    "gemma4_audio": {
        "hidden_size": 1024, "num_hidden_layers": 12, "num_attention_heads": 8, "conv_kernel_size": 5,
        "output_proj_dims": 1536,
    },
}  # fmt: skip


def _block(width: int, mlp: int, matrices: int = 2) -> int:
    """One encoder layer: four attention matrices, a feed-forward, two norms, all with biases."""
    return 4 * (width * width + width) + matrices * width * mlp + (matrices - 1) * mlp + width + 4 * width


def siglip(v: Keys, top: Keys, hidden: int) -> int:
    """SigLIP with Gemma 3's projector: one matrix and one norm."""
    width, mlp = v.whole("hidden_size"), v.whole("intermediate_size")
    patch, image = v.whole("patch_size"), v.whole("image_size")
    tower = v.whole("num_channels") * patch * patch * width + width + (image // patch) ** 2 * width + 2 * width
    if v.flag("vision_use_head"):
        tower += width + 4 * (width * width + width) + 2 * width + 2 * width * mlp + mlp + width
    return tower + v.whole("num_hidden_layers") * _block(width, mlp) + width * hidden + width


def pixtral(v: Keys, top: Keys, hidden: int) -> int:
    """Pixtral with Mistral 3's patch merger and projector, no biases."""
    width, mlp = v.whole("hidden_size"), v.whole("intermediate_size")
    patch, merge = v.whole("patch_size"), top.whole("spatial_merge_size", default=2, why=f"{ORIGIN} of mistral3")
    tower = v.whole("num_channels") * patch * patch * width + width
    tower += v.whole("num_hidden_layers") * (4 * width * width + 3 * width * mlp + 2 * width)
    bias = 2 * hidden if top.flag("multimodal_projector_bias") else 0
    return tower + width + width * width * merge * merge + width * hidden + hidden * hidden + bias


def llama4(v: Keys, top: Keys, hidden: int) -> int:
    """Llama 4's vision model: a class token, learned positions, an adapter after pixel shuffle."""
    width, mlp = v.whole("hidden_size"), v.whole("intermediate_size")
    patch, image = v.whole("patch_size"), v.whole("image_size")
    tower = width + ((image // patch) ** 2 + 1) * width + v.whole("num_channels") * patch * patch * width + 4 * width
    tower += v.whole("num_hidden_layers") * _block(width, mlp)
    inner, output = v.whole("projector_input_dim"), v.whole("projector_output_dim")
    return tower + mlp * inner + inner * output + v.whole("vision_output_dim") * hidden


def qwen2(v: Keys, top: Keys, hidden: int) -> int:
    """Qwen2-VL: plain layers of mlp_ratio times the width."""
    width, output = v.whole("embed_dim"), v.whole("hidden_size")
    merged = width * v.whole("spatial_merge_size") ** 2
    tower = _qwen_patch(v) * width + v.whole("depth") * _block(width, width * v.whole("mlp_ratio"))
    return tower + 2 * width + merged * merged + merged + merged * output + output


def qwen2_5(v: Keys, top: Keys, hidden: int) -> int:
    """Qwen2.5-VL: gated layers with norms that have no bias."""
    width, output = v.whole("hidden_size"), v.whole("out_hidden_size")
    merged = width * v.whole("spatial_merge_size") ** 2
    block = _block(width, v.whole("intermediate_size"), 3) - 2 * width
    tower = _qwen_patch(v) * width + v.whole("depth") * block
    return tower + width + merged * merged + merged + merged * output + output


def qwen3(v: Keys, top: Keys, hidden: int) -> int:
    """Qwen3-VL and Qwen3.5: learned positions, and a merger for each level that feeds a text layer."""
    width, output = v.whole("hidden_size"), v.whole("out_hidden_size")
    merged = width * v.whole("spatial_merge_size") ** 2
    merger = merged * merged + merged + merged * output + output
    listed = v.listed("deepstack_visual_indexes")
    if listed is None and str(v.values.get("model_type", "")).startswith("qwen3_vl"):
        v.log.assume(v.name("deepstack_visual_indexes"), "[8, 16, 24]", f"{ORIGIN} of qwen3_vl")
        listed = ("deepstack_visual_indexes", [8, 16, 24])
    deep = len([v.check(listed[0], level, 0, 10_000) for level in listed[1]]) if listed else 0
    tower = (_qwen_patch(v) + 1 + v.whole("num_position_embeddings")) * width
    tower += v.whole("depth") * _block(width, v.whole("intermediate_size"))
    return tower + 2 * width + merger + deep * (2 * merged + merger)


def _qwen_patch(v: Keys) -> int:
    channels = v.whole("in_channels", "in_chans")
    return channels * v.whole("temporal_patch_size") * v.whole("patch_size") ** 2


def kimi(v: Keys, top: Keys, hidden: int) -> int:
    """Kimi K2.5: MoonViT and a projector over merged patches."""
    top.pass_over("projection_hidden_size")
    width = v.whole("hidden_size", "vt_hidden_size")
    mlp = v.whole("intermediate_size", "vt_intermediate_size")
    places = v.whole("pos_emb_height", "init_pos_emb_height") * v.whole("pos_emb_width", "init_pos_emb_width")
    kernel = v.listed("merge_kernel_size")
    merge = 4
    if kernel:
        sides = [v.check(kernel[0], side) for side in kernel[1]]
        merge = sides[0] * sides[1] if len(sides) == 2 else v.check(kernel[0], MISSING)
    tower = 3 * v.whole("patch_size") ** 2 * width + width + places * width + 2 * width
    tower += v.whole("num_hidden_layers", "vt_num_hidden_layers") * _block(width, mlp)
    merged = width * merge
    return tower + 2 * width + merged * merged + merged + merged * hidden + hidden


def minimax(v: Keys, top: Keys, hidden: int) -> int:
    """MiniMax-M3: a CLIP-like tower and two projectors, before and after merging patches."""
    width, mlp = v.whole("hidden_size"), v.whole("intermediate_size")
    packed = v.section("img_token_compression_config")
    sizes = v if packed is None else Keys(packed, v.log, v.defaults, v.origin, v.name("img_token_compression_config."))
    merge = sizes.whole("spatial_merge_size") ** 2
    inner = top.whole("projector_hidden_size", default=hidden, why=f"{ORIGIN} of minimax_m3_vl")
    patch = v.whole("num_channels") * sizes.whole("temporal_patch_size") * v.whole("patch_size") ** 2
    tower = patch * width + 2 * width + v.whole("num_hidden_layers") * _block(width, mlp)
    first = width * inner + inner + inner * hidden + hidden
    return tower + first + merge * hidden * inner + inner + inner * hidden + hidden


def step(v: Keys, top: Keys, hidden: int) -> int:
    """Step-3.7: layers with two scales, and two strided convolutions that double the width each."""
    width, layers = v.whole("hidden_size", "width"), v.whole("num_hidden_layers", "layers")
    key, ratio = v.state("mlp_ratio")
    if isinstance(ratio, bool) or not isinstance(ratio, int | float) or not 0 < ratio < 100:
        raise Refused(v.name(key), v.values.get(key, MISSING), "a number from 0 to 100")
    mlp = int(width * ratio)
    patch, places = v.whole("patch_size"), (v.whole("image_size") // v.whole("patch_size")) ** 2
    tower = 3 * patch * patch * width + places * width + 2 * width + layers * (_block(width, mlp) + 2 * width)
    tower += 9 * width * 2 * width + 2 * width + 9 * 2 * width * 4 * width + 4 * width
    return tower + 4 * width * hidden + (hidden if top.flag("projector_bias") else 0)


def mllama(v: Keys, top: Keys, hidden: int) -> int:
    """Llama 3.2 Vision: local and gated global layers over tiles, with embeddings for each tile layout."""
    width, mlp = v.whole("hidden_size"), v.whole("intermediate_size")
    patch, tiles = v.whole("patch_size"), v.whole("max_num_tiles")
    places = (v.whole("image_size") // patch) ** 2 + 1
    listed = v.listed("supported_aspect_ratios")
    if listed and not all(isinstance(shape, list) and len(shape) == 2 for shape in listed[1]):
        raise Refused(v.name(listed[0]), listed[1], "pairs of numbers")
    layouts = (len(listed[1]) if listed else 8) + 1
    block = 4 * width * width + 2 * width * mlp + mlp + width + 4 * width
    tower = width + v.whole("num_channels") * patch * patch * width + 4 * width
    tower += 3 + places * width + layouts * tiles * places * width + 2 * layouts * tiles * width
    tower += v.whole("num_hidden_layers") * block + v.whole("num_global_layers") * (block + 2)
    return tower + v.whole("vision_output_dim") * hidden + hidden


def gemma4(v: Keys, top: Keys, hidden: int) -> int:
    """Gemma 4's vision encoder: gated layers with four norms, two tables of positions, one projection."""
    width, mlp = v.whole("hidden_size"), v.whole("intermediate_size")
    heads, dim = v.whole("num_attention_heads"), v.whole("head_dim")
    kv = v.whole("num_key_value_heads", default=heads, why="absent: as many as query heads")
    patch = 3 * v.whole("patch_size") ** 2
    block = 2 * width * dim * (heads + kv) + 2 * dim + 3 * width * mlp + 4 * width
    tower = 2 * v.whole("position_embedding_size") * width + patch * width
    return tower + v.whole("num_hidden_layers") * block + width * hidden


def gemma4_audio(a: Keys, top: Keys, hidden: int) -> int:
    """Gemma 4's audio encoder: two strided convolutions, conformer layers, two projections."""
    width, kernel = a.whole("hidden_size"), a.whole("conv_kernel_size")
    listed = a.listed("subsampling_conv_channels")
    channels = [a.check(listed[0], value) for value in listed[1]] if listed else [128, 32]
    if len(channels) != 2:
        raise Refused(a.name("subsampling_conv_channels"), channels, "two numbers")
    heads = a.whole("num_attention_heads")
    first, second = channels
    # Both convolutions halve 128 mel bins, so that a frame is a quarter of them wide.
    tower = 9 * first + first + 9 * first * second + second + 128 // 4 * second * width
    block = 2 * (8 * width * width + 2 * width) + 5 * width * width + width // heads
    block += 3 * width * width + kernel * width + 2 * width + 3 * width
    output = a.whole("output_proj_dims")
    return tower + a.whole("num_hidden_layers") * block + width * output + output + output * hidden


def muse_vision(v: Keys, top: Keys, hidden: int) -> int:
    """The vision tower of the Muse models, its adapter and projection."""
    width, mlp = v.whole("hidden_size"), v.whole("intermediate_size")
    patch = v.whole("patch_size") ** 2 * 3 * v.whole("patch_temporal")
    table = v.whole("pos_emb_height") * v.whole("pos_emb_width")
    tower = (patch + table) * width + 4 * width + v.whole("num_hidden_layers") * _block(width, mlp)
    merged, projector = top.whole("out_hidden_size"), top.whole("projector_hidden_size")
    return tower + merged * projector + projector * projector + projector * hidden


def muse_audio(a: Keys, top: Keys, hidden: int) -> int:
    """The audio tower of Muse Spark: a pyramid of patch embeddings and convolution blocks."""
    widths, patches, depths = (_wholes(a, key) for key in ("hidden_sizes", "patch_sizes", "depths"))
    if not len(widths) == len(patches) == len(depths):
        raise Refused(a.name("hidden_sizes"), widths, "as many entries as patch_sizes and depths")
    kernel, ratio = a.whole("conv_kernel_size"), a.whole("mlp_ratio")
    total, before = 0, 1
    for width, patch, depth in zip(widths, patches, depths, strict=True):
        mlp = ratio * width
        total += before * patch * width + 2 * width + depth * (kernel * width + 3 * width + 2 * width * mlp + mlp)
        before = width
    output = a.whole("out_hidden_size")
    return total + before + before * output + 2 * output


def _wholes(keys: Keys, name: str) -> list[int]:
    listed = keys.listed(name)
    if listed is None:
        raise Refused(keys.name(name), MISSING, "a list of whole numbers")
    return [keys.check(name, value) for value in listed[1]]


Counter = Callable[[Keys, Keys, int], int]
# By the encoder's own model_type, else by the outer one's: (row of DEFAULTS, counting function).
VISION: dict[str, tuple[str, Counter]] = {
    "siglip_vision_model": ("siglip_vision_model", siglip),
    "gemma3": ("siglip_vision_model", siglip),
    "pixtral": ("pixtral", pixtral),
    "mistral3": ("pixtral", pixtral),
    "llama4_vision_model": ("llama4_vision_model", llama4),
    "llama4": ("llama4_vision_model", llama4),
    "qwen2_vl": ("qwen2_vl_vision", qwen2),
    "qwen2_5_vl": ("qwen2_5_vl_vision", qwen2_5),
    "qwen3_vl": ("qwen3_vision", qwen3),
    "qwen3_vl_moe": ("qwen3_vision", qwen3),
    "qwen3_5": ("qwen3_vision", qwen3),
    "qwen3_5_moe": ("qwen3_vision", qwen3),
    "qwen3_5_vision": ("qwen3_vision", qwen3),
    "qwen3_5_moe_vision": ("qwen3_vision", qwen3),
    "qwen3_vl_vision": ("qwen3_vision", qwen3),
    "qwen3_vl_moe_vision": ("qwen3_vision", qwen3),
    "qwen2_5_vl_vision": ("qwen2_5_vl_vision", qwen2_5),
    "kimi_k25": ("kimi_k25_vision", kimi),
    "kimi_k25_vision": ("kimi_k25_vision", kimi),
    "mllama": ("mllama_vision_model", mllama),
    "mllama_vision_model": ("mllama_vision_model", mllama),
    "step3p7": ("step3p5_vision", step),
    "step3p5_vision": ("step3p5_vision", step),
    "minimax_m3_vl": ("minimax_m3_vl_vision", minimax),
    "minimax_m3_vl_vision": ("minimax_m3_vl_vision", minimax),
    "gemma4_vision": ("gemma4_vision", gemma4),
    "gemma4": ("gemma4_vision", gemma4),
    "muse_spark_vision": ("", muse_vision),
    "muse_glimmer_vision": ("", muse_vision),
}  # fmt: skip
AUDIO: dict[str, tuple[str, Counter]] = {
    "gemma4_audio": ("gemma4_audio", gemma4_audio),
    "muse_spark_audio": ("", muse_audio),
}


# How an outer config names the tokens of a modality, which tells that there was an encoder.
_TOKENS = {"vision": ("image_token", "vision_token", "vision_start", "image_soft_token"), "audio": ("audio_token", "boa_token")}


def towers(top: Keys, hidden: int, nested: bool) -> tuple[tuple[str, int], ...]:
    """Return (name, parameters) of each encoder described; says so where one is left out."""
    found = []
    for name, sections, table in (("vision", VISION_SECTIONS, VISION), ("audio", ("audio_config",), AUDIO)):
        section = top.section(*sections)
        if section is None:
            tokens = any(key.startswith(_TOKENS[name]) for key in top.values if isinstance(key, str))
            if tokens or (nested and name == "vision"):
                top.log.assume(top.name(sections[0]), "no encoder", "absent: whatever encoder there is, is left out of the total")
            continue
        row = _row(section, top.values, table)
        if row is None:
            kind = section.get("model_type")
            what = f" {kind}" if isinstance(kind, str) and len(kind) < 60 else ""
            top.log.assume(top.name(sections[0]), "left out", f"nobody has described the {name} encoder{what} here: not in the total")
            continue
        default, counter = row
        keys = Keys(section, top.log, DEFAULTS.get(default), f"{ORIGIN} of {default}", top.name(f"{sections[0]}."))
        found.append((name, counter(keys, top, hidden)))
    return tuple(found)


def _row(section: Mapping, outer: Mapping, table: dict[str, tuple[str, Counter]]) -> tuple[str, Counter] | None:
    for owner in (section, outer):
        kind = owner.get("model_type")
        if isinstance(kind, str) and kind in table:
            return table[kind]
    return None
