// Under Node: start Python, import the app, make the first views, build the app, and keep the memory of it all.
// node snapshot.mjs CORE STDLIB_ZIP PACKAGES_FOLDER OUT; OUT gets snapshot.bin, live-*.json and the first views.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

// The last line of an error says what failed; Node would print the whole of Pyodide's minified script before it.
const fail = (error) => {
  console.error(String(error.message ?? error).trim().split("\n").pop());
  process.exit(1);
};
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);

const [core, stdlib, packages, out] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const SITE_PACKAGES = "/lib/python3.14/site-packages";
const PRESETS = "/envelope/presets/"; // read when first asked for, so they go along as files
const HELD_AT = 48; // where Pyodide puts the JSON of what JavaScript holds
const [DATA_SECTION, I32_CONST, END] = [11, 0x41, 0x0b]; // of WebAssembly's binary format
const PAGE = 1024; // bytes; of 4096 fewer are as in a fresh core
const ZEROS = new Uint8Array(PAGE);

// What differs from run to run or from machine to machine would be in the memory: names, time, everything random.
process.argv = ["node", "/snapshot"];
Object.defineProperty(globalThis, "navigator", { value: { language: "en", userAgent: "" } });
const NOW = Date.UTC(2026, 0, 1);
Date.now = () => NOW;
performance.now = () => 1000;
let seed = 1;
const nextByte = () => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) >>> 24;
const fill = (view) => {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  for (let index = 0; index < bytes.length; index++) bytes[index] = nextByte();
  return view;
};
Math.random = () => nextByte() / 256;
crypto.getRandomValues = fill;
createRequire(import.meta.url)("node:crypto").randomFillSync = fill;

const { loadPyodide } = await import(pathToFileURL(join(core, "pyodide.mjs")));
const { BAKE, IMPORTS, LATE } = await import(pathToFileURL(join(here, "..", "code.mjs")));
const python = await loadPyodide({
  indexURL: core,
  stdLibURL: stdlib,
  _makeSnapshot: true,
  env: { HOME: "/home/pyodide", PANEL_CDN_ROOT: "panel/", PYTHONHASHSEED: "0" },
});
const { FS, _module: module } = python;

// Written from here: unpacking in Python would leave the archives' bytes in its memory.
const files = [];
for (const entry of readdirSync(packages, { recursive: true, withFileTypes: true })) {
  if (entry.isFile()) files.push(relative(packages, join(entry.path, entry.name)).split(sep).join("/"));
}
files.sort();
for (const path of files) {
  const target = `${SITE_PACKAGES}/${path}`;
  FS.mkdirTree(dirname(target));
  FS.writeFile(target, new Uint8Array(readFileSync(join(packages, path))));
}

python.runPython("import importlib\nimportlib.invalidate_caches()"); // with the time at rest, no folder looks changed

// The page as the app meets it at its own address: light or dark, wide or narrow.
const seen = { dark: false, narrow: false };
globalThis.window = globalThis;
globalThis.document = { querySelectorAll: () => [], documentElement: { getAttribute: () => null } };
globalThis.location = { search: "", origin: "", pathname: "/" };
globalThis.matchMedia = (media) => ({ matches: media.includes("dark") ? seen.dark : seen.narrow });
globalThis.XMLHttpRequest = class XMLHttpRequest {};
globalThis.look = (dark, narrow) => Object.assign(seen, { dark, narrow });
globalThis.keep = (name, text) => {
  mkdirSync(dirname(join(out, name)), { recursive: true });
  writeFileSync(join(out, name), text);
};

python.globals.set("null_for_undefined", (entries) => Object.fromEntries(entries));
await python.runPythonAsync(IMPORTS);
python.runPython(readFileSync(join(here, "snapshot_inside.py"), "utf8"));
python.runPython(BAKE);
const known = files.map((path) => path.split("/")[0].split(".")[0]);
python.globals.set("late_names", python.toPy([...new Set(known)]));
python.runPython(LATE);

// What JavaScript holds of Python, and Python of JavaScript, ends here; `undefined` is one such thing.
delete globalThis.look;
delete globalThis.keep;
// What stands now stays: a collector that went through it at every thousand new objects would take half of each edit.
python.runPython("import gc\nfor _ in range(3): gc.collect()\ngc.freeze()");
zeroFreedMemory();
const image = python.makeMemorySnapshot({
  serializer(value) {
    if (value === undefined) return { undefined: true };
    throw new Error(`Python still holds ${String(value)}`);
  },
});

writeImage(image);

// Freed memory keeps its old bytes, which no one reads and which do not compress: take it, clear it, give it back.
function zeroFreedMemory() {
  const taken = [];
  for (let size = 1 << 20; size >= 32; size >>= 1) {
    for (;;) {
      const end = module._sbrk(0);
      const block = module._malloc(size);
      if (module._sbrk(0) !== end) {
        module._free(block);
        break;
      }
      module.HEAPU8.fill(0, block, block + size);
      taken.push(block);
    }
  }
  for (const block of taken) module._free(block);
}

// One file: length of the header, header, the preset files, and of the memory what a fresh core has not.
function writeImage(image) {
  // Pyodide's own layout: magic number, where the memory starts, length of the JSON of what JavaScript holds, build.
  const [, start, length] = new Uint32Array(image.buffer, image.byteOffset, 3);
  const held = JSON.parse(new TextDecoder().decode(image.subarray(HELD_AT, HELD_AT + length)));
  const memory = image.subarray(start);
  const { kept, stored } = pagesOf(memory, dataSegments(readFileSync(join(core, "pyodide.asm.wasm"))));
  const presets = files.filter((path) => `/${path}`.startsWith(PRESETS));
  const contents = presets.map((path) => readFileSync(join(packages, path)));
  const header = Buffer.from(
    JSON.stringify({
      build: python._api.config.BUILD_ID,
      held,
      size: memory.length,
      kept,
      stored,
      files: presets.map((path, index) => [`${SITE_PACKAGES}/${path}`, contents[index].length]),
    }),
  );
  const headerLength = Buffer.alloc(4);
  headerLength.writeUInt32LE(header.length);
  const parts = stored.map(([from, to]) => memory.subarray(from, to));
  writeFileSync(join(out, "snapshot.bin"), Buffer.concat([headerLength, header, ...contents, ...parts]));
}

// What a core's memory holds before any of its code has run: constants and initial values, 3 MB.
function dataSegments(wasm) {
  const fresh = new Uint8Array(16 << 20);
  let at = 8; // past magic number and version
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = wasm[at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  };
  while (at < wasm.length) {
    const section = wasm[at++];
    const end = number() + at;
    for (let count = section === DATA_SECTION ? number() : 0; count > 0; count--) {
      const [kind, constant] = [number(), wasm[at++]];
      const address = number();
      if (kind !== 0 || constant !== I32_CONST || wasm[at++] !== END) throw new Error("the core's data lie elsewhere than expected");
      const size = number();
      fresh.set(wasm.subarray(at, at + size), address);
      at += size;
    }
    at = end;
  }
  return fresh;
}

// Ranges of the memory by page: `kept` are as in a fresh core, `stored` are neither that nor zero.
function pagesOf(memory, fresh) {
  const ranges = { kept: [], stored: [] };
  for (let from = 0; from < memory.length; from += PAGE) {
    const page = memory.subarray(from, from + PAGE);
    const sameAs = (other) => Buffer.compare(page, other) === 0;
    if (sameAs(ZEROS.subarray(0, page.length))) continue;
    const list = sameAs(fresh.subarray(from, from + page.length)) ? ranges.kept : ranges.stored;
    if (list.at(-1)?.[1] === from) list.at(-1)[1] = from + page.length;
    else list.push([from, from + page.length]);
  }
  return ranges;
}
