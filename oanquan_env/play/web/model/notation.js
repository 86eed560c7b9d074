// Moves and positions as texts (docs/RULES.md 7), as in engine/notation.py, and names of seats and squares.
// position-reading.js reads positions.
// A position is {seeds, stones, scores, mover, ply, ended}, as engine.js gives it; a move is an action, 2 * field +
// direction.

import { Refused } from "./refused.js";
import { quoted } from "./rules.js";

export const SEATS = {
  en: { 2: ["South", "North"], 3: ["South", "East", "West"], 4: ["South", "East", "North", "West"] },
  vi: {
    2: ["bên dưới", "bên trên"],
    3: ["bên dưới", "bên phải", "bên trái"],
    4: ["bên dưới", "bên phải", "bên trên", "bên trái"],
  },
};
/** Reasons for the end of a game, by a position's `ended`; 0: running. */
export const TERMINATIONS = [
  "running",
  "stones_captured",
  "squares_empty",
  "forfeit",
  "resigned",
  "max_plies",
  "endless_relay",
  "too_many_seeds",
];

export const seatName = (players, seat, language = "en") => SEATS[language][players][seat];

/** Name a square of the ring: `square 3 of South`, `the mandarin square after square 5 of North`. */
export function squareName({ players, fields }, index, language = "en") {
  const field = index % (fields + 1),
    isMandarin = field === fields,
    owner = seatName(players, Math.floor(index / (fields + 1)), language);
  if (language === "vi") return `${isMandarin ? `ô quan cạnh ô ${field}` : `ô ${field + 1}`} của ${owner}`;
  return `${isMandarin ? `the mandarin square after square ${field}` : `square ${field + 1}`} of ${owner}`;
}

/** Return the column, from 1, of an index in a text, counting characters as Python does. */
export const columnOf = (text, place) => [...text.slice(0, place)].length + 1;

// ---- moves ----------------------------------------------------------------------------------------------------------

export const moveText = (action) => `${(action >> 1) + 1}${"AC"[action & 1]}`;
export const moveTexts = (actions) => actions.map(moveText).join(", ") || "none";

/** Return the number of the round of the `ply`th move: each player moves once in a round. */
export const roundOf = (ply, players) => Math.ceil(ply / players);
/** Return the number before the `ply`th move if it begins a round, as in records. */
export const numbered = (ply, players) => ((ply - 1) % players ? "" : `${roundOf(ply, players)}. `);

/** Read `5A` or `5a`. */
export function parseMove(text) {
  const found = /^([1-9]?)([AaCc]?)/.exec(text);
  if (found[1] && found[2] && text.length === 2) return 2 * (found[1] - 1) + "AC".indexOf(found[2].toUpperCase());
  const column = !found[1] ? 1 : found[2] ? 3 : 2;
  throw new Refused(
    "move",
    `a move is a square's number from the mover's left and A (anticlockwise) or C (clockwise), such as 5A; got ${quoted(text)}`,
    `một nước là số của ô, đếm từ bên trái người đi, và A (ngược chiều kim đồng hồ) hoặc C (theo chiều kim đồng hồ), như 5A; không phải ${quoted(text)}`,
    { column },
  );
}

/** Read the moves of a game or round in a link, `5A3A`; a minus sign at the end: the player to move resigned. */
export const readMoves = (text) => ({
  moves: (text.replace(/-$/, "").match(/..?/gsu) ?? []).map(parseMove),
  resigned: text.endsWith("-"),
});

// ---- positions ------------------------------------------------------------------------------------------------------

export function positionText(rules, { seeds, stones, scores, mover, ply }) {
  const length = rules.fields + 1;
  const sides = stones.map(
    (stone, side) => seeds.slice(side * length, (side + 1) * length).join(",") + "*".repeat(stone),
  );
  return `${sides.join("/")} ${scores.join(",")} ${mover} ${ply}`;
}
