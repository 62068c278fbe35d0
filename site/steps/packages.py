"""What the page needs of each package, as a tree: path below site-packages to content."""

import io
import re
import tarfile
import zipfile
from pathlib import Path

from steps.lock import BuildError

Tree = dict[str, bytes]

# Dropped everywhere: tests, type stubs, C sources, and machine code for another machine
# (numpy's own is for WebAssembly and stays).
_DROPPED = re.compile(r"/tests?/|\.pyi$|\.[ach]$|\.pxd$|\.pyx$|-linux-gnu\.so$|(^|/)py\.typed$|\.data/")

# Dropped by package: what the page gets as scripts and styles, what only a notebook, a server or a
# compiler uses. Measured: panel 30.3 MB to 0.8, bokeh 6.4 to 0.9, numpy 2.9 to 2.4.
_DROPPED_OF = {
    "panel": re.compile(r"^panel/(dist|assets|examples|node_modules|models/.*\.(ts|js|json))/|^panel/(?!_templates/).*\.(js|ts|map|less|svg|png|ico|gif|woff2?|ipynb)$|^panel/(tsconfig|package-lock)\.json$"),
    "bokeh": re.compile(r"^bokeh/(server/static|sampledata|sphinxext|_testing)/"),
    "numpy": re.compile(r"^numpy/(f2py|distutils|testing|typing|_pyinstaller|_core/(include|lib)|.*/_examples)/"),
    "pyviz_comms": re.compile(r"^pyviz_comms/labextension/(?!package\.json)"),
}

# Modules that are asked for and not needed: each says in its first lines what it saves.
STANDINS = Path(__file__).parent / "standins"

_STOCK_SCRIPTS = "bokeh/server/static/js/", ("bokeh.min.js", "bokeh-widgets.min.js", "bokeh-tables.min.js")


def wheel_tree(name: str, wheel: Path) -> Tree:
    """Files of a wheel that the page needs; of its `.dist-info` only METADATA."""
    dropped_here = _DROPPED_OF.get(name)
    tree: Tree = {}
    with zipfile.ZipFile(wheel) as archive:
        for path in archive.namelist():
            if path.endswith("/") or _DROPPED.search("/" + path) or (dropped_here and dropped_here.search(path)):
                continue
            if ".dist-info/" in path and not path.endswith(".dist-info/METADATA"):
                continue
            tree[path] = archive.read(path)
    return tree


def standin_tree(*names: str) -> Tree:
    """Stand-ins for packages that are asked for and not needed."""
    return {f"{name}.py": (STANDINS / f"{name}.py").read_bytes() for name in names}


def stock_scripts(bokeh: Path, panel: Path) -> Tree:
    """What a page of Panel's own making loads."""
    folder, scripts = _STOCK_SCRIPTS
    with zipfile.ZipFile(bokeh) as archive:
        tree = {f"js/{script}": archive.read(folder + script) for script in scripts}
    with zipfile.ZipFile(panel) as archive:
        return tree | {"js/panel.min.js": archive.read("panel/dist/panel.min.js")}


def npm_tree(package: Path) -> Tree:
    """The files of an npm package."""
    with tarfile.open(package) as archive:
        return {one.name.removeprefix("package/"): archive.extractfile(one).read() for one in archive if one.isfile()}


def licence_tree(name: str, wheel: Path) -> Tree:
    """Licence texts a wheel carries, by `name/file`."""
    tree: Tree = {}
    with zipfile.ZipFile(wheel) as archive:
        for path in archive.namelist():
            inside = path.partition(".dist-info/")[2]
            if re.match(r"(?i)(licen[cs]e|copying|notice)", inside) and not inside.endswith("/"):
                tree[f"{name}/{inside.removeprefix('licenses/').replace('/', '-')}"] = archive.read(path)
    if not tree:
        raise BuildError(f"{wheel.name} carries no licence text; add it under site/licenses/ and name it here.")
    return tree


def npm_licence_tree(name: str, package: Path) -> Tree:
    """Licence texts of an npm package, by `name/file`."""
    return {f"{name}/{path}": content for path, content in npm_tree(package).items() if re.match(r"LICENSE[^/]*$", path)}


def write_tree(tree: Tree, folder: Path) -> None:
    """Write a tree below a folder."""
    for path, content in tree.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def zip_tree(tree: Tree, *, deflate: bool = True) -> bytes:
    """A zip of a tree, the same bytes for the same tree: sorted, one date, one mode."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(tree):
            entry = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            entry.compress_type = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
            archive.writestr(entry, tree[path], compresslevel=9)
    return buffer.getvalue()


def unzip_tree(content: bytes) -> Tree:
    """The tree in a zip."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {path: archive.read(path) for path in archive.namelist() if not path.endswith("/")}
