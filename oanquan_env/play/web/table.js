// The game of this page: its session, the board that follows it, and the places where it is kept. A tab keeps its game for
// itself, so that two tabs do not disturb each other; a new tab goes on with the last game of any.

import { $, complain, page, store } from "./common.js";
import { Engine } from "./engine.js";
import { GameView } from "./game.js";
import { Refused } from "./refused.js";
import { Session } from "./session.js";

const KEPT = "oanquan-kept", LAST = "oanquan-last", MOST = 8; // games that are kept unfinished, and with friends
const files = new Map();
const address = (name) => new URL(name, import.meta.url);
let session = null, engine = null, thinker = null, lastDrawing = null;

async function file(name) {
  const reply = await fetch(address(name));
  if (!reply.ok) throw new Error(`${name}: ${reply.status} ${reply.statusText}`);
  return name.endsWith(".json") ? reply.json() : reply.arrayBuffer();
}

/** A file of the folder `data`, loaded once. */
function data(name) {
  if (!files.has(name)) files.set(name, file(`data/${name}`).catch((error) => { files.delete(name); throw error; }));
  return files.get(name);
}

/** As of `Session`. */
export const hint = (moves = null, nodes = null) => session.hint(moves, nodes);
export const variation = (moves) => session.variation(moves);

/** A request that changes the game; the page follows. An unfinished game that another one replaces is kept. */
export async function play(name, asked = {}) {
  const another = name === "new" || name === "load", before = another ? session.unfinished() : null;
  await session.request(name, asked);
  if (!another) return;
  const differs = (game) => game.text !== session.saved() && (!game.id || game.id !== session.id); // a game with a friend goes on by links
  updateUnfinished((games) => [...(before ? [{ ...before, at: Date.now() }] : []), ...games.filter(({ text }) => text !== before?.text)].filter(differs).slice(0, MOST));
}

/** The moves of each game with a friend, by its id, as this browser saw it last. */
export function friendGames() {
  try { return new Map(JSON.parse(store.get("friends")).filter(areTexts)); } catch { return new Map(); }
}

/** The unfinished games that others have replaced, the last one first: {text, seats, rules, moves, at}, `at` being a time. */
export function unfinishedGames() {
  try {
    return JSON.parse(store.get("games")).filter((game) => isGame(game) && isText(game.rules) && Number.isInteger(game.moves) && Number.isInteger(game.at));
  } catch { return []; }
}

function updateUnfinished(change) {
  store.set("games", JSON.stringify(change(unfinishedGames())));
  view.dispatchEvent(new Event("render"));
}

/** Go on with one of them; where its players are not here any more, persons take their seats. */
export async function goBack({ text, seats, id }) {
  await play("load", { text, seats, id }).catch(() => play("load", { text }));
  updateUnfinished((games) => games.filter((game) => game.text !== text));
}

/** A game of a person against the weakest level. */
export const newcomersGame = () => ({ rules: page.catalogue.begin, seats: [page.catalogue.person, page.catalogue.levels[0]] });

/** Begin a game with an aim (common.js). */
export async function playFor(aim, asked) {
  await play("new", asked);
  page.aim = { ...aim, game: page.state.game };
  follow();
  view.refresh();
}

/** The lessons with their drawings and moves. */
export const lessons = async () => (await import("./lessons.js")).lessonsOf(engine, page.catalogue, data);

/** For dialogs that look beyond the game: the engine of moves, files of `data`, and hints. */
export const tools = () => ({ engine, data, thinker });

/** An object with some methods of the one that `make` resolves with, which is made when one of them is first called. */
function lazily(make, ...methods) {
  let made = null;
  const ready = () => (made ??= make().catch((error) => { made = null; throw error; }));
  return Object.fromEntries(methods.map((name) => [name, async (...args) => (await ready())[name](...args)]));
}

function follow() {
  const drawing = session.drawing();
  page.state = session.state();
  if (page.aim && page.aim.game === null) page.aim.game = page.state.game; // of a game that was kept
  if (page.aim?.game !== page.state.game && !page.state.puzzle) page.aim = null;
  view.helped = page.aim?.helped ? page.aim.game : null;
  save();
  view.update(page.state, drawing === lastDrawing ? null : drawing);
  lastDrawing = drawing;
}

// ---- what is kept ----------------------------------------------------------------------------------------------------

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

/** What this tab kept, or else the last of any tab. Other pages of the host may have written it: what is not such a thing is left out. */
function readSnapshot() {
  for (const place of [() => sessionStorage.getItem(KEPT), () => localStorage.getItem(LAST)]) {
    try {
      const snapshot = JSON.parse(place()), { text, seats, id, puzzle, branch, aim } = snapshot ?? {};
      if (isGame(snapshot)) return { text, seats, id, puzzle: isPuzzle(puzzle) ? puzzle : null, branch: isGame(branch) ? branch : null, aim: isAim(aim) ? aim : null };
    } catch { /* private windows, or no JSON */ }
  }
  return null;
}

// ---- players of Python, where `oanquan play --browser` serves the page ----------------------------------------------

/** {players, kinds}: players named on the command line, kinds that any page may ask for; the file says null, the server answers. */
async function pythonPlayers() {
  if (location.protocol !== "http:") return null; // a host of files alone
  try {
    const reply = await fetch("players.json");
    return reply.ok ? await reply.json() : null;
  } catch { return null; }
}

/** The move, a text, that a player of Python chooses in a position; throws Refused. */
async function askPython(player, position, rules) {
  let answer;
  try {
    const body = JSON.stringify({ player, rules, position });
    answer = await (await fetch("choose", { method: "POST", headers: { "Content-Type": "application/json" }, body })).json();
  } catch { throw new Refused("player", `the program that plays ${player} isn’t answering`, `chương trình chơi ${player} không trả lời`); }
  if (answer.error) throw new Refused(answer.error.code, answer.error.detail);
  return answer.move;
}

// ---- the beginning ---------------------------------------------------------------------------------------------------

/** Begin the game of this tab: the one that it had before it was loaded again, the last one of any tab, or a new one. */
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
  thinker.choose(catalogue.levels[0], session.game.rules, engine.start(session.game.rules), 0).catch(() => {}); // loads what a first reply needs
}

/** Go on with the game that was kept; where its players are not here any more, persons take their seats. */
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
