// The story of a move in both languages, and what the seats are called in it.

import { moveName } from "./board-words.js";
import { capital } from "./nodes.js";
import { SEATS, TERMINATIONS, moveText } from "./notation.js";

const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);
const counted = (number, thing) => `${number} ${thing}${number === 1 ? "" : "s"}`;

// By language. `names` are what the seats are called within a sentence; `square(index, names, rules, mover)`.
const STORY = {
  en: {
    square: (player, field, names, fields) => (field === fields ? `the mandarin square after ${names[player]}` : `field ${field + 1} of ${names[player]}`),
    plays: (name, move) => `${name} plays ${move}.`,
    lift: ({ one, seeds }, from, last) => `Lift ${one ? "one seed" : counted(seeds, "seed")} from ${from}; the last falls into ${last}.`,
    seeds: (number) => counted(number, "seed"), stone: "the stone", stones: (number) => counted(number, "stone"), and: " and ",
    take: (pieces, gap, square, points) => `Capture ${pieces} from ${square}, behind the gap at ${gap}: ${counted(points, "point")}.`,
    turnEnd: (why) => `The turn ends: ${why}.`,
    refill: (name, seeds, borrowed) => `${name} refills its row with ${seeds} seeds${borrowed ? `, ${borrowed} of them borrowed` : ""}.`,
    over: (why) => `The game is over: ${why}.`, leftover: (name, points) => `${name} gets ${counted(points, "point")} for seeds left on the board.`,
    nobody: (pieces) => `Left to nobody: ${pieces}.`, finals: (all) => `Final points: ${all}.`,
    turnEnds: {
      mandarin_ahead: "a mandarin square that is not empty lies ahead", empty_mandarin_ahead: "an empty mandarin square lies ahead, and that is no gap",
      nothing_behind: "the square behind the gap is empty", no_further_gap: "the square behind the capture is not empty",
      unripe_mandarin: "the mandarin behind the gap is unripe", seeds_stay: "the seeds of the mandarin square behind the gap cannot be captured",
      one_capture: "a turn captures once", not_completed: "the move cannot be completed",
    },
    endings: {
      stones_captured: "all mandarin stones are captured", squares_empty: "all mandarin squares are empty",
      forfeit: "a player has too few points to refill its row", max_plies: "the most moves that the rules allow are played",
      endless_relay: "a relay would never end", too_many_seeds: "refills on credit would bring more than 255 seeds into play",
    },
  },
  vi: {
    square: (player, field, names, fields, mover) => (field === fields ? `ô quan cạnh ô ${field}` : `ô ${field + 1}`) + (player === mover ? "" : ` của ${names[player]}`),
    plays: (name, move) => `${name} đi ${moveName(move, "vi")}.`,
    lift: ({ one, seeds }, from, last) => `Bốc ${one ? "một dân" : `${seeds} dân`} ở ${from}; dân cuối rơi vào ${last}.`,
    seeds: (number) => `${number} dân`, stone: "quan", stones: (number) => `${number} quan`, and: " và ",
    take: (pieces, gap, square, points) => `Cách ${gap} trống, ăn ${pieces} ở ${square}: ${points} điểm.`,
    turnEnd: (why) => `Hết lượt: ${why}.`,
    refill: (name, seeds, borrowed) => `${name} rải ${seeds} dân vào hàng trống của mình${borrowed ? `, trong đó vay ${borrowed}` : ""}.`,
    over: (why) => `Hết ván: ${why}.`, leftover: (name, points) => `${name} thu dân còn trên bàn: ${points} điểm.`,
    nobody: (pieces) => `Không thuộc về ai: ${pieces}.`, finals: (all) => `Điểm cuối cùng: ${all}.`,
    turnEnds: {
      mandarin_ahead: "phía trước là ô quan còn quân", empty_mandarin_ahead: "phía trước là ô quan trống, không tính là khoảng trống",
      nothing_behind: "sau ô trống lại là ô trống", no_further_gap: "sau ô vừa ăn là ô còn quân", unripe_mandarin: "quan sau ô trống còn non",
      seeds_stay: "không được ăn dân trong ô quan sau ô trống", one_capture: "mỗi lượt chỉ ăn một lần", not_completed: "nước này không thể đi trọn",
    },
    endings: {
      stones_captured: "các quan đã bị ăn hết", squares_empty: "các ô quan đã trống", forfeit: "một người không còn quân để rải", max_plies: "đã đủ số nước đi",
      endless_relay: "lượt rải sẽ không bao giờ dừng", too_many_seeds: "vay thêm thì trên bàn có quá 255 dân",
    },
  },
};

/** A square of the ring as a sentence names it; of `mover`'s row without its owner where the language leaves that out. */
export function squareWords(language, names, fields, index, mover = null) {
  const player = Math.floor(index / (fields + 1));
  return STORY[language].square(player, index % (fields + 1), names, fields, mover);
}

/** The trace of a move, a sentence for each step; of one that ended the game, also why, the leftovers and the points. */
export function moveLines(trace, language, names) {
  const words = STORY[language], { rules, player, laps, takings, refillings, ended } = trace;
  const square = (index) => squareWords(language, names, rules.fields, index, player);
  const pieces = (seeds, stones) => [...(seeds ? [words.seeds(seeds)] : []), ...stones].join(words.and);
  return [
    words.plays(names[player], moveText(trace.action)),
    ...laps.map((lap) => words.lift(lap, square(lap.square), square(lap.squares.at(-1)))),
    ...takings.map(({ seeds, stones, gap, square: taken, points }) => words.take(pieces(seeds, stones ? [words.stone] : []), square(gap), square(taken), points)),
    words.turnEnd(words.turnEnds[trace.turnEnd]),
    ...refillings.map((refilling) => words.refill(names[refilling.player], refilling.seeds, refilling.borrowed)),
    ...(ended ? ending(trace, words, names, pieces) : []),
  ].map(capital);
}

function ending({ after, standings, ended }, words, names, pieces) {
  const leftovers = standings.map((final, player) => final - after.scores[player]), stones = sum(after.stones);
  const nobody = pieces(sum(after.seeds) - sum(leftovers), stones ? [words.stones(stones)] : []);
  return [
    words.over(words.endings[TERMINATIONS[ended]]),
    ...names.flatMap((name, player) => (leftovers[player] ? [words.leftover(name, leftovers[player])] : [])),
    ...(nobody ? [words.nobody(nobody)] : []),
    words.finals(names.map((name, player) => `${name} ${standings[player]}`).join(", ")),
  ];
}

/**
 * What a sentence calls the seats: English names them by the points of the compass, Vietnamese by who sits there or where.
 *
 * `persons` says of each seat whether a person sits there; `solver` is the seat of the one who solves a puzzle, or null.
 */
export function seatNames(persons, solver = null) {
  const players = persons.length, alone = persons.filter(Boolean).length === 1 ? persons.indexOf(true) : solver;
  const place = (seat) => SEATS.vi[players][(seat - (alone ?? 0) + players) % players];
  const other = (seat) => (solver !== null ? "đối thủ" : players === 2 ? "máy" : `máy ${place(seat)}`);
  const name = (seat) => (alone === null ? place(seat) : seat === alone ? "bạn" : other(seat));
  return { en: SEATS.en[players], vi: persons.map((_, seat) => name(seat)) };
}
