// A game as a page or a widget plays it: named requests in, the state as JSON out. It draws nothing and keeps no files.

import { FRIEND, Game, PERSON } from "./game-model.js";
import { linkOf } from "./links.js";
import { changedHands, newMatch } from "./match-model.js";
import { parseMove } from "./notation.js";
import { OWNERSHIP_HEADERS, formatRecords, playLegal } from "./records.js";
import { Refused } from "./refused.js";
import { parseMatchRules, parseRules, rulesText } from "./rules.js";
import { drawingJson, gameJson, namesOf, progress, puzzleJson } from "./state.js";

const notYours = (code) => new Refused(code, "it is not your turn", "chưa đến lượt bạn");
const evenBelow = (count) => count - 2 + (count % 2);
const impossible = (en, vi) => new Refused("request", en, vi);

// Each is a method with an underscore before its name.
const REQUESTS = ["new", "move", "undo", "redo", "back", "rematch", "puzzle", "show_answer", "branch", "resume", "resign", "next_round", "load"];

/**
 * One game after another. There is none before the first `request("new", ...)`; event "changed" after every change.
 *
 * `data(name)` resolves with a file of `data`: JSON as an object. `thinker` chooses the moves of those who are no persons;
 * any of its answers may be a promise.
 */
export class Session extends EventTarget {
  #engine; #thinker; #data; #catalogue;
  #drawing = null; // of the rules, with English names alone
  #lastDrawing = {}; // the last drawing, and the key of its inputs
  #paused = null; // the game that a puzzle interrupted, and what belongs to it
  #turn = new AbortController(); // another one after every change of the game: what was thought before it is dropped
  #values = new Map();

  constructor({ engine, thinker, data, catalogue }) {
    super();
    this.#engine = engine;
    this.#thinker = thinker;
    this.#data = data;
    this.#catalogue = catalogue;
    this.version = 0;
    this.trouble = "";
    this.game = null;
    this.puzzle = null;
    this.id = null; // of a game with a friend, the same on both devices
  }

  /** Carry out a request; `state` then shows the result. Throws Refused for one that cannot be done: nothing has changed. */
  async request(name, asked = {}) {
    if (!REQUESTS.includes(name)) throw impossible(`unknown request '${name}'`, "");
    await this[`_${name}`](asked);
    this.trouble = "";
    this.#tell();
  }

  // ---- requests ------------------------------------------------------------------------------------------------------

  /** Begin another game: at the set-up, where `starter` moves first, at a position, or as a round of a match (roundsText). */
  async _new({ rules: text = this.#catalogue.default, seats = null, starter = 0, position = null, moves = "", match = null, id = null }) {
    const rules = this.#engine.rules(parseRules(text, this.#catalogue));
    if (match !== null) {
      if (position !== null) throw impossible("a match begins from the initial position", "cả trận bắt đầu từ thế cờ ban đầu");
      const { playRounds } = await import("./match-reading.js");
      return this.#put(playRounds(moves, rules, parseMatchRules(match, rules, this.#catalogue), this.#engine), seats, { id });
    }
    if (!Number.isInteger(starter) || starter < 0 || starter >= rules.players) throw impossible(`starter must be 0 to ${rules.players - 1}; got ${starter}`, "");
    const start = position === null ? this.#engine.start(rules, starter) : await this.#position(rules, position);
    return this.#put({ rules, start, moves: moves.replace(/-$/, "").match(/..?/gsu) ?? [], resigned: moves.endsWith("-") }, seats, { id });
  }

  /** A person's move, made at that ply: one that comes twice, or too late, is refused. */
  _move({ move, ply }) {
    const { game } = this;
    if (ply !== game.position.ply || game.over || game.player !== null || this.#answered) throw notYours("move");
    game.push(this.#legal(game, move));
    if (this.puzzle && !this.#answered) this.#reply();
  }

  /** Take back a person's last move, and the answers to it. */
  _undo() {
    const { game } = this;
    if (this.puzzle && game.line().length) game.backTo(evenBelow(game.line().length)); // to a move of the solver
    else if (!game.undo()) throw impossible("you have no move to undo", "bạn không có nước nào để đi lại");
  }

  /** Play the moves again that were taken back. */
  _redo() {
    if (!this.game.redo()) throw impossible("there is no move to redo", "không có nước nào để làm lại");
  }

  /** Go back to where only the first `moves` moves had been played. */
  _back({ moves }) {
    this.#after(moves);
    this.game.backTo(this.puzzle ? moves - (moves % 2) : moves); // of a puzzle to a move of the solver
  }

  /** Begin the same game or match again; with `swap` everybody moves one seat on. */
  _rematch({ swap = false }) {
    const { rules, names, match, root } = this.game, seats = swap ? [...names.slice(1), names[0]] : names;
    return this.#put(match ? { rules, start: this.#engine.start(rules), match: newMatch(match.rules) } : { rules, start: root.position }, seats, { paused: this.#paused });
  }

  /**
   * Show a puzzle: `puzzle` itself, a position by `rules`, or one of the package's of a level, where after the last one the
   * first comes again. The game is kept until `resume`.
   *
   * A puzzle is { position, line }, those of the package also have { name?, themes?, id? }: `line` has the moves of the solver and the opponent in turn, and
   * where several moves of the solver are right, all of them in one text, as in "3A 5C". `name` is that of its words.
   */
  async _puzzle({ puzzle: custom = null, rules: text = null, level = "first", number = 0 }) {
    const { presets, default: usual } = this.#catalogue, own = text ?? rulesText((this.#paused?.game ?? this.game).rules, this.#catalogue);
    const { puzzle, by, counts } = custom ? { puzzle: { position: custom.position, line: custom.line, id: custom.id ?? "", name: "own" }, by: own, counts: {} } : await this.#packaged(presets[own]?.values.players === 2 ? own : usual, level, number);
    const rules = this.#engine.rules(parseRules(by, this.#catalogue)), start = await this.#position(rules, puzzle.position);
    const chosen = { ...puzzle, source: custom ? { puzzle, rules: by } : { level, number, rules: own }, level: custom ? "own" : level, number: custom ? 0 : number % counts[level], counts, revealed: false };
    return this.#put({ rules, start }, Array(rules.players).fill(PERSON), { paused: this.#toResume, puzzle: chosen });
  }

  /** Play the rest of the puzzle's line; a wrong move is to be taken back before. */
  _show_answer() {
    if (!this.puzzle || this.#answered) throw notYours("request");
    this.puzzle.revealed = true;
    while (!this.#answered) {
      this.game.push(this.#legal(this.game, this.puzzle.line[this.game.line().length].split(" ")[0]));
      if (!this.#answered) this.#reply();
    }
  }

  /** Another game from where the first `moves` moves have led, for a person on the seat to move. This one is kept until `resume`. */
  _branch({ moves }) {
    const { rules, names } = this.game, { position } = this.#after(moves), other = names.find((name) => name !== PERSON) ?? PERSON;
    const seats = names[position.mover] === PERSON ? names : names.map((name, seat) => (seat === position.mover ? PERSON : name === PERSON ? other : name));
    return this.#put({ rules, start: position }, seats, { paused: this.#toResume });
  }

  /** Leave a puzzle or a branch, and go on with the game before it. */
  _resume() {
    if (!this.#paused) throw impossible("there is no game to go back to", "không có ván nào để quay lại");
    const { game, number, id, drawing, values } = this.#paused;
    Object.assign(this, { game, number, id, puzzle: null });
    this.#drawing = drawing;
    this.#values = values;
    this.#paused = null;
  }

  /** Let the person to move give up. */
  _resign() {
    if (this.game.over || this.game.player !== null) throw notYours("request");
    this.game.resign();
  }

  /** Go on with the next round of a match. */
  _next_round() {
    const { game } = this, settled = game.settled();
    if (!settled || settled.over) throw impossible("there is no next round", "không còn ván nào trong trận");
    const headers = Object.fromEntries(game.played.map((name, seat) => [game.side(seat), name]).filter(([, name]) => name));
    return this.#put({ rules: game.rules, start: this.#engine.start(game.rules, settled.starter), match: settled, record: { headers } }, game.names, { id: this.id });
  }

  /** Go on with a game, or a match, that was written down; of several games with the one of that number, from 1. `keep` keeps this one until `resume`. */
  async _load({ text, number = null, seats = null, id = null, keep = false }) {
    return this.#put(await this.#read(text, number), seats, { id, paused: keep ? this.#toResume : null });
  }

  // ---- what is shown -------------------------------------------------------------------------------------------------

  /** All that the page shows beside the drawing. */
  state() {
    const { game, version, trouble, puzzle, id } = this, friend = id && { id, due: game.due, link: linkOf(game, this.#catalogue, id) };
    const texts = { rules: rulesText(game.rules, this.#catalogue), record: this.saved(), link: linkOf(game, this.#catalogue) };
    const json = { ...gameJson(game, this.#drawing, this.#names), puzzle: puzzle && puzzleJson(puzzle, game) };
    const state = { version, game: this.number, trouble, can_resume: this.#paused !== null, friend, ...texts, ...json };
    if (!puzzle) return state;
    return { ...state, previews: {}, ...(this.#answered ? { turn: "solved", legal: [] } : {}) };
  }

  /** The empty board of this game's rules, with the names of its seats and squares: the same object as long as these are the same. */
  drawing() {
    const { rules } = this.game, names = this.#names, key = `${rulesText(rules, this.#catalogue)} ${names.vi}`;
    if (this.#lastDrawing.key !== key) this.#lastDrawing = { key, drawing: drawingJson(this.#drawing, rules, names) };
    return this.#lastDrawing.drawing;
  }

  /** The value of each move where the game stands, or for a review after its first `moves` moves, by so many moves of a search. */
  async hint(moves = null, nodes = null) {
    const { game } = this, { serial, position } = moves === null ? game.node : this.#after(moves), values = this.#values, key = `${serial} ${moves === null} ${nodes}`;
    if (position.ended) throw impossible("the game is over", "ván đã hết");
    if (!values.has(key)) {
      const answer = await this.#thinker.hint(game.rules, position, { review: moves !== null, proved: !changedHands(game.match), ...(nodes && { nodes, signal: this.#turn.signal }) });
      values.set(key, { serial, ply: position.ply, mover: position.mover, ...answer });
    }
    return values.get(key);
  }

  /** A game beside this one, from where its first `moves` moves have led, to play lines in. */
  variation(moves) {
    const { rules, names, match } = this.game;
    return new Game(this.#engine, rules, this.#after(moves).position, names.map(() => PERSON), { match });
  }

  /** The game, or the match so far, as records. */
  saved() { return formatRecords(this.game.records(), this.#catalogue); }

  /** The unfinished game that another one would replace; null if it has no moves. */
  unfinished() {
    const { game, id } = this.#paused ?? this, settled = game.settled(), moves = game.line().length;
    if (!(moves || game.match?.rounds.length) || (settled ?? game).over) return null;
    return { text: formatRecords(game.records(), this.#catalogue), seats: game.names, id, rules: rulesText(game.rules, this.#catalogue), moves };
  }

  /** What `restore` needs to go on with this game elsewhere, as plain data; with the puzzle or the branch that it was left for. */
  snapshot() {
    const { game, puzzle } = this, { game: first, id } = this.#paused ?? this, written = (one) => ({ text: formatRecords(one.records(), this.#catalogue), seats: one.names });
    return { ...written(first), id, puzzle: puzzle && puzzle.source, branch: puzzle || first === game ? null : written(game) };
  }

  /** Go on with a `snapshot`. Throws Refused if it cannot be read. */
  async restore({ text, seats, id, puzzle, branch }) {
    await this.request("load", { text, seats, id });
    if (puzzle) await this.request("puzzle", puzzle);
    if (branch) await this.request("load", { ...branch, keep: true });
  }

  // ---- within --------------------------------------------------------------------------------------------------------

  /** The position that a text describes. */
  async #position(rules, text) { return (await import("./position-reading.js")).parsePosition(rules, text, this.#engine); }

  /** The game, or the match, of a text; of several games the one of that number. */
  async #read(text, number) {
    const { parseRecords } = await import("./record-reading.js");
    const records = parseRecords(text, this.#catalogue, this.#engine), refuse = (en, vi) => { throw new Refused("record", en, vi); };
    if (!records.length) refuse("the file is empty", "tệp trống");
    const whole = "Match" in records[0].headers, games = records.length;
    if (!whole && number === null && games > 1) throw new Refused("games", `it holds ${games} games`, `tệp có ${games} ván`, { games });
    const { match, record } = whole ? (await import("./match-reading.js")).resumeMatch(records, this.#engine, this.#catalogue) : { match: null, record: records[(number ?? 1) - 1] };
    if (!record) refuse(`there is no game ${number}`, `không có ván ${number}`);
    if (!whole && OWNERSHIP_HEADERS.some((name) => name in record.headers)) refuse("this is a round of a match in which squares are sold", "đây là một ván của trận có bán ruộng");
    return { rules: record.rules, start: record.start, match, record, resigned: record.termination === "resigned" };
  }

  /** The node after the first `moves` moves. */
  #after(moves) {
    const { game } = this, line = [game.root, ...game.line()];
    if (!Number.isInteger(moves) || !(moves in line)) throw impossible(`there is no move ${moves}`, `không có nước ${moves}`);
    return line[moves];
  }

  /** What `resume` needs to go on with this game. */
  get #toResume() { return this.#paused ?? { game: this.game, number: this.number, id: this.id, drawing: this.#drawing, values: this.#values }; }

  /** Whether the puzzle's line is done, or the solver has left it. */
  get #answered() {
    const { wrong, done } = this.puzzle ? progress(this.puzzle, this.game) : {};
    return wrong || done || false;
  }

  /** Play the opponent's next move of the puzzle's line. */
  #reply() { this.game.push(this.#legal(this.game, this.puzzle.line[this.game.line().length])); }

  /** A puzzle of the package, the rules of its level, and how many each level has; those of the first level are by the default rules. */
  async #packaged(preset, level, number) {
    const [first, others] = await Promise.all([this.#data("puzzles-first.json"), this.#data(`puzzles-${preset}.json`)]), levels = { first, ...others };
    if (!Object.hasOwn(levels, level) || !levels[level].length || !Number.isInteger(number) || number < 0) throw impossible(`there is no puzzle ${number} of '${level}'`, "không có câu đố này");
    const counts = Object.fromEntries(Object.entries(levels).map(([name, all]) => [name, all.length]));
    return { puzzle: levels[level][number % counts[level]], by: level === "first" ? this.#catalogue.default : preset, counts };
  }

  get #names() { return namesOf(this.game, this.puzzle && this.game.root.position.mover); }

  /** Go on with another game; by default those play who sit here, or persons where others are needed. */
  async #put({ rules, start, moves = [], match = null, record = null, resigned = false }, seats, { id = null, puzzle = null, paused = null } = {}) {
    const same = this.game?.names.length === rules.players ? this.game.names : Array(rules.players).fill(PERSON), names = seats ?? same;
    if (names.length !== rules.players) throw new Refused("player", `the rules have ${rules.players} players, not ${names.length}`, `luật này có ${rules.players} người chơi`);
    for (const name of names) if (name !== PERSON && name !== FRIEND) await this.#check(name, rules);
    const players = new Set(names.filter((name) => name !== PERSON && name !== FRIEND));
    for (const name of Object.values(record?.headers ?? {})) if (await this.#knows(name, rules)) players.add(name);
    const game = new Game(this.#engine, this.#engine.rules(rules), start, names, { match, record, isPlayer: (name) => players.has(name) });
    for (const move of moves) game.step(this.#legal(game, move));
    if (resigned && !game.over) game.resign();
    this.#drawing = await this.#data(`drawing-${rules.players}-${rules.fields}.json`);
    Object.assign(this, { game, puzzle, number: Math.floor(Math.random() * 2 ** 48), id: names.includes(FRIEND) ? id ?? Math.random().toString(36).slice(2, 12) : null });
    this.#paused = paused;
    this.#values = new Map();
  }

  /** Throws Refused for the name of no player, and for rules that it does not play; levels play all rules. */
  async #check(name, rules) {
    if (!this.#catalogue.levels.includes(name)) await this.#thinker.needsPython(name, rules);
  }

  /** Whether there is a player of that name. */
  async #knows(name, rules) {
    if (name === PERSON || name === FRIEND) return false;
    try { await this.#check(name, rules); return true; } catch { return false; }
  }

  /** The action of a move, a text or an action, that can be played. */
  #legal(game, move) {
    const action = typeof move === "number" ? move : parseMove(move);
    playLegal(this.#engine, game.rules, game.position, action); // throws Refused
    return action;
  }

  #tell() {
    this.version += 1;
    this.#turn.abort();
    const turn = (this.#turn = new AbortController());
    this.dispatchEvent(new Event("changed"));
    this.#think(turn);
  }

  /** Let the player to move, if it is no person, choose and play. */
  async #think(turn) {
    const { game } = this, name = game.player;
    if (name === null || name === FRIEND || this.trouble) return;
    let trouble = "";
    try {
      const action = await this.#thinker.choose(name, game.rules, game.position, Math.floor(Math.random() * 2 ** 32), turn);
      if (this.#turn !== turn) return; // the game is another by now
      game.push(this.#legal(game, action));
    } catch (error) { trouble = error.message; } // the page goes on, and says what happened
    if (this.#turn !== turn) return;
    this.trouble = trouble;
    this.#tell();
  }
}
