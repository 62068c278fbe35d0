// The same app in a module worker: it sends the page's models and takes their changes.
import { BUILD, startPython } from "./python.mjs";

const WRITE = `
import json
from panel.io.pyodide import _link_docs_worker, write_doc
docs_json, render_items, root_ids = await write_doc()
_link_docs_worker(state.curdoc, send_patch, setter="js")
[docs_json, render_items, root_ids]
`;

const APPLY = `
from panel.io.pyodide import _convert_json_patch
state.curdoc.apply_json_patch(_convert_json_patch(patch), setter="js")
`;

const sendPatch = (patch, buffers) => postMessage({ type: "patch", patch, buffers });

const ready = startPython((text) => postMessage({ type: "status", text })).then(async (python) => {
  await python.runPythonAsync(BUILD);
  python.globals.set("send_patch", sendPatch);
  const [docs, items, roots] = (await python.runPythonAsync(WRITE)).toJs();
  postMessage({ type: "render", docs: JSON.parse(docs), items: JSON.parse(items), roots: JSON.parse(roots) });
  return python;
});
ready.catch((error) => postMessage({ type: "failed", text: String(error.message || error) }));

onmessage = async ({ data }) => {
  const python = await ready;
  python.globals.set("patch", data.patch);
  await python.runPythonAsync(APPLY);
  postMessage({ type: "idle" });
};
