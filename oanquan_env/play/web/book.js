// Proved moves and values: certificates, as oanquan_env/players/book.py follows them, and tables of openings, as
// oanquan_env/benchmark/opening_values.py reads them. A damaged file is refused, with its place.

import { Refused } from "./refused.js";
import { positionText } from "./notation.js";

const LARGEST = 1 << 26; // bytes that an archive may hold once it is decompressed
const ENDLESS = 1000; // a ply limit that no strategy meets

/** Refuse a file; in Vietnamese a fault and its place may have words of their own. */
export function damaged(file, place, fault, loi = fault, cho = place) {
  throw new Refused("request", `${file}, ${place}: ${fault}`, `Tệp hỏng: ${file}, ${cho}: ${loi}`);
}

// ---- archives of arrays (.npz) ---------------------------------------------------------------------------------------

/** The arrays of an .npz file by name: Uint8Array, number or text. */
export async function readArrays(file, content) {
  const bytes = new Uint8Array(content), view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let end = bytes.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end -= 1;
  if (end < 0) damaged(file, `byte ${bytes.length}`, "the archive has no end; it was cut off, or is none");
  const arrays = {};
  let at = view.getUint32(end + 16, true), held = 0;
  for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
    if (at + 46 > end || view.getUint32(at, true) !== 0x02014b50) damaged(file, `byte ${at}`, "no entry of an archive");
    const [packed, size] = [20, 24].map((offset) => view.getUint32(at + offset, true));
    const [length, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    const name = String.fromCharCode(...bytes.subarray(at + 46, at + 46 + length)), local = view.getUint32(at + 42, true);
    const place = `${name}, byte ${local}`;
    if (local + 30 > end || view.getUint32(local, true) !== 0x04034b50) damaged(file, place, "no file of an archive");
    if (view.getUint16(at + 10, true) !== 8) damaged(file, place, "not compressed by deflate");
    if ((held += size) > LARGEST) damaged(file, place, `at most ${LARGEST} bytes are read`);
    const begin = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    if (begin + packed > end) damaged(file, place, "it passes the archive's end");
    // A gzip file ends with what the archive's list holds, checksum and size, so whoever decompresses it checks both.
    const ends = [bytes.subarray(at + 16, at + 20), bytes.subarray(at + 24, at + 28)];
    const gzip = new Blob([Uint8Array.of(31, 139, 8, 0, 0, 0, 0, 0, 0, 255), bytes.subarray(begin, begin + packed), ...ends]);
    const array = await new Response(gzip.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer().catch(() => null);
    if (!array) damaged(file, place, "its checksum or its size differs");
    arrays[name.replace(/\.npy$/, "")] = readArray(file, place, new Uint8Array(array));
    at += 46 + length + extra + comment;
  }
  return arrays;
}

function readArray(file, place, bytes) {
  const view = new DataView(bytes.buffer), begin = bytes.length < 10 ? 0 : 10 + view.getUint16(8, true);
  const head = String.fromCharCode(...bytes.subarray(0, begin));
  const said = /^\x93NUMPY\x01\x00[^]{2}\{'descr': '(\|u1|<i8|<U\d+)', 'fortran_order': False, 'shape': \((\d*),?\), \} *\n$/.exec(head);
  const size = !said ? -1 : said[1] === "|u1" && said[2] ? Number(said[2]) : said[1] === "<i8" && !said[2] ? 8 : said[2] ? -1 : 4 * said[1].slice(2);
  if (size !== bytes.length - begin) damaged(file, place, "no array of the kinds that a certificate has");
  if (said[1] === "|u1") return bytes.subarray(begin);
  if (said[1] === "<i8") return Number(view.getBigInt64(begin, true));
  const codes = Array.from({ length: size / 4 }, (_, index) => view.getUint32(begin + 4 * index, true));
  return String.fromCharCode(...codes.filter((code) => code)); // certificates' texts are ASCII
}

// ---- a position's key ------------------------------------------------------------------------------------------------

/** The same for two positions that play alike (`canonical_sides`): the mover's side first, and of a board and its mirror
 * image the smaller; {key, mirrored}. A side is its stone, its mandarin square's seeds and its fields from the last on. */
export function keyOf(rules, { seeds, stones, mover }) {
  const row = rules.fields + 1;
  const side = (seat, turned) => {
    const own = seeds.slice(seat * row, seat * row + rules.fields), mandarin = turned ? 1 - seat : seat;
    return String.fromCharCode(stones[mandarin], seeds[mandarin * row + rules.fields], ...(turned ? own : own.reverse()));
  };
  const key = side(mover, false) + side(1 - mover, false);
  if (rules.sowing !== "either") return { key, mirrored: false };
  const image = side(mover, true) + side(1 - mover, true);
  return image < key ? { key: image, mirrored: true } : { key, mirrored: false };
}

/** The position of a key: its mover on side 0, no points won, no plies played. */
export function unpack(rules, key) {
  const sides = [key.slice(0, key.length / 2), key.slice(key.length / 2)].map((side) => Array.from(side, (one) => one.charCodeAt(0)));
  const seeds = sides.flatMap(([, mandarin, ...fields]) => [...fields.reverse(), mandarin]);
  return { seeds, stones: sides.map(([stone]) => stone), scores: [0, 0], mover: 0, ply: 0, ended: 0 };
}

// ---- a certificate ---------------------------------------------------------------------------------------------------

/** The bound "lower" or "upper" of a certificate: its points, the prover's moves and their ranks. */
export function strategyOf(file, arrays, name) {
  const [bound, moves, ranks] = [name, `${name}_moves`, `${name}_ranks`].map((part) => arrays[part]);
  const whole = Number.isInteger(bound) && moves instanceof Uint8Array && ranks instanceof Uint8Array && moves.length === ranks.length;
  return whole ? { bound, moves, ranks } : damaged(file, name, "a bound, moves and as many ranks are wanted", "cần có chặn, các nước và chừng ấy bậc");
}

/** Plays the moves of a certificate of the set-up. Each strategy is followed to all its positions when first needed. */
export class Book {
  #engine;
  #numbers = {};

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
    for (const [name, value] of Object.entries(wanted)) if (arrays[name] !== value) damaged(this.file, name, `${arrays[name]}; ${value} is wanted`);
    for (const name of ["lower", "upper"]) strategyOf(this.file, arrays, name);
  }

  /** The proved action in a running position, or null: the lower bound's after an even number of plies, else the upper's. */
  known(position) {
    const { key, mirrored } = keyOf(this.rules, position), name = position.ply % 2 ? "upper" : "lower";
    const number = (this.#numbers[name] ??= this.#follow(name)).get(key);
    if (number === undefined || position.ply + 2 * this.arrays[`${name}_ranks`][number] > this.rules.max_plies) return null;
    const action = this.arrays[`${name}_moves`][number];
    return mirrored ? this.rules.actions - 1 - action : action;
  }

  /** Whether a game, `history` from `start` on, is where the strategy has led `seat`, so that its bound holds. */
  follows(start, history, seat) {
    let before = null, now = start;
    for (const action of history) [before, now] = [now, this.#engine.play(this.rules, now, action).position];
    if (now.mover === seat) return !now.ended && this.known(now) !== null;
    if (before) return this.known(before) === history.at(-1);
    const longest = this.arrays.upper_ranks.reduce((most, rank) => Math.max(most, rank), 0);
    return keyOf(this.rules, now).key === keyOf(this.rules, this.start).key && now.ply + 1 + 2 * longest <= this.rules.max_plies;
  }

  /** The number of each position that the prover of a bound can meet, by its key: their order in the queue that
   * oanquan_env/search/certificates.py describes. */
  #follow(name) {
    const engine = this.#engine, rules = engine.rules({ ...this.rules, max_plies: ENDLESS });
    const moves = this.arrays[`${name}_moves`], numbers = new Map(), queue = [];
    const add = (position) => {
      const { key } = position.ended ? {} : keyOf(rules, position);
      if (!key || numbers.has(key)) return;
      numbers.set(key, queue.length);
      queue.push(key);
    };
    const play = (position, action) => engine.play(rules, position, action).position;
    const begin = unpack(rules, keyOf(rules, this.start).key);
    if (name === "lower") add(begin);
    else for (const action of engine.legal(rules, begin)) add(play(begin, action));
    for (let number = 0; number < queue.length; number += 1) {
      const position = unpack(rules, queue[number]), move = moves[number];
      if (!engine.legal(rules, position).includes(move)) damaged(this.file, `${name}_moves, position ${number}`, `no move ${move} can be played`);
      const moved = play(position, move);
      for (const reply of engine.legal(rules, moved)) add(play(moved, reply));
    }
    if (queue.length !== moves.length) damaged(this.file, `${name}_moves`, `${moves.length} moves for ${queue.length} positions`);
    return numbers;
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

  constructor(engine, preset, table) {
    const file = Openings.file(preset);
    this.#engine = engine;
    this.plies = table?.plies;
    if (table?.format !== 1 || table.rules !== preset) damaged(file, "format, rules", `format 1 of ${preset} is wanted`);
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
