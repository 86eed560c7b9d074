// Reads and checks certificates: archives of arrays, and strategies expanded to all their positions, as described in
// oanquan_env/proofs/certificates.py and checked by oanquan_env/proofs/certificate_checking.py. This code shares nothing
// with the search that made them, and uses no document.

import { parsePosition } from "../model/position-reading.js";
import { Refused } from "../model/refused.js";
import { parseRules } from "../model/rules.js";

const LARGEST = 1 << 26; // maximum size of a decompressed archive, bytes
const ENDLESS = 1000; // a ply limit that no move reaches, because each position is unpacked at ply 0
const MOST_MOVES = 500; // maximum number of the prover's moves in the longest game of a strategy
const OVER = -1; // replaces a position's number if the game is finished
const TURN = 30; // milliseconds of work before the page gets a turn
const pause = () =>
  new Promise((resolve) => {
    setTimeout(resolve);
  });
const BOUNDS = ["lower", "upper"];

/** Refuse a damaged file; only developers are likely to see these messages. */
export function damaged(file, place, fault) {
  throw new Refused("request", `${file}, ${place}: ${fault}`, `Tệp hỏng: ${file}, ${place}: ${fault}`);
}

// ---- archives of arrays (.npz) --------------------------------------------------------------------------------------

/** Read the arrays of an .npz file by name: Uint8Array, Uint32Array, number or text. */
export async function readArrays(file, content) {
  const bytes = new Uint8Array(content),
    view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let end = bytes.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end -= 1;
  if (end < 0) damaged(file, `byte ${bytes.length}`, "the file was cut off, or is not an archive");
  const arrays = {};
  let at = view.getUint32(end + 16, true),
    held = 0;
  for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
    if (at + 46 > end || view.getUint32(at, true) !== 0x02014b50)
      damaged(file, `byte ${at}`, "this is not a valid archive entry");
    const [packed, size] = [20, 24].map((offset) => view.getUint32(at + offset, true));
    const [length, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    const name = String.fromCharCode(...bytes.subarray(at + 46, at + 46 + length)),
      local = view.getUint32(at + 42, true);
    const place = `${name}, byte ${local}`;
    if (local + 30 > end || view.getUint32(local, true) !== 0x04034b50)
      damaged(file, place, "this is not a valid file of an archive");
    if (view.getUint16(at + 10, true) !== 8) damaged(file, place, "it is not compressed by deflate");
    if ((held += size) > LARGEST) damaged(file, place, `at most ${LARGEST} bytes are read`);
    const begin = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    if (begin + packed > end) damaged(file, place, "it passes the archive's end");
    // A gzip file ends with the checksum and size from the archive's directory, so decompression verifies both.
    const ends = [bytes.subarray(at + 16, at + 20), bytes.subarray(at + 24, at + 28)];
    const gzip = new Blob([
      Uint8Array.of(31, 139, 8, 0, 0, 0, 0, 0, 0, 255),
      bytes.subarray(begin, begin + packed),
      ...ends,
    ]);
    const array = await new Response(gzip.stream().pipeThrough(new DecompressionStream("gzip")))
      .arrayBuffer()
      .catch(() => null);
    if (!array) damaged(file, place, "its checksum or size is wrong");
    arrays[name.replace(/\.npy$/, "")] = readArray(file, place, new Uint8Array(array));
    at += 46 + length + extra + comment;
  }
  return arrays;
}

function readArray(file, place, bytes) {
  const view = new DataView(bytes.buffer),
    begin = bytes.length < 10 ? 0 : 10 + view.getUint16(8, true);
  const head = String.fromCharCode(...bytes.subarray(0, begin));
  const description = head.startsWith("\x93NUMPY\x01\x00") ? head.slice(10) : "";
  const said =
    /^\{'descr': '(\|u1|<u4|<i8|<U\d+)', 'fortran_order': False, 'shape': \((?:(\d+),( 2)?)?\), \} *\n$/.exec(
      description,
    );
  const [, kind, count, pairs] = said ?? [],
    item = { "|u1": 1, "<u4": 4, "<i8": 8 }[kind] ?? 4 * kind?.slice(2);
  const fits =
    said &&
    ("|u1" === kind ? count && !pairs : "<u4" === kind ? pairs : !count) &&
    item * (count ?? 1) * (pairs ? 2 : 1) === bytes.length - begin;
  if (!fits) damaged(file, place, "this is not an array that a certificate can hold");
  if (kind === "|u1") return bytes.subarray(begin);
  if (kind === "<u4") return new Uint32Array(bytes.slice(begin).buffer);
  if (kind === "<i8") return Number(view.getBigInt64(begin, true));
  const codes = Array.from({ length: item / 4 }, (_, index) => view.getUint32(begin + 4 * index, true));
  return String.fromCharCode(...codes.filter((code) => code)); // certificates' texts are ASCII
}

// ---- position keys --------------------------------------------------------------------------------------------------

/**
 * Return {key, mirrored}, with the same key for equivalent positions (`canonical_sides`): the mover's side comes first,
 * and the smaller of board and mirror image is used. A side is its stone, its mandarin square's seeds, and its squares
 * from the last on.
 */
export function keyOf(rules, { seeds, stones, mover }) {
  const row = rules.fields + 1;
  const side = (seat, turned) => {
    const own = seeds.slice(seat * row, seat * row + rules.fields),
      mandarin = turned ? 1 - seat : seat;
    return String.fromCharCode(
      stones[mandarin],
      seeds[mandarin * row + rules.fields],
      ...(turned ? own : own.reverse()),
    );
  };
  const key = side(mover, false) + side(1 - mover, false);
  if (rules.sowing !== "either") return { key, mirrored: false };
  const image = side(mover, true) + side(1 - mover, true);
  return image < key ? { key: image, mirrored: true } : { key, mirrored: false };
}

/** Return the position of a key: the mover has side 0, no points are won, no plies played. */
export function unpack(rules, key) {
  const sides = [key.slice(0, key.length / 2), key.slice(key.length / 2)].map((side) =>
    Array.from(side, (one) => one.charCodeAt(0)),
  );
  const seeds = sides.flatMap(([, mandarin, ...fields]) => [...fields.reverse(), mandarin]);
  return { seeds, stones: sides.map(([stone]) => stone), scores: [0, 0], mover: 0, ply: 0, ended: 0 };
}

// ---- a strategy -----------------------------------------------------------------------------------------------------

/**
 * One bound of a certificate, "lower" or "upper", with its strategy: `bound` in points and, after `follow`, the
 * prover's `moves` by position number. The lower bound's prover is the mover of the certificate's position.
 */
export class Strategy {
  #engine;
  #numbers = new Map(); // position numbers by key; for later copies of a position, the copy's index follows the key
  #times = new Map(); // the index of the copy to which an edge leads, by edge number
  // For each edge, the prover's margin, and the number of the child or OVER; edges to the first positions come first.
  // For each position, its first edge.
  #margins = [];
  #children = [];
  #begins = [];

  constructor(engine, rules, start, file, name, arrays) {
    const [bound, moves, again] = [name, `${name}_moves`, `${name}_again`].map((part) => arrays[part]);
    if (!(Number.isInteger(bound) && moves instanceof Uint8Array && again instanceof Uint32Array))
      damaged(file, name, "expected a bound, moves, and edges that lead to a known position");
    this.#engine = engine;
    Object.assign(this, {
      start,
      file,
      name,
      bound,
      moves,
      limit: rules.max_plies,
      seat: name === "lower" ? 0 : 1,
      keys: [],
    });
    this.rules = engine.rules({ ...rules, max_plies: ENDLESS });
    for (let place = 0; place < again.length; place += 2) this.#times.set(again[place], again[place + 1]);
    const begin = unpack(this.rules, keyOf(this.rules, start).key);
    for (const position of this.seat
      ? engine.legal(this.rules, begin).map((action) => this.#play(begin, action))
      : [begin])
      this.#add(position, this.seat);
  }

  /** The margin, in points, that the prover must reach. */
  get goal() {
    return this.seat ? -this.bound : this.bound;
  }

  #refuse(place, fault) {
    damaged(this.file, `${this.name} bound${place === null ? "" : `, position ${place}`}`, fault);
  }

  #play(position, action) {
    try {
      return this.#engine.play(this.rules, position, action).position;
    } catch (error) {
      return this.#refuse(this.#begins.length, `a move cannot be played: ${error.message}`);
    }
  }

  /** Add an edge to a position; a new position joins the queue. */
  #add(position, seat) {
    const scores = position.ended ? this.#engine.standings(this.rules, position) : position.scores,
      edge = this.#margins.push(scores[seat] - scores[1 - seat]) - 1;
    if (position.ended) {
      this.#children.push(OVER);
      return;
    }
    const { key } = keyOf(this.rules, position),
      timed = key + (this.#times.get(edge) ?? "");
    if (!this.#numbers.has(timed)) this.#numbers.set(timed, this.keys.push(key) - 1);
    this.#children.push(this.#numbers.get(timed));
  }

  /** Play the prover's move in each position, and every reply to it; yield the number of positions done after each. */
  *follow() {
    const { rules, moves, keys } = this,
      count = moves.length.toLocaleString("en");
    for (let number = 0; number < keys.length; number += 1) {
      const position = unpack(rules, keys[number]),
        move = moves[number];
      if (number >= moves.length) this.#refuse(null, `${count} moves, but a reply leads to one position more`);
      if (!this.#engine.legal(rules, position).includes(move)) this.#refuse(number, `move ${move} cannot be played`);
      const moved = this.#play(position, move);
      this.#begins.push(this.#children.length);
      if (moved.ended) this.#add(moved, 0);
      else for (const reply of this.#engine.legal(rules, moved)) this.#add(this.#play(moved, reply), 0);
      yield number + 1;
    }
    if (keys.length < moves.length)
      this.#refuse(null, `${count} moves for ${keys.length.toLocaleString("en")} positions`);
    this.#begins.push(this.#children.length);
  }

  /**
   * Compute for each position the maximum number of moves left to the prover, `ranks`, and the minimum margin that it
   * gains from there on, `values`. Throw Refused if a game may never end.
   */
  settle() {
    const all = this.keys.length,
      ranks = new Int32Array(all),
      values = new Int32Array(all),
      children = this.#children,
      begins = this.#begins;
    let rounds = 0;
    for (let changed = true; changed; rounds += 1) {
      if (rounds > MOST_MOVES)
        this.#refuse(null, `a game may last more than ${MOST_MOVES} moves of the prover, or never end`);
      changed = false;
      for (let number = all - 1; number >= 0; number -= 1) {
        let most = 0;
        for (let edge = begins[number]; edge < begins[number + 1]; edge += 1)
          if (children[edge] !== OVER) most = Math.max(most, ranks[children[edge]]);
        if (ranks[number] !== most + 1) {
          ranks[number] = most + 1;
          changed = true;
        }
      }
    }
    // children come before their parents
    const order = [...ranks.keys()].sort((one, other) => ranks[one] - ranks[other]);
    for (const number of order) values[number] = this.#least(begins[number], begins[number + 1], values);
    Object.assign(this, { ranks, values });
  }

  #least(begin, end, values) {
    let least = Infinity;
    for (let edge = begin; edge < end; edge += 1)
      least = Math.min(least, this.#margins[edge] + (this.#children[edge] === OVER ? 0 : values[this.#children[edge]]));
    return least;
  }

  /**
   * Check that the longest game ends before the limit, and that the prover reaches the bound in every game; return what
   * was proved.
   */
  check() {
    this.settle();
    const replies = this.#children.length - (this.#begins[0] ?? 0),
      first = this.#children.slice(0, this.#begins[0]);
    const plies = first.reduce(
      (most, number) => Math.max(most, (number === OVER ? 0 : 2 * this.ranks[number]) + this.seat),
      0,
    );
    if (this.start.ply + plies > this.limit) this.#refuse(null, `a game of ${plies} more plies passes the limit`);
    const value = this.#least(0, this.#begins[0], this.values);
    if (value < this.goal) this.#refuse(null, `the strategy gets ${value} for its player, not ${this.goal}`);
    return { bound: this.bound, positions: this.keys.length, replies, plies };
  }
}

// ---- a proof --------------------------------------------------------------------------------------------------------

/**
 * Check a certificate; return { rules, text, start, lower, upper }. Each bound is null if not claimed, else { bound,
 * positions, replies, plies }: `bound` in points of the mover's future margin, positions without mirror images, and the
 * length of the longest game. `onprogress(done, all)` is called with the number of positions done. Throws Refused.
 */
export async function checkProof(engine, catalogue, file, content, onprogress = () => {}) {
  const arrays = await readArrays(file, content),
    claimed = BOUNDS.filter((name) => name in arrays);
  const known = ["format", "rules", "position", ...claimed.flatMap((name) => [name, `${name}_moves`, `${name}_again`])];
  const stranger = Object.keys(arrays).find((name) => !known.includes(name));
  if (arrays.format !== 1) damaged(file, "format", `found ${arrays.format}, expected 1`);
  if (stranger) damaged(file, stranger, "this is not part of a certificate");
  if (!claimed.length) damaged(file, "lower, upper", "the certificate claims no bound");
  const within = (place, read) => {
    try {
      return read(String(arrays[place]));
    } catch ({ detail }) {
      return damaged(file, place, detail.en);
    }
  };
  const rules = within("rules", (text) => engine.rules(parseRules(text, catalogue)));
  if (rules.players !== 2 || rules.refill === "forfeit")
    damaged(file, "rules", "certificates are for two players who refill on credit");
  const start = within("position", (text) => parsePosition(rules, text, engine));
  if (start.ended) damaged(file, "position", "the game is over");
  const strategies = claimed.map((name) => new Strategy(engine, rules, start, file, name, arrays)),
    found = { lower: null, upper: null };
  const all = strategies.reduce((sum, { moves }) => sum + moves.length, 0);
  let before = 0,
    turn = performance.now();
  for (const strategy of strategies) {
    for (const done of strategy.follow()) {
      if (performance.now() - turn < TURN) continue;
      onprogress(before + done, all);
      await pause();
      turn = performance.now();
    }
    found[strategy.name] = strategy.check();
    before += strategy.moves.length;
    onprogress(before, all);
  }
  return { rules, text: arrays.rules, start, ...found };
}
