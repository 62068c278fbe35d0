// Has the service worker keep this edition for use without a network, and says when there is a newer one.
const SITE = new URL("../", import.meta.url).href;
const EDITION = document.documentElement.dataset.edition;
// Absent over plain http and in some private windows; the page then works as ever, but only with a network.
const isPossible = Boolean(navigator.serviceWorker && navigator.locks && globalThis.caches);

// Held until the page is closed, so that its files are kept that long; named as the cache in site/sw.js.
if (isPossible) navigator.locks.request(`serving-envelope ${SITE} ${EDITION}`, { mode: "shared" }, () => new Promise(() => {}));

function editionOf(worker) {
  const { port1, port2 } = new MessageChannel();
  worker.postMessage("edition", [port2]);
  return new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
}

// Goes over to the newer edition, which waits as long as a page of this one is open.
function reload(registration) {
  const { waiting } = registration;
  if (!waiting) return location.reload();
  waiting.addEventListener("statechange", () => waiting.state === "activated" && location.reload());
  waiting.postMessage("take over");
}

async function look(registration) {
  const newest = registration.waiting ?? registration.active;
  const place = document.getElementById("newer");
  if (!newest || place.childElementCount || (await editionOf(newest)) === EDITION) return;
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Reload" });
  button.addEventListener("click", () => {
    button.disabled = true; // the other version may take a moment to come
    reload(registration);
  });
  place.replaceChildren("A new version is here. ", button);
}

export async function keepOffline() {
  if (!isPossible) return;
  try {
    const registration = await navigator.serviceWorker.register(`${SITE}sw.js`);
    const follow = (worker) => worker?.addEventListener("statechange", () => look(registration));
    const update = () => document.hidden || registration.update().catch(() => {}); // without a network there is none
    registration.addEventListener("updatefound", () => follow(registration.installing));
    follow(registration.installing);
    document.addEventListener("visibilitychange", update);
    if (registration.active) update();
    registration.active?.postMessage("tidy");
    await look(registration);
  } catch (error) {
    console.info(`This page is not kept for use without a network: ${error.message}`);
  }
}
