"""What the page is measured against: bare Pyodide, and the same app the stock way."""

import json
import shutil
from pathlib import Path

from steps.assemble import Kitchen, app_packages, pinned, unpack_core
from steps.packages import Tree, standin_tree, stock_scripts, wheel_tree, write_tree, zip_tree

PURE_WHEEL = b"Wheel-Version: 1.0\nGenerator: build.py\nRoot-Is-Purelib: true\nTag: py3-none-any\n"

# Of this page, what the app needs to be shown by other means.
MODULES = ("site/code.mjs", "site/show.mjs", "site/pause.mjs", "app/page.mjs", "app/morph.mjs")


def _core(kitchen: Kitchen) -> Tree:
    return unpack_core(kitchen, pinned(kitchen, "page")["pyodide"])


def write_bare(kitchen: Kitchen, folder: Path) -> None:
    """A page that only starts the interpreter."""
    write_tree({**_core(kitchen), "index.html": (kitchen.root / "site/bench/bare.html").read_bytes()}, folder)


def write_micropip(kitchen: Kitchen, folder: Path) -> None:
    """A page that installs the same wheels with micropip and runs the same app from sources.

    It is spared what stock practice would add: no dependency is resolved, pandas is not imported.
    """
    files, lock = pinned(kitchen, "page"), kitchen.lock
    extra = pinned(kitchen, "bench")
    core = _core(kitchen)
    official = json.loads(core["pyodide-lock.json"])
    kept = {name: official["packages"][name] for name in ("numpy", "micropip", "packaging")}
    packaging = lock.pin("packaging")
    kept["packaging"] |= {"file_name": packaging.file, "sha256": packaging.sha256, "version": packaging.version}
    core["pyodide-lock.json"] = json.dumps(official | {"packages": kept}).encode()
    core |= stock_scripts(files["bokeh"], files["panel"])
    wheels = []
    for name in ("markupsafe", "pyyaml"):
        wheels.append(f"{name}-{lock.pin(name).version}-py3-none-any.whl")
        core[wheels[-1]] = _pure_wheel(name, lock.pin(name).version, files[name])
    for name in ("jinja2", "param", "pyviz_comms", "bokeh", "panel"):
        wheels.append(files[name].name)
    core["wheels.json"] = json.dumps(wheels).encode()
    core["app.zip"] = zip_tree(app_packages(kitchen, sources=True) | standin_tree("pyodide_http"))
    core["index.html"] = (kitchen.root / "site/bench/micropip.html").read_bytes()
    for path in (*MODULES, "app/base.css", "app/page.css"):
        core[path.split("/")[-1]] = (kitchen.root / path).read_bytes()
    write_tree(core, folder)
    for wheel in (*extra.values(), *(path for path in files.values() if path.suffix == ".whl")):
        shutil.copy(wheel, folder / wheel.name)


def _pure_wheel(name: str, version: str, wheel: Path) -> bytes:
    info = f"{name}-{version}.dist-info"
    return zip_tree(wheel_tree(name, wheel) | {f"{info}/WHEEL": PURE_WHEEL, f"{info}/RECORD": b""})
