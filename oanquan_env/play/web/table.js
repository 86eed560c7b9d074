// The game of this tab: requests about it, and the board that follows it. The server plays it, and the tab keeps its
// record: where the server has forgotten it, or was started again, the game is begun again from that.

import { $, ask, complain, page, store, words } from "./common.js";
import { GameView } from "./game.js";

const AGAIN = 2000, ALIVE = 5000; // milliseconds between questions to a server that does not answer, and to one that does
let highest = 0; // serial number of the moves that are here
let asking = null;

/** Keep a game for this tab as long as it is open; false if another tab, of which this one is a copy, has it. */
function own(name) {
  return new Promise((resolve) => {
    const kept = () => { resolve(true); return new Promise(() => {}); };
    navigator.locks.request(`oanquan-${name}`, { signal: AbortSignal.timeout(1000) }, kept).catch(() => resolve(false));
  });
}

/** A request about the game of this tab, with `asked()` as its arguments. */
async function about(name, asked) {
  try {
    let answer;
    try {
      answer = await ask(name, { ...asked(), tab: page.tab });
    } catch (error) {
      if (error.code !== "gone") throw error;
      await restore();
      answer = await ask(name, { ...asked(), tab: page.tab });
    }
    found();
    return answer;
  } catch (error) {
    if (error.code === "lost" || error.code === "moved") lose(error);
    throw error;
  }
}

export const request = (name, asked = {}) => about(name, () => asked);

/** A request that changes the game; the page follows. */
export async function play(name, asked = {}) {
  const answer = await about(name, () => ({ ...asked, game: page.state?.game, known: highest, drawn: page.state?.rules }));
  take(answer);
  return answer;
}

export function take(answer) {
  const { state } = answer;
  if (page.state && state.version < page.state.version) return; // an answer that comes late
  if (state.game !== page.state?.game) highest = 0;
  page.state = state;
  highest = Math.max(highest, ...Object.keys(state.moves).map(Number));
  const { puzzle } = state, seats = state.seats.map((seat) => seat.name);
  const kept = puzzle ? ["puzzle", { level: puzzle.level, number: puzzle.number }] : ["load", { text: state.record, seats }];
  sessionStorage.setItem("oanquan-kept", JSON.stringify(kept));
  view.update(state, answer.drawing);
  if (state.turn === "player" && !state.trouble) follow();
}

/** Begin the game of this tab: the one that it had before it was loaded again, or a new one. */
export async function begin() {
  page.tab = sessionStorage.getItem("oanquan-tab");
  const copy = page.tab !== null && !(await own(page.tab));
  if (copy) sessionStorage.removeItem("oanquan-kept");
  try {
    if (!page.tab || copy) await restore();
    else take(await ask("wait", { tab: page.tab, version: -1 }));
  } catch (error) {
    if (error.code !== "gone") throw error;
    await restore();
  }
  store.set("address", location.pathname);
  setInterval(() => { if (!document.hidden && !asking) check(); }, ALIVE);
}

/** Begin a game at the server with what this tab keeps. */
async function restore() {
  const kept = JSON.parse(sessionStorage.getItem("oanquan-kept") ?? "null");
  let answer = await ask("begin");
  page.tab = answer.tab;
  own(page.tab);
  sessionStorage.setItem("oanquan-tab", page.tab);
  if (kept) {
    try { answer = await ask(kept[0], { ...kept[1], tab: page.tab }); } catch (error) { complain(error); }
  }
  page.state = null;
  take(answer);
}

// ---- a server that does not answer -----------------------------------------------------------------------------------

function lose(error) {
  if (error.code === "moved" && store.get("address") !== location.pathname) location.replace(store.get("address"));
  if (!asking) asking = setInterval(check, AGAIN);
  const told = view.trouble;
  view.trouble = words()[error.code];
  $("lost").hidden = false;
  $("lost").textContent = view.trouble;
  if (told !== view.trouble && page.state) view.refresh();
}

function found() {
  if (!asking) return;
  clearInterval(asking);
  asking = null;
  view.trouble = "";
  $("lost").hidden = true;
  $("notice").hidden = true;
  if (page.state) view.refresh();
}

/** Whether the server answers; what it knows is shown. */
async function check() {
  if (check.busy) return;
  check.busy = true;
  try { await play("wait", { version: -1 }); } catch { /* it is said already */ } finally { check.busy = false; }
}

/** Ask for news while players think; one request at a time. */
async function follow() {
  if (follow.busy) return;
  follow.busy = true;
  try {
    while (page.state.turn === "player" && !page.state.trouble) await play("wait", { version: page.state.version });
  } catch (error) {
    if (!asking) complain(error);
  } finally { follow.busy = false; }
}

export const view = new GameView($("board"), async (name, asked) => {
  try {
    if (name === "hint") return (await request("hint")).hint;
    await play(name, asked);
  } catch (error) {
    if (!asking) complain(error);
    view.refresh();
  }
  return null;
}, page.language);
