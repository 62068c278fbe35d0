// Starts the page: Python, then the app, which takes over what was prerendered.
import { show } from "./show.mjs";

// Bokeh's and Panel's scripts are deferred; the app needs them only now.
const scriptsReady = new Promise((resolve) => {
  if (document.readyState !== "loading") resolve();
  else document.addEventListener("DOMContentLoaded", resolve);
});

async function boot() {
  // Not a static import: Pyodide's loader touches WebAssembly when it is loaded, and guard.js may have found none.
  const { startPython } = await import("./python.mjs");
  const python = await startPython(start.progress);
  start.progress("Building the page …");
  await show(python, scriptsReady);
  start.live();
}

function report(error) {
  if (error.remedy) {
    start.fail(error.message, error.remedy);
    return;
  }
  const last = String(error.message || error).trim().split("\n").pop();
  start.fail(`The calculator could not start: ${last}`, "Reload the page. If the message stays, please report it with this text.");
  console.error(error);
}

if (!start.hasFailed()) boot().catch(report);
