// Reads positions from texts (docs/RULES.md 7), as engine/notation.py does.

import { columnOf, squareName } from "./notation.js";
import { Refused } from "./refused.js";
import { WORD, quoted } from "./rules.js";

const MAX_SEEDS = 255;
const COUNT = /^(0|[1-9][0-9]{0,8})$/,
  SQUARE = /^(0|[1-9][0-9]{0,8})\*?$/,
  SCORE = /^(0|-?[1-9][0-9]{0,8})$/;
const KINDS = new Map([
  [COUNT, ["a whole number", "số nguyên"]],
  [SQUARE, ["a count of seeds, with * for a stone", "số dân, thêm * nếu có quan"]],
  [SCORE, ["whole points", "số điểm nguyên"]],
]);

/** Parse a position, the inverse of positionText. `rules` is the engine's handle. Throws Refused with the column. */
export function parsePosition(rules, text, engine) {
  const refuse = (place, en, vi) => {
    throw new Refused("position", en, vi, { column: columnOf(text, place) });
  };
  const length = rules.fields + 1,
    words = [...text.matchAll(WORD)].map((match) => ({ text: match[0], place: match.index }));
  if (words.length !== 4) {
    refuse(
      words.length > 4 ? words[4].place : text.length,
      `a position has 4 words (squares, scores, mover, ply); got ${words.length}`,
      `một thế cờ có 4 phần (các ô, điểm, người đi, số nước), không phải ${words.length}`,
    );
  }
  const sides = split(words[0], "/", rules.players, "sides", "bên", refuse);
  const squares = sides.flatMap((side, seat) =>
    split(side, ",", length, `squares on side ${seat + 1}`, `ô ở bên ${seat + 1}`, refuse),
  );
  const points = split(words[1], ",", rules.players, "scores", "điểm", refuse),
    isMandarin = (_, index) => index % length === rules.fields;
  const seeds = squares.map((span, index) =>
    number(
      span,
      isMandarin(span, index) ? SQUARE : COUNT,
      squareName(rules, index),
      squareName(rules, index, "vi"),
      refuse,
    ),
  );
  const mover = number(words[2], COUNT, "the mover", "người đi", refuse),
    ply = number(words[3], COUNT, "the ply", "số nước", refuse);
  const scores = points.map((span, seat) => number(span, SCORE, `score ${seat + 1}`, `điểm thứ ${seat + 1}`, refuse));
  const mandarins = squares.filter(isMandarin),
    stones = mandarins.map((span) => Number(span.text.endsWith("*")));
  checkCounts(rules, { seeds, stones, scores, mover, ply }, { words, squares, mandarins, points }, refuse);
  const position = engine.setUp(rules, { seeds, stones, scores, mover, ply });
  if (!position.ended && !engine.legal(rules, position).length) {
    refuse(
      words[2].place,
      `the row of the mover, player ${mover}, is empty, so it cannot move`,
      "hàng của người đi không còn dân: không có nước nào",
    );
  }
  return position;
}

/** Split a piece of the text at separators into parts {text, place}. */
function split(span, separator, count, what, thing, refuse) {
  const parts = [];
  let place = span.place;
  for (const text of span.text.split(separator)) {
    parts.push({ text, place });
    place += text.length + 1;
  }
  if (parts.length !== count) {
    const en = `expected ${count} ${what} separated by '${separator}'; got ${parts.length}`;
    refuse(
      parts[count]?.place ?? place - 1,
      en,
      `cần ${count} ${thing}, cách nhau bằng '${separator}', không phải ${parts.length}`,
    );
  }
  return parts;
}

function number({ text, place }, kind, en, vi, refuse) {
  const [wanted, can] = KINDS.get(kind);
  if (!kind.test(text))
    refuse(place, `${en} must be ${wanted}; got ${quoted(text)}`, `${vi} phải là ${can}, không phải ${quoted(text)}`);
  return parseInt(text, 10);
}

/** Refuse counts that no position in a game can have (engine/position_checks.py). */
function checkCounts(rules, { seeds, stones, scores, mover, ply }, { words, squares, mandarins, points }, refuse) {
  const within = (values, spans, low, high, what, thing) => {
    const wrong = values.findIndex((value) => value < low || value > high);
    if (wrong >= 0)
      refuse(
        spans[wrong].place,
        `the ${what} must be ${low} to ${high}, got [${values.join(", ")}]`,
        `${thing} phải từ ${low} đến ${high}, không phải ${values[wrong]}`,
      );
  };
  // from the maximum number of refills in a game
  const debt = rules.fields * Math.ceil(rules.max_plies / rules.players);
  within(seeds, squares, 0, MAX_SEEDS, "seeds", "số dân");
  within(stones, mandarins, 0, Number(rules.stones), "stones", "số quan");
  within([mover], [words[2]], 0, rules.players - 1, "mover", "người đi");
  within([ply], [words[3]], 0, rules.max_plies, "ply", "số nước");
  within(scores, points, -debt, rules.total + (rules.players - 1) * debt, "scores", "điểm");
  const sum = (values) => values.reduce((total, value) => total + value, 0),
    inPlay = sum(seeds);
  if (inPlay > MAX_SEEDS)
    refuse(
      squares[0].place,
      `there are ${inPlay} seeds; at most ${MAX_SEEDS} are allowed`,
      `${inPlay} dân là quá nhiều: nhiều nhất là ${MAX_SEEDS}`,
    );
  const total = inPlay + sum(stones) * rules.stone_value + sum(scores);
  if (total !== rules.total) {
    refuse(
      words[0].place,
      `seeds, stones and scores make ${total} points, not the ${rules.total} of the rules`,
      `dân, quan và điểm cộng lại là ${total}, không phải ${rules.total} như luật`,
    );
  }
}
