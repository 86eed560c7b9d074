// Python players, if `oanquan play --browser` serves the page.

import { Refused, missing } from "../model/refused.js";

/**
 * Return {players, ask, askable}: the players named on the command line, and the functions for a `Thinker`; null
 * without a server.
 */
export async function connect() {
  const found = await fetch("players.json")
    .then((reply) => (reply.ok ? reply.json() : null))
    .catch(() => ({ players: [] })); // no player is refused before the server answers
  const askable = (name) => {
    if (!found.kinds) throw missing("players.json");
    // kinds of players that any page may use
    return found.players.includes(name) || found.kinds.includes(name.split(":")[0]);
  };
  return found && { players: found.players, ask, askable };
}

/** Return the move, as text, of a Python player in a position; throws Refused. */
async function ask(player, position, rules) {
  const asked = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ player, rules, position }),
  };
  const answer = await fetch("choose", asked)
    .then((reply) => reply.json())
    .catch(() => {
      throw new Refused(
        "player",
        `the program that plays ${player} isn’t answering`,
        `chương trình chơi ${player} không trả lời`,
      );
    });
  if (answer.error) throw new Refused(answer.error.code, answer.error.detail);
  return answer.move;
}
