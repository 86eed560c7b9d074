// Checks a certificate, as oanquan_env/benchmark/verification.py does: plays the strategy of each bound against every reply.
// Nothing of the search that found the strategies is here, and no document.

import { damaged, keyOf, readArrays, strategyOf, unpack } from "./book.js";
import { parsePosition } from "./position-reading.js";
import { parseRules } from "./rules.js";

const OVER = -1; // in place of a position's number: the game has ended
const ENDLESS = 1000; // a ply limit that no round meets, as each begins at ply 0
const TURN = 30; // milliseconds: then the page has its turn
const BOUNDS = { lower: ["lower bound", "chặn dưới"], upper: ["upper bound", "chặn trên"] };
const pause = () => new Promise((resolve) => { setTimeout(resolve); });

/**
 * What a certificate proves: { rules, text, start, lower, upper }. Each bound, null where nothing is claimed, is { bound,
 * positions, replies, plies }: points of the future margin of the position's mover, mirror images counted once, and the
 * moves of the longest game. `onprogress(done, all)` hears how many positions were followed. Throws Refused.
 */
export async function checkProof(engine, catalogue, file, content, onprogress = () => {}) {
  const arrays = await readArrays(file, content), claimed = Object.keys(BOUNDS).filter((name) => name in arrays);
  const known = ["format", "rules", "position", ...claimed.flatMap((name) => [name, `${name}_moves`, `${name}_ranks`])];
  const stranger = Object.keys(arrays).find((name) => !known.includes(name));
  if (arrays.format !== 1) damaged(file, "format", `${arrays.format}; 1 is wanted`, `${arrays.format}; phải là 1`);
  if (stranger) damaged(file, stranger, "no part of a certificate", "không phải phần của chứng minh");
  if (!claimed.length) damaged(file, "lower, upper", "the certificate claims no bound", "chứng minh không nêu chặn nào");
  const strategies = claimed.map((name) => [name, strategyOf(file, arrays, name)]);
  const within = (place, read) => {
    try { return read(String(arrays[place])); } catch ({ detail }) { return damaged(file, place, detail.en, detail.vi); }
  };
  const rules = within("rules", (text) => engine.rules(parseRules(text, catalogue)));
  if (rules.players !== 2 || rules.refill === "forfeit") damaged(file, "rules", "certificates are for two players who refill on credit", "chứng minh chỉ dành cho hai người được vay dân");
  const start = within("position", (text) => parsePosition(rules, text, engine));
  if (start.ended) damaged(file, "position", "the game is over", "ván đã hết");
  const all = strategies.reduce((sum, [, { moves }]) => sum + moves.length, 0), found = { lower: null, upper: null };
  let before = 0;
  for (const [name, claim] of strategies) {
    const strategy = new Strategy(engine, rules, start, file, name, claim);
    await strategy.follow((done) => onprogress(before + done, all));
    found[name] = strategy.check();
    before += found[name].positions;
  }
  return { rules, text: arrays.rules, start, ...found };
}

/** A strategy of one bound: the prover of the lower one is the mover of the certificate's position, side 0. */
class Strategy {
  #engine;
  #numbers = new Map(); // of each position by its key
  #keys = []; // of each position by its number
  #edges = []; // of each position, for each reply: [margin, number of the position that it leads to, or OVER]

  constructor(engine, rules, start, file, name, { bound, moves, ranks }) {
    this.#engine = engine;
    Object.assign(this, { start, file, name, bound, moves, ranks, limit: rules.max_plies });
    this.rules = engine.rules({ ...rules, max_plies: ENDLESS });
    this.seat = name === "lower" ? 0 : 1;
    const begin = unpack(this.rules, keyOf(this.rules, start).key);
    const first = this.seat ? this.#engine.legal(this.rules, begin).map((action) => this.#play(begin, action)) : [begin];
    this.firsts = first.map((position) => this.#edge(position, this.seat));
  }

  #refuse(place, en, vi) {
    const [bound, chan] = BOUNDS[this.name], at = place === null ? ["", ""] : [`, position ${place}`, `, thế ${place}`];
    damaged(this.file, bound + at[0], en, vi, chan + at[1]);
  }

  #play(position, action) {
    try { return this.#engine.play(this.rules, position, action).position; } catch (error) {
      return this.#refuse(this.#edges.length, `a move cannot be played: ${error.message}`, "có nước không bao giờ dừng");
    }
  }

  /** Points that a seat is ahead, and the number of a position; a new one joins the queue. */
  #edge(position, seat) {
    const scores = position.ended ? this.#engine.standings(this.rules, position) : position.scores, margin = scores[seat] - scores[1 - seat];
    if (position.ended) return [margin, OVER];
    const { key } = keyOf(this.rules, position);
    if (!this.#numbers.has(key)) this.#numbers.set(key, this.#keys.push(key) - 1);
    return [margin, this.#numbers.get(key)];
  }

  /** Play the prover's move in each position, and every reply to it. */
  async follow(onprogress) {
    const { rules, moves } = this, count = moves.length.toLocaleString("en"), so = moves.length.toLocaleString("vi");
    let turn = performance.now();
    for (let number = 0; number < this.#keys.length; number += 1) {
      const position = unpack(rules, this.#keys[number]), move = moves[number];
      if (number >= moves.length) this.#refuse(null, `${count} moves, and a reply leads to one position more`, `có ${so} nước, mà một nước đáp dẫn đến thế khác nữa`);
      if (!this.#engine.legal(rules, position).includes(move)) this.#refuse(number, `no move ${move} can be played`, `không đi được nước ${move}`);
      const moved = this.#play(position, move), replies = this.#engine.legal(rules, moved); // none after the end
      this.#edges.push(moved.ended ? [this.#edge(moved, 0)] : replies.map((reply) => this.#edge(this.#play(moved, reply), 0)));
      if (performance.now() - turn < TURN) continue;
      onprogress(number + 1);
      await pause();
      turn = performance.now();
    }
    if (this.#keys.length < moves.length) this.#refuse(null, `${count} moves for ${this.#keys.length.toLocaleString("en")} positions`, `${so} nước cho ${this.#keys.length.toLocaleString("vi")} thế`);
    onprogress(moves.length);
  }

  /** Ranks fall, the longest game ends before the limit, and every game ends with the bound or better for the prover. */
  check() {
    const { ranks, firsts } = this, edges = this.#edges, rank = (number) => (number === OVER ? 0 : ranks[number]);
    const risen = edges.findIndex((replies, number) => replies.some(([, next]) => ranks[number] <= rank(next)));
    if (risen >= 0) this.#refuse(risen, "the rank does not fall after it", "bậc không giảm sau thế này");
    const plies = firsts.reduce((most, [, number]) => Math.max(most, 2 * rank(number) + this.seat), 0);
    if (this.start.ply + plies > this.limit) this.#refuse(null, `a game of ${plies} plies more passes the limit`, `ván dài thêm ${plies} nước, quá giới hạn`);
    const values = new Int32Array(edges.length), least = (ends) => ends.reduce((low, [margin, number]) => Math.min(low, margin + (number === OVER ? 0 : values[number])), Infinity);
    const order = [...ranks.keys()].sort((one, other) => ranks[one] - ranks[other]); // what moves lead to comes before them
    for (const number of order) values[number] = least(edges[number]);
    const value = least(firsts), promised = this.seat ? -this.bound : this.bound;
    if (value < promised) this.#refuse(null, `the strategy reaches ${value} for its player, not ${promised}`, `cách chơi này đạt ${value}, không phải ${promised}`);
    return { bound: this.bound, positions: edges.length, replies: edges.reduce((sum, replies) => sum + replies.length, 0), plies };
  }
}
