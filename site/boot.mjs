// Starts the page: its first view at once, then Python and the app, which take over what stands.
import { firstView, isPreset } from "./first.mjs";
import { keepOffline } from "./offline.mjs";
import { Baked, show } from "./show.mjs";

const APP = new URL("./", import.meta.url).href;
const DEFAULT = "{{default_model}}";
const root = document.documentElement;
const asked = new URLSearchParams(location.search);
const embedded = root.dataset.view === "embed";
// The page at its own address, which the snapshot holds ready built.
const plain = !embedded && [...asked.keys()].every((key) => key === "v" || key === "model") && (asked.get("model") ?? DEFAULT) === DEFAULT;

// Bokeh's script is deferred; the app needs it only now.
const scripts = new Promise((resolve) => {
  if (globalThis.Bokeh) resolve();
  else document.addEventListener("DOMContentLoaded", resolve); // deferred scripts have run by then
});

const baked = plain && {{has_snapshot}} ? new Baked(`${APP}live`, scripts) : null;
baked?.drawn.then(() => performance.mark("charts"), () => {});
if (!baked && {{has_snapshot}}) firstView(`${APP}first`, DEFAULT, {{first_views}}).then(() => performance.mark("charts"));

async function boot() {
  root.dataset.state = "starting";
  // Not a static import: Pyodide's loader touches WebAssembly when it is loaded, and guard.js may have found none.
  const { startPython } = await import("./python.mjs");
  const python = await startPython(start.progress);
  start.progress("Building the page …");
  if (baked && python.fromSnapshot) await baked.take(python);
  else await show(python, scripts);
  start.live();
  keepOffline();
}

function report(error) {
  if (error.remedy) return start.fail(error.message, error.remedy);
  if (error.address) return start.missing(error.address);
  const last = String(error.message || error).trim().split("\n").pop();
  start.fail(`The calculator could not start: ${last}`, "Reload the page. If the message stays, please report it with this text.");
  console.error(error);
}

// A frame in somebody's post starts no Python until the reader touches it.
function whenTouched(work) {
  root.dataset.state = "waiting";
  const inputs = [...asked].filter(([key]) => !["v", "data", "show", "fields", "open"].includes(key));
  // A preset's picture says all of it.
  if (!isPreset) document.getElementById("asked").textContent = inputs.map((pair) => pair.join(" ")).join(" · ");
  // A click and not the press before it: starting moves the page, and a press must end where it began. A link leads away.
  const once = ({ target }) => {
    if (target.closest("a")) return;
    removeEventListener("click", once);
    work();
  };
  addEventListener("click", once);
}

const go = () => boot().catch(report);
if (start.hasFailed()) {
  // guard.js has said why
} else if (embedded) whenTouched(go);
else go();
