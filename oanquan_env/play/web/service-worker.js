// Keeps the page for times without a network, each version as a whole. `python -m benchmarks.page_files` writes its lists.

const VERSION = "";
const FILES = [];
const OTHERS = [];
const NAME = `oanquan ${registration.scope} ${VERSION}`;
const fresh = (name) => new Request(name, { cache: "reload" });

/** A file as it was kept; one of other rules is kept when it is first used. */
async function kept(name) {
  const cache = await caches.open(NAME), found = await cache.match(name);
  if (found) return found;
  const reply = await fetch(fresh(name));
  if (reply.ok) await cache.put(name, reply.clone());
  return reply;
}

async function forgetOthers() {
  for (const name of await caches.keys()) if (name.startsWith(`oanquan ${registration.scope} `) && name !== NAME) await caches.delete(name);
  await clients.claim();
}

addEventListener("install", (event) => event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(FILES.map(fresh)))));
addEventListener("activate", (event) => event.waitUntil(forgetOthers()));
addEventListener("fetch", (event) => {
  const { method, url } = event.request, name = url.slice(registration.scope.length).replace(/[?#].*/, "").replace(/^(index\.html)?$/, "./");
  if (method === "GET" && url.startsWith(registration.scope) && [...FILES, ...OTHERS].includes(name)) event.respondWith(kept(name));
});

/** Take the place of the version before this one, unless other tabs still play with it. */
async function takeOver() {
  const open = await clients.matchAll({ type: "window", includeUncontrolled: true });
  if (open.filter(({ url }) => url.startsWith(registration.scope)).length === 1) await skipWaiting();
}
addEventListener("message", (event) => event.waitUntil(event.data === "take over" ? takeOver() : Promise.all(OTHERS.map(kept))));
