// The first view: what stands before Python answers. A preset's own state shows its numbers and charts, made when the
// site was built; any other state shows its inputs and says that it is being computed, never another state's numbers.

const NOT_INPUTS = new Set(["v", "data", "model", "show", "fields", "open"]);
const root = document.documentElement;
const asked = new URLSearchParams(location.search);
const isLive = () => root.dataset.state === "live";

export const isPreset = [...asked.keys()].every((key) => NOT_INPUTS.has(key));

async function fetched(path) {
  const answer = await fetch(path).catch(() => null);
  return answer?.ok ? answer.json() : null;
}

const scriptsReady = new Promise((resolve) => {
  if (globalThis.Bokeh) resolve();
  else document.addEventListener("DOMContentLoaded", resolve); // deferred scripts have run by then
});

async function drawFigures(figures) {
  await scriptsReady;
  const light = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  for (const [key, items] of Object.entries(figures)) {
    const mount = document.getElementById(`plot-${key}`);
    if (!mount || isLive()) continue;
    const place = mount.appendChild(Object.assign(document.createElement("div"), { className: "first-figure" }));
    await Bokeh.embed.embed_item(items[light], place);
  }
}

// Show the inputs that the address holds, and nothing that would need computing.
function showInputs() {
  root.dataset.first = "computing";
  for (const field of document.querySelectorAll("#page [data-key]")) {
    const text = asked.get(field.dataset.key);
    if (field.dataset.choice === undefined) field.value = text ?? "";
    else if (text && [...field.options].some(({ value }) => value === text)) field.value = text;
  }
  const answer = document.querySelector('#page [data-region="answer"]');
  if (!answer) return;
  const inputs = [...asked].filter(([key]) => !["v", "data", "show", "fields", "open"].includes(key) && !key.startsWith("a."));
  const heading = Object.assign(document.createElement("h2"), { className: "headline", textContent: "Computing …" });
  const words = Object.assign(document.createElement("span"), { textContent: inputs.map((pair) => pair.join(" ")).join(" · ") });
  answer.replaceChildren(heading, words);
}

// Bring the first view of this address up. `folder` is where the views lie, `views` their names; `shown` the model
// whose HTML the page holds. What has no view is not asked for: it would be an error on the console.
export async function firstView(folder, shown, views) {
  const model = asked.get("model") ?? shown;
  const name = asked.has("show") ? `${model}.${asked.get("show")}` : model;
  const view = isPreset && views.includes(name) ? await fetched(`${folder}/${name}.json`) : null;
  if (isLive()) return;
  if (!view) return showInputs();
  if (model !== shown || asked.has("show")) document.getElementById("page").innerHTML = view.html;
  await drawFigures(view.figures);
}
