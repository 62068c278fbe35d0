// Runs bytecode_inside.py in Pyodide under Node: node bytecode.mjs CORE SOURCE_ZIP COMPILED_ZIP PREFIX
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

// The last line of an error says what failed; Node would print the whole of Pyodide's minified script before it.
const fail = (error) => {
  console.error(String(error.message ?? error).trim().split("\n").pop());
  process.exit(1);
};
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);

const [core, source, compiled, prefix] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(core, "pyodide.mjs")));
// A fixed hash seed, because the order of sets decides the bytes of compiled code. Tracebacks keep their lines; columns
// mean nothing without the source, and are the larger part of a code object's table of positions.
const python = await loadPyodide({ indexURL: core, env: { PYTHONHASHSEED: "0", PYTHONNODEBUGRANGES: "1" } });
python.FS.writeFile("/source.zip", readFileSync(source));
python.globals.set("PREFIX", prefix);
const here = dirname(fileURLToPath(import.meta.url));
python.runPython(readFileSync(join(here, "bytecode_inside.py"), "utf8"));
writeFileSync(compiled, python.FS.readFile("/compiled.zip"));
