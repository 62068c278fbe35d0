// The same app in a module worker, which has no document and so starts from the packages: it sends the page's models and takes their changes.
import { APPLY, BUILD, WRITE_IN_WORKER } from "./code.mjs";
import { startPython } from "./python.mjs";

const sendPatch = (patch, buffers) => postMessage({ type: "patch", patch, buffers });

const ready = startPython({ progress: (text) => postMessage({ type: "status", text }), loaded() {} }, { snapshot: false }).then(async (python) => {
  python.runPython(BUILD);
  python.globals.set("send_patch", sendPatch);
  const [docs, items, roots] = (await python.runPythonAsync(WRITE_IN_WORKER)).toJs();
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
