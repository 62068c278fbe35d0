// Starts the page: Python, then the app, then its roots in place of what was prerendered.
// One element per root of the app, in order. A page may hold `<div data-root-name="...">` for a named root.
function rootElements(names) {
  const live = document.getElementById("live");
  return names.map((name, index) => {
    const element =
      (name && document.querySelector(`[data-root-name="${CSS.escape(name)}"]`)) ||
      live.appendChild(document.createElement("div"));
    element.id ||= `root${index}`;
    element.dataset.rootId = String(index).padStart(4, "0"); // Panel sorts these as text
    return element;
  });
}

// Bokeh's and Panel's scripts are deferred; the app needs them only now.
const scriptsReady = new Promise((resolve) => {
  if (document.readyState !== "loading") resolve();
  else document.addEventListener("DOMContentLoaded", resolve);
});

async function boot() {
  // Not a static import: Pyodide's loader touches WebAssembly when it is loaded, and guard.js may have found none.
  const { BUILD, startPython } = await import("./python.mjs");
  const python = await startPython(start.progress);
  start.progress("Building the page …");
  await python.runPythonAsync(BUILD);
  await scriptsReady;
  if (start.hasFailed()) return;
  const names = python.runPython("[root.name for root in state.curdoc.roots]").toJs();
  rootElements(names);
  await python.runPythonAsync("from panel.io.pyodide import write_doc\nawait write_doc()");
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
