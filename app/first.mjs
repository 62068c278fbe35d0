// The first view: what stands before Python answers. A preset's own state shows its numbers and charts, made when the
// site was built; any other state shows its inputs and says that it is being computed, never another state's numbers.

const ASIDE = new Set(["v", "data", "show", "fields", "open"]); // what an address says beside the state
const VIEWS = {{first_views}};
const root = document.documentElement;
const asked = new URLSearchParams(location.search);
const holds = root.dataset.holds; // the model whose picture the build has put into the page; none where it made no pictures
const inFrame = root.dataset.view === "embed"; // which holds none: its picture depends on what it shows
const isLive = () => root.dataset.state === "live";

const isPreset = [...asked.keys()].every((key) => key === "model" || ASIDE.has(key));

// What the address asks for, in words.
const wanted = [...asked]
  .filter(([key]) => !ASIDE.has(key) && !key.startsWith("a."))
  .map((pair) => pair.join(" "))
  .join(" · ");

// The HTML that the build made for this address. What it made none for is not asked for: that would be an error on the
// console.
async function picture() {
  const name = (asked.get("model") ?? holds) + (inFrame ? `.${asked.get("show") ?? "quantities"}` : "");
  if (!isPreset || !VIEWS.includes(name)) return null;
  const answer = await fetch(new URL(`first/${name}.json`, import.meta.url)).catch(() => null);
  return answer?.ok ? (await answer.json()).html : null;
}

// Show the inputs that the address holds, and nothing that would need computing.
function showInputs() {
  root.dataset.first = "computing";
  if (inFrame) document.getElementById("asked").textContent = wanted;
  for (const field of document.querySelectorAll("#page [data-key]")) {
    const text = asked.get(field.dataset.key);
    if (field.dataset.choice === undefined) field.value = text ?? "";
    else if (text && [...field.options].some(({ value }) => value === text)) field.value = text;
  }
  const answer = document.querySelector('#page [data-region="answer"]');
  if (!answer) return;
  const heading = Object.assign(document.createElement("h2"), { className: "headline", textContent: "Computing …" });
  answer.replaceChildren(heading, Object.assign(document.createElement("span"), { textContent: wanted }));
}

const parsed = new Promise((resolve) => {
  if (document.getElementById("unplaced")) resolve(); // what comes after #page
  else new MutationObserver((_, observer) => {
    if (!document.getElementById("unplaced")) return;
    observer.disconnect();
    resolve();
  }).observe(root, { childList: true, subtree: true });
});

async function firstView() {
  const isHeld = holds && isPreset && !inFrame && (asked.get("model") ?? holds) === holds;
  const html = isHeld || !holds ? null : await picture();
  await parsed;
  if (isLive()) return;
  delete root.dataset.first;
  if (isHeld) return;
  if (html === null) return showInputs();
  document.getElementById("page").innerHTML = html;
  start.painted();
}

firstView();
