// Runs the app in a started Python and puts what it draws into the page.
import { BUILD, TAKE, WRITE } from "./code.mjs";
import { connect, obey } from "./page.mjs";
import { pause } from "./pause.mjs";

// The place of a root: `<div data-root-name="...">` in the page, or out of sight for one that draws nothing.
function placed(name, id, className = "") {
  const place = name && document.querySelector(`[data-root-name="${CSS.escape(name)}"]`);
  const element = (place || document.getElementById("unplaced")).appendChild(document.createElement("div"));
  return Object.assign(element, { id, className });
}

// Build the app for this address, show it and join its document to the page. `scripts` is when Bokeh's script has run.
export async function show(python, scripts) {
  python.runPython(BUILD); // not as a task, whose current document would end with it
  await scripts;
  const names = python.runPython("[root.name for root in state.curdoc.roots]").toJs();
  obey(python.runPython("next(root.told for root in state.curdoc.roots if root.name == 'door')"));
  names.forEach((name, index) => {
    placed(name, `root${index}`).dataset.rootId = String(index).padStart(4, "0"); // Panel sorts these as text
  });
  await python.runPythonAsync(WRITE);
  connect(Bokeh.documents.at(-1));
}

// The app as it was built with the snapshot, for the page at its own address: drawn before Python is up.
export class Baked {
  constructor(folder, scripts) {
    const light = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const width = matchMedia("(max-width: 720px)").matches ? "narrow" : "wide"; // as app/browser.py asks
    this.kind = `${light}-${width}`;
    this.drawn = this.#draw(`${folder}/${this.kind}.json`, scripts);
    this.drawn.catch(() => {}); // awaited by `take`
  }

  async #draw(address, scripts) {
    const answer = await fetch(address);
    if (!answer.ok) throw Object.assign(new Error(`${answer.status}`), { address });
    const { docs, roots } = await answer.json();
    await scripts;
    await pause();
    const drawn = Bokeh.require("document/document").Document.from_json(Object.values(docs)[0]);
    const names = Object.values(roots);
    this.elements = names.map((name, index) => placed(name, `baked${index}`, "first-figure"));
    // Bokeh draws the roots there are in one task, 0.4 s long, and one that is added in a task of its own.
    const more = drawn.roots().slice(1);
    for (const root of more) drawn.remove_root(root);
    await Bokeh.embed.add_document_standalone(drawn, this.elements[0], this.elements);
    for (const root of more) {
      await pause();
      drawn.add_root(root);
    }
    await pause();
    return drawn;
  }

  // Join what is drawn to a Python that was restored from the snapshot.
  async take(python) {
    const drawn = await this.drawn;
    python.globals.set("kind", this.kind);
    python.globals.set("document", drawn);
    python.runPython(TAKE);
    for (const element of this.elements) element.className = "";
    connect(drawn);
  }
}
