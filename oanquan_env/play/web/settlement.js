// What is said of a round of a match that is over.

import { WORDS } from "./board-words.js";
import { capital } from "./nodes.js";
import { seatName } from "./told.js";

/** Why fields changed hands after a round of a match: its `owed` points, and the fields `sold`, `pawned` and `returned`, such as "S1". */
export function settlement(view, { winner, owed, sold, pawned, returned }) {
  const words = WORDS[view.board.language], name = (player) => capital(seatName(view, player)), numbers = (fields) => fields.map((field) => field[1]);
  const given = [[sold, "sells"], [pawned, "pawns"]].flatMap(([fields, verb]) => (fields.length ? [words[verb](numbers(fields))] : [])).join(words.and);
  const told = [given && `${words.owes(name(1 - winner), owed, given)} ${words.prices}`, returned.length && `${name(winner)} ${words.redeems(numbers(returned))}.`];
  return told.filter(Boolean).join(" ") || `${capital(words.keeps)}.`;
}
