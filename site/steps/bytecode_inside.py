"""Runs inside Pyodide: /source.zip to /compiled.zip, every module as sourceless bytecode."""

import importlib.util
import zipfile
from importlib import _bootstrap_external

PREFIX: str  # set by bytecode.mjs

with zipfile.ZipFile("/source.zip") as source, zipfile.ZipFile("/compiled.zip", "w") as compiled:
    for path in source.namelist():
        content = source.read(path)
        if path.endswith(".py"):
            # optimize=2 drops asserts and docstrings; an unchecked hash needs no source to compare with.
            code = compile(content, f"{PREFIX}/{path}", "exec", dont_inherit=True, optimize=2)
            digest = importlib.util.source_hash(content)
            content, path = _bootstrap_external._code_to_hash_pyc(code, digest, checked=False), path + "c"
        compiled.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), content)
