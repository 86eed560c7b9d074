// Proved moves and values: certificates, as in oanquan_env/players/book.py, and opening tables, as in
// oanquan_env/proofs/opening_values.py, combined with search values. The error for a damaged file names the damaged
// part.

import { Strategy, damaged, keyOf, readArrays, unpack } from "./certificate.js";
import { moveText, positionText } from "../model/notation.js";

/**
 * The proved moves of a certificate for the set-up. Each strategy is expanded to all its positions when it is first
 * needed.
 */
export class Book {
  #followed = {};

  static list = "certificates"; // the catalogue's list of presets that have one
  static file(preset) {
    return `certificate-${preset}.npz`;
  }
  static async read(engine, rules, preset, content) {
    return new Book(engine, rules, preset, await readArrays(Book.file(preset), content));
  }

  constructor(engine, rules, preset, arrays) {
    Object.assign(this, { rules, arrays, file: Book.file(preset) });
    this.start = engine.start(rules);
    const wanted = { format: 1, rules: preset, position: positionText(rules, this.start) };
    for (const [name, value] of Object.entries(wanted))
      if (arrays[name] !== value) damaged(this.file, name, `found ${arrays[name]}, expected ${value}`);
    this.strategies = Object.fromEntries(
      ["lower", "upper"].map((name) => [name, new Strategy(engine, rules, this.start, this.file, name, arrays)]),
    );
  }

  /**
   * Return the proved action in a running position, or null: from the lower bound's strategy after an even number of
   * plies, else from the upper bound's. If the position has several entries, use the one that reaches the bound
   * soonest.
   */
  provedMove(position) {
    const { key, mirrored } = keyOf(this.rules, position),
      name = position.ply % 2 ? "upper" : "lower",
      numbers = this.#numbers(name).get(key);
    if (!numbers) return null;
    const { moves, ranks, values, goal } = this.strategies[name],
      lead = position.scores[position.mover] - position.scores[1 - position.mover];
    const least = (from, of) => from.reduce((one, other) => (of(other) < of(one) ? other : one)),
      enough = numbers.filter((number) => lead + values[number] >= goal);
    const number = enough.length ? least(enough, (one) => ranks[one]) : least(numbers, (one) => -values[one]);
    if (position.ply + 2 * ranks[number] > this.rules.max_plies) return null;
    return mirrored ? this.rules.actions - 1 - moves[number] : moves[number];
  }

  /** Follow the strategy for positions after `ply` plies, which may take seconds. */
  prepare(ply) {
    this.#numbers(ply % 2 ? "upper" : "lower");
  }

  /** Follow a strategy once; return the numbers of its positions by their keys. */
  #numbers(name) {
    if (!this.#followed[name]) {
      const strategy = this.strategies[name],
        steps = strategy.follow(),
        numbers = (this.#followed[name] = new Map());
      while (!steps.next().done); // to the end
      strategy.settle();
      strategy.keys.forEach((key, number) => {
        if (numbers.has(key)) numbers.get(key).push(number);
        else numbers.set(key, [number]);
      });
    }
    return this.#followed[name];
  }
}

// ---- an opening table -----------------------------------------------------------------------------------------------

/** Proved bounds of the positions of the first plies. */
export class Openings {
  #engine;
  #bounds = new Map();

  static list = "openings";
  static file(preset) {
    return `opening-values-${preset}.json`;
  }
  static read(engine, _, preset, table) {
    return new Openings(engine, preset, table);
  }
  /** Return an empty table for rules without one; it gives values only for moves that end the game. */
  static none(engine) {
    return new Openings(engine, "", { format: 1, rules: "", plies: -1, positions: [] });
  }

  constructor(engine, preset, table) {
    const file = Openings.file(preset);
    this.#engine = engine;
    this.plies = table?.plies;
    if (table?.format !== 1 || table.rules !== preset) damaged(file, "format, rules", `expected format 1 of ${preset}`);
    for (const [index, row] of table.positions.entries()) {
      const [squares, lower, upper] = row,
        numbers = [lower, upper].every((bound) => bound === null || Number.isInteger(bound));
      if (typeof squares !== "string" || !numbers || (upper !== null && lower > upper))
        damaged(file, `position ${index + 1}`, "expected [squares, lower bound, upper bound]");
      this.#bounds.set(squares, { lower: lower ?? -Infinity, upper: upper ?? Infinity });
    }
  }

  /** Return the bounds of a running position's future margin for its mover; undefined if it is not in the table. */
  value(rules, position) {
    if (position.ply > this.plies) return undefined;
    return this.#bounds.get(positionText(rules, unpack(rules, keyOf(rules, position).key)).split(" ")[0]);
  }

  /**
   * Return bounds of the mover's future margin by action, for each move that ends the game or leads to a position in
   * the table.
   */
  moveValues(rules, position) {
    const found = {},
      margin = (scores) => scores[position.mover] - scores[1 - position.mover];
    for (const action of this.#engine.legal(rules, position)) {
      const child = this.#engine.play(rules, position, action).position;
      const bounds = child.ended ? { lower: 0, upper: 0 } : this.value(rules, child);
      const gain = margin(child.ended ? this.#engine.standings(rules, child) : child.scores) - margin(position.scores);
      if (bounds) found[action] = { lower: gain - bounds.upper, upper: gain - bounds.lower };
    }
    return found;
  }
}

// ---- values of openings, as South's final lead in points ------------------------------------------------------------

const leadOf = ([south, north]) => south - north;
const ordered = (one, other) => (one < other ? [one, other] : [other, one]);
/** Convert bounds of the mover's future margin to bounds of South's final lead. */
const ofSouth = ({ mover, scores }, { lower, upper }) =>
  ordered(...[lower, upper].map((bound) => leadOf(scores) + (mover ? -bound : bound)));

/**
 * Return the legal moves of a position: { action, move, lower, upper, value, proved }. Once all have values, the
 * mover's best comes first. Bounds without a proof are infinite. `value` is exact if `proved`, else from `hint`
 * (thinking.js), or null.
 */
export function movesOf(engine, rules, table, position, hint = null) {
  const known = table.moveValues(rules, position),
    sign = position.mover ? -1 : 1;
  const moves = engine.legal(rules, position).map((action) => {
    const move = moveText(action),
      [lower, upper] = action in known ? ofSouth(position, known[action]) : [-Infinity, Infinity];
    const proved = lower === upper || (hint?.exact.includes(move) ?? false),
      seen = hint ? sign * hint.values[move] + 0 : null;
    return { action, move, lower, upper, value: lower === upper ? lower : seen, proved };
  });
  return moves.some(({ value }) => value === null)
    ? moves
    : moves.sort((one, other) => sign * (other.value - one.value));
}

/**
 * Return the value of a running position from its moves and the table: { lower, upper, value, proved }, as in movesOf.
 */
export function valueOf(rules, table, position, moves) {
  const itself = table.value(rules, position),
    best = (name) => (position.mover ? Math.min : Math.max)(...moves.map((move) => move[name]));
  const found = itself ? ofSouth(position, itself) : [-Infinity, Infinity],
    lower = Math.max(found[0], best("lower")),
    upper = Math.min(found[1], best("upper"));
  if (lower === upper) return { lower, upper, value: lower, proved: true };
  const open = moves.some(({ value }) => value === null),
    value = open ? null : Math.min(Math.max(best("value"), lower), upper);
  return { lower, upper, value, proved: !open && moves.every(({ proved }) => proved) };
}

/**
 * Return the first move that captures the most points, if it is proved to lose: { points, upper, exact, line }, else
 * null. `upper` is the upper bound of South's lead, `exact` whether it is the value, `line` the proved best line,
 * beginning with the move.
 */
export function refutation(engine, rules, table) {
  const start = engine.start(rules),
    points = ({ action }) => engine.play(rules, start, action).points;
  const [tempting] = movesOf(engine, rules, table, start).sort(
    (one, other) => points(other) - points(one) || (one.action & 1) - (other.action & 1),
  );
  const { lower, upper } = tempting,
    line = [];
  if (upper >= 0) return null;
  let position = start,
    best = tempting;
  do {
    line.push(best.action);
    ({ position } = engine.play(rules, position, best.action));
    const sign = position.mover ? -1 : 1;
    best = position.ended
      ? null
      : movesOf(engine, rules, table, position).reduce((one, other) =>
          sign * other.upper > sign * one.upper ? other : one,
        );
  } while (best?.upper === upper);
  return { points: points(tempting), upper, exact: lower === upper, line };
}
