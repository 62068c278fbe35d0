"""From a declared quantization to how each tensor of the model is stored."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from envelope.checkpoint import Rule, Split
from envelope.config.quantization import Quantization
from envelope.model import Model
from envelope.parameters import PARTS, Tensor, tensors

# Other names files use for a module of the tensor table, by its first words.
_ALIASES = (
    ("mlp.gate", ("mlp.router", "mlp.router.gate", "block_sparse_moe.gate", "feed_forward.router", "mixer.gate")),
    ("mlp.experts.", ("block_sparse_moe.experts.", "feed_forward.experts.", "mixer.experts.", "ffn.experts.")),
    (
        "mlp.shared_experts.",
        ("mlp.shared_expert.", "feed_forward.shared_expert.", "mixer.shared_experts.", "block_sparse_moe.shared_experts.",
         "ffn.shared_experts."),
    ),
    ("mlp.latent_down_proj", ("mlp.pre_expert_proj", "mixer.fc1_latent_proj", "block_sparse_moe.routed_expert_down_proj")),
    ("mlp.latent_up_proj", ("mlp.post_expert_proj", "mixer.fc2_latent_proj", "block_sparse_moe.routed_expert_up_proj")),
    ("self_attn.indexer.", ("self_attn.index_",)),
    ("linear_attn.in_proj_qkv", ("linear_attn.in_proj_qkvz",)),
    ("linear_attn.in_proj_z", ("linear_attn.in_proj_qkvz",)),
    ("linear_attn.in_proj_ba", ("linear_attn.in_proj_a", "linear_attn.in_proj_b")),
    ("mamba.", ("mixer.",)),
    ("mlp.", ("feed_forward.", "mixer.")),
    ("self_attn.", ("mixer.", "attention.", "attn.")),
)  # fmt: skip
# What no method converts: tables, routers (never a plain linear layer in the engines), towers, and loose vectors.
_KEPT_PARTS = ("embeddings", "router", "towers", "norms", "other")
_KEPT_MODULES = ("mlp.gate", "mlp.shared_expert_gate")
# Files that list every expert by its number say the same of all of them; Mixtral's w1, w3 and w2 are gate, up and down.
_EXPERT = re.compile(r"experts\.(?:\d+|\*)\.")
_MIXTRAL = {"experts.w1": "experts.gate_proj", "experts.w3": "experts.up_proj", "experts.w2": "experts.down_proj"}
_PREFIX = re.compile(r"^(?:\*\.|model\.|language_model\.|thinker\.|text_model\.|backbone\.)+")


def split(model: Model, declared: Quantization) -> Split:
    """How each tensor is stored under a declared quantization.

    Patterns are read as names, globs and simple regular expressions; what a target converts anyway is one rule, what
    it leaves in some layers is one rule with those layers.
    """
    excluded = _Patterns(declared.exclude)
    targets = [(target.format, _Patterns(target.patterns) if target.patterns else None) for target in declared.targets]
    rules, ahead = [], []
    kept: dict[str, set[int]] = {}
    for part in PARTS:
        matrices = [tensor for tensor in tensors(model) if tensor.part == part and _converts(tensor, declared)]
        found: dict[str, dict[str, set[int]]] = {}
        everywhere: dict[str, set[int]] = {}
        for tensor in matrices:
            for position in _positions(model, tensor):
                everywhere.setdefault(tensor.module, set()).add(position)
                format = _format(tensor, position, excluded, targets, declared.experts)
                if format:
                    found.setdefault(tensor.module, {}).setdefault(format, set()).add(position)
        written = _write(part, found, everywhere)
        if part != "prediction":
            rules.extend(written)
            continue
        # Prediction layers hold modules of the same names, so their rules must come before those of the main layers.
        ahead.extend(written)
        if not written:
            kept = everywhere
    if kept.keys() & {rule.pattern for rule in rules}:
        ahead.append(Rule("prediction", "bf16"))
    return Split("bf16", (*ahead, *rules))


def _converts(tensor: Tensor, declared: Quantization) -> bool:
    """True for a matrix that a method may convert: no table, router, tower or loose vector, a head only where named."""
    if tensor.part in _KEPT_PARTS or tensor.module in _KEPT_MODULES or not tensor.columns:
        return False
    return tensor.part != "head" or declared.head


def _write(part: str, found: dict[str, dict[str, set[int]]], everywhere: dict[str, set[int]]) -> list[Rule]:
    """One rule for a part whose every matrix is stored alike, else one for each module and format."""
    alike = {(format, frozenset(positions)) for formats in found.values() for format, positions in formats.items()}
    whole = {frozenset(positions) for positions in everywhere.values()}
    formats = {format for format, _ in alike}
    covered = all(found.get(module) == {format: positions} for module, positions in everywhere.items() for format in formats)
    if part != "prediction" and len(formats) == 1 and covered:
        return [Rule(part, formats.pop())]
    if len(alike) == 1 and len(found) == len(everywhere):
        format, positions = alike.pop()
        if part == "prediction":
            return [*(Rule(module, "bf16") for module in _KEPT_MODULES), Rule(part, format)]
        return [Rule(part, format, () if whole == {positions} else tuple(sorted(positions)))]
    return [
        Rule(module, format, () if positions == everywhere[module] and part != "prediction" else tuple(sorted(positions)))
        for module, formats in found.items()
        for format, positions in formats.items()
    ]


def _positions(model: Model, tensor: Tensor) -> tuple[int, ...]:
    """The layers a tensor stands in; prediction layers follow the last one, what is outside layers stands at -1."""
    if tensor.group >= 0:
        return model.groups[tensor.group].positions
    if tensor.part == "prediction":
        return tuple(range(model.layers, model.layers + tensor.layers))
    return (-1,)


def _format(tensor: Tensor, position: int, excluded: _Patterns, targets: list, experts: str) -> str:
    names = _names(tensor.module, experts)
    ahead = tensor.part == "prediction"
    if excluded.name(names, position, ahead):
        return ""
    for format, patterns in targets:
        if patterns is None or patterns.name(names, position, ahead):
            return format
    return ""


def _names(module: str, experts: str) -> tuple[str, ...]:
    """Every name files give a module, its own first. `experts` is where a family keeps its experts."""
    if experts != "mlp.experts" and module.startswith("mlp.experts."):
        return (experts + module.removeprefix("mlp.experts"),)
    found = [module]
    for prefix, others in _ALIASES:
        if module.startswith(prefix):
            found += [other + module[len(prefix) :] if other.endswith(".") else other for other in others]
    return tuple(found)


class _Patterns:
    """Module patterns sorted by the layer they name, so that long lists of layers cost nothing."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._anywhere: set[str] = set()
        self._layers: dict[int, set[str]] = {}
        self._ahead: set[str] = set()
        self._known: dict[tuple[str, tuple[str, ...]], bool] = {}
        for pattern in dict.fromkeys(_EXPERT.sub("experts.", pattern) for pattern in patterns):
            for plain in _plain(pattern):
                self._sort(plain)

    def _sort(self, pattern: str) -> None:
        if re.search(r"vision|visual|audio|image", pattern):
            return
        for old, new in _MIXTRAL.items():
            pattern = pattern.replace(old, new)
        if inner := re.match(r"(?:model\.|\*\.)*mtp\b(?:\.layers\.\d{1,5})?\.?(.*)", pattern):
            self._ahead.add(inner[1] or "*")
            return
        match = re.search(r"(?:^|[.*])layers\.(\d{1,5}|\*)(\*?)(?:\.(.+))?$", pattern)
        if match is None:
            self._anywhere.add(_PREFIX.sub("", pattern) or "*")
        elif match[1] == "*":
            self._anywhere.add(match[3] or "*")
        else:
            self._layers.setdefault(int(match[1]), set()).add(match[3] or "*")

    def name(self, names: tuple[str, ...], position: int, ahead: bool = False) -> bool:
        """True where a pattern names the module, by any of its names, in the layer at `position`.

        `ahead`: in a prediction layer, whose modules some files put under `mtp`.
        """
        if ahead and self._any(self._ahead, names):
            return True
        return self._any(self._anywhere, names) or self._any(self._layers.get(position, set()), names)

    def _any(self, patterns: set[str], names: tuple[str, ...]) -> bool:
        return any(self._matches(pattern, names) for pattern in patterns)

    def _matches(self, pattern: str, names: tuple[str, ...]) -> bool:
        key = (pattern, names)
        if key not in self._known:
            shapes = (pattern, f"{pattern}.*", f"*.{pattern}", f"*.{pattern}.*")
            self._known[key] = any(fnmatchcase(name, shape) for name in names for shape in shapes)
        return self._known[key]


def _plain(pattern: str) -> list[str]:
    """Turn `re:.*mlp\\.(gate|up)_proj.*` into globs; a pattern is never run as the regular expression it came as."""
    if not pattern.startswith("re:"):
        return [pattern]
    text = pattern[3:].removeprefix("^").removesuffix("$").replace(".*", "*").replace(r"\d+", "*").replace("\\.", ".")
    match = re.fullmatch(r"([^()]*)\(([^()]*)\)([^()]*)", text)
    if match is None:
        return [text]
    return [f"{match[1]}{middle}{match[3]}" for middle in match[2].removeprefix("?:").split("|")[:64]]
