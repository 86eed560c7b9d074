// Proved moves and values: certificates, as oanquan_env/players/book.py plays them, and tables of openings, as
// oanquan_env/benchmark/opening_values.py reads them, beside what a search sees. A damaged file is refused, with its place.

import { Strategy, damaged, keyOf, readArrays, unpack } from "./certificate.js";
import { moveText, positionText } from "./notation.js";

/** Plays the moves of a certificate of the set-up. Each strategy is followed to all its positions when first needed. */
export class Book {
  #engine;
  #followed = {};

  static list = "certificates"; // in the catalogue: the presets that have one
  static file(preset) { return `certificate-${preset}.npz`; }
  static async read(engine, rules, preset, content) {
    return new Book(engine, rules, preset, await readArrays(Book.file(preset), content));
  }

  constructor(engine, rules, preset, arrays) {
    Object.assign(this, { rules, arrays, file: Book.file(preset) });
    this.#engine = engine;
    this.start = engine.start(rules);
    const wanted = { format: 1, rules: preset, position: positionText(rules, this.start) };
    for (const [name, value] of Object.entries(wanted)) if (arrays[name] !== value) damaged(this.file, name, `found ${arrays[name]}, expected ${value}`);
    this.strategies = Object.fromEntries(["lower", "upper"].map((name) => [name, new Strategy(engine, rules, this.start, this.file, name, arrays)]));
  }

  /** The proved action in a running position, or null: the lower bound's after an even number of plies, else the upper's.
   * Where a position stands there several times, it is that by which the bound is still reached and which ends soonest. */
  provedMove(position) {
    const { key, mirrored } = keyOf(this.rules, position), name = position.ply % 2 ? "upper" : "lower", numbers = this.#numbers(name).get(key);
    if (!numbers) return null;
    const { moves, ranks, values, goal } = this.strategies[name], lead = position.scores[position.mover] - position.scores[1 - position.mover];
    const least = (from, of) => from.reduce((one, other) => (of(other) < of(one) ? other : one)), enough = numbers.filter((number) => lead + values[number] >= goal);
    const number = enough.length ? least(enough, (one) => ranks[one]) : least(numbers, (one) => -values[one]);
    if (position.ply + 2 * ranks[number] > this.rules.max_plies) return null;
    return mirrored ? this.rules.actions - 1 - moves[number] : moves[number];
  }

  /** The numbers of each position of a strategy by its key, once it is followed. */
  #numbers(name) {
    if (!this.#followed[name]) {
      const strategy = this.strategies[name], numbers = (this.#followed[name] = new Map());
      for (const _ of strategy.follow()) { /* to the end */ }
      strategy.settle();
      strategy.keys.forEach((key, number) => { if (numbers.has(key)) numbers.get(key).push(number); else numbers.set(key, [number]); });
    }
    return this.#followed[name];
  }
}

// ---- a table of openings ---------------------------------------------------------------------------------------------

/** Proved bounds of the positions of the first plies. */
export class Openings {
  #engine;
  #bounds = new Map();

  static list = "openings";
  static file(preset) { return `opening-values-${preset}.json`; }
  static read(engine, _, preset, table) { return new Openings(engine, preset, table); }
  /** A table of no positions, for rules without one: it knows only the moves that end the game. */
  static none(engine) { return new Openings(engine, "", { format: 1, rules: "", plies: -1, positions: [] }); }

  constructor(engine, preset, table) {
    const file = Openings.file(preset);
    this.#engine = engine;
    this.plies = table?.plies;
    if (table?.format !== 1 || table.rules !== preset) damaged(file, "format, rules", `expected format 1 of ${preset}`);
    for (const [index, row] of table.positions.entries()) {
      const [squares, lower, upper] = row, numbers = [lower, upper].every((bound) => bound === null || Number.isInteger(bound));
      if (typeof squares !== "string" || !numbers || (upper !== null && lower > upper)) damaged(file, `position ${index + 1}`, "expected [squares, lower bound, upper bound]");
      this.#bounds.set(squares, { lower: lower ?? -Infinity, upper: upper ?? Infinity });
    }
  }

  /** Bounds of a running position's future margin for its mover; undefined for one that the table does not know. */
  value(rules, position) {
    if (position.ply > this.plies) return undefined;
    return this.#bounds.get(positionText(rules, unpack(rules, keyOf(rules, position).key)).split(" ")[0]);
  }

  /** The same of each move that leads to a known position or ends the game, by action, for who makes it. */
  moveValues(rules, position) {
    const found = {}, margin = (scores) => scores[position.mover] - scores[1 - position.mover];
    for (const action of this.#engine.legal(rules, position)) {
      const child = this.#engine.play(rules, position, action).position;
      const bounds = child.ended ? { lower: 0, upper: 0 } : this.value(rules, child);
      const gain = margin(child.ended ? this.#engine.standings(rules, child) : child.scores) - margin(position.scores);
      if (bounds) found[action] = { lower: gain - bounds.upper, upper: gain - bounds.lower };
    }
    return found;
  }
}

// ---- what is known of openings, as points by which South ends ahead --------------------------------------------------

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
