// A game and its players: moves, takebacks, resignation, the rounds of a match, and records.

import { RESIGNED, matchRecords, roundHeaders, settle } from "./match-model.js";
import { TERMINATIONS, positionText, seatName } from "./notation.js";
import { resultOf } from "./records.js";
import { traceOf } from "./trace.js";

export const PERSON = "human", FRIEND = "friend"; // a friend is a person on another device, whose moves arrive by links

/**
 * One game. Its moves form a tree, because moves that were taken back are kept: a node is { serial, action, position, trace,
 * parent, children, comment, by }; the root has serial 0, and the others 1, 2, ... in the order in which they were first
 * played. `comment` comes from a record; `by` names who played the move here, and is undefined for moves of a record.
 *
 * `names` has for each seat PERSON, FRIEND, a level or a player's name; `match` is the match that this game is a round of, not yet
 * settled. `record` is the record that the game was read from, null for a new game. `known(name)` says whether a name is a
 * computer player's.
 */
export class Game {
  constructor(engine, rules, start, names, { match = null, record = null, known = () => false } = {}) {
    Object.assign(this, { engine, rules, names, known, record, resigned: null });
    this.root = this.node = { serial: 0, position: start, parent: null, children: new Map(), comment: record?.comments?.[0] };
    this.nodes = new Map(); // by serial, without the root
    this.undone = [];
    const sides = Object.fromEntries(names.map((name, seat) => [this.side(seat), name]));
    this.given = record ? record.headers : sides;
    this.match = record || !match ? match : { ...match, rounds: match.rounds.map((round) => ({ ...round, headers: { ...sides, ...round.headers } })) };
    for (const action of record?.moves ?? []) this.step(action).comment = record.comments?.[this.line().length];
    this.end = this.node; // the last node of the record
  }

  side(seat) { return seatName(this.rules.players, seat); }

  /**
   * Return the headers of a record. A player who continues a game that was read replaces the player in its headers; a person keeps
   * the person's name there.
   */
  get headers() {
    const headers = { ...this.given };
    for (const { by, parent } of this.line()) {
      const side = this.side(parent.position.mover);
      if (by && (by !== PERSON || !headers[side] || this.known(headers[side]))) headers[side] = by;
    }
    return headers;
  }

  /** Who played on each seat, according to records; undefined if they do not say. */
  get played() {
    const { headers } = this;
    return this.names.map((_, seat) => headers[this.side(seat)]);
  }

  get position() { return this.node.position; }
  get over() { return this.position.ended !== 0 || this.resigned !== null; }
  get canRedo() { return this.undone.length > 0 && this.resigned === null; }
  get canUndo() { return this.resigned !== null || this.personsLastMove() > 0; }

  /** Whether a friend needs the link to this game: the friend is to move, or the game has ended here. */
  get due() {
    if (!this.over) return this.player === FRIEND;
    return this.names.includes(FRIEND) && this.person(this.resigned ?? this.node.parent.position.mover);
  }

  person(seat) { return this.names[seat] === PERSON; }

  /** The name of the player to move; null if it is a person or the game is over. */
  get player() { return this.over || this.person(this.position.mover) ? null : this.names[this.position.mover]; }

  /** Return the nodes of the moves so far. */
  line() {
    const line = [];
    for (let at = this.node; at.parent; at = at.parent) line.unshift(at);
    return line;
  }

  /** Return the legal actions in the present position. */
  legal() { return this.over ? [] : this.engine.legal(this.rules, this.position); }

  /** Return the trace of a legal move; `played` is the engine's result for it. */
  trace(action, played = this.engine.play(this.rules, this.position, action)) {
    return traceOf(this.rules, this.position, action, played, played.position.ended ? this.standings(played.position) : []);
  }

  /** Return the final points if the game ends at `position`; in a match, leftovers of sold fields go to their buyers. */
  standings(position) {
    return this.match ? settle(this.engine, this.rules, this.match, position).rounds.at(-1).scores : this.engine.standings(this.rules, position);
  }

  /** Play a legal move. */
  push(action) {
    const { mover } = this.position;
    this.step(action).by = this.names[mover];
    this.undone = [];
  }

  /** Replay a legal move, or play one from a text. */
  step(action) {
    let next = this.node.children.get(action);
    if (!next) {
      const played = this.engine.play(this.rules, this.position, action), trace = this.trace(action, played);
      next = { serial: this.nodes.size + 1, action, position: played.position, trace, parent: this.node, children: new Map() };
      this.node.children.set(action, next);
      this.nodes.set(next.serial, next);
    }
    return (this.node = next);
  }

  /** Return how many moves ago a person moved, 1 for the last move; 0 for never, and once a friend has replied: those moves stay. */
  personsLastMove() {
    const line = this.line(), { players } = this.rules, ago = line.findIndex((_, index) => this.person((this.position.mover + players * line.length - index - 1) % players));
    return ago && this.names.includes(FRIEND) ? 0 : ago + 1;
  }

  /** Take back moves up to the last one by a person, or a resignation; return false if there is none. */
  undo() {
    if (this.resigned !== null) { this.resigned = null; return true; }
    const back = this.personsLastMove();
    if (back) this.backTo(this.line().length - back);
    return back > 0;
  }

  /** Take back all but the first `moves` moves; `redo` replays them in one step. */
  backTo(moves) {
    const line = this.line(), taken = line.slice(moves);
    this.resigned = null;
    if (!taken.length) return;
    this.undone.push(taken.map(({ action }) => action));
    this.node = taken[0].parent;
  }

  redo() {
    if (!this.canRedo) return false;
    for (const action of this.undone.pop()) this.step(action);
    return true;
  }

  resign() {
    this.resigned = this.position.mover;
    if (!this.match) this.node.comment = this.node.comment?.replace(new RegExp(` ?${this.#resigns}$`, "u"), "") || undefined; // `records` writes it anew
  }

  get #resigns() { return `${this.side(this.resigned)} resigns`; }

  /** Final scores, the winners, and why it is over; null while the game goes on and after a resignation. */
  outcome() {
    if (!this.position.ended) return null;
    const scores = this.standings(this.position), most = Math.max(...scores);
    return { scores, winners: scores.flatMap((score, seat) => (score === most ? [seat] : [])), termination: TERMINATIONS[this.position.ended] };
  }

  /** Return the data from which the game's record is written. */
  written() {
    const line = this.line(), comments = Object.fromEntries([this.root, ...line].map(({ comment }, number) => [number, comment]).filter(([, comment]) => comment !== undefined));
    return { start: this.root.position, moves: line.map(({ action }) => action), headers: this.headers, comments };
  }

  /** Return the match after this round; null while it is being played and without a match. */
  settled() {
    if (!this.match || !this.over) return null;
    const position = this.resigned === null ? this.position : { ...this.position, ended: RESIGNED };
    return settle(this.engine, this.rules, this.match, position, this.written());
  }

  /** Return the game, or all rounds of its match so far, as records (records.js). */
  records() {
    const { engine, rules, match, position, resigned } = this, settled = this.settled(), { start, moves, headers, comments } = this.written();
    if (settled) return matchRecords(engine, rules, settled);
    const begun = positionText(rules, start), usual = begun === positionText(rules, engine.start(rules));
    const record = { rules, moves, position: usual ? null : begun, ...resultOf(engine, rules, position), headers, comments };
    if (match) record.headers = { ...headers, ...roundHeaders(match) };
    if (this.record && this.node === this.end && !position.ended && this.record.termination !== "resigned") record.termination = this.record.termination;
    if (resigned !== null) Object.assign(record, { termination: "resigned", comments: { ...comments, [moves.length]: [comments[moves.length], this.#resigns].filter(Boolean).join(" ") } });
    return [...(match ? matchRecords(engine, rules, match) : []), record];
  }
}
