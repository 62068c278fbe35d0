"""Parameters of the vision and audio encoders a config describes, projectors included."""

from __future__ import annotations

from envelope.config.keys import MISSING, Keys, Refused


def muse_vision(vision: Keys, top: Keys, hidden: int) -> int:
    """Count the vision tower of the Muse models and its projector (`modeling_muse_spark.py`)."""
    width = vision.whole("hidden_size")
    layers = vision.whole("num_hidden_layers")
    mlp = vision.whole("intermediate_size")
    patch = vision.whole("patch_size") ** 2 * 3 * vision.whole("patch_temporal")
    table = vision.whole("pos_emb_height") * vision.whole("pos_emb_width")
    block = 4 * (width * width + width) + 2 * width * mlp + width + mlp + 4 * width
    tower = patch * width + table * width + 4 * width + layers * block
    merged, projector = top.whole("out_hidden_size"), top.whole("projector_hidden_size")
    return tower + merged * projector + projector * projector + projector * hidden


def muse_audio(audio: Keys, hidden: int) -> int:
    """Count the Muse audio tower: a pyramid of patch embeddings and convolution blocks (`modeling_muse_spark.py`)."""
    widths, patches, depths = (_wholes(audio, key) for key in ("hidden_sizes", "patch_sizes", "depths"))
    if not len(widths) == len(patches) == len(depths):
        raise Refused(audio.name("hidden_sizes"), widths, "as many entries as patch_sizes and depths")
    kernel, ratio = audio.whole("conv_kernel_size"), audio.whole("mlp_ratio")
    total, before = 0, 1
    for width, patch, depth in zip(widths, patches, depths, strict=True):
        mlp = ratio * width
        block = kernel * width + width + width + 2 * width * mlp + mlp + width
        total += before * patch * width + 2 * width + depth * block
        before = width
    output = audio.whole("out_hidden_size", default=hidden)
    return total + before + before * output + 2 * output


def _wholes(keys: Keys, name: str) -> list[int]:
    listed = keys.listed(name)
    if listed is None:
        raise Refused(keys.name(name), MISSING, "a list of whole numbers")
    return [keys.check(name, value) for value in listed[1]]
