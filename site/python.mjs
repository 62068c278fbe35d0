// Python in the page or in a worker: Pyodide with the packages unpacked and the app imported.
import { IMPORTS } from "./code.mjs";
import { loadPyodide } from "../{{runtime}}/pyodide.mjs";

const RUNTIME = new URL("../{{runtime}}/", import.meta.url).href;
const APP = new URL("./", import.meta.url).href;

// No package is looked up at run time: all come unpacked from packages.zip.
const EMPTY_LOCK = JSON.stringify({
  info: { abi_version: "2026_0", arch: "wasm32", platform: "emscripten_5_0_3", python: "3.14.0", version: "314.0.3" },
  packages: {},
});

// The smallest WebAssembly module there is: eight bytes of header.
const EMPTY_MODULE = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);

export class StartError extends Error {
  // `message` says what failed, `remedy` what to try.
  constructor(message, remedy) {
    super(message);
    this.remedy = remedy;
  }
}

async function fetched(address) {
  const answer = await fetch(address).catch(() => null);
  if (!answer?.ok) {
    throw new StartError(
      `A file of this page did not load: ${address.split("/").slice(-2).join("/")}` + (answer ? ` (${answer.status}).` : "."),
      "Reload the page. If the message stays, the copy on this server is incomplete or a filter blocks it.",
    );
  }
  return answer;
}

const bytes = async (answer) => new Uint8Array(await answer.arrayBuffer());

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

// Pyodide, with the app's packages imported. `progress(text)` is told what is being done.
export async function startPython(progress) {
  await refuseBlockedWasm();
  progress("Starting Python …");
  const core = fetched(`${RUNTIME}pyodide.asm.wasm`);
  const library = fetched(`${RUNTIME}stdlib.zip`).then(bytes);
  const archives = [fetched(`${RUNTIME}packages.zip`).then(bytes), fetched(`${APP}app.zip`).then(bytes)];
  // Pyodide waits for ever for a core that does not come; this promise does not.
  let refuse;
  const refused = new Promise((_, reject) => (refuse = reject));
  for (const file of [core, library, ...archives]) file.catch(refuse);
  const loading = loadPyodide({
    indexURL: RUNTIME,
    stdLibURL: library,
    wasmResponse: core,
    onWasmError: refuse,
    lockFileContents: EMPTY_LOCK,
    packageBaseUrl: RUNTIME,
    env: { HOME: "/home/pyodide", PANEL_CDN_ROOT: `${RUNTIME}panel/` },
  });
  const python = await Promise.race([refused, loading]);
  progress("Unpacking numpy, Bokeh and Panel …");
  for (const archive of archives) python.unpackArchive(await archive, "zip");
  progress("Loading numpy, Bokeh and Panel …");
  python.globals.set("null_for_undefined", nullForUndefined);
  await python.runPythonAsync(IMPORTS);
  return python;
}
