// The game of a page or a widget: it takes named requests and returns its state as JSON. It draws nothing and stores no
// files.

import { FRIEND, Game, PERSON } from "./game.js";
import { linkOf } from "./links.js";
import { changedHands } from "./match-model.js";
import { parseMove } from "./notation.js";
import { OWNERSHIP_HEADERS, formatRecords, playLegal } from "./records.js";
import { Refused, impossible } from "./refused.js";
import { REQUESTS } from "./requests.js";
import { rulesText } from "./rules.js";
import { drawingJson, gameJson, namesOf } from "./state.js";

/**
 * The current game. There is none before `request("new", ...)`. Each change fires the event "changed".
 *
 * `data(name)` resolves with an object from a JSON file of `data`. `thinker` chooses the moves of computer players, and
 * may return promises.
 */
export class Session extends EventTarget {
  #lastDrawing = {}; // the last drawing, and the key of its inputs
  #turn = new AbortController(); // replaced after every change of the game, which cancels searches

  constructor({ engine, thinker, data, catalogue }) {
    super();
    Object.assign(this, { engine, thinker, data, catalogue });
    this.version = 0;
    this.trouble = "";
    this.game = null;
    this.puzzle = null;
    this.id = null; // identifies a game with a friend on both devices
    this.paused = null; // the game that a puzzle interrupted, and its data
    this.emptyBoard = null; // for the rules, with English names only
    this.values = new Map();
  }

  /** Carry out a request; `state` then shows the result. If it is impossible, throw Refused and change nothing. */
  async request(name, asked = {}) {
    if (!Object.hasOwn(REQUESTS, name)) throw impossible(`unknown request '${name}'`, "");
    await REQUESTS[name](this, asked);
    this.trouble = "";
    this.#tell();
  }

  /** The computer player or friend of this game, or of the game that a puzzle interrupted; PERSON if it has none. */
  get opponent() {
    return (this.puzzle ? this.paused : this).game.names.find((name) => name !== PERSON) ?? PERSON;
  }

  // ---- the state shown ----------------------------------------------------------------------------------------------

  /** Return the state, without the drawing. */
  state() {
    const { game, version, trouble, puzzle, id } = this,
      friend = id && { id, due: game.due, link: linkOf(game, this.catalogue, id) };
    const texts = {
      rules: rulesText(game.rules, this.catalogue),
      record: this.saved(),
      link: linkOf(game, this.catalogue),
    };
    const json = { ...gameJson(game, this.emptyBoard, this.#names), puzzle: puzzle && puzzle.json(game) };
    const state = {
      version,
      game: this.number,
      trouble,
      can_resume: this.paused !== null,
      opponent: this.opponent,
      friend,
      ...texts,
      ...json,
    };
    if (!puzzle) return state;
    return { ...state, previews: {}, ...(this.answered ? { turn: "solved", legal: [] } : {}) };
  }

  /** Return the empty board with the names of its seats and squares; the same object as long as these are the same. */
  drawing() {
    const { rules } = this.game,
      names = this.#names,
      key = `${rulesText(rules, this.catalogue)} ${names.vi}`;
    if (this.#lastDrawing.key !== key) this.#lastDrawing = { key, drawing: drawingJson(this.emptyBoard, rules, names) };
    return this.#lastDrawing.drawing;
  }

  /**
   * Return the values of the moves in the current position, or after `moves` moves; `nodes` limits the search.
   */
  async hint(moves = null, nodes = null) {
    const { game } = this,
      { serial, position } = moves === null ? game.node : this.after(moves),
      values = this.values,
      key = `${serial} ${nodes}`;
    if (position.ended) throw impossible("the game is over", "ván đã hết");
    if (!values.has(key)) {
      const answer = await this.thinker.hint(game.rules, position, {
        proved: !changedHands(game.match),
        ...(nodes && { nodes, signal: this.#turn.signal }),
      });
      values.set(key, { serial, ply: position.ply, mover: position.mover, ...answer });
    }
    return values.get(key);
  }

  /** Return a separate game at the position after `moves` moves, for playing lines. */
  variation(moves) {
    const { rules, names, match } = this.game;
    return new Game(
      this.engine,
      rules,
      this.after(moves).position,
      names.map(() => PERSON),
      { match },
    );
  }

  /** Return the game, or the match so far, as records. */
  saved() {
    return formatRecords(this.game.records(), this.catalogue);
  }

  /** Return the unfinished game that a new game would replace; null if it is over or has no moves. */
  unfinished() {
    const { game, id } = this.paused ?? this,
      settled = game.settled(),
      moves = game.line().length;
    if (!(moves || game.match?.rounds.length) || (settled ?? game).over) return null;
    return {
      text: formatRecords(game.records(), this.catalogue),
      seats: game.names,
      id,
      rules: rulesText(game.rules, this.catalogue),
      moves,
    };
  }

  /** Return the data with which `restore` continues this game elsewhere, with an open puzzle. */
  snapshot() {
    const { game, id } = this.paused ?? this;
    return {
      text: formatRecords(game.records(), this.catalogue),
      seats: game.names,
      id,
      puzzle: this.puzzle && this.puzzle.source,
    };
  }

  /** Continue from a `snapshot`. Throws Refused if it is invalid. */
  async restore({ text, seats, id, puzzle }) {
    await this.request("load", { text, seats, id });
    if (puzzle) await this.request("puzzle", puzzle);
  }

  // ---- helpers ------------------------------------------------------------------------------------------------------

  /** Parse a position. */
  async position(rules, text) {
    return (await import("./position-reading.js")).parsePosition(rules, text, this.engine);
  }

  /** Read the match, or game `number`, from a text. */
  async read(text, number) {
    const { parseRecords } = await import("./record-reading.js");
    const records = parseRecords(text, this.catalogue, this.engine),
      refuse = (en, vi) => {
        throw new Refused("record", en, vi);
      };
    if (!records.length) refuse("the file is empty", "tệp trống");
    const whole = "Match" in records[0].headers,
      games = records.length;
    if (!whole && number === null && games > 1)
      throw new Refused("games", `it holds ${games} games`, `tệp có ${games} ván`, { games });
    const { match, record } = whole
      ? (await import("./match-reading.js")).resumeMatch(records, this.engine, this.catalogue)
      : { match: null, record: records[(number ?? 1) - 1] };
    if (!record) refuse(`there is no game ${number}`, `không có ván ${number}`);
    if (!whole && OWNERSHIP_HEADERS.some((name) => name in record.headers))
      refuse(
        "squares are sold in this round, so it needs the whole match: paste all of its rounds",
        "ván này có bán ruộng, nên cần cả trận: hãy dán mọi ván của trận",
      );
    return { rules: record.rules, start: record.start, match, record, resigned: record.termination === "resigned" };
  }

  /** Return the node after `moves` moves. */
  after(moves) {
    const { game } = this,
      line = [game.root, ...game.line()];
    if (!Number.isInteger(moves) || !(moves in line))
      throw impossible(`there is no move ${moves}`, `không có nước ${moves}`);
    return line[moves];
  }

  /** Whether the puzzle's line is finished, or the solver has left it. */
  get answered() {
    return this.puzzle?.answered(this.game) ?? false;
  }

  /** The data with which `resume` continues this game, or the game that it interrupted. */
  get toResume() {
    return (
      this.paused ?? {
        game: this.game,
        number: this.number,
        id: this.id,
        drawing: this.emptyBoard,
        values: this.values,
      }
    );
  }

  get #names() {
    return namesOf(this.game, this.puzzle && this.game.root.position.mover);
  }

  /** Replace the game; by default the same players play, or persons if the number of seats differs. */
  async put(
    { rules, start, moves = [], match = null, record = null, resigned = false },
    seats,
    { id = null, puzzle = null, paused = null } = {},
  ) {
    const same = this.game?.names.length === rules.players ? this.game.names : Array(rules.players).fill(PERSON),
      names = seats ?? same;
    if (names.length !== rules.players)
      throw new Refused(
        "player",
        `the rules have ${rules.players} players, not ${names.length}`,
        `luật này có ${rules.players} người chơi`,
      );
    for (const name of names) if (name !== PERSON && name !== FRIEND) await this.#check(name, rules);
    const players = new Set(names.filter((name) => name !== PERSON && name !== FRIEND));
    for (const name of Object.values(record?.headers ?? {})) if (await this.#knows(name, rules)) players.add(name);
    const game = new Game(this.engine, this.engine.rules(rules), start, names, {
      match,
      record,
      isPlayer: (name) => players.has(name),
    });
    for (const move of moves) game.step(this.legal(game, move));
    if (resigned && !game.over) game.resign();
    this.emptyBoard = await this.data(`drawing-${rules.players}-${rules.fields}.json`);
    Object.assign(this, {
      game,
      puzzle,
      number: Math.floor(Math.random() * 2 ** 48),
      id: names.includes(FRIEND) ? (id ?? Math.random().toString(36).slice(2, 12)) : null,
    });
    this.paused = paused;
    this.values = new Map();
  }

  /** Throw Refused if no player has this name or the player does not support the rules; levels support all. */
  async #check(name, rules) {
    if (!this.catalogue.levels.includes(name)) await this.thinker.needsPython(name, rules);
  }

  /** Return whether a player has this name. */
  async #knows(name, rules) {
    if (name === PERSON || name === FRIEND) return false;
    try {
      await this.#check(name, rules);
      return true;
    } catch (error) {
      if (error instanceof Refused) return false;
      throw error;
    }
  }

  /** Return the action of a legal move, given as text or action. */
  legal(game, move) {
    const action = typeof move === "number" ? move : parseMove(move);
    playLegal(this.engine, game.rules, game.position, action); // or throws Refused
    return action;
  }

  #tell() {
    this.version += 1;
    this.#turn.abort();
    const turn = (this.#turn = new AbortController());
    this.dispatchEvent(new Event("changed"));
    this.#think(turn);
  }

  /** Let a computer player that is to move choose and play. */
  async #think(turn) {
    const { game } = this,
      name = game.player;
    if (name === null || name === FRIEND || this.trouble) return;
    let trouble = "";
    try {
      const action = await this.thinker.choose(
        name,
        game.rules,
        game.position,
        Math.floor(Math.random() * 2 ** 32),
        turn,
      );
      if (this.#turn !== turn) return; // the game has changed
      game.push(this.legal(game, action));
    } catch (error) {
      trouble = error.message;
    } // the page shows it
    if (this.#turn !== turn) return;
    this.trouble = trouble;
    this.#tell();
  }
}
