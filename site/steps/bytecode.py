"""Byte-compile trees with the page's own Python, which Node runs here.

Compiling in the reader's browser was the largest part of a start: 13 s with sources, 5.5 s without.
"""

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path

from steps.commands import run
from steps.packages import Tree, unzip_tree, zip_tree

HERE = Path(__file__).parent


def compiled(tree: Tree, prefix: str, *, core: Path, node: list[str], cache: Path, say: Callable[[str], None]) -> Tree:
    """The tree with `.pyc` in place of `.py`.

    `prefix` is where the tree will lie in the page's file system (for tracebacks); `core` is the
    folder of Pyodide's files. The result is kept in the cache under the hash of all that made it.
    """
    source = zip_tree(tree)
    recipe = b"".join((HERE / name).read_bytes() for name in ("bytecode.mjs", "bytecode_inside.py"))
    key = hashlib.sha256(recipe + (core / "pyodide.asm.wasm").read_bytes() + prefix.encode() + source).hexdigest()
    kept = cache / "compiled" / f"{key}.zip"
    if not kept.exists():
        say(f"byte-compiling {sum(name.endswith('.py') for name in tree)} modules of {prefix}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            given, made = Path(folder) / "source.zip", Path(folder) / "compiled.zip"
            given.write_bytes(source)
            run([*node, str(HERE / "bytecode.mjs"), str(core), str(given), str(made), prefix], "byte-compiling", remedy="correct what it names")
            partial = kept.with_suffix(".part")
            partial.write_bytes(made.read_bytes())
            partial.rename(kept)
    return unzip_tree(kept.read_bytes())
