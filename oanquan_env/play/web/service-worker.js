// Caches the page for offline use, each version as a whole. `python -m tools.write_page` writes its lists.

const VERSION = "d502091ce2166b00";
// prettier-ignore
const FILES = ["about.css", "activities/analysis-dialog.js", "activities/analysis.js", "activities/explorer.js", "activities/files.js", "activities/learn.js", "activities/lessons.js", "activities/match-table.js", "activities/mistake.js", "activities/move-tree.js", "activities/new-game.js", "activities/par.js", "activities/progress.js", "activities/puzzle-log.js", "activities/puzzles.js", "activities/review.js", "activities/rules-in-words.js", "activities/study.js", "board/board-style.js", "board/board.js", "board/drawn-board.js", "board/game-view.js", "board/gif.js", "board/move-markers.js", "board/moving-board.js", "board/picture.js", "board/plate.js", "board/portraits.js", "board/rotation.js", "board/sound.js", "buttons.js", "current-game.js", "data/about.en.html", "data/about.vi.html", "data/catalogue.json", "data/certificate-vietnamese.npz", "data/drawing-2-5.json", "data/ground.svg", "data/lessons.json", "data/net-vietnamese.bin", "data/opening-values-vietnamese.json", "data/puzzles-first.json", "data/puzzles-vietnamese.json", "data/rule-words.json", "dom.js", "engine.json", "engine.wasm", "icon.png", "icon.svg", "./", "manifest.webmanifest", "model/engine.js", "model/game.js", "model/link-reading.js", "model/links.js", "model/losses.js", "model/lot.js", "model/match-model.js", "model/match-reading.js", "model/notation.js", "model/position-reading.js", "model/puzzle.js", "model/record-reading.js", "model/records.js", "model/refused.js", "model/requests.js", "model/resuming.js", "model/rules.js", "model/session.js", "model/state.js", "model/trace.js", "model/tree.js", "moves.wasm", "page-state.js", "page.css", "page.js", "players/any-rules-net.js", "players/book.js", "players/certificate.js", "players/players.js", "players/python-players.js", "players/thinker.js", "players/thinking.js", "side-panel.js", "storage.js", "words/analysis-words.js", "words/board-words.js", "words/dialog-words.js", "words/format.js", "words/move-words.js", "words/narration.js", "words/proof-words.js", "words/puzzle-tasks.js", "words/puzzle-words.js", "words/review-words.js", "words/rule-words.js", "words/words.js", "worker.js"];
// prettier-ignore
const OTHERS = ["data/certificate-app.npz", "data/certificate-ludii.npz", "data/certificate-mancala-world.npz", "data/certificate-tonkin.npz", "data/drawing-2-2.json", "data/drawing-2-3.json", "data/drawing-2-4.json", "data/drawing-3-2.json", "data/drawing-3-3.json", "data/drawing-3-4.json", "data/drawing-3-5.json", "data/drawing-4-2.json", "data/drawing-4-3.json", "data/drawing-4-4.json", "data/drawing-4-5.json", "data/net-any.bin", "data/net-app.bin", "data/net-four-player.bin", "data/net-ludii.bin", "data/net-mancala-world.bin", "data/net-three-player.bin", "data/net-tonkin.bin", "data/opening-values-app.json", "data/opening-values-ludii.json", "data/opening-values-mancala-world.json", "data/opening-values-tonkin.json", "data/par.json", "data/puzzles-app.json", "data/puzzles-ludii.json", "data/puzzles-mancala-world.json", "data/puzzles-tonkin.json"];
const NAME = `oanquan ${registration.scope} ${VERSION}`;
const fresh = (name) => new Request(name, { cache: "reload" });

/** Return a cached file; files of other rules are cached when they are first used. */
async function kept(name) {
  const cache = await caches.open(NAME),
    found = await cache.match(name);
  if (found) return found;
  const reply = await fetch(fresh(name));
  if (reply.ok) await cache.put(name, reply.clone());
  return reply;
}

/**
 * Cache the files of other rules that earlier versions have cached; without a network, copy them. Return the names of
 * the earlier caches.
 */
async function carryOver() {
  const earlier = (await caches.keys()).filter(
    (name) => name.startsWith(`oanquan ${registration.scope} `) && name !== NAME,
  );
  for (const cache of await Promise.all(earlier.map((name) => caches.open(name)))) {
    for (const name of OTHERS) {
      const old = await cache.match(name);
      if (old) await kept(name).catch(async () => (await caches.open(NAME)).put(name, old));
    }
  }
  return earlier;
}

async function activate() {
  // first, files that were cached while this version waited
  for (const name of await carryOver()) await caches.delete(name);
  await clients.claim();
}

addEventListener("install", (event) =>
  event.waitUntil(
    caches
      .open(NAME)
      .then((cache) => cache.addAll(FILES.map(fresh)))
      .then(carryOver),
  ),
);
addEventListener("activate", (event) => event.waitUntil(activate()));
addEventListener("fetch", (event) => {
  const { method, url } = event.request,
    name = url
      .slice(registration.scope.length)
      .replace(/[?#].*/, "")
      .replace(/^(index\.html)?$/, "./");
  if (method === "GET" && url.startsWith(registration.scope) && [...FILES, ...OTHERS].includes(name))
    event.respondWith(kept(name));
});

/**
 * Replace the previous version, unless other tabs are still using it. Look `again` a few times, because a document that a
 * reload replaces may count as another tab for a moment.
 */
async function takeOver(again = 4) {
  const open = await clients.matchAll({ type: "window", includeUncontrolled: true });
  if (open.filter(({ url }) => url.startsWith(registration.scope)).length === 1) await skipWaiting();
  else if (again) {
    await new Promise((resolve) => {
      setTimeout(resolve, 250);
    });
    await takeOver(again - 1);
  }
}
addEventListener("message", (event) =>
  event.waitUntil(event.data === "take over" ? takeOver() : Promise.all(OTHERS.map(kept))),
);
