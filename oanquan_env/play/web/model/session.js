// The game of a page or a widget: it takes named requests and returns its state as JSON. It draws nothing and stores no
// files.

import { FRIEND, Game, PERSON } from "./game-model.js";
import { linkOf } from "./links.js";
import { changedHands, newMatch } from "./match-model.js";
import { parseMove, readMoves } from "./notation.js";
import { OWNERSHIP_HEADERS, formatRecords, playLegal } from "./records.js";
import { Refused } from "./refused.js";
import { parseMatchRules, parseRules, rulesText } from "./rules.js";
import { drawingJson, gameJson, namesOf, progress, puzzleJson } from "./state.js";

const notYours = (code) => new Refused(code, "it is not your turn", "chưa đến lượt bạn");
const evenBelow = (count) => count - 2 + (count % 2);
const impossible = (en, vi) => new Refused("request", en, vi);

// The method for a request has an underscore before its name.
const REQUESTS = [
  "new",
  "move",
  "undo",
  "redo",
  "back",
  "rematch",
  "puzzle",
  "show_answer",
  "branch",
  "resume",
  "resign",
  "next_round",
  "load",
];

/**
 * The current game. There is none before `request("new", ...)`. Each change fires the event "changed".
 *
 * `data(name)` resolves with an object from a JSON file of `data`. `thinker` chooses the moves of computer players, and
 * may return promises.
 */
export class Session extends EventTarget {
  #engine;
  #thinker;
  #data;
  #catalogue;
  #drawing = null; // for the rules, with English names only
  #lastDrawing = {}; // the last drawing, and the key of its inputs
  #paused = null; // the game that a puzzle or a branch interrupted, and its data
  #turn = new AbortController(); // replaced after every change of the game, which cancels searches
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
    this.id = null; // identifies a game with a friend on both devices
  }

  /** Carry out a request; `state` then shows the result. If it is impossible, throw Refused and change nothing. */
  async request(name, asked = {}) {
    if (!REQUESTS.includes(name)) throw impossible(`unknown request '${name}'`, "");
    await this[`_${name}`](asked);
    this.trouble = "";
    this.#tell();
  }

  // ---- requests -----------------------------------------------------------------------------------------------------

  /** Begin a game at the set-up, where `starter` moves first, at a position, or as a round of a match (roundsText). */
  async _new({
    rules: text = this.#catalogue.default,
    seats = null,
    starter = 0,
    position = null,
    moves = "",
    match = null,
    id = null,
  }) {
    const rules = this.#engine.rules(parseRules(text, this.#catalogue));
    if (match !== null) {
      if (position !== null)
        throw impossible("a match begins from the initial position", "cả trận bắt đầu từ thế cờ ban đầu");
      const { playRounds } = await import("./match-reading.js");
      return this.#put(playRounds(moves, rules, parseMatchRules(match, rules, this.#catalogue), this.#engine), seats, {
        id,
      });
    }
    if (!Number.isInteger(starter) || starter < 0 || starter >= rules.players)
      throw impossible(`starter must be 0 to ${rules.players - 1}; got ${starter}`, "");
    const start = position === null ? this.#engine.start(rules, starter) : await this.#position(rules, position);
    return this.#put({ rules, start, ...readMoves(moves) }, seats, { id });
  }

  /** Play a person's move. Refuse it unless the game is at `ply`, because the request may arrive twice or late. */
  _move({ move, ply }) {
    const { game } = this;
    if (ply !== game.position.ply || game.over || game.player !== null || this.#answered) throw notYours("move");
    game.push(this.#legal(game, move));
    if (this.puzzle && !this.#answered) this.#reply();
  }

  /** Take back a person's last move and the replies to it. */
  _undo() {
    const { game } = this;
    if (this.puzzle && game.line().length)
      game.backTo(evenBelow(game.line().length)); // the solver is to move
    else if (!game.undo()) throw impossible("you have no move to undo", "bạn không có nước nào để đi lại");
  }

  /** Play again the moves that were taken back. */
  _redo() {
    if (!this.game.redo()) throw impossible("there is no move to redo", "không có nước nào để làm lại");
  }

  /** Go back to the position after the first `moves` moves. */
  _back({ moves }) {
    this.#after(moves);
    this.game.backTo(this.puzzle ? moves - (moves % 2) : moves); // in a puzzle, the solver is to move
  }

  /** Begin the same game or match again; with `swap`, all players move one seat on. */
  _rematch({ swap = false }) {
    const { rules, names, match, root } = this.game,
      seats = swap ? [...names.slice(1), names[0]] : names;
    return this.#put(
      match
        ? { rules, start: this.#engine.start(rules), match: newMatch(match.rules) }
        : { rules, start: root.position },
      seats,
      { paused: this.#paused },
    );
  }

  /**
   * Show `puzzle`, a position under `rules`, or the package's puzzle `number` of a level (the first follows the last).
   * The game is kept until `resume`. `day` is the day whose puzzle it is (puzzle-log.js), or null.
   *
   * A puzzle is { position, line }, and { name?, themes?, id? } in the package: `line` has the moves of the solver and
   * the opponent in turn; several right moves share one text, such as "3A 5C". `name` is the key of its words.
   */
  async _puzzle({ puzzle: custom = null, rules: text = null, level = "first", number = 0, day = null }) {
    const { presets, default: usual } = this.#catalogue,
      own = text ?? rulesText((this.#paused?.game ?? this.game).rules, this.#catalogue);
    const { puzzle, by, counts } = custom
      ? {
          puzzle: { position: custom.position, line: custom.line, id: custom.id ?? "", name: "own" },
          by: own,
          counts: {},
        }
      : await this.#packaged(presets[own]?.values.players === 2 ? own : usual, level, number);
    const rules = this.#engine.rules(parseRules(by, this.#catalogue)),
      start = await this.#position(rules, puzzle.position);
    const chosen = {
      ...puzzle,
      source: custom ? { puzzle, rules: by } : { level, number, rules: own, day },
      day,
      level: custom ? "own" : level,
      number: custom ? 0 : number % counts[level],
      counts,
      revealed: false,
    };
    return this.#put({ rules, start }, Array(rules.players).fill(PERSON), { paused: this.#toResume, puzzle: chosen });
  }

  /** Play the rest of the puzzle's line; a wrong move must be taken back first. */
  _show_answer() {
    if (!this.puzzle || this.#answered) throw notYours("request");
    this.puzzle.revealed = true;
    while (!this.#answered) {
      this.game.push(this.#legal(this.game, this.puzzle.line[this.game.line().length].split(" ")[0]));
      if (!this.#answered) this.#reply();
    }
  }

  /**
   * Begin a game at the position after `moves` moves; a person takes the seat to move. This game is kept until
   * `resume`.
   */
  _branch({ moves }) {
    const { rules, names } = this.game,
      { position } = this.#after(moves),
      other = this.opponent;
    const seats =
      names[position.mover] === PERSON
        ? names
        : names.map((name, seat) => (seat === position.mover ? PERSON : name === PERSON ? other : name));
    return this.#put({ rules, start: position }, seats, { paused: this.#toResume });
  }

  /** Leave a puzzle or a branch, and continue the game before it. */
  _resume() {
    if (!this.#paused) throw impossible("there is no game to go back to", "không có ván nào để quay lại");
    const { game, number, id, drawing, values } = this.#paused;
    Object.assign(this, { game, number, id, puzzle: null });
    this.#drawing = drawing;
    this.#values = values;
    this.#paused = null;
  }

  /** Resign for the person to move. */
  _resign() {
    if (this.game.over || this.game.player !== null) throw notYours("request");
    this.game.resign();
  }

  /** Begin the next round of a match. */
  _next_round() {
    const { game } = this,
      settled = game.settled();
    if (!settled || settled.over) throw impossible("there is no next round", "không còn ván nào trong trận");
    const headers = Object.fromEntries(
      game.played.map((name, seat) => [game.side(seat), name]).filter(([, name]) => name),
    );
    return this.#put(
      {
        rules: game.rules,
        start: this.#engine.start(game.rules, settled.starter),
        match: settled,
        record: { headers },
      },
      game.names,
      { id: this.id },
    );
  }

  /**
   * Continue the match in the records `text`, or game `number` (from 1). With `keep`, this game is kept until `resume`.
   */
  async _load({ text, number = null, seats = null, id = null, keep = false }) {
    return this.#put(await this.#read(text, number), seats, { id, paused: keep ? this.#toResume : null });
  }

  /** The computer player or friend of this game, or of the game that a puzzle interrupted; PERSON if it has none. */
  get opponent() {
    return (this.puzzle ? this.#paused : this).game.names.find((name) => name !== PERSON) ?? PERSON;
  }

  // ---- the state shown ----------------------------------------------------------------------------------------------

  /** Return the state, without the drawing. */
  state() {
    const { game, version, trouble, puzzle, id } = this,
      friend = id && { id, due: game.due, link: linkOf(game, this.#catalogue, id) };
    const texts = {
      rules: rulesText(game.rules, this.#catalogue),
      record: this.saved(),
      link: linkOf(game, this.#catalogue),
    };
    const json = { ...gameJson(game, this.#drawing, this.#names), puzzle: puzzle && puzzleJson(puzzle, game) };
    const state = {
      version,
      game: this.number,
      trouble,
      can_resume: this.#paused !== null,
      opponent: this.opponent,
      friend,
      ...texts,
      ...json,
    };
    if (!puzzle) return state;
    return { ...state, previews: {}, ...(this.#answered ? { turn: "solved", legal: [] } : {}) };
  }

  /** Return the empty board with the names of its seats and squares; the same object as long as these are the same. */
  drawing() {
    const { rules } = this.game,
      names = this.#names,
      key = `${rulesText(rules, this.#catalogue)} ${names.vi}`;
    if (this.#lastDrawing.key !== key) this.#lastDrawing = { key, drawing: drawingJson(this.#drawing, rules, names) };
    return this.#lastDrawing.drawing;
  }

  /**
   * Return the values of the moves in the current position, or after `moves` moves; `nodes` limits the search.
   */
  async hint(moves = null, nodes = null) {
    const { game } = this,
      { serial, position } = moves === null ? game.node : this.#after(moves),
      values = this.#values,
      key = `${serial} ${nodes}`;
    if (position.ended) throw impossible("the game is over", "ván đã hết");
    if (!values.has(key)) {
      const answer = await this.#thinker.hint(game.rules, position, {
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
      this.#engine,
      rules,
      this.#after(moves).position,
      names.map(() => PERSON),
      { match },
    );
  }

  /** Return the game, or the match so far, as records. */
  saved() {
    return formatRecords(this.game.records(), this.#catalogue);
  }

  /** Return the unfinished game that a new game would replace; null if it is over or has no moves. */
  unfinished() {
    const { game, id } = this.#paused ?? this,
      settled = game.settled(),
      moves = game.line().length;
    if (!(moves || game.match?.rounds.length) || (settled ?? game).over) return null;
    return {
      text: formatRecords(game.records(), this.#catalogue),
      seats: game.names,
      id,
      rules: rulesText(game.rules, this.#catalogue),
      moves,
    };
  }

  /** Return the data with which `restore` continues this game elsewhere, with an open puzzle or branch. */
  snapshot() {
    const { game, puzzle } = this,
      { game: first, id } = this.#paused ?? this,
      written = (one) => ({ text: formatRecords(one.records(), this.#catalogue), seats: one.names });
    return {
      ...written(first),
      id,
      puzzle: puzzle && puzzle.source,
      branch: puzzle || first === game ? null : written(game),
    };
  }

  /** Continue from a `snapshot`. Throws Refused if it is invalid. */
  async restore({ text, seats, id, puzzle, branch }) {
    await this.request("load", { text, seats, id });
    if (puzzle) await this.request("puzzle", puzzle);
    if (branch) await this.request("load", { ...branch, keep: true });
  }

  // ---- helpers ------------------------------------------------------------------------------------------------------

  /** Parse a position. */
  async #position(rules, text) {
    return (await import("./position-reading.js")).parsePosition(rules, text, this.#engine);
  }

  /** Read the match, or game `number`, from a text. */
  async #read(text, number) {
    const { parseRecords } = await import("./record-reading.js");
    const records = parseRecords(text, this.#catalogue, this.#engine),
      refuse = (en, vi) => {
        throw new Refused("record", en, vi);
      };
    if (!records.length) refuse("the file is empty", "tệp trống");
    const whole = "Match" in records[0].headers,
      games = records.length;
    if (!whole && number === null && games > 1)
      throw new Refused("games", `it holds ${games} games`, `tệp có ${games} ván`, { games });
    const { match, record } = whole
      ? (await import("./match-reading.js")).resumeMatch(records, this.#engine, this.#catalogue)
      : { match: null, record: records[(number ?? 1) - 1] };
    if (!record) refuse(`there is no game ${number}`, `không có ván ${number}`);
    if (!whole && OWNERSHIP_HEADERS.some((name) => name in record.headers))
      refuse("this is a round of a match in which squares are sold", "đây là một ván của trận có bán ruộng");
    return { rules: record.rules, start: record.start, match, record, resigned: record.termination === "resigned" };
  }

  /** Return the node after `moves` moves. */
  #after(moves) {
    const { game } = this,
      line = [game.root, ...game.line()];
    if (!Number.isInteger(moves) || !(moves in line))
      throw impossible(`there is no move ${moves}`, `không có nước ${moves}`);
    return line[moves];
  }

  /** The data with which `resume` continues this game, or the game that it interrupted. */
  get #toResume() {
    return (
      this.#paused ?? {
        game: this.game,
        number: this.number,
        id: this.id,
        drawing: this.#drawing,
        values: this.#values,
      }
    );
  }

  /** Whether the puzzle's line is finished, or the solver has left it. */
  get #answered() {
    const { wrong, done } = this.puzzle ? progress(this.puzzle, this.game) : {};
    return wrong || done || false;
  }

  /** Play the opponent's next move of the puzzle's line. */
  #reply() {
    this.game.push(this.#legal(this.game, this.puzzle.line[this.game.line().length]));
  }

  /**
   * Return a puzzle of the package, its rules (the default in the first level), and the number of puzzles in each
   * level.
   */
  async #packaged(preset, level, number) {
    const [first, others] = await Promise.all([this.#data("puzzles-first.json"), this.#data(`puzzles-${preset}.json`)]),
      levels = { first, ...others };
    if (!Object.hasOwn(levels, level) || !levels[level].length || !Number.isInteger(number) || number < 0)
      throw impossible(`there is no puzzle ${number} of '${level}'`, "không có câu đố này");
    const counts = Object.fromEntries(Object.entries(levels).map(([name, all]) => [name, all.length]));
    return {
      puzzle: levels[level][number % counts[level]],
      by: level === "first" ? this.#catalogue.default : preset,
      counts,
    };
  }

  get #names() {
    return namesOf(this.game, this.puzzle && this.game.root.position.mover);
  }

  /** Replace the game; by default the same players play, or persons if the number of seats differs. */
  async #put(
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
    const game = new Game(this.#engine, this.#engine.rules(rules), start, names, {
      match,
      record,
      isPlayer: (name) => players.has(name),
    });
    for (const move of moves) game.step(this.#legal(game, move));
    if (resigned && !game.over) game.resign();
    this.#drawing = await this.#data(`drawing-${rules.players}-${rules.fields}.json`);
    Object.assign(this, {
      game,
      puzzle,
      number: Math.floor(Math.random() * 2 ** 48),
      id: names.includes(FRIEND) ? (id ?? Math.random().toString(36).slice(2, 12)) : null,
    });
    this.#paused = paused;
    this.#values = new Map();
  }

  /** Throw Refused if no player has this name or the player does not support the rules; levels support all. */
  async #check(name, rules) {
    if (!this.#catalogue.levels.includes(name)) await this.#thinker.needsPython(name, rules);
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
  #legal(game, move) {
    const action = typeof move === "number" ? move : parseMove(move);
    playLegal(this.#engine, game.rules, game.position, action); // or throws Refused
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
      const action = await this.#thinker.choose(
        name,
        game.rules,
        game.position,
        Math.floor(Math.random() * 2 ** 32),
        turn,
      );
      if (this.#turn !== turn) return; // the game has changed
      game.push(this.#legal(game, action));
    } catch (error) {
      trouble = error.message;
    } // the page shows it
    if (this.#turn !== turn) return;
    this.trouble = trouble;
    this.#tell();
  }
}
