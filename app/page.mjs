// The page's hands: puts HTML into its regions, sends on what the reader does, and reaches address, clipboard and files.
// Python speaks through one Bokeh model, the door: `told` is what to do, `heard` what was done here; both are JSON.

import { correct, morphChildren } from "./morph.mjs";
import { whenIdle } from "./pause.mjs";

const page = () => document.getElementById("page");
let door = null;
let done = 0; // number of the last batch obeyed
let settled = location.search; // the address of the last step of the history
const waiting = []; // what was done before Python answers

// Elements of these names and contents, read in one go.
function parsed(elements) {
  const template = document.createElement("template");
  template.innerHTML = elements.map(([name, html]) => `<${name}>${html}</${name}>`).join("");
  return [...template.content.children];
}

// Regions by name: looking one up among all elements takes 0.4 ms, and an edit shows eight.
const regions = new Map();
function regionOf(name) {
  if (!regions.get(name)?.isConnected) regions.set(name, page().querySelector(`[data-region="${name}"]`));
  return regions.get(name);
}

function show(htmls) {
  const places = Object.entries(htmls).map(([name, html]) => [name === "page" ? page() : regionOf(name), html]);
  const shown = places.filter(([region]) => region);
  const wanted = parsed(shown.map(([{ nodeName }, html]) => [nodeName, html]));
  shown.forEach(([region], index) => {
    morphChildren(region, wanted[index]);
    region.querySelectorAll("[data-sortable]").forEach(sortRows);
  });
}

// Files at hand: no config is as large as this, and of an index only the totals count.
const LARGEST = 64e6; // bytes; the index of a model of 90,000 tensors is 9 million
function essence(name, text) {
  if (!name.endsWith(".index.json")) return text;
  try {
    return JSON.stringify({ metadata: JSON.parse(text).metadata });
  } catch {
    return text;
  }
}

async function bounded(answer) {
  const parts = [];
  let size = 0;
  for (const reader = answer.body.getReader(); ; ) {
    const { done: isAll, value } = await reader.read();
    if (isAll) return new Blob(parts).text();
    size += value.length;
    if (size > LARGEST) {
      reader.cancel();
      return null;
    }
    parts.push(value);
  }
}

const asFile = (name, text) => (text === null ? { name, status: 413, text: "" } : { name, status: 200, text: essence(name, text) });

async function hubFile(address, name) {
  try {
    const answer = await fetch(`${address}/${name}`, { credentials: "omit", referrerPolicy: "no-referrer" });
    return answer.ok ? asFile(name, await bounded(answer)) : { name, status: answer.status, text: "" };
  } catch {
    return { name, status: 0, text: "" };
  }
}

async function fetchFiles({ id, revision, names, answer }) {
  const hub = document.querySelector('meta[name="hub-base"]').content;
  const files = await Promise.all(names.map((name) => hubFile(`${hub}/${id}/resolve/${encodeURIComponent(revision)}`, name)));
  send({ do: answer, id, revision, files: JSON.stringify(files) });
}

async function handOver(what, given) {
  const read = async (file) => asFile(file.name, file.size > LARGEST ? null : await file.text());
  send({ do: what, files: JSON.stringify(await Promise.all([...given].map(read))) });
}

// The order that the reader chose for a table, by its title; it is kept when the rows are written anew.
const orders = new Map();
function sortRows(table) {
  const { column, down } = orders.get(table.dataset.sortable) ?? {};
  if (column === undefined) return;
  [...table.tHead.rows[0].cells].forEach((head, at) => {
    if (at === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
  const number = (row) => (row.cells[column].dataset.order === undefined ? null : Number(row.cells[column].dataset.order));
  const compare = (a, b) => {
    const [x, y] = [number(a), number(b)];
    if (x === null && y === null) return a.cells[column].textContent.localeCompare(b.cells[column].textContent) * (down ? -1 : 1);
    if (x === null || y === null) return x === null ? 1 : -1; // what has no number comes last either way
    return down ? y - x : x - y;
  };
  table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
}

function sortBy(button) {
  const table = button.closest("table");
  const column = button.closest("th").cellIndex;
  const before = orders.get(table.dataset.sortable);
  orders.set(table.dataset.sortable, { column, down: before?.column === column && !before.down });
  sortRows(table);
}

let saying = 0;
function say(text) {
  clearTimeout(saying);
  const speak = () => (document.documentElement.dataset.toast === undefined ? (document.getElementById("said").textContent = text) : say(text));
  saying = setTimeout(speak, 1000); // a toast, which has the same place, stands its time
}

// While typing the address follows in the pauses: writing it takes milliseconds, and browsers limit how often.
let typedAddress = null;
let addressing = 0;
function followAddress(query) {
  typedAddress = query;
  addressing ||= setTimeout(flushAddress, 200);
}
function flushAddress() {
  clearTimeout(addressing);
  addressing = 0;
  if (typedAddress !== null) history.replaceState(null, "", typedAddress);
  typedAddress = null;
}

function writeAddress(query, isStep) {
  if (!isStep) return followAddress(query);
  typedAddress = null;
  flushAddress();
  history.replaceState(null, "", settled || location.pathname);
  if (query !== settled) history.pushState(null, "", query);
  settled = query;
}

async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    toast(said);
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
    document.body.append(area);
    area.select();
    toast(document.execCommand("copy") ? said : "The browser does not let this page copy.");
    area.remove();
  }
}

let toasting = 0;
function toast(text) {
  document.getElementById("said").textContent = text;
  document.documentElement.dataset.toast = "";
  clearTimeout(toasting);
  toasting = setTimeout(() => delete document.documentElement.dataset.toast, 2000);
}

function save(name, blob) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Bokeh draws a new root some frames after it was added, at the end of the body; from there it moves to its place.
async function place(figure, mount) {
  for (let frame = 0; frame < 120; frame += 1) {
    const view = Bokeh.index.find_one_by_id(figure);
    if (view?.el.isConnected || (view && frame > 2)) return void document.getElementById(mount)?.append(view.el);
    await new Promise(requestAnimationFrame);
  }
}

const COMMANDS = {
  show: ({ regions }) => show(regions),
  address: ({ query, settled: isStep }) => writeAddress(query, isStep),
  copy: ({ text, said }) => copy(text, said),
  copy_link: ({ query, said }) => copy(new URL(query, location.href).href, said),
  save: ({ name, kind, text }) => save(name, new Blob([text], { type: kind })),
  picture: ({ figure, name }) => Bokeh.index.find_one_by_id(figure).export("png").canvas.toBlob((blob) => save(name, blob)),
  fetch: fetchFiles,
  stale: ({ stale }) => document.documentElement.toggleAttribute("data-stale", stale),
  place: ({ figure, key }) => place(figure, `plot-${key}`),
  say: ({ text }) => say(text),
  find: ({ key }) => requestAnimationFrame(() => document.getElementById(`field-${key}`)?.focus()),
  dialog: ({ open }) => {
    const dialog = page().querySelector("dialog");
    if (open && !dialog.open) dialog.showModal();
    if (!open) dialog.close();
  },
};

// Obey one batch; the first one comes before there is a door.
export function obey(told) {
  const batch = JSON.parse(told);
  if (batch.number <= done) return;
  done = batch.number;
  for (const command of batch.do) COMMANDS[command.do](command);
}

// Regions that are out of sight; Python sends them a frame after the others.
const unseen = new Set();
const sight = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      const names = target.dataset.region ? [target.dataset.region] : Array.from(target.querySelectorAll("[data-region]"), ({ dataset }) => dataset.region);
      for (const name of names) unseen[isIntersecting ? "delete" : "add"](name);
    }
  },
  { rootMargin: "100px" },
);

// What could wait: regions out of sight, and what the chart under the pointer answers, which repaints it: until the
// pointer moves.
let explained = null; // the chart that answers as it is drawn
const plotKey = (plot) => plot?.id.replace("plot-", "") ?? "";
function takeRest(plot) {
  explained = plot;
  tell({ do: "rest", pointed: plotKey(plot) });
}
let resting = false;
function askForRest() {
  if (resting) return;
  resting = true;
  const ask = () => {
    resting = false;
    takeRest(null);
  };
  // The frame with the answer is drawn in between.
  requestAnimationFrame(() => requestAnimationFrame(() => whenIdle(ask)));
}

function send(message) {
  if (!door) return void waiting.push(message);
  tell({ unseen: [...unseen], ...message });
  askForRest();
}

function tell(message) {
  sent += 1;
  try {
    door.heard = JSON.stringify({ number: sent, ...message });
  } catch (error) {
    const last = String(error.message || error).trim().split("\n").pop();
    toast(`The calculator stumbled: ${last}. Reload the page.`);
    throw error;
  }
}
let sent = 0;

// Keystrokes that come faster than answers are sent as one.
const PAUSE = 100; // ms
const typed = new Map();
let timer = 0;
let answered = 0; // when
function flushTyped() {
  clearTimeout(timer);
  timer = 0;
  for (const [key, text] of typed) send({ do: "type", key, text });
  typed.clear();
  answered = performance.now();
}
// After a pause at once, since a frame with nothing but the letter would come before a timer.
function followTyping() {
  if (performance.now() - answered > PAUSE) flushTyped();
  else timer ||= setTimeout(flushTyped);
}

function listen() {
  const root = page();
  root.addEventListener("input", ({ target }) => {
    if (target.dataset.sends) return send({ do: target.dataset.sends, name: target.name, text: target.value });
    if (!target.dataset.key || target.nodeName === "SELECT") return;
    typed.set(target.dataset.key, target.value);
    followTyping();
  });
  root.addEventListener("change", ({ target }) => {
    if (target.dataset.drops && target.files.length) return handOver(target.dataset.drops, target.files);
    if (!target.dataset.key) return;
    flushTyped();
    send({ do: "commit", key: target.dataset.key, text: target.value });
    if (door) correct(target); // an emptied field has what it stands for again
  });
  root.addEventListener("click", (event) => {
    const sorting = event.target.closest("[data-sort]");
    if (sorting) return sortBy(sorting);
    const button = event.target.closest("[data-do]");
    if (!button) return closeMenus(event.target);
    flushTyped();
    const { do: what, from, ...more } = button.dataset;
    send({ do: what, ...more, ...(from && { text: document.getElementById(from).value }) });
    closeMenus(null);
  });
  const takes = (event) => event.target.closest("dialog")?.querySelector("[data-drops]");
  root.addEventListener("dragover", (event) => takes(event) && event.preventDefault());
  root.addEventListener("drop", (event) => {
    const what = takes(event)?.dataset.drops;
    if (!what || !event.dataTransfer.files.length) return;
    event.preventDefault();
    handOver(what, event.dataTransfer.files);
  });
  root.addEventListener(
    "pointermove",
    ({ target }) => {
      const plot = target.closest(".plot");
      if (door && plot && plot !== explained) takeRest(plot);
    },
    { capture: true }, // before Bokeh looks for an answer
  );
  root.addEventListener("submit", (event) => event.preventDefault());
  // The browser would toggle a fold after Python has answered, and so undo the answer: it is toggled here, before.
  root.addEventListener("click", (event) => {
    const fold = event.target.closest("summary")?.parentElement;
    if (!fold?.dataset.fold) return;
    event.preventDefault();
    fold.open = !fold.open;
    send({ do: "fold", name: fold.dataset.fold, open: fold.open ? "True" : "False" });
  });
  root.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.dataset.enter) document.getElementById(event.target.dataset.enter).click();
    if (event.key === "Escape") closeMenus(null);
  });
  // Escape closes a dialog without Python, which would show the same again. A file picker's cancel bubbles up here, too.
  root.addEventListener("cancel", ({ target }) => target.matches("dialog") && send({ do: "close" }), true);
  for (const touch of ["pointerdown", "keydown"]) addEventListener(touch, () => (touched = performance.now()), true);
  addEventListener("hashchange", openAnchor);
  addEventListener("pagehide", flushAddress);
  addEventListener("popstate", () => {
    typedAddress = null;
    settled = location.search;
    document.activeElement?.blur();
    send({ do: "go", query: location.search });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ({ matches }) => {
    if (door) emptyCharts();
    send({ do: "light", dark: matches ? "True" : "False" });
  });
}

// Bokeh clears a canvas but for half a pixel at its left and top, where the other light would stay as a line.
function emptyCharts() {
  for (const { canvas_view: layers } of Bokeh.index.roots) if (layers) layers.primary.canvas.width += 0; // a width, even the same, empties it
}

function closeMenus(inside) {
  for (const menu of page().querySelectorAll("details[data-menu][open]")) if (!menu.contains(inside)) menu.open = false;
}

// Edits that are taken back before a frame shows them, so that the first one of the reader does not wait for code to be
// compiled: 0.4 s without them. Each makes the next quicker; a slow machine gets fewer, not a longer wait for its rest.
const REHEARSALS = 96;
const REHEARSING = 4000; // ms in all
const REST = 1000; // ms since the reader touched the page, whose menu, or whose selection of words, a rehearsal would undo
let rehearsed = 0;
let touched = -REST; // when
const rehearse = (turn) =>
  whenIdle(() => {
    if (answered) return; // the reader has begun
    if (performance.now() - touched < REST || !getSelection().isCollapsed) return void setTimeout(rehearse, REST, turn);
    const begun = performance.now();
    tell({ do: "rehearse", turn, unseen: [...unseen] });
    rehearsed += performance.now() - begun;
    if (turn < REHEARSALS && rehearsed < REHEARSING) rehearse(turn + 1);
  });

// Join a rendered Bokeh document that holds the door.
export function connect(bokehDocument) {
  door = bokehDocument.get_model_by_name("door");
  door.properties.told.change.connect(() => obey(door.told));
  obey(door.told);
  document.querySelectorAll(".first-figure").forEach((figure) => figure.remove());
  for (const message of waiting.splice(0)) send(message);
  document.querySelectorAll("main > [data-region], figure.chart:has([data-region])").forEach((part) => sight.observe(part));
  openAnchor();
  rehearse(1);
}

function anchor() {
  const name = location.hash.slice(1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // broken off in the middle of a letter
  }
}

// An address that ends in a section's anchor opens it.
function openAnchor() {
  const fold = document.getElementById(anchor());
  if (!fold?.dataset.fold) return;
  if (!fold.open) {
    fold.open = true;
    send({ do: "fold", name: fold.dataset.fold, open: "True" });
  }
  fold.scrollIntoView();
}

listen();
