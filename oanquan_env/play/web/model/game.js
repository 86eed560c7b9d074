// A game and its players: moves, undo, resignation, the rounds of a match, and records.

import { RESIGNED, matchRecords, roundHeaders, settle } from "./match-model.js";
import { TERMINATIONS, positionText, seatName } from "./notation.js";
import { resultOf } from "./records.js";
import { traceOf } from "./trace.js";

export const PERSON = "human";
export const FRIEND = "friend"; // a friend is a person on another device, who gets the moves by links

/**
 * One game. Its moves form a tree that includes the moves taken back. A node is { serial, action, position, trace,
 * parent, children, comment, by }: the root has serial 0, the others 1, 2, ... in the order in which they were first
 * played. `comment` is from a record; `by` is who played the move here, undefined for a move of a record.
 *
 * `names` has PERSON, FRIEND, a level or a player's name for each seat; `match` is the match whose current round this
 * game is, or null; `record` is the record from which the game was read, or null. `isPlayer(name)` returns whether a
 * computer player has this name.
 */
export class Game {
  constructor(engine, rules, start, names, { match = null, record = null, isPlayer = () => false } = {}) {
    Object.assign(this, { engine, rules, names, isPlayer, record, resigned: null });
    this.root = this.node = {
      serial: 0,
      position: start,
      parent: null,
      children: new Map(),
      comment: record?.comments?.[0],
    };
    this.nodes = new Map(); // by serial, without the root
    this.undone = [];
    const sides = Object.fromEntries(names.map((name, seat) => [this.side(seat), name]));
    this.baseHeaders = record ? record.headers : sides;
    this.match =
      record || !match
        ? match
        : { ...match, rounds: match.rounds.map((round) => ({ ...round, headers: { ...sides, ...round.headers } })) };
    for (const action of record?.moves ?? []) this.step(action).comment = record.comments?.[this.line().length];
    this.end = this.node; // the last node of the record
  }

  side(seat) {
    return seatName(this.rules.players, seat);
  }

  /**
   * The headers of a record. The name of a computer player or friend that continues a game replaces the name in its
   * record. A person replaces only the name of a computer player, or a missing name.
   */
  get headers() {
    const headers = { ...this.baseHeaders };
    for (const { by, parent } of this.line()) {
      const side = this.side(parent.position.mover);
      if (by && (by !== PERSON || !headers[side] || this.isPlayer(headers[side]))) headers[side] = by;
    }
    return headers;
  }

  /** The player of each seat according to the headers, or undefined. */
  get played() {
    const { headers } = this;
    return this.names.map((_, seat) => headers[this.side(seat)]);
  }

  get position() {
    return this.node.position;
  }
  get over() {
    return this.position.ended !== 0 || this.resigned !== null;
  }
  get canRedo() {
    return this.undone.length > 0 && this.resigned === null;
  }
  get canUndo() {
    return this.resigned !== null || this.personsLastMove() > 0;
  }

  /** Whether a friend needs the link to this game: the friend is to move, or the game ended here. */
  get due() {
    if (!this.over) return this.player === FRIEND;
    return this.names.includes(FRIEND) && this.person(this.resigned ?? this.node.parent.position.mover);
  }

  person(seat) {
    return this.names[seat] === PERSON;
  }

  /** The name of the player to move; null if it is a person or the game is over. */
  get player() {
    return this.over || this.person(this.position.mover) ? null : this.names[this.position.mover];
  }

  /** Return the nodes of the moves so far. */
  line() {
    const line = [];
    for (let at = this.node; at.parent; at = at.parent) line.unshift(at);
    return line;
  }

  /** Return the legal actions. */
  legal() {
    return this.over ? [] : this.engine.legal(this.rules, this.position);
  }

  /** Return the trace of a legal move; `played` is the engine's result. */
  trace(action, played = this.engine.play(this.rules, this.position, action)) {
    return traceOf(
      this.engine,
      this.rules,
      this.position,
      action,
      played,
      played.position.ended ? this.standings(played.position) : [],
    );
  }

  /** Return the points if the game ends at `position`; in a match, seeds on sold fields go to the buyers. */
  standings(position) {
    return this.match
      ? settle(this.engine, this.rules, this.match, position).rounds.at(-1).scores
      : this.engine.standings(this.rules, position);
  }

  /** Play a legal move. */
  push(action) {
    const { mover } = this.position;
    this.step(action).by = this.names[mover];
    this.undone = [];
  }

  /** Play a legal move of a record or of an earlier line; return its node. */
  step(action) {
    let next = this.node.children.get(action);
    if (!next) {
      const played = this.engine.play(this.rules, this.position, action),
        trace = this.trace(action, played);
      next = {
        serial: this.nodes.size + 1,
        action,
        position: played.position,
        trace,
        parent: this.node,
        children: new Map(),
      };
      this.node.children.set(action, next);
      this.nodes.set(next.serial, next);
    }
    return (this.node = next);
  }

  /** Return how many moves ago a person moved (1: the last move); 0 for never, or if a friend has replied since. */
  personsLastMove() {
    const line = this.line(),
      { players } = this.rules,
      ago = line.findIndex((_, index) =>
        this.person((this.position.mover + players * line.length - index - 1) % players),
      );
    return ago && this.names.includes(FRIEND) ? 0 : ago + 1;
  }

  /**
   * Take back a resignation, or a person's last move and all moves after it; return false if there is nothing to take
   * back.
   */
  undo() {
    if (this.resigned !== null) {
      this.resigned = null;
      return true;
    }
    const back = this.personsLastMove();
    if (back) this.backTo(this.line().length - back);
    return back > 0;
  }

  /** Take back all but the first `moves` moves; one `redo` plays them again. */
  backTo(moves) {
    const line = this.line(),
      taken = line.slice(moves);
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
    if (!this.match)
      // `records` adds it again
      this.node.comment = this.node.comment?.replace(new RegExp(` ?${this.#resigns}$`, "u"), "") || undefined;
  }

  get #resigns() {
    return `${this.side(this.resigned)} resigns`;
  }

  /** Return scores, winners and termination; null for an unfinished or resigned game. */
  outcome() {
    if (!this.position.ended) return null;
    const scores = this.standings(this.position),
      most = Math.max(...scores);
    return {
      scores,
      winners: scores.flatMap((score, seat) => (score === most ? [seat] : [])),
      termination: TERMINATIONS[this.position.ended],
    };
  }

  /** Return the winners of the `outcome`, or all seats but the one that resigned; null for an unfinished game. */
  winners(outcome) {
    if (this.resigned === null) return outcome?.winners ?? null;
    return this.names.map((_, seat) => seat).filter((seat) => seat !== this.resigned);
  }

  /** Return the data for the game's record. */
  written() {
    const line = this.line(),
      comments = Object.fromEntries(
        [this.root, ...line]
          .map(({ comment }, number) => [number, comment])
          .filter(([, comment]) => comment !== undefined),
      );
    return { start: this.root.position, moves: line.map(({ action }) => action), headers: this.headers, comments };
  }

  /** Return the match after this round; null for an unfinished round or without a match. */
  settled() {
    if (!this.match || !this.over) return null;
    const position = this.resigned === null ? this.position : { ...this.position, ended: RESIGNED };
    return settle(this.engine, this.rules, this.match, position, this.written());
  }

  /** Return the game, or all rounds of its match so far, as records (records.js). */
  records() {
    const { engine, rules, match, position, resigned } = this,
      settled = this.settled(),
      { start, moves, headers, comments } = this.written();
    if (settled) return matchRecords(engine, rules, settled);
    const begun = positionText(rules, start),
      usual = begun === positionText(rules, engine.start(rules));
    const record = {
      rules,
      moves,
      position: usual ? null : begun,
      ...resultOf(engine, rules, position),
      headers,
      comments,
    };
    if (match) record.headers = { ...headers, ...roundHeaders(match) };
    if (this.record && this.node === this.end && !position.ended && this.record.termination !== "resigned")
      record.termination = this.record.termination;
    if (resigned !== null)
      Object.assign(record, {
        termination: "resigned",
        comments: { ...comments, [moves.length]: [comments[moves.length], this.#resigns].filter(Boolean).join(" ") },
      });
    return [...(match ? matchRecords(engine, rules, match) : []), record];
  }
}
