// The first view: what stands before Python answers. A preset's own state shows its numbers and charts, made when the
// site was built, which guard.js puts in place; any other state shows its inputs here and says that it is being computed,
// never another state's numbers.

import { whenIdle } from "./pause.mjs";

const root = document.documentElement;
const inFrame = root.dataset.view === "embed";
const isLive = () => root.dataset.state === "live";
const { wanted, preset } = start.view; // as guard.js read them

// Show the inputs that the address holds, and nothing that would need computing.
function showInputs() {
  root.dataset.first = "computing";
  const asked = new URLSearchParams(location.search);
  for (const field of document.querySelectorAll("#page [data-key]")) {
    const text = asked.get(field.dataset.key);
    if (field.dataset.choice === undefined) field.value = text ?? "";
    else if (text && [...field.options].some(({ value }) => value === text)) field.value = text;
  }
  const answer = document.querySelector('#page [data-region="answer"]');
  if (!answer) return;
  const heading = Object.assign(document.createElement("h2"), { className: "headline", textContent: "Computing …" });
  answer.replaceChildren(heading, Object.assign(document.createElement("span"), { textContent: wanted }));
  if (!preset) return;
  const href = `?model=${encodeURIComponent(preset)}`; // stands at once, on any line
  answer.append(Object.assign(document.createElement("a"), { href, textContent: "the preset as published" }));
}

// A frame tells the page around it how tall it is, once it has something to show: an empty one would collapse the text.
if (parent !== window) {
  const page = document.getElementById("page");
  new ResizeObserver(() => {
    if (!page.childElementCount) return;
    const height = Math.ceil(root.getBoundingClientRect().height);
    parent.postMessage({ type: "serving-envelope:height", height }, "*");
  }).observe(root);
}

// In a frame the rest is fetched once the picture stands, since three frames share one thread, or once it is touched.
let isFetched = false;
async function fetchStart() {
  if (isFetched) return;
  isFetched = true;
  await new Promise(whenIdle);
  const address = new URL("./boot.mjs", import.meta.url).href;
  await import(address).catch(() => start.missing(address));
}

// A frame says what is asked for until a picture shows it.
function sayAsked(text) {
  const place = document.getElementById("asked");
  if (place) place.textContent = text;
}

sayAsked(wanted);
if (inFrame) start.whenTouched(fetchStart);
start.whenStanding((hasPicture) => {
  sayAsked(hasPicture ? "" : wanted);
  if (!hasPicture && !isLive()) showInputs();
  if (inFrame) fetchStart();
});
