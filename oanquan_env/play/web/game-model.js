// A game and its players: moves made and taken back, resignation, the rounds of a match, and its records.

import { settle } from "./match-model.js";
import { matchRecords, roundHeaders } from "./match-text.js";
import { TERMINATIONS, positionText, seatName } from "./notation.js";
import { resultOf } from "./records.js";
import { traceOf } from "./trace.js";

export const PERSON = "human";
const RESIGNED = TERMINATIONS.indexOf("resigned");

/**
 * One game. Its moves form a tree, as those that were taken back stay known: a node is { serial, action, position, trace,
 * parent, children }, the root has serial 0 and the others 1, 2, ... in the order in which they were first played.
 *
 * `names` has for each seat PERSON, a level or a player's name; `match` is that of which the game is a round, unsettled.
 * `headers` are those of the record that it was read from; `known(name)` says whether a name is that of a player, no person's.
 */
export class Game {
  constructor(engine, rules, start, names, { match = null, headers = {}, known = () => false } = {}) {
    Object.assign(this, { engine, rules, names, known, resigned: null });
    this.root = this.node = { serial: 0, position: start, parent: null, children: new Map() };
    this.nodes = new Map(); // by serial, without the root
    this.undone = [];
    const sides = Object.fromEntries(names.map((name, seat) => [this.side(seat), name]));
    this.headers = { ...sides, ...headers };
    this.match = match && { ...match, rounds: match.rounds.map((round) => ({ ...round, headers: { ...sides, ...round.headers } })) };
  }

  side(seat) { return seatName(this.rules.players, seat); }

  /** The headers of a record that say who played. */
  sides() { return Object.fromEntries(this.names.map((_, seat) => [this.side(seat), this.headers[this.side(seat)]])); }

  get position() { return this.node.position; }
  get over() { return this.position.ended !== 0 || this.resigned !== null; }
  get canRedo() { return this.undone.length > 0 && this.resigned === null; }
  get canUndo() { return this.resigned !== null || this.personsLastMove() > 0; }
  person(seat) { return this.names[seat] === PERSON; }

  /** The name of the player to move; null if that is a person, or the game is over. */
  get player() { return this.over || this.person(this.position.mover) ? null : this.names[this.position.mover]; }

  /** The nodes of the moves so far. */
  line() {
    const line = [];
    for (let at = this.node; at.parent; at = at.parent) line.unshift(at);
    return line;
  }

  /** The legal actions where the game stands. */
  legal() { return this.over ? [] : this.engine.legal(this.rules, this.position); }

  /** The trace of a legal move; `played` is the engine's answer to it. */
  trace(action, played = this.engine.play(this.rules, this.position, action)) {
    return traceOf(this.rules, this.position, action, played, played.position.ended ? this.standings(played.position) : []);
  }

  /** Final points of this game if it ends at `position`; in a match those of sold fields go to their buyers. */
  standings(position) {
    return this.match ? settle(this.engine, this.rules, this.match, position).rounds.at(-1).scores : this.engine.standings(this.rules, position);
  }

  /** Play a legal move. Its player may go on with the game of another; a person keeps the name of a person. */
  push(action) {
    const { mover } = this.position, side = this.side(mover);
    this.step(action);
    this.undone = [];
    if (!this.person(mover) || this.known(this.headers[side])) this.headers[side] = this.names[mover];
  }

  /** Play a legal move again, or one of a text. */
  step(action) {
    let next = this.node.children.get(action);
    if (!next) {
      const played = this.engine.play(this.rules, this.position, action), trace = this.trace(action, played);
      next = { serial: this.nodes.size + 1, action, position: played.position, trace, parent: this.node, children: new Map() };
      this.node.children.set(action, next);
      this.nodes.set(next.serial, next);
    }
    this.node = next;
  }

  /** How many moves ago a person moved, 1 for the last move; 0 for never. */
  personsLastMove() {
    const line = this.line(), { players } = this.rules, ago = line.findIndex((_, index) => this.person((this.position.mover + players * line.length - index - 1) % players));
    return ago + 1;
  }

  /** Take back moves up to the last one that a person made, or a resignation; false if there is none. */
  undo() {
    if (this.resigned !== null) { this.resigned = null; return true; }
    const back = this.personsLastMove();
    if (back) this.backTo(this.line().length - back);
    return back > 0;
  }

  /** Take back all but the first `moves` moves; `redo` plays them again in one step. */
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

  resign() { this.resigned = this.position.mover; }

  /** Final scores, the winners and why it is over; null while it goes on, and for a resignation. */
  outcome() {
    if (!this.position.ended) return null;
    const scores = this.standings(this.position), most = Math.max(...scores);
    return { scores, winners: scores.flatMap((score, seat) => (score === most ? [seat] : [])), termination: TERMINATIONS[this.position.ended] };
  }

  /** What the record of the game is written of. */
  written() { return { start: this.root.position, moves: this.line().map(({ action }) => action), headers: this.headers }; }

  /** The match after this round; null while it is played, and without a match. */
  settled() {
    if (!this.match || !this.over) return null;
    const position = this.resigned === null ? this.position : { ...this.position, ended: RESIGNED };
    return settle(this.engine, this.rules, this.match, position, this.written());
  }

  /** The game, or all rounds of its match so far, as records (records.js). */
  records() {
    const { engine, rules, match, position, resigned } = this, settled = this.settled(), { start, moves, headers } = this.written();
    if (settled) return matchRecords(engine, rules, settled);
    const begun = positionText(rules, start), usual = begun === positionText(rules, engine.start(rules));
    const record = { rules, moves, position: usual ? null : begun, ...resultOf(engine, rules, position), headers };
    if (match) record.headers = { ...headers, ...roundHeaders(match) };
    if (resigned !== null) Object.assign(record, { termination: "resigned", comments: { [moves.length]: `${this.side(resigned)} resigns` } });
    return [...(match ? matchRecords(engine, rules, match) : []), record];
  }
}
