"""Bokeh's script for this page: esbuild makes it of bokeh.mjs and of the modules that Bokeh publishes.

Bokeh's own script holds all of its models: 1.27 MB, of which this page draws with half.
"""

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path

from steps.commands import run
from steps.packages import STANDINS, npm_tree, write_tree

ENTRY = Path(__file__).parent.parent / "bokeh.mjs"
PACKAGES = ("@bokeh/bokehjs", "@bokeh/numbro", "fflate", "flatbush", "flatqueue", "sprintf-js")
# Packages that are asked for and not needed, and the modules of theirs that are named.
_STANDINS = {"proj4.js": ("proj4/lib/core.js", "proj4/lib/Proj.js"), "timezone.js": ("timezone/index.js",)}
# Parts that Bokeh loads when a chart asks for them, as none here does.
_LATER = ("./webgl/*", "../glyphs/webgl", "./mathjax")
_FORM = ("--bundle", "--minify", "--format=iife", "--global-name=Bokeh", "--target=es2022", "--legal-comments=none")


def bokeh_script(files: dict[str, Path], bundler: Path, *, node: list[str], cache: Path, say: Callable[[str], None]) -> bytes:
    """The script, kept in the cache under the hash of all that made it. `bundler` is the package of esbuild."""
    packages = {name: files[name] for name in PACKAGES} | {"esbuild": bundler}
    sources = (ENTRY, Path(__file__), *(STANDINS / name for name in _STANDINS), *packages.values())
    kept = cache / "scripts" / f"{hashlib.sha256(b''.join(path.read_bytes() for path in sources)).hexdigest()}.js"
    if not kept.exists():
        say("bundling Bokeh's script")
        kept.parent.mkdir(parents=True, exist_ok=True)
        modules = {f"{name}/{file}": content for name, package in packages.items() for file, content in npm_tree(package).items()}
        modules |= {module: (STANDINS / standin).read_bytes() for standin, named in _STANDINS.items() for module in named}
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            write_tree({f"node_modules/{path}": content for path, content in modules.items()} | {ENTRY.name: ENTRY.read_bytes()}, folder)
            later = [f"--external:{module}" for module in _LATER]
            esbuild = [*node, "node_modules/esbuild/bin/esbuild", ENTRY.name, *_FORM, *later, "--outfile=bokeh.js", "--log-level=error"]
            run(esbuild, "esbuild", remedy="correct site/bokeh.mjs", cwd=folder)
            partial = kept.with_suffix(".part")
            partial.write_bytes((folder / "bokeh.js").read_bytes())
            partial.rename(kept)
    return kept.read_bytes()
