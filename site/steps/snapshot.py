"""The memory of a started app, made at build time, and the first views that the same run draws.

The page restores it instead of importing: half the time bare Pyodide takes to start. It is a private feature of
Pyodide, tied to its exact build; where it fails the page starts from the packages (`python.mjs`).
"""

import hashlib
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from steps.commands import run
from steps.packages import Tree, unzip_tree, zip_tree

HERE = Path(__file__).parent
RECIPE = (HERE / "snapshot.mjs", HERE / "snapshot_inside.py", HERE.parent / "code.mjs", HERE / "zstd.py")


@dataclass(frozen=True)
class Snapshot:
    """`image` is the compressed memory; `views` the JSON by path (`live/…`, `first/…`); `html` the default page's, `noscript` what
    it says where no script runs."""

    image: bytes
    views: Tree
    html: str
    noscript: str
    default: str


def snapshot(
    stdlib: bytes, packages: Tree, *, pack: Callable[[bytes], bytes], core: Path, node: list[str], cache: Path, say: Callable[[str], None]
) -> Snapshot:
    """Start the compiled packages with the compiled library under Node and keep the memory."""
    version = subprocess.run([*node, "--version"], capture_output=True, check=True).stdout
    recipe = b"".join(path.read_bytes() for path in RECIPE) + version + (core / "pyodide.asm.wasm").read_bytes()
    key = hashlib.sha256(recipe + stdlib + zip_tree(packages, deflate=False)).hexdigest()
    kept = cache / "snapshots" / f"{key}.zip"
    if not kept.exists():
        say("starting the app under Node, for its memory and the first views")
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_suffix(".part")
        partial.write_bytes(zip_tree(_made(stdlib, packages, pack, core, node)))
        partial.rename(kept)
    tree = unzip_tree(kept.read_bytes())
    image = tree.pop("snapshot.zst")
    html, noscript, default = (tree.pop(name).decode() for name in ("first.html", "noscript.html", "default"))
    return Snapshot(image, tree, html, noscript, default)


def _made(stdlib: bytes, packages: Tree, pack: Callable[[bytes], bytes], core: Path, node: list[str]) -> Tree:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "stdlib.zip").write_bytes(stdlib)
        for path, content in packages.items():
            target = folder / "packages" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        out = folder / "out"
        out.mkdir()
        command = [*node, str(HERE / "snapshot.mjs"), str(core), str(folder / "stdlib.zip"), str(folder / "packages"), str(out)]
        run(command, "making the snapshot", remedy="correct what it names")
        tree = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    tree["snapshot.zst"] = pack(tree.pop("snapshot.bin"))
    return tree
