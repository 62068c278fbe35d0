"""`dist/licenses/`: the licence of everything shipped, and a page that lists them."""

import html
from pathlib import Path

from steps.lock import Lock
from steps.packages import Tree, licence_tree, npm_licence_tree
from steps.patches import patch_text

# What Pyodide's core and standard library are built from; texts in site/licenses/.
_CORE = (
    ("CPython", "PSF-2.0, with the licences of what its library holds", "CPython.txt"),
    ("Emscripten", "MIT and University of Illinois/NCSA", "Emscripten.txt"),
    ("musl, the C library of Emscripten", "MIT", "musl.txt"),
)


def licences(root: Path, lock: Lock, wheels: dict[str, Path], version: str) -> Tree:
    """All files below `licenses/`."""
    tree: Tree = {"Serving-envelope.txt": (root / "LICENSE").read_bytes()}
    for path in sorted((root / "site" / "licenses").iterdir()):
        tree[path.name] = path.read_bytes()
    tree["Pyodide-changes.txt"] = patch_text().encode()
    rows = [("Serving envelope", version, "Apache-2.0", ["Serving-envelope.txt"])]
    for pin in lock.used_by("page"):
        if pin.name == "pyodide":
            rows.append(("Pyodide", pin.version, pin.license, ["MPL-2.0.txt", "Pyodide-changes.txt"]))
            rows += [(name, "as in Pyodide", licence, [file]) for name, licence, file in _CORE]
        else:
            texts = (npm_licence_tree if pin.source == "npm" else licence_tree)(pin.name, wheels[pin.name])
            tree |= texts
            rows.append((pin.name, pin.version, pin.license, sorted(texts)))
    tree["index.html"] = _page(rows).encode()
    return tree


def _page(rows: list[tuple[str, str, str, list[str]]]) -> str:
    lines = []
    for name, version, licence, files in rows:
        links = ", ".join(f'<a href="{html.escape(file)}">{html.escape(file.split("/")[-1])}</a>' for file in files)
        lines.append(f"<tr><td>{html.escape(name)}<td>{html.escape(version)}<td>{html.escape(licence)}<td>{links}</tr>")
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<link rel=icon href='data:,'><title>Licences of what this page ships</title>\n"
        "<style>:root{color-scheme:light dark}body{font:14px/1.45 system-ui,sans-serif;margin:16px}"
        "td,th{padding:2px 12px 2px 0;text-align:left;vertical-align:top}</style>\n"
        "<h1>Licences of what this page ships</h1>\n"
        "<table><tr><th>What<th>Version<th>Licence<th>Text</tr>\n" + "\n".join(lines) + "\n</table>\n"
        "<p>The source of each is what its name and version mean in its own project; Pyodide's loader is changed as "
        '<a href="Pyodide-changes.txt">this list</a> says.\n'
        '<p><a href="../index.html">Back to the calculator</a>\n</html>\n'
    )
