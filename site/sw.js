// Keeps one edition of the site whole and answers from it, so that it works without a network and is never mixed with
// another edition. Pages of an older edition go on with that one's files until the last of them is closed.
importScripts("{{app}}/unpack.js");

const EDITION = "{{edition}}";
const SITE = registration.scope;
const CACHES = `serving-envelope ${SITE} `; // as in site/offline.mjs
const CACHE = CACHES + EDITION;
const CORE = "{{runtime}}/pyodide.asm.wasm"; // exists here only: hosts have it packed
const FETCHED = {{fetched}}; // what a page has fetched already, and so lies in the browser's own cache
const PAGES = {{pages}}; // what bears the same name in every edition; all of it is in the pack
const NAMED_BY_CONTENT = /^(app|runtime)-[0-9a-f]{12}\//;

const addressOf = (path) => new URL(path, SITE).href;

// A file of this edition as it was fetched before: by another edition, by the page, or now.
async function fetched(path) {
  const found = (await caches.match(addressOf(path))) ?? (await fetch(addressOf(path), { cache: "force-cache" }));
  if (!found.ok) throw new Error(`${path} did not load (${found.status})`);
  return found;
}

let decoder = null;
async function unpackedAnswer(path, type) {
  decoder ||= startDecoder(addressOf("{{runtime}}/zstd.wasm"));
  const chunks = unpacked((await fetched(path)).body, await decoder);
  const body = new ReadableStream({
    async pull(sink) {
      const { done, value } = await chunks.next();
      if (done) sink.close();
      else sink.enqueue(value);
    },
    cancel: () => chunks.return(),
  });
  return new Response(body, { headers: { "Content-Type": type } });
}

async function core() {
  return (await caches.match(addressOf(CORE))) ?? unpackedAnswer(`${CORE}.zst`, "application/wasm");
}

// The pack: length of the list, list of path, type and size, and the files in that order.
async function keepPack(cache) {
  const answer = await unpackedAnswer("offline-{{edition}}.zst", "application/octet-stream");
  const content = await answer.arrayBuffer();
  const length = new DataView(content).getUint32(0, true);
  let at = 4 + length;
  for (const [path, type, size] of JSON.parse(new TextDecoder().decode(new Uint8Array(content, 4, length)))) {
    await cache.put(addressOf(path), new Response(content.slice(at, (at += size)), { headers: { "Content-Type": type } }));
  }
}

async function keepEdition() {
  const cache = await caches.open(CACHE);
  const keep = async (path, answer) => cache.put(addressOf(path), await answer);
  await Promise.all([keepPack(cache), keep(CORE, core()), ...FETCHED.map((path) => keep(path, fetched(path)))]);
}

// A page holds a lock by the name of the cache it lives on.
async function forgetUnused() {
  const { held } = await navigator.locks.query();
  const used = new Set([CACHE, ...held.map(({ name }) => name)]);
  for (const name of await caches.keys()) {
    const isNext = registration.installing || registration.waiting; // its cache is used by no page yet
    if (name.startsWith(CACHES) && !used.has(name) && !isNext) await caches.delete(name);
  }
}

async function answer(path, request) {
  const cache = await caches.open(CACHE);
  const found = await cache.match(addressOf(path));
  if (found || !NAMED_BY_CONTENT.test(path)) return found ?? fetch(request);
  const elsewhere = path === CORE ? await core() : ((await caches.match(addressOf(path))) ?? (await fetch(request)));
  const isOwn = ["{{app}}/", "{{runtime}}/"].some((folder) => path.startsWith(folder));
  if (elsewhere.ok && isOwn) await cache.put(addressOf(path), elsewhere.clone());
  return elsewhere;
}

addEventListener("install", (event) => event.waitUntil(keepEdition()));
addEventListener("activate", (event) => event.waitUntil(forgetUnused()));

addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || !url.startsWith(SITE)) return;
  const path = (origin + pathname).slice(SITE.length) || "index.html";
  if (PAGES.includes(path) || NAMED_BY_CONTENT.test(path)) event.respondWith(answer(path, event.request));
});

addEventListener("message", (event) => {
  const { data, ports } = event;
  if (data === "edition") ports[0].postMessage(EDITION);
  if (data === "take over") event.waitUntil(skipWaiting());
  if (data === "tidy") event.waitUntil(forgetUnused());
});
