// The game of this page: its session, its board, and its storage. Each tab stores its own game, so that two tabs do not
// disturb each other; a new tab continues the last game of any tab.

import { $, complain, page, store } from "./common.js";
import { Engine } from "./engine.js";
import { GameView } from "./game.js";
import { Refused } from "./refused.js";
import { Session } from "./session.js";

const KEPT = "oanquan-kept", LAST = "oanquan-last", MOST = 8; // maximum number of unfinished games stored, and also of games with friends
const files = new Map();
const address = (name) => new URL(name, import.meta.url);
let session = null, engine = null, thinker = null, lastDrawing = null;

async function file(name) {
  const reply = await fetch(address(name));
  if (!reply.ok) throw new Error(`${name}: ${reply.status} ${reply.statusText}`);
  return name.endsWith(".json") ? reply.json() : reply.arrayBuffer();
}

/** Load a file of the folder `data` once. */
function data(name) {
  if (!files.has(name)) files.set(name, file(`data/${name}`).catch((error) => { files.delete(name); throw error; }));
  return files.get(name);
}

/** See `Session`. */
export const hint = (moves = null, nodes = null) => session.hint(moves, nodes);
export const variation = (moves) => session.variation(moves);

/** Send a request that changes the game. If it replaces an unfinished game, store that game. */
export async function play(name, asked = {}) {
  const another = name === "new" || name === "load", before = another ? session.unfinished() : null;
  await session.request(name, asked);
  if (!another) return;
  const differs = (game) => game.text !== session.saved() && (!game.id || game.id !== session.id); // a link may continue a game with a friend
  updateUnfinished((games) => [...(before ? [{ ...before, at: Date.now() }] : []), ...games.filter(({ text }) => text !== before?.text)].filter(differs).slice(0, MOST));
}

/** Return the moves of each game with a friend, by its id, as last seen in this browser. */
export function friendGames() {
  try { return new Map(JSON.parse(store.get("friends")).filter(areTexts)); } catch { return new Map(); }
}

/** Return the replaced unfinished games, newest first: {text, seats, id, rules, moves, at}; `at` is in milliseconds since 1970. */
export function unfinishedGames() {
  try {
    return JSON.parse(store.get("games")).filter((game) => isGame(game) && isText(game.rules) && Number.isInteger(game.moves) && Number.isInteger(game.at));
  } catch { return []; }
}

function updateUnfinished(change) {
  store.set("games", JSON.stringify(change(unfinishedGames())));
  view.dispatchEvent(new Event("render"));
}

/** Continue an unfinished game; persons replace players that are no longer available. */
export async function goBack({ text, seats, id }) {
  await play("load", { text, seats, id }).catch(() => play("load", { text }));
  updateUnfinished((games) => games.filter((game) => game.text !== text));
}

/** Return the request for a game against the weakest level. */
export const newcomersGame = () => ({ rules: page.catalogue.begin, seats: [page.catalogue.person, page.catalogue.levels[0]] });

/** Begin a game with an aim (common.js). */
export async function playFor(aim, asked) {
  await play("new", asked);
  page.aim = { ...aim, game: page.state.game };
  follow();
  view.refresh();
}

/** Return the lessons with their drawings and moves. */
export const lessons = async () => (await import("./lessons.js")).lessonsOf(engine, page.catalogue, data);

/** Return the engine, the loader of `data` files, and the thinker, for dialogs with other positions. */
export const tools = () => ({ engine, data, thinker });

/** Return an object whose `methods` call the methods of the same names of an object that `make` makes at the first call. */
function lazily(make, ...methods) {
  let made = null;
  const ready = () => (made ??= make().catch((error) => { made = null; throw error; }));
  return Object.fromEntries(methods.map((name) => [name, async (...args) => (await ready())[name](...args)]));
}

function follow() {
  const drawing = session.drawing();
  page.state = session.state();
  if (page.aim && page.aim.game === null) page.aim.game = page.state.game; // in a restored game
  if (page.aim?.game !== page.state.game && !page.state.puzzle) page.aim = null;
  view.helped = page.aim?.helped ? page.aim.game : null;
  save();
  view.update(page.state, drawing === lastDrawing ? null : drawing);
  lastDrawing = drawing;
}

// ---- storage ---------------------------------------------------------------------------------------------------------

function save() {
  const { friend } = page.state;
  if (friend) {
    const games = [...friendGames()].filter(([id]) => id !== friend.id);
    store.set("friends", JSON.stringify([...games, [friend.id, new URLSearchParams(friend.link).get("moves")]].slice(-MOST)));
  }
  const snapshot = JSON.stringify({ ...session.snapshot(), aim: page.aim });
  try {
    sessionStorage.setItem(KEPT, snapshot);
    localStorage.setItem(LAST, snapshot);
  } catch { /* private windows */ }
}

const isText = (value) => typeof value === "string", areTexts = (value) => Array.isArray(value) && value.every(isText);
const isGame = (value) => isText(value?.text) && areTexts(value.seats) && isText(value.id ?? "");
const isPuzzle = (value) => isText(value?.rules) && (value.puzzle ? isText(value.puzzle.position) && areTexts(value.puzzle.line) && value.puzzle.line.length % 2 : isText(value.level));
const isAim = (value) => value?.helped === true || [[value?.bound, value?.least], [value?.par, value?.day]].some((numbers) => numbers.every(Number.isInteger));

/** Return the snapshot of this tab, or else the last of any tab, without invalid parts: other pages of the host may have written it. */
function readSnapshot() {
  for (const place of [() => sessionStorage.getItem(KEPT), () => localStorage.getItem(LAST)]) {
    try {
      const snapshot = JSON.parse(place()), { text, seats, id, puzzle, branch, aim } = snapshot ?? {};
      if (isGame(snapshot)) return { text, seats, id, puzzle: isPuzzle(puzzle) ? puzzle : null, branch: isGame(branch) ? branch : null, aim: isAim(aim) ? aim : null };
    } catch { /* private windows, or no JSON */ }
  }
  return null;
}

// ---- Python players, if `oanquan play --browser` serves the page ----------------------------------------------------

/** Return {players, kinds}: players named on the command line, and kinds of players that any page may use; null without a server. */
async function pythonPlayers() {
  if (location.protocol !== "http:") return null; // a server of static files
  try {
    const reply = await fetch("players.json");
    return reply.ok ? await reply.json() : null;
  } catch { return null; }
}

/** Return the move, as text, of a Python player in a position; throws Refused. */
async function askPython(player, position, rules) {
  let answer;
  try {
    const body = JSON.stringify({ player, rules, position });
    answer = await (await fetch("choose", { method: "POST", headers: { "Content-Type": "application/json" }, body })).json();
  } catch { throw new Refused("player", `the program that plays ${player} isn’t answering`, `chương trình chơi ${player} không trả lời`); }
  if (answer.error) throw new Refused(answer.error.code, answer.error.detail);
  return answer.move;
}

// ---- start -----------------------------------------------------------------------------------------------------------

/** Begin this tab's game: its own before a reload, the last one of any tab, or a new one. */
export async function begin() {
  const [bytes, layout, catalogue, python] = await Promise.all([file("moves.wasm"), file("engine.json"), data("catalogue.json"), pythonPlayers()]);
  const ask = python && askPython, askable = (name) => python.players.includes(name) || python.kinds.includes(name.split(":")[0]);
  engine = await Engine.load(bytes, layout);
  page.catalogue = { ...catalogue, players: [...new Set([...(python?.players ?? []), ...catalogue.players])] };
  const worker = () => new Worker(address("worker.js"), { type: "module" });
  const thinking = async () => new (await import("./thinker.js")).Thinker({ engine: address("engine.wasm"), layout, data, catalogue, worker, ask, askable });
  thinker = lazily(thinking, "needsPython", "choose", "hint");
  session = new Session({ engine, thinker, data, catalogue });
  session.addEventListener("changed", follow);
  await goOn(readSnapshot());
  thinker.choose(catalogue.levels[0], session.game.rules, engine.start(session.game.rules), 0).catch(() => {}); // loads the files for a first reply
}

/** Continue the stored game; persons replace players that are no longer available. */
async function goOn(before) {
  try {
    if (before) {
      page.aim = before.aim && { ...before.aim, game: null };
      await session.restore(before);
      return;
    }
  } catch (error) {
    complain(error);
    try { await session.request("load", { text: before.text }); return; } catch { /* a game of an older page */ }
  }
  await session.request("new", newcomersGame());
}

export const view = new GameView($("board"), async (name, asked) => {
  try {
    if (name === "hint") return await hint();
    await play(name, asked);
  } catch (error) {
    complain(error);
    view.refresh();
  }
  return null;
}, page.language);
