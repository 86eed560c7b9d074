// The trace of a move: laps, captures, the end of the turn and refills, built from the steps that the engine records.

import { CAPTURE, LAP, STOP } from "./engine.js";

// A code is the number of a byte, from the mover's side on, plus DIRECTION if clockwise; the seeds of a mandarin square
// have byte MANDARIN.
const BYTES = 8,
  MANDARIN = 5,
  DIRECTION = 32;

/** Return a copy of a position's board and points, which later moves do not change. */
export const copyFrame = ({ seeds, stones, scores }) => ({
  seeds: [...seeds],
  stones: [...stones],
  scores: [...scores],
});

const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);

/**
 * Return the trace of one move. Squares are ring indices; `standings` are the final points if it ended the game, else
 * []. `turnEnds` are the engine's names of the reasons for which a turn ends.
 *
 * -> { rules, player, action, before, after, laps: [{square, direction, seeds, squares, one}], takings: [{gap, square,
 * seeds, stones, points}], turnEnd, refillings: [{player, seeds, borrowed}], ended, standings }
 */
export function traceOf({ turnEnds }, rules, before, action, { position: after, steps }, standings = []) {
  const { players, squares, fields } = rules,
    mover = before.mover;
  const direction = (code) => Math.floor(code / DIRECTION);
  const square = (code) => {
    const byte = code % DIRECTION;
    return ((mover + Math.floor(byte / BYTES)) % players) * (fields + 1) + Math.min(byte % BYTES, fields);
  };
  const behind = (code, distance) =>
    (((square(code) + (direction(code) ? -distance : distance)) % squares) + squares) % squares;
  const points = [...before.scores];
  const trace = {
    rules,
    player: mover,
    action,
    before: copyFrame(before),
    after: copyFrame(after),
    laps: [],
    takings: [],
    turnEnd: "not_completed",
    refillings: [],
  };
  for (const [kind, code, number, stone] of steps) {
    if (kind === LAP) {
      const path = Array.from({ length: number }, (_, count) => behind(code, count + 1));
      trace.laps.push({
        square: square(code),
        direction: direction(code),
        seeds: number,
        squares: path,
        one: code % BYTES === MANDARIN,
      });
    } else if (kind === CAPTURE) {
      const value = number + stone * rules.stone_value;
      trace.takings.push({ gap: square(code), square: behind(code, 1), seeds: number, stones: stone, points: value });
      points[mover] += value;
    } else if (kind === STOP) trace.turnEnd = turnEnds[number];
    else {
      const player = (mover + code) % players;
      trace.refillings.push({ player, seeds: fields, borrowed: Math.max(0, fields - Math.max(0, points[player])) });
    }
  }
  return { ...trace, ended: after.ended, standings };
}

/** Return the points and mandarin stones that a move captures. */
export const captured = ({ takings }) => [
  sum(takings.map(({ points }) => points)),
  sum(takings.map(({ stones }) => stones)),
];

/** Preview a move: the squares that get a seed, and the captured ones with their pieces. */
export const preview = (trace) => ({
  path: trace.laps.flatMap(({ squares }) => squares),
  taken: trace.takings.map(({ square }) => square),
  captured: captured(trace),
});

/** Return the marks that a move leaves on the board, in the form that `markShapes` takes. */
export const lastMark = ({ rules, player, action, laps, takings }) => {
  const origin = player * (rules.fields + 1) + (action >> 1),
    path = laps.flatMap(({ squares }) => squares);
  return {
    origin,
    path,
    last: path.at(-1) ?? origin,
    captured: takings.map(({ square }) => square),
    step: action & 1 ? -1 : 1,
  };
};

/** Return the steps in the order in which a board shows them. */
export const stepsOf = ({ player, laps, takings, refillings }) => [
  ...laps.map(({ square, seeds, squares }) => ({ kind: "lap", square, seeds, squares })),
  ...takings.map((taking) => ({ kind: "taking", ...taking, player })),
  ...refillings.map((refilling) => ({ kind: "refilling", player: refilling.player, seeds: refilling.seeds })),
];
