// The page's game: its session, the board that follows it, and where it is stored. Each tab stores its own game, so that two
// tabs do not disturb each other; a new tab continues the last game of any tab.

import { $, complain, page, store } from "./common.js";
import { Engine } from "./engine.js";
import { GameView } from "./game.js";
import { Refused } from "./refused.js";
import { Session } from "./session.js";

const KEPT = "oanquan-kept", LAST = "oanquan-last", MOST = 8; // maximum number of unfinished games to keep, and of games with friends
const files = new Map();
const address = (name) => new URL(name, import.meta.url);
let session = null, engine = null, thinker = null, drawn = null;

async function file(name) {
  const reply = await fetch(address(name));
  if (!reply.ok) throw new Error(`${name}: ${reply.status} ${reply.statusText}`);
  return name.endsWith(".json") ? reply.json() : reply.arrayBuffer();
}

/** Return a file of the folder `data`, which is loaded once. */
function data(name) {
  if (!files.has(name)) files.set(name, file(`data/${name}`).catch((error) => { files.delete(name); throw error; }));
  return files.get(name);
}

/** See `Session`. */
export const hint = (moves = null, nodes = null) => session.hint(moves, nodes);
export const beside = (moves) => session.beside(moves);

/** Send a request that changes the game, and update the page. An unfinished game that is replaced is kept. */
export async function play(name, asked = {}) {
  const another = name === "new" || name === "load", before = another ? session.left() : null;
  await session.request(name, asked);
  if (!another) return;
  const left = (game) => game.text !== session.saved() && (!game.id || game.id !== session.id); // a game with a friend continues by links
  changeLeft((games) => [...(before ? [{ ...before, at: Date.now() }] : []), ...games.filter(({ text }) => text !== before?.text)].filter(left).slice(0, MOST));
}

/** Return the moves of each game with a friend, by its id, as this browser last saw them. */
export function friendGames() {
  try { return new Map(JSON.parse(store.get("friends")).filter(areTexts)); } catch { return new Map(); }
}

/** Return the unfinished games that others have replaced, latest first: {text, seats, rules, moves, at}, `at` being a time. */
export function gamesLeft() {
  try {
    return JSON.parse(store.get("games")).filter((game) => isGame(game) && isText(game.rules) && Number.isInteger(game.moves) && Number.isInteger(game.at));
  } catch { return []; }
}

function changeLeft(change) {
  store.set("games", JSON.stringify(change(gamesLeft())));
  view.dispatchEvent(new Event("shown"));
}

/** Continue one of these games; persons replace players that are no longer available. */
export async function goBack({ text, seats, id }) {
  await play("load", { text, seats, id }).catch(() => play("load", { text }));
  changeLeft((games) => games.filter((game) => game.text !== text));
}

/** Start a person's game against the weakest level. */
export const newcomersGame = () => ({ rules: page.catalogue.begin, seats: [page.catalogue.person, page.catalogue.levels[0]] });

/** Start a game with an aim (common.js). */
export async function playFor(aim, asked) {
  await play("new", asked);
  page.aim = { ...aim, game: page.state.game };
  follow();
  view.refresh();
}

/** Return the lessons with their drawings and moves. */
export const lessons = async () => (await import("./lessons.js")).lessonsOf(engine, page.catalogue, data);

/** For dialogs that need more than the game: the engine, files of `data`, and hints. */
export const tools = () => ({ engine, data, thinker });

/** Return a stand-in for the object that `make` resolves with, which is made when one of its `methods` is first called. */
function lazily(make, ...methods) {
  let made = null;
  const ready = () => (made ??= make().catch((error) => { made = null; throw error; }));
  return Object.fromEntries(methods.map((name) => [name, async (...args) => (await ready())[name](...args)]));
}

function follow() {
  const drawing = session.drawing();
  page.state = session.state();
  if (page.aim && page.aim.game === null) page.aim.game = page.state.game; // of a game that was restored
  if (page.aim?.game !== page.state.game && !page.state.puzzle) page.aim = null;
  view.helped = page.aim?.helped ? page.aim.game : null;
  keep();
  view.update(page.state, drawing === drawn ? null : drawing);
  drawn = drawing;
}

// ---- storage ---------------------------------------------------------------------------------------------------------

function keep() {
  const { sent } = page.state;
  if (sent) {
    const games = [...friendGames()].filter(([id]) => id !== sent.id);
    store.set("friends", JSON.stringify([...games, [sent.id, new URLSearchParams(sent.link).get("moves")]].slice(-MOST)));
  }
  const kept = JSON.stringify({ ...session.kept(), aim: page.aim });
  try {
    sessionStorage.setItem(KEPT, kept);
    localStorage.setItem(LAST, kept);
  } catch { /* private windows */ }
}

const isText = (value) => typeof value === "string", areTexts = (value) => Array.isArray(value) && value.every(isText);
const isGame = (value) => isText(value?.text) && areTexts(value.seats) && isText(value.id ?? "");
const isPuzzle = (value) => isText(value?.rules) && (value.puzzle ? isText(value.puzzle.position) && areTexts(value.puzzle.line) && value.puzzle.line.length % 2 : isText(value.level));
const isAim = (value) => value?.helped === true || [[value?.bound, value?.least], [value?.par, value?.day]].some((numbers) => numbers.every(Number.isInteger));

/** Read this tab's game, or else the last of any tab. Other pages of the host may have written it, so invalid data are dropped. */
function kept() {
  for (const place of [() => sessionStorage.getItem(KEPT), () => localStorage.getItem(LAST)]) {
    try {
      const held = JSON.parse(place()), { text, seats, id, puzzle, branch, aim } = held ?? {};
      if (isGame(held)) return { text, seats, id, puzzle: isPuzzle(puzzle) ? puzzle : null, branch: isGame(branch) ? branch : null, aim: isAim(aim) ? aim : null };
    } catch { /* private windows, or no JSON */ }
  }
  return null;
}

// ---- Python players, if `oanquan play --browser` serves the page ------------------------------------------------------

/** {given, names}: players named on the command line, and kinds that any page may request; the file holds null, the server replies. */
async function pythonPlayers() {
  if (location.protocol !== "http:") return null; // a host that only serves files
  try {
    const reply = await fetch("players.json");
    return reply.ok ? await reply.json() : null;
  } catch { return null; }
}

/** Return the move, as a text, that a Python player chooses in a position; throws Refused. */
async function askPython(player, position, rules) {
  let answer;
  try {
    const body = JSON.stringify({ player, rules, position });
    answer = await (await fetch("choose", { method: "POST", headers: { "Content-Type": "application/json" }, body })).json();
  } catch { throw new Refused("player", `the program that plays ${player} does not answer`, `chương trình chơi ${player} không trả lời`); }
  if (answer.error) throw new Refused(answer.error.code, answer.error.detail);
  return answer.move;
}

// ---- the start -------------------------------------------------------------------------------------------------------

/** Start this tab's game: the one before the page was reloaded, the last one of any tab, or a new one. */
export async function begin() {
  const [bytes, layout, catalogue, python] = await Promise.all([file("moves.wasm"), file("engine.json"), data("catalogue.json"), pythonPlayers()]);
  const ask = python && askPython, askable = (name) => python.given.includes(name) || python.names.includes(name.split(":")[0]);
  engine = await Engine.load(bytes, layout);
  page.catalogue = { ...catalogue, players: [...new Set([...(python?.given ?? []), ...catalogue.players])] };
  const worker = () => new Worker(address("worker.js"), { type: "module" });
  const thinking = async () => new (await import("./thinker.js")).Thinker({ engine: address("engine.wasm"), layout, data, catalogue, worker, ask, askable });
  thinker = lazily(thinking, "known", "choose", "hint");
  session = new Session({ engine, thinker, data, catalogue });
  session.addEventListener("changed", follow);
  await goOn(kept());
  thinker.choose(catalogue.levels[0], session.game.rules, engine.start(session.game.rules), 0).catch(() => {}); // loads what a first reply needs
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
