// The game of this tab: requests about it, and the board that follows it. The server knows the game.

import { $, ask, complain, page } from "./common.js";
import { GameView } from "./game.js";

let highest = 0; // serial number of the moves that are here

/** A request about the game of this tab; the page follows. */
export async function play(request, asked = {}) {
  const answer = await ask(request, { ...asked, tab: page.tab, game: page.state?.game, known: highest, drawn: page.state?.rules });
  take(answer);
  return answer;
}

export function take(answer) {
  if (page.state && answer.state.version < page.state.version) return; // an answer that comes late
  if (answer.state.game !== page.state?.game) highest = 0;
  page.state = answer.state;
  highest = Math.max(highest, ...Object.keys(page.state.moves).map(Number));
  $("board").classList.toggle("round", page.state.seats.length > 2);
  view.update(page.state, answer.drawing);
  if (page.state.turn === "player" && !page.state.trouble) follow();
}

/** Ask for news while players think; one request at a time. */
async function follow() {
  if (follow.busy) return;
  follow.busy = true;
  try {
    while (page.state.turn === "player" && !page.state.trouble) await play("wait", { version: page.state.version });
  } catch (error) {
    complain(error);
    if (error.code === "lost") setTimeout(follow, 3000); // a machine that slept, or changed its network, goes on
  } finally { follow.busy = false; }
}

export const view = new GameView($("board"), async (request, asked) => {
  try {
    if (request === "hint") return (await ask("hint", { tab: page.tab })).hint;
    await play(request, asked);
  } catch (error) {
    complain(error);
    if (request === "move") play("wait", { version: -1 }).catch(complain);
  }
  return null;
}, page.language);
