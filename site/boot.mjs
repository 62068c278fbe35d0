// Starts Python and the app, which take over the first view.
import { keepOffline } from "./offline.mjs";
import { pause } from "./pause.mjs";
import { Baked, show } from "./show.mjs";

const APP = new URL("./", import.meta.url).href;
const DEFAULT = "{{default_model}}";
const root = document.documentElement;
const asked = new URLSearchParams(location.search);
const embedded = root.dataset.view === "embed";
// The page at its own address, which the snapshot holds ready built.
const keys = [...asked.keys()];
const plain = !embedded && keys.every((key, at) => ["v", "model"].includes(key) && !keys.includes(key, at + 1)) && (asked.get("model") ?? DEFAULT) === DEFAULT;

// Resolves after the frame that paints the first view, since what comes then keeps both cores of a small machine busy.
// A page that nobody looks at paints none.
const painted = new Promise((resolve) => {
  const look = () => (document.hidden ? resolve() : requestAnimationFrame(() => (document.getElementById("unplaced") && !root.dataset.frame ? setTimeout(resolve) : look())));
  look();
});

// Resolves when Bokeh's script, which nothing before needs, has run.
const scripts = () =>
  Promise.all(
    [...document.getElementById("scripts").content.children].map(
      ({ src }) => new Promise((onload) => document.head.append(Object.assign(document.createElement("script"), { src, onload }))),
    ),
  ).then(() => {
    if (!window.Bokeh) throw Object.assign(new Error("Bokeh"), { address: document.querySelector("#scripts").content.firstElementChild.src });
    spareStyles();
  });

// What Bokeh does whenever it paints and this page has no use for: it looks for colours and fonts among style sheets, of
// which there are none, writes the place of each part of a chart again, after which the browser computes its styles, and
// keeps an element over each line, for styles and tools that there are none of.
function spareStyles() {
  Bokeh.require("core/visuals/visual").VisualProperties.prototype._get_css_value = () => "";
  const sheet = Bokeh.require("core/dom").InlineStyleSheet.prototype;
  const { _update: write } = sheet;
  sheet._update = function (css) {
    if (this.el.textContent !== css) write.call(this, css);
  };
  Bokeh.require("models/renderers/glyph_renderer").GlyphRendererView.prototype.update_position = function () {
    this.position.replace(":host { display: none; }");
  };
}

let drawing = embedded || start.hasFailed() ? null : painted.then(scripts);
const baked = drawing && plain && {{has_snapshot}} ? new Baked(`${APP}live`, drawing) : null;

// An import says only in words that a file is missing; the link that asked for it may name it better, and comes first.
async function nameMissing(error) {
  await pause();
  throw /module/.test(error.message) ? Object.assign(error, { address: `${APP}python.mjs` }) : error;
}

async function boot() {
  root.dataset.state = "starting";
  await painted;
  // Asked for together; named here, so that a missing one is an error that guard.js sees and names.
  const parts = document.getElementById("start").content.cloneNode(true);
  const sheet = parts.querySelector("link[rel=stylesheet]"); // a frame's; the page holds its own
  const styled = sheet && new Promise((resolve) => (sheet.onload = resolve));
  document.head.append(parts);
  drawing ??= scripts();
  // Not a static import: Pyodide's loader touches WebAssembly when it is loaded, and guard.js may have found none.
  const { startPython } = await import("./python.mjs").catch(nameMissing);
  const python = await startPython(start);
  await styled;
  start.progress("Building the page …");
  if (baked && python.fromSnapshot) await baked.take(python);
  else await show(python, drawing);
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

const go = () => boot().catch(report);
if (start.hasFailed()) {
  // guard.js has said why
} else if (embedded) start.whenTouched(go); // no Python until the reader touches the frame
else go();
