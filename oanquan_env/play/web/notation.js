// Moves and positions as texts (docs/RULES.md 7), written and read as engine/notation.py does; names of seats and squares.
// A position is {seeds, stones, scores, mover, ply, ended}, as engine.js gives it; a move is an action, 2 * field + direction.

import { Refused } from "./refused.js";
import { WORD, quoted } from "./rules.js";

export const SEATS = {
  en: { 2: ["South", "North"], 3: ["South", "East", "West"], 4: ["South", "East", "North", "West"] },
  vi: { 2: ["bên dưới", "bên trên"], 3: ["bên dưới", "bên phải", "bên trái"], 4: ["bên dưới", "bên phải", "bên trên", "bên trái"] },
};
/** Why a game is over, by the number that a position has as `ended`; 0 goes on. */
export const TERMINATIONS = ["running", "stones_captured", "squares_empty", "forfeit", "max_plies", "resigned"];
const MAX_SEEDS = 255;

export const seatName = (players, seat, language = "en") => SEATS[language][players][seat];

/** A square of the ring in words: `field 3 of South`, `the mandarin square after North`. */
export function squareName(rules, index, language = "en") {
  const field = index % (rules.fields + 1), owner = seatName(rules.players, Math.floor(index / (rules.fields + 1)), language);
  if (language === "vi") return field === rules.fields ? `ô quan cạnh ô ${field} của ${owner}` : `ô ${field + 1} của ${owner}`;
  return field === rules.fields ? `the mandarin square after ${owner}` : `field ${field + 1} of ${owner}`;
}

/** The column, from 1, of a place in a text: letters are counted as Python counts them. */
export const columnOf = (text, place) => [...text.slice(0, place)].length + 1;

// ---- moves ----------------------------------------------------------------------------------------------------------

export const moveText = (action) => `${(action >> 1) + 1}${"AC"[action & 1]}`;
export const moveTexts = (actions) => actions.map(moveText).join(", ") || "none";

/** Read `5A` or `5a`. */
export function parseMove(text) {
  const found = /^([1-9]?)([AaCc]?)/.exec(text);
  if (found[1] && found[2] && text.length === 2) return 2 * (found[1] - 1) + "AC".indexOf(found[2].toUpperCase());
  const column = !found[1] ? 1 : found[2] ? 3 : 2;
  throw new Refused(
    "move", `a move is a field's number from the mover's left and A (anticlockwise) or C (clockwise), such as 5A; got ${quoted(text)}`,
    `một nước là số của ô, đếm từ bên trái người đi, và A (ngược chiều kim đồng hồ) hoặc C (theo chiều kim đồng hồ), như 5A; không phải ${quoted(text)}`, { column },
  );
}

// ---- positions ------------------------------------------------------------------------------------------------------

const COUNT = /^(0|[1-9][0-9]{0,8})$/, SQUARE = /^(0|[1-9][0-9]{0,8})\*?$/, SCORE = /^(0|-?[1-9][0-9]{0,8})$/;
const KINDS = new Map([
  [COUNT, ["a whole number", "số nguyên"]],
  [SQUARE, ["a count of seeds, with * for a stone", "số dân, thêm * nếu có quan"]],
  [SCORE, ["whole points", "số điểm nguyên"]],
]);

export function positionText(rules, { seeds, stones, scores, mover, ply }) {
  const length = rules.fields + 1;
  const sides = stones.map((stone, side) => seeds.slice(side * length, (side + 1) * length).join(",") + "*".repeat(stone));
  return `${sides.join("/")} ${scores.join(",")} ${mover} ${ply}`;
}

/** The position that a text describes; the inverse of positionText. `rules` are the engine's. Throws Refused with the column. */
export function parsePosition(rules, text, engine) {
  const refuse = (place, en, vi) => { throw new Refused("position", en, vi, { column: columnOf(text, place) }); };
  const length = rules.fields + 1, words = [...text.matchAll(WORD)].map((match) => ({ text: match[0], place: match.index }));
  if (words.length !== 4) {
    refuse(
      words.length > 4 ? words[4].place : text.length, `a position has 4 words (squares, scores, mover, ply), not ${words.length}`,
      `một thế cờ có 4 phần (các ô, điểm, người đi, số nước), không phải ${words.length}`,
    );
  }
  const sides = split(words[0], "/", rules.players, "sides", "bên", refuse);
  const squares = sides.flatMap((side, seat) => split(side, ",", length, `squares on side ${seat + 1}`, `ô ở bên ${seat + 1}`, refuse));
  const points = split(words[1], ",", rules.players, "scores", "điểm", refuse), isMandarin = (_, index) => index % length === rules.fields;
  const seeds = squares.map((span, index) => number(span, isMandarin(span, index) ? SQUARE : COUNT, squareName(rules, index), squareName(rules, index, "vi"), refuse));
  const mover = number(words[2], COUNT, "the mover", "người đi", refuse), ply = number(words[3], COUNT, "the ply", "số nước", refuse);
  const scores = points.map((span, seat) => number(span, SCORE, `score ${seat + 1}`, `điểm thứ ${seat + 1}`, refuse));
  const mandarins = squares.filter(isMandarin), stones = mandarins.map((span) => Number(span.text.endsWith("*")));
  checkCounts(rules, { seeds, stones, scores, mover, ply }, { words, squares, mandarins, points }, refuse);
  const position = engine.setUp(rules, { seeds, stones, scores, mover, ply });
  if (!position.ended && !engine.legal(rules, position).length) {
    refuse(words[2].place, `the row of the mover, player ${mover}, is empty: not ready to move`, "hàng của người đi không còn dân: không có nước nào");
  }
  return position;
}

/** The parts of a piece of the text, {text, place}, between separators. */
function split(span, separator, count, what, thing, refuse) {
  const parts = [];
  let place = span.place;
  for (const text of span.text.split(separator)) {
    parts.push({ text, place });
    place += text.length + 1;
  }
  if (parts.length !== count) {
    const en = `expected ${count} ${what} with '${separator}' between, got ${parts.length}`;
    refuse(parts[count]?.place ?? place - 1, en, `cần ${count} ${thing}, cách nhau bằng '${separator}', không phải ${parts.length}`);
  }
  return parts;
}

function number({ text, place }, kind, en, vi, refuse) {
  const [wanted, can] = KINDS.get(kind);
  if (!kind.test(text)) refuse(place, `${en} must be ${wanted}; got ${quoted(text)}`, `${vi} phải là ${can}, không phải ${quoted(text)}`);
  return parseInt(text, 10);
}

/** Refuse counts that no position of a game has (engine/position_checks.py). */
function checkCounts(rules, { seeds, stones, scores, mover, ply }, { words, squares, mandarins, points }, refuse) {
  const within = (values, spans, low, high, what, thing) => {
    const wrong = values.findIndex((value) => value < low || value > high);
    if (wrong >= 0) refuse(spans[wrong].place, `the ${what} must be ${low} to ${high}, got [${values.join(", ")}]`, `${thing} phải từ ${low} đến ${high}, không phải ${values[wrong]}`);
  };
  const debt = rules.fields * Math.ceil(rules.max_plies / rules.players); // by as many refills as a game can have
  within(seeds, squares, 0, MAX_SEEDS, "seeds", "số dân");
  within(stones, mandarins, 0, Number(rules.stones), "stones", "số quan");
  within([mover], [words[2]], 0, rules.players - 1, "mover", "người đi");
  within([ply], [words[3]], 0, rules.max_plies, "ply", "số nước");
  within(scores, points, -debt, rules.total + (rules.players - 1) * debt, "scores", "điểm");
  const sum = (values) => values.reduce((total, value) => total + value, 0), inPlay = sum(seeds);
  if (inPlay > MAX_SEEDS) refuse(squares[0].place, `${inPlay} seeds are more than ${MAX_SEEDS}`, `${inPlay} dân là quá nhiều: nhiều nhất là ${MAX_SEEDS}`);
  const total = inPlay + sum(stones) * rules.stone_value + sum(scores);
  if (total !== rules.total) {
    refuse(words[0].place, `seeds, stones and scores make ${total} points, not the ${rules.total} of the rules`, `dân, quan và điểm cộng lại là ${total}, không phải ${rules.total} như luật`);
  }
}
