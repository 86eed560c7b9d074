// What is known of openings: proved bounds (book.js) beside what a search sees, as points by which South ends ahead.

import { moveText } from "./notation.js";

const leadOf = ([south, north]) => south - north;
const ordered = (one, other) => (one < other ? [one, other] : [other, one]);
/** Bounds of South's final lead from those of the mover's future margin. */
const ofSouth = ({ mover, scores }, { lower, upper }) => ordered(...[lower, upper].map((bound) => leadOf(scores) + (mover ? -bound : bound)));

/**
 * The legal moves of a position, once all have a value the best for who makes it first: { action, move, lower, upper, value, proved }. Bounds are
 * infinite where nothing is proved; `value` is exact if `proved`, else what `hint` (thinking.js) sees, or null without one.
 */
export function movesOf(engine, rules, table, position, hint = null) {
  const known = table.moveValues(rules, position), sign = position.mover ? -1 : 1;
  const moves = engine.legal(rules, position).map((action) => {
    const move = moveText(action), [lower, upper] = action in known ? ofSouth(position, known[action]) : [-Infinity, Infinity];
    const proved = lower === upper || (hint?.exact.includes(move) ?? false), seen = hint ? sign * hint.values[move] + 0 : null;
    return { action, move, lower, upper, value: lower === upper ? lower : seen, proved };
  });
  return moves.some(({ value }) => value === null) ? moves : moves.sort((one, other) => sign * (other.value - one.value));
}

/** What a position, not over, is worth by its moves and by the table: { lower, upper, value, proved }, as of movesOf. */
export function valueOf(rules, table, position, moves) {
  const itself = table.value(rules, position), best = (name) => (position.mover ? Math.min : Math.max)(...moves.map((move) => move[name]));
  const found = itself ? ofSouth(position, itself) : [-Infinity, Infinity], lower = Math.max(found[0], best("lower")), upper = Math.min(found[1], best("upper"));
  if (lower === upper) return { lower, upper, value: lower, proved: true };
  const open = moves.some(({ value }) => value === null), value = open ? null : Math.min(Math.max(best("value"), lower), upper);
  return { lower, upper, value, proved: !open && moves.every(({ proved }) => proved) };
}

/** The first move that takes most points at once, if it is proved to lose: { points, upper, exact, line }, South's lead at most
 * and whether it is just that, and the line with the best moves after it as far as the proofs reach; else null. */
export function refutation(engine, rules, table) {
  const start = engine.start(rules), points = ({ action }) => engine.play(rules, start, action).points;
  const [tempting] = movesOf(engine, rules, table, start).sort((one, other) => points(other) - points(one) || (one.action & 1) - (other.action & 1));
  const { lower, upper } = tempting, line = [];
  if (upper >= 0) return null;
  let position = start, best = tempting;
  do {
    line.push(best.action);
    ({ position } = engine.play(rules, position, best.action));
    const sign = position.mover ? -1 : 1;
    best = position.ended ? null : movesOf(engine, rules, table, position).reduce((one, other) => (sign * other.upper > sign * one.upper ? other : one));
  } while (best?.upper === upper);
  return { points: points(tempting), upper, exact: lower === upper, line };
}
