// Runs the app in a started Python and puts what it draws into the page.
import { BUILD, WRITE } from "./code.mjs";
import { connect, obey } from "./page.mjs";

// The place of each root, in order: `<div data-root-name="...">` in the page, or out of sight for one that draws nothing.
function placeRoots(names) {
  names.forEach((name, index) => {
    const place = document.querySelector(`[data-root-name="${CSS.escape(name)}"]`);
    const element = (place ?? document.getElementById("unplaced")).appendChild(document.createElement("div"));
    element.id = `root${index}`;
    element.dataset.rootId = String(index).padStart(4, "0"); // Panel sorts these as text
  });
}

// Show the app, and join its document to the page. `scripts` is when Bokeh's and Panel's scripts have run.
export async function show(python, scripts) {
  await python.runPythonAsync(BUILD);
  await scripts;
  const names = python.runPython("[root.name for root in state.curdoc.roots]").toJs();
  obey(python.runPython("next(root.told for root in state.curdoc.roots if root.name == 'door')"));
  placeRoots(names);
  await python.runPythonAsync(WRITE);
  connect(Bokeh.documents.at(-1));
}
