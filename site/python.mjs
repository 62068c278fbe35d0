// Python in the page or in a worker: from the snapshot of its memory, or else from its packages.
import { IMPORTS, WAKE } from "./code.mjs";
import { pause } from "./pause.mjs";
import { Snapshot } from "./restore.mjs";
import { MissingFile, Unpacker } from "./unpack.mjs";
import { loadPyodide } from "../{{runtime}}/pyodide.mjs";
import createModule from "../{{runtime}}/pyodide.asm.mjs";

const RUNTIME = new URL("../{{runtime}}/", import.meta.url).href;
const APP = new URL("./", import.meta.url).href;

// No package is looked up at run time: all come unpacked from packages.zip.
const EMPTY_LOCK = JSON.stringify({
  info: { abi_version: "2026_0", arch: "wasm32", platform: "emscripten_5_0_3", python: "3.14.0", version: "314.0.3" },
  packages: {},
});

// The smallest WebAssembly module there is: eight bytes of header.
const EMPTY_MODULE = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);

class StartError extends Error {
  // `message` says what failed, `remedy` what to try.
  constructor(message, remedy) {
    super(message);
    this.remedy = remedy;
  }
}

async function fetched(address) {
  const answer = await fetch(address).catch(() => null);
  if (!answer?.ok) throw new MissingFile(address, answer?.status ?? 0);
  return answer;
}

const bytes = async (answer) => new Uint8Array(await answer.arrayBuffer());

const isKept = () => Boolean(navigator.serviceWorker?.controller);

// The core: unpacked already where a service worker keeps it, with the code that the browser has compiled of it.
function fetchCore(unpacker) {
  if (isKept()) return fetched(`${RUNTIME}pyodide.asm.wasm`);
  const packed = unpacker.open(`${RUNTIME}pyodide.asm.wasm.zst`);
  return packed.then((stream) => new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
}

async function refuseBlockedWasm() {
  try {
    await WebAssembly.compile(EMPTY_MODULE);
  } catch {
    throw new StartError(
      "The calculator cannot start: WebAssembly is blocked here by a security policy.",
      "Allow WebAssembly for this page (in the Content-Security-Policy: 'wasm-unsafe-eval'), or use another browser.",
    );
  }
}

// Stands in for the one function that Panel would make with eval.
const nullForUndefined = (entries) =>
  Object.fromEntries(Array.from(entries, ([key, value]) => [key, value === undefined ? null : value]));

// The core in a task for each step: compiled, made, and then set up by Pyodide, 0.2 to 0.4 s in all.
async function startWasm(response, imports) {
  const module = await WebAssembly.compileStreaming(response);
  await pause();
  const instance = await WebAssembly.instantiate(module, imports);
  await pause();
  return { instance, module };
}

// Pyodide with these options; refuses when a file it needs does not come, for which Pyodide would wait for ever.
function load(core, options, ...needed) {
  let refuse;
  const refused = new Promise((_, reject) => (refuse = reject));
  for (const file of [core, ...needed]) file.catch(refuse);
  const loading = loadPyodide({
    indexURL: RUNTIME,
    wasmResponse: core,
    onWasmError: refuse,
    startWasm,
    lockFileContents: EMPTY_LOCK,
    packageBaseUrl: RUNTIME,
    env: { HOME: "/home/pyodide", PANEL_CDN_ROOT: `${RUNTIME}panel/` },
    ...options,
  });
  return Promise.race([refused, loading]);
}

async function fromPackages(core, progress) {
  const library = fetched(`${RUNTIME}stdlib.zip`).then(bytes);
  const archives = [fetched(`${RUNTIME}packages.zip`).then(bytes), fetched(`${APP}app.zip`).then(bytes)];
  const python = await load(core, { stdLibURL: library }, library, ...archives);
  progress("Unpacking Bokeh and Panel …");
  for (const archive of archives) python.unpackArchive(await archive, "zip");
  progress("Loading Bokeh and Panel …");
  python.globals.set("null_for_undefined", nullForUndefined);
  await python.runPythonAsync(IMPORTS);
  return python;
}

async function fromSnapshot(core, unpacker) {
  const snapshot = unpacker.open(`${APP}snapshot.zst`).then(Snapshot.open);
  const none = Promise.resolve(new Uint8Array());
  const python = await load(
    core,
    {
      stdLibURL: none, // comes late, see lateFiles
      _loadSnapshot: none, // only says that there is one; `Snapshot` has it
      _snapshotDeserializer: () => undefined,
      createPyodideModule: async (settings) => {
        const [module, made] = await Promise.all([createModule(settings), snapshot]);
        await pause(); // starting the core, filling its memory and waking Python take 0.2 s each
        await made.restore(module);
        await pause();
        return module;
      },
    },
    snapshot,
  );
  globalThis.late_files = () => lateFiles(python);
  python.runPython(WAKE);
  return python;
}

// An import cannot wait, so the archives come by the one kind of request that blocks.
function lateFiles(python) {
  const [library, ...archives] = [`${RUNTIME}stdlib.zip`, `${RUNTIME}packages.zip`, `${APP}app.zip`].map((address) => {
    const request = new XMLHttpRequest();
    request.open("GET", address, false);
    request.overrideMimeType("text/plain; charset=x-user-defined");
    request.send();
    if (request.status !== 200) throw new MissingFile(address, request.status);
    return Uint8Array.from(request.responseText, (letter) => letter.charCodeAt(0) & 255);
  });
  python.FS.writeFile("/lib/python314.zip", library);
  for (const archive of archives) python.unpackArchive(archive, "zip");
}

// Pyodide, with the app's packages imported. `teller` hears what is being done, `progress(text)`, and how much of the
// large files has come, `loaded(bytes, total)`.
export async function startPython(teller, { snapshot = {{has_snapshot}} } = {}) {
  await refuseBlockedWasm();
  teller.progress("Starting Python …");
  const total = {{snapshot_bytes}} + (isKept() ? 0 : {{core_bytes}});
  const unpacker = new Unpacker(`${RUNTIME}zstd.wasm`, (came) => teller.loaded(came, total));
  try {
    if (snapshot) {
      try {
        return Object.assign(await fromSnapshot(fetchCore(unpacker), unpacker), { fromSnapshot: true });
      } catch (error) {
        teller.loaded(0, 0);
        console.info(`Starting from the packages, because the snapshot does not serve here: ${error.message}`);
      }
    }
    return await fromPackages(fetchCore(unpacker), teller.progress);
  } finally {
    unpacker.close();
  }
}
