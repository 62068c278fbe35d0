"""Changes to Pyodide's loader, which is under MPL-2.0: shipped as a patch beside the licence."""

from dataclasses import dataclass

from steps.lock import BuildError
from steps.packages import Tree


@dataclass(frozen=True)
class Patch:
    """One replacement in one file; the text must occur exactly once."""

    file: str
    old: str
    new: str
    why: str


PATCHES = (
    Patch(
        "pyodide.mjs",
        "instantiateWasm:Ie(e.indexURL)",
        "instantiateWasm:Ie(e.indexURL,e)",
        "pass the options on to the function that starts the core",
    ),
    Patch(
        "pyodide.mjs",
        'function Ie(e){if(typeof WasmOffsetConverter<"u")return;let{binary:t,response:n}=_(e+"pyodide.asm.wasm")',
        'function Ie(e,o0){if(typeof WasmOffsetConverter<"u")return;let{binary:t,response:n}='
        'o0.wasmResponse?{response:o0.wasmResponse}:_(e+"pyodide.asm.wasm")',
        "take the core from a response the page fetched, so that a missing file can be named",
    ),
    Patch(
        "pyodide.mjs",
        "l=await WebAssembly.instantiateStreaming(n,s)",
        "l=await(o0.startWasm?o0.startWasm(n,s):WebAssembly.instantiateStreaming(n,s))",
        "let the page do something else between compiling the core and starting it",
    ),
    Patch(
        "pyodide.mjs",
        'catch(l){console.warn("wasm instantiation failed!"),console.warn(l)}',
        'catch(l){o0.onWasmError?o0.onWasmError(l):console.warn(l)}',
        "tell the page that the core cannot start; Pyodide would wait for ever",
    ),
    Patch(
        "pyodide.mjs",
        "function he(e){let t=j(e);",
        'function he(e){let t=typeof e=="string"?j(e):e;',
        "take the standard library as bytes the page fetched, for the same reason",
    ),
    Patch(
        "pyodide.mjs",
        "\n//# sourceMappingURL=pyodide.mjs.map",
        "",
        "no source map is shipped",
    ),
)


def patched(tree: Tree) -> Tree:
    """The tree with every patch applied."""
    result = dict(tree)
    for patch in PATCHES:
        text = result[patch.file].decode()
        if text.count(patch.old) != 1:
            raise BuildError(f"{patch.file} changed: cannot «{patch.why}»; correct site/steps/patches.py.")
        result[patch.file] = text.replace(patch.old, patch.new).encode()
    return result


def patch_text() -> str:
    """The changes in words and text, for the licence folder."""
    parts = ["Changes made to Pyodide's files in this copy. Each replaces text that occurs once.\n"]
    for patch in PATCHES:
        parts.append(f"File: {patch.file}\nWhy: {patch.why}\nOld: {patch.old.strip()}\nNew: {patch.new.strip()}\n")
    return "\n".join(parts)
