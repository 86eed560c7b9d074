// The game of this page: its session, its board, and its storage. Each tab stores its own game, so that two tabs do not
// disturb each other; a new tab continues the last game of any tab.

import { $ } from "./dom.js";
import { complain, page } from "./page-state.js";
import { areTexts, isGame, isText, store } from "./storage.js";
import { Engine } from "./model/engine.js";
import { GameView } from "./board/game-view.js";
import { Refused, missing } from "./model/refused.js";
import { Session } from "./model/session.js";

const KEPT = "oanquan-kept",
  LAST = "oanquan-last",
  MOST = 8; // maximum number of unfinished games stored, and also of games with friends
const files = new Map();
const address = (name) => new URL(name, import.meta.url);
let session = null,
  engine = null,
  thinker = null,
  lastDrawing = null;

async function file(name) {
  try {
    const reply = await fetch(address(name));
    if (!reply.ok) throw new Error(`${reply.status} ${reply.statusText}`);
    return await (name.endsWith(".json") ? reply.json() : reply.arrayBuffer());
  } catch (error) {
    throw missing(name, error);
  }
}

/** Load a file of the folder `data` once. */
function data(name) {
  if (!files.has(name))
    files.set(
      name,
      file(`data/${name}`).catch((error) => {
        files.delete(name);
        throw error;
      }),
    );
  return files.get(name);
}

/** See `Session`. */
export const hint = (moves = null, nodes = null) => session.hint(moves, nodes);
export const variation = (moves) => session.variation(moves);

/** Send a request that changes the game. If it replaces an unfinished game, store that game. */
export async function play(name, asked = {}) {
  const another = name === "new" || name === "load",
    before = another ? session.unfinished() : null;
  await session.request(name, asked);
  if (!another) return;
  // a link may continue a game with a friend
  const differs = (game) => game.text !== session.saved() && (!game.id || game.id !== session.id);
  updateUnfinished((games) =>
    [...(before ? [{ ...before, at: Date.now() }] : []), ...games.filter(({ text }) => text !== before?.text)]
      .filter(differs)
      .slice(0, MOST),
  );
}

/** Return the moves of each game with a friend, by its id, as last seen in this browser. */
export const friendGames = () => new Map(store.list("friends", areTexts));

/**
 * Return the replaced unfinished games, newest first: {text, seats, id, rules, moves, at}; `at` is in milliseconds
 * since 1970.
 */
export const unfinishedGames = () =>
  store.list(
    "games",
    (game) =>
      isGame(game) &&
      isText(game.rules) &&
      Number.isInteger(game.moves) &&
      Number.isInteger(game.at) &&
      Math.abs(game.at) <= 8.64e15,
  ); // as far as dates go

function updateUnfinished(change) {
  store.set("games", JSON.stringify(change(unfinishedGames())));
  if (page.state) view.dispatchEvent(new Event("render"));
}

/** Continue an unfinished game; persons replace players that are no longer available. */
export async function goBack({ text, seats, id }) {
  await (
    await import("./model/resuming.js")
  ).loadKept((asked) => play("load", asked), { text, seats, id }, page.catalogue.levels);
  updateUnfinished((games) => games.filter((game) => game.text !== text));
}

/** Return the request for a game against the weakest level. */
export const newcomersGame = () => ({
  rules: page.catalogue.begin,
  seats: [page.catalogue.person, page.catalogue.levels[0]],
});

/** Begin a game with an aim (page-state.js). */
export async function playFor(aim, asked, request = "new") {
  await play(request, asked);
  page.aim = { ...aim, game: page.state.game };
  follow();
  view.refresh();
}

/** Return the sentences of the rules in words; see words/rule-words.js. */
export const ruleWords = () => data("rule-words.json");
/** Return the lessons with their drawings and moves. */
export const lessons = async () => (await import("./activities/lessons.js")).lessonsOf(engine, page.catalogue, data);

/** Return the engine, the loader of `data` files, and the thinker, for dialogs with other positions. */
export const services = () => ({ engine, data, thinker });

/**
 * Return an object whose `methods` call the methods of the same names of an object that `make` makes at the first call.
 */
function lazily(make, ...methods) {
  let made = null;
  const ready = () =>
    (made ??= make().catch((error) => {
      made = null;
      throw error;
    }));
  return Object.fromEntries(methods.map((name) => [name, async (...args) => (await ready())[name](...args)]));
}

function follow() {
  const drawing = session.drawing(),
    before = page.state?.game;
  page.state = session.state();
  if (page.aim?.game !== page.state.game && !page.state.puzzle) page.aim = null;
  view.helped = page.aim?.helped ? page.aim.game : null;
  save();
  view.update(page.state, drawing === lastDrawing ? null : drawing);
  lastDrawing = drawing;
  if (page.state.game !== before) prepare();
}

// ---- storage --------------------------------------------------------------------------------------------------------

function save() {
  const { friend } = page.state;
  if (friend) {
    const games = [...friendGames()].filter(([id]) => id !== friend.id);
    store.set(
      "friends",
      JSON.stringify([...games, [friend.id, new URLSearchParams(friend.link).get("moves")]].slice(-MOST)),
    );
  }
  const snapshot = JSON.stringify({ ...session.snapshot(), aim: page.aim });
  try {
    sessionStorage.setItem(KEPT, snapshot);
    localStorage.setItem(LAST, snapshot);
  } catch {
    /* private windows */
  }
}

/** Return the stored texts: the game of this tab, and the last of any tab. */
function stored() {
  try {
    return [sessionStorage.getItem(KEPT), localStorage.getItem(LAST)].filter(Boolean);
  } catch {
    return [];
  } // private windows
}

// ---- start ----------------------------------------------------------------------------------------------------------

const pythonPlayers = async () =>
  location.protocol === "http:" ? (await import("./players/python-players.js")).connect() : null;

/**
 * Begin this tab's game: its own before a reload, the last one of any tab, or a new one. After an error, nothing has
 * been stored.
 */
export async function begin() {
  if (typeof WebAssembly !== "object")
    throw new Refused(
      "start",
      "this browser has no WebAssembly, or has switched it off. Please use another browser.",
      "trình duyệt này không có WebAssembly hoặc đã tắt nó. Hãy dùng trình duyệt khác.",
    );
  const [bytes, layout, catalogue, python] = await Promise.all([
    file("moves.wasm"),
    file("engine.json"),
    data("catalogue.json"),
    pythonPlayers(),
  ]);
  engine = await Engine.load(bytes, layout).catch((error) => {
    throw missing("moves.wasm", error);
  });
  page.catalogue = { ...catalogue, players: [...new Set([...(python?.players ?? []), ...catalogue.players])] };
  const worker = () => new Worker(address("worker.js"), { type: "module" });
  const thinking = async () =>
    new (await import("./players/thinker.js")).Thinker({
      engine: address("engine.wasm"),
      layout,
      data,
      catalogue,
      worker,
      ...python,
    });
  thinker = lazily(thinking, "needsPython", "choose", "hint", "prepare");
  session = new Session({ engine, thinker, data, catalogue });
  const texts = stored(),
    first = newcomersGame();
  if (texts.length) {
    const { aim, refused, errors } = await (
      await import("./model/resuming.js")
    ).resume(session, texts, catalogue.levels, first);
    page.aim = aim;
    if (refused.length) updateUnfinished((games) => [...refused, ...games].slice(0, MOST));
    errors.slice(0, 1).forEach(complain);
  } else await session.request("new", first);
  session.addEventListener("changed", follow);
  follow();
}

/** Let the computer players of a new game load what they need for their first replies; the text shows this. */
async function prepare() {
  const { rules, names, position, player } = session.game,
    { game } = page.state,
    levels = names.filter((name) => page.catalogue.levels.includes(name));
  if (player !== null || !levels.length) return; // a player that is to move loads it anyway
  view.preparing = game;
  await Promise.all([...new Set(levels)].map((name) => thinker.prepare(name, rules, position.ply + 1))).catch(() => {});
  if (view.preparing !== game) return;
  view.preparing = null;
  if (page.state.turn === "player") view.refresh();
}

export const view = new GameView(
  $("board"),
  async (name, asked) => {
    try {
      if (name === "hint") return await hint();
      await play(name, asked);
    } catch (error) {
      complain(error);
      view.refresh();
    }
    return null;
  },
  page.language,
);
