"""Put `dist/` together: a folder that any static host can serve.

    index.html            the page; embed.html a part of it for a frame
    method.html           every number with its formula, source and working
    post.html             a sample post with embeds
    runtime-<hash>/       what the lock file pins: Pyodide, packages, Bokeh's script
    app-<hash>/           what this repository holds: boot modules, styles, envelope, presets, app
    licenses/             licences of all of it
    sw.js                 the service worker; with offline-<edition>.zst, what it keeps beside the large files

The hash is that of the folder's content, so a host may let browsers keep those folders for good.
"""

import base64
import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from envelope.scenario import BESIDE

from steps.bytecode import compiled
from steps.fetch import obtain
from steps.licences import licences
from steps.lock import BuildError, Lock, read_lock
from steps.method import reading_parts
from steps.node import node_command
from steps.packages import Tree, npm_tree, standin_tree, unzip_tree, wheel_tree, write_tree, zip_tree
from steps.patches import patched
from steps.script import bokeh_script
from steps.serve import CONTENT_TYPES
from steps.snapshot import Snapshot, snapshot
from steps.version import catalogue_date, git_version
from steps.zstd import decoder, packer

CORE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")  # all that Node needs
SITE_PACKAGES = "/lib/python3.14/site-packages"
STDLIB = "/lib/python314.zip"
APP_FOLDERS = ("envelope", "app")
SHELL_FILES = ("boot.mjs", "show.mjs", "pause.mjs", "code.mjs", "python.mjs", "unpack.mjs", "unpack.js", "restore.mjs", "offline.mjs", "worker.mjs", "post.js")
LIVE_PAGES = ("index.html", "embed.html")
READING_PAGES = ("method.html", "post.html")
SMALL_RUNTIME = ("pyodide.mjs", "zstd.wasm")
LARGE_RUNTIME = ("pyodide.asm.mjs",)  # with the page's scripts; the core is kept unpacked
LARGE_APP = ("snapshot.zst", "app.zip")  # the archives are kept when something has asked for them
OTHER_TYPE = "application/octet-stream"
PAGE_FILES = ("page.mjs", "morph.mjs", "first.mjs", "page.css")  # the app's own part of the page's script and style

HUB = "https://huggingface.co"  # where configs are fetched from, when the reader asks
# Where the Hub sends those who ask for a large file, which an index may be: the delivery hosts that its documentation
# names for downloads behind a firewall, without those for uploads and for storage protocols.
HUB_FILES = (
    "https://cdn-lfs.hf.co https://cdn-lfs-us-1.hf.co https://cdn-lfs-eu-1.hf.co https://cas-bridge.xethub.hf.co "
    "https://cas-bridge.xethub-eu.hf.co https://us.aws.cdn.hf.co https://us.gcp.cdn.hf.co"
)
CSP = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' '{guard}'; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self' {hub} {files}; img-src 'self' data: blob:; font-src 'self'; worker-src 'self'; frame-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class Kitchen:
    """Where the build works and how it talks."""

    root: Path
    cache: Path
    lock: Lock
    node: list[str]
    say: Callable[[str], None]

    @property
    def core(self) -> Path:
        """Pyodide's own files, as published."""
        return self.cache / f"core-{self.lock.pin('pyodide').sha256[:12]}"


def open_kitchen(root: Path, cache: Path, say: Callable[[str], None]) -> Kitchen:
    """Read the lock and find Node."""
    lock = read_lock(root / "site" / "lock.toml")
    return Kitchen(root, cache, lock, node_command(lock, cache, say), say)


def pinned(kitchen: Kitchen, use: str) -> dict[str, Path]:
    """Paths of all pinned files for one use."""
    pins = kitchen.lock.used_by(use)
    return {pin.name: obtain(kitchen.lock, pin, kitchen.cache, kitchen.say) for pin in pins}


def unpack_core(kitchen: Kitchen, package: Path) -> Tree:
    """Pyodide's files as published, also laid out in the cache for Node."""
    published = npm_tree(package)
    tree = {name: published[name] for name in CORE_FILES}
    if not kitchen.core.exists():
        partial = kitchen.core.with_name(kitchen.core.name + ".part")
        shutil.rmtree(partial, ignore_errors=True)
        write_tree(tree, partial)
        partial.rename(kitchen.core)
    return tree


def stdlib_archive(kitchen: Kitchen, core: Tree, *, sources: bool) -> bytes:
    """The standard library as the page loads it."""
    archive = core["python_stdlib.zip"]
    return archive if sources else zip_tree(_compiled(kitchen, unzip_tree(archive), STDLIB))


def package_tree(kitchen: Kitchen, files: dict[str, Path], *, sources: bool) -> Tree:
    """All packages of others that the app imports, as they lie below site-packages."""
    tree = standin_tree("numpy", "pyodide_http")
    for name, file in files.items():
        if file.suffix == ".whl":
            tree |= wheel_tree(name, file)
    return tree if sources else _compiled(kitchen, tree, SITE_PACKAGES)


def _compiled(kitchen: Kitchen, tree: Tree, prefix: str) -> Tree:
    return compiled(tree, prefix, core=kitchen.core, node=kitchen.node, cache=kitchen.cache, say=kitchen.say)


def app_packages(kitchen: Kitchen, *, sources: bool) -> Tree:
    """envelope, presets and app, as they lie below site-packages; presets inside envelope, as in the wheel."""
    tree: Tree = {}
    for folder in (*APP_FOLDERS, "presets"):
        for path in sorted((kitchen.root / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".mjs", ".css"):
                name = path.relative_to(kitchen.root).as_posix()
                tree[f"envelope/{name}" if folder == "presets" else name] = path.read_bytes()
    return tree if sources else _compiled(kitchen, tree, SITE_PACKAGES)


def filled(template: str, values: dict[str, str], name: str) -> str:
    """A template with every `{{key}}` replaced; a key without a value is an error."""
    for key, value in values.items():
        template = template.replace("{{" + key + "}}", value)
    if "{{" in template:
        unknown = template.split("{{")[1].split("}}")[0]
        raise BuildError(f"site/{name}: nothing fills {{{{{unknown}}}}}; correct the template or site/steps/assemble.py.")
    return template


def content_hash(tree: Tree) -> str:
    """Twelve digits that change with any path or byte of a tree."""
    digest = hashlib.sha256()
    for path in sorted(tree):
        digest.update(f"{path}\0{len(tree[path])}\0".encode() + tree[path])
    return digest.hexdigest()[:12]


def build(kitchen: Kitchen, dist: Path, *, sources: bool = False) -> None:
    """Write `dist`. With `sources`, modules stay sources and no snapshot is made: slower, with lines in tracebacks."""
    root, site = kitchen.root, kitchen.root / "site"
    files = pinned(kitchen, "page")
    core = unpack_core(kitchen, files["pyodide"])
    stdlib, packages = stdlib_archive(kitchen, core, sources=sources), package_tree(kitchen, files, sources=sources)
    own = app_packages(kitchen, sources=sources)
    pack = packer(kitchen.lock, kitchen.cache, kitchen.say)
    loader = {name: core[name] for name in ("pyodide.mjs", "pyodide.asm.mjs")}
    packed_core = {"pyodide.asm.wasm.zst": pack(core["pyodide.asm.wasm"])} | decoder(files["zstddec"])
    archives = {"stdlib.zip": stdlib, "packages.zip": zip_tree(packages)}
    bundler = pinned(kitchen, "build")["esbuild-wasm"]
    script = bokeh_script(files, bundler, node=kitchen.node, cache=kitchen.cache, say=kitchen.say)
    runtime = patched(loader) | packed_core | {"js/bokeh.min.js": script} | archives
    runtime_name = f"runtime-{content_hash(runtime)}"

    made = None if sources else snapshot(
        stdlib, packages | own, pack=pack, core=kitchen.core, node=kitchen.node, cache=kitchen.cache, say=kitchen.say
    )  # fmt: skip
    sizes = {"core_bytes": str(len(packed_core["pyodide.asm.wasm.zst"])), "snapshot_bytes": str(len(made.image) if made else 0)}
    app = _shell(kitchen, sizes | {"runtime": runtime_name}, made) | {"app.zip": zip_tree(own)}
    app |= {**made.views, "snapshot.zst": made.image} if made else {}
    app_name = f"app-{content_hash(app)}"

    models, parts = _pictured(made) if made else ((), ())
    lists = {"aside": json.dumps(BESIDE), "pictured_models": json.dumps(models), "pictured_parts": json.dumps(parts)}
    guard = filled((site / "guard.js").read_text(), lists | {"app": app_name}, "guard.js")
    base, whole, shell, reading = (path.read_text() for path in (root / "app/base.css", root / "app/page.css", site / "shell.css", site / "pages.css"))
    version = git_version(root)
    scripts = [f'<script src="{runtime_name}/{path}"></script>' for path in runtime if path.startswith("js/")]
    values = {
        "csp": CSP.format(guard=_digest(guard), hub=HUB, files=HUB_FILES),
        "hub": HUB,
        "guard": guard,
        "app": app_name,
        "runtime": runtime_name,
        "scripts": "\n".join(scripts),
        "version": version,
        "catalogue_date": catalogue_date(root),
        "first_html": made.html if made else "",
        # In the page itself: on a slow line the numbers stand one round trip earlier. Of a frame's, what its picture needs.
        "style": base + whole + shell,
        "frame_style": base + shell,
        "reading_style": base + reading,
        "reading_digest": _digest(base + reading),
        # In the page too: Chromium asks for an icon anew when the address changes and leaves the answer open, which keeps
        # a newer service worker from taking over.
        "icon": f"data:image/svg+xml,{quote((site / 'icon.svg').read_text().strip())}",
        "megabytes": f"{_first_visit(runtime, made) / 1e6:.0f}",
        "noscript": made.noscript if made else "",
        "holds": made.default if made else "",
        "held_views": _held_views(made) if made else "",
    } | reading_parts(root)
    edition = content_hash(_pages(site, values | {"edition": ""}))
    texts = {f"licenses/{path}": content for path, content in licences(root, kitchen.lock, files, version).items()}
    named = _pages(site, values | {"edition": edition}) | texts
    kept = {f"{runtime_name}/{name}": runtime[name] for name in SMALL_RUNTIME} | {
        f"{app_name}/{path}": content for path, content in app.items() if path not in LARGE_APP
    }
    large = [f"{runtime_name}/{path}" for path in runtime if path in LARGE_RUNTIME or path.startswith("js/")]
    worker = {
        "edition": edition,
        "app": app_name,
        "runtime": runtime_name,
        "fetched": json.dumps([*large, *([f"{app_name}/snapshot.zst"] if made else [])]),
        "pages": json.dumps(sorted(named)),
    }
    named_by_edition = {
        "sw.js": filled((site / "sw.js").read_text(), worker, "sw.js").encode(),
        f"offline-{edition}.zst": pack(bundle(named | kept)),
    }
    partial = dist.with_name(dist.name + ".part")
    shutil.rmtree(partial, ignore_errors=True)
    write_tree({f"{runtime_name}/{path}": content for path, content in runtime.items()}, partial)
    write_tree({f"{app_name}/{path}": content for path, content in app.items()}, partial)
    write_tree(named | named_by_edition, partial)
    shutil.rmtree(dist, ignore_errors=True)
    partial.rename(dist)


def _digest(text: str) -> str:
    """What a policy calls a script or style in the page by."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _pictured(made: Snapshot) -> tuple[list[str], list[str]]:
    """The models that have pictures, and what of each a frame shows as one."""
    names = [path.removeprefix("first/").removesuffix(".json") for path in made.views if path.startswith("first/")]
    parts = [name.removeprefix(f"{made.default}.") for name in names if name.startswith(f"{made.default}.")]
    return [name for name in names if f"{name}.{parts[0]}" in names], parts


def _held_views(made: Snapshot) -> str:
    """What frames show of the default model, in the page itself: a request less than for the others."""
    names = [f"{made.default}.{part}" for part in _pictured(made)[1]]
    return "\n".join(f'<template id="view-{name}">{json.loads(made.views[f"first/{name}.json"])["html"]}</template>' for name in names)


def _first_visit(runtime: Tree, made: Snapshot | None) -> int:
    """Bytes of the large files that a first visit fetches."""
    large = [path for path in runtime if path in LARGE_RUNTIME or path.endswith(".wasm.zst") or path.startswith("js/")]
    rest = len(made.image) if made else sum(len(runtime[name]) for name in ("stdlib.zip", "packages.zip"))
    return sum(len(runtime[path]) for path in large) + rest


def _pages(site: Path, values: dict[str, str]) -> Tree:
    return {name: filled((site / name).read_text(), values, name).encode() for name in (*LIVE_PAGES, *READING_PAGES)}


def bundle(tree: Tree) -> bytes:
    """A tree as the service worker reads it: length of the list, list of path, type and size, the files."""
    paths = sorted(tree)
    index = json.dumps([[path, CONTENT_TYPES.get(Path(path).suffix, OTHER_TYPE), len(tree[path])] for path in paths]).encode()
    return len(index).to_bytes(4, "little") + index + b"".join(tree[path] for path in paths)


def _shell(kitchen: Kitchen, names: dict[str, str], made: Snapshot | None) -> Tree:
    """Boot modules and styles: the site's, with the names of this build filled in, and the app's."""
    site, app = kitchen.root / "site", kitchen.root / "app"
    names |= {"has_snapshot": "true" if made else "false", "default_model": made.default if made else ""}
    tree = {}
    for name in (*PAGE_FILES, *SHELL_FILES):
        content = ((app if name in PAGE_FILES else site) / name).read_bytes()
        tree[name] = filled(content.decode(), names, name).encode() if name.endswith(".mjs") else content
    return tree
