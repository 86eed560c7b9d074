// Players of Python, where `oanquan play --browser` serves the page: who they are, and their moves.

import { Refused } from "./refused.js";

/** {given, names}: players named on the command line, kinds that any page may ask for; the file says null, the server answers. */
export async function pythonPlayers() {
  if (location.protocol !== "http:") return null; // a host of files alone
  try {
    const reply = await fetch("players.json");
    return reply.ok ? await reply.json() : null;
  } catch { return null; }
}

/** The move, a text, that a player of Python chooses in a position; throws Refused. */
export async function askPython(player, position, rules) {
  let answer;
  try {
    const body = JSON.stringify({ player, rules, position });
    answer = await (await fetch("choose", { method: "POST", headers: { "Content-Type": "application/json" }, body })).json();
  } catch { throw new Refused("player", `the program that plays ${player} does not answer`, `chương trình chơi ${player} không trả lời`); }
  if (answer.error) throw new Refused(answer.error.code, answer.error.detail);
  return answer.move;
}
