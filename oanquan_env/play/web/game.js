// A game on the board: the moves that come, positions that are looked at, and the buttons.

import { BoardView } from "./board.js";
import { WORDS } from "./board-words.js";
import { html } from "./nodes.js";
import { hintWords, names, seatName, status } from "./told.js";
import { SPEEDS, Tools } from "./tools.js";

/**
 * A game: the board, what is said of it, and its buttons. It follows the states of `oanquan_env.play.session`, plays the
 * moves that are new, and hands requests to `send(name, arguments)`. Events: "shown" after every change of what is shown,
 * "option" (detail [name, value]).
 */
export class GameView extends EventTarget {
  constructor(host, send, language = "en") {
    super();
    this.send = send;
    this.host = host;
    this.board = new BoardView(host, language);
    this.board.addEventListener("move", (event) => this.send("move", { move: event.detail, ply: this.state.ply }));
    this.saying = html("p", { className: "say" }, this.board.root);
    const step = (by) => this.view(this.number + by);
    this.tools = new Tools(this.board.root, {
      undo: () => this.send("undo", {}), redo: () => this.send("redo", {}), hint: () => this.askHint(),
      first: () => this.view(0), previous: () => step(-1), tour: () => this.tour(), next: () => step(1), last: () => this.view(null),
      again: () => this.replay(this.number), skip: () => this.board.skip(),
    }, (name, value) => this.option(name, value));
    this.moves = {};
    this.shown = [];
    this.viewing = null;
    this.trouble = "";
    this.option("speed", this.board.speed === Infinity ? "none" : "normal");
    this.setLanguage(language);
  }

  get words() { return WORDS[this.board.language]; }

  destroy() { this.board.destroy(); }

  /** Speed, preview or sound. */
  option(name, value) {
    const { board, tools } = this;
    if (name === "speed") {
      tools.speed.value = value in SPEEDS ? value : "normal";
      board.speed = SPEEDS[tools.speed.value];
      if (board.speed === Infinity) board.skip();
    } else tools[name].checked = board[name] = value;
    this.dispatchEvent(new CustomEvent("option", { detail: [name, value] }));
  }

  setLanguage(language) {
    this.board.language = language;
    this.tools.setLanguage(language);
    if (this.state) this.refresh();
  }

  /** The keys of the buttons; true if the event was one of them. Arrows step through a game where no field is chosen. */
  key(event) {
    if (!this.tools.key(event, !this.board.legal.size)) return false;
    this.board.byKeyboard = true;
    return true;
  }

  // ---- following the game ------------------------------------------------------------------------------------------

  /** A new state; `drawing` comes with the first one and where the board is another. */
  update(state, drawing = null) {
    const other = !this.state || state.game !== this.state.game;
    if (!other && state.version <= this.state.version && !drawing) return;
    if (other) {
      this.moves = {};
      this.shown = [...state.line];
      this.stop();
    }
    Object.assign(this.moves, state.moves);
    this.state = state;
    this.hint = null;
    const persons = state.seats.flatMap((seat, player) => (seat.person ? [player] : [])), bottom = state.puzzle ? state.starter : persons.length === 1 ? persons[0] : 0;
    if (drawing) { this.board.seat = bottom; this.board.setDrawing(drawing); } else this.board.sit(bottom);
    const coming = this.coming === undefined ? this.shown : [...this.shown, this.coming];
    if (!coming.every((serial, number) => state.line[number] === serial)) {
      this.stop();
      this.shown = [...state.line];
    }
    this.follow();
  }

  /** End all motion, and look at the game as it stands. */
  stop() {
    this.touring = false;
    this.viewing = null;
    this.coming = this.replaying = undefined;
    this.board.cancel();
  }

  async follow() {
    if (this.following) return;
    this.following = true;
    try {
      while (this.viewing === null && this.shown.length < this.state.line.length) {
        const game = this.state.game, number = this.shown.length, serial = this.state.line[number];
        this.coming = serial;
        this.setTools();
        await this.play(serial, number + 1);
        this.coming = undefined;
        if (this.state.game === game && this.state.line[number] === serial && this.shown.length === number) this.shown.push(serial);
        this.dispatchEvent(new Event("shown"));
      }
    } finally {
      this.following = false;
      this.coming = undefined;
    }
    this.refresh();
  }

  /** The motion of a move, the `number`th of the game. */
  play(serial, number) {
    const after = { ...this.position(number), legal: [] };
    return this.board.play(this.moves[serial], this.position(number - 1), after, (line) => this.tell(line));
  }

  /** Whether all moves of the game have been shown. */
  get settled() { return this.shown.length === this.state.line.length && this.coming === undefined; }

  /** How many moves of the game have led to what is shown. */
  get number() { return this.viewing ?? this.shown.length; }

  /** The position after so many moves of the game, as `BoardView.show` takes it. */
  position(number) {
    const { state } = this, line = state.line.slice(0, number).map((serial) => this.moves[serial]), move = line.at(-1);
    const won = state.seats.map(() => 0);
    for (const { steps } of line) for (const step of steps) if (step.stones) won[step.player] += step.stones;
    const position = {
      frame: move ? move.after : state.start, mover: move ? move.mover : state.starter, legal: [], won,
      under: move?.under, over: move?.over, tabs: state.match?.owners.tabs, names: this.plateNames(), winners: null,
    };
    if (number < state.line.length) return position;
    if (state.outcome) {
      position.frame = { ...position.frame, scores: state.outcome.scores };
      position.winners = state.outcome.winners;
    } else if (state.resigned !== null) {
      position.winners = state.seats.map((_, seat) => seat).filter((seat) => seat !== state.resigned);
    } else if (state.turn === "person" && !this.trouble) Object.assign(position, { legal: state.legal, previews: state.previews });
    return position;
  }

  /** Names beside the board; between the rows of three or four players there is no room for the levels. */
  plateNames() {
    return this.state.seats.length === 2 ? names(this)
      : names(this).map((name, player) => (this.state.seats[player].person ? name : seatName(this, player)));
  }

  /** Show what is to be shown, without motion. */
  refresh() {
    if (this.coming !== undefined || this.replaying !== undefined) return;
    this.board.show(this.position(this.number));
    if (this.hint && this.viewing === null) this.board.setHints(this.hint.values, this.hint.best);
    this.tell(this.hint ? hintWords(this, this.hint) : status(this));
    this.setTools();
    this.dispatchEvent(new Event("shown"));
  }

  setTools() {
    const { state, number } = this, moving = this.coming !== undefined || this.replaying !== undefined, still = !moving;
    const all = state.line.length, behind = number > 0 && !this.touring, ahead = this.viewing !== null && !this.touring;
    this.tools.set({
      undo: state.can_undo, redo: state.can_redo, hint: still && state.turn === "person" && this.viewing === null && !state.puzzle,
      first: behind, previous: behind, tour: all > 0 && this.coming === undefined, next: ahead, last: this.viewing !== null, again: still && number > 0, skip: moving,
    }, { moving, touring: Boolean(this.touring) });
  }

  tell(text) { this.saying.textContent = text; }

  // ---- looking through the game ------------------------------------------------------------------------------------

  /** The position after so many moves, or null for the game as it stands. */
  view(number) {
    if (number !== null && (number < 0 || (number > this.number && this.viewing === null))) return;
    this.stop();
    this.viewing = number === null || number >= this.state.line.length ? null : number;
    this.shown = [...this.state.line];
    this.refresh();
    if (this.number) this.board.say(this.moves[this.state.line[this.number - 1]].lines[this.board.language].join(" "));
    this.follow();
  }

  /** Show the motion of a move again, and stay behind it. */
  async replay(number) {
    if (!number || this.coming !== undefined) return;
    const { speed } = this.board, serial = this.state.line[number - 1], touring = this.touring;
    this.stop();
    this.touring = touring;
    if (speed === Infinity) this.board.speed = 1; // it was asked for
    this.shown = [...this.state.line];
    this.viewing = number - 1;
    this.replaying = serial;
    this.setTools();
    const game = this.state.game;
    await this.play(serial, number);
    this.board.speed = speed;
    if (this.replaying !== serial || this.state.game !== game) return; // something else is shown meanwhile
    this.replaying = undefined;
    this.viewing = number >= this.state.line.length ? null : number;
    this.refresh();
    this.follow();
  }

  /** Play all moves from the position shown, or from the start; again to stop. */
  async tour() {
    if (this.touring) { this.view(this.number); return; }
    let number = this.viewing ?? 0;
    this.touring = true;
    while (this.touring && number < this.state.line.length) {
      number += 1;
      await this.replay(number);
      if (this.touring && number < this.state.line.length) await new Promise((resolve) => setTimeout(resolve, 600));
      if (this.number !== number) break;
    }
    this.touring = false;
    this.setTools();
  }

  // ---- hints -------------------------------------------------------------------------------------------------------

  async askHint() {
    this.tell(this.words.looking);
    this.setHint(await this.send("hint", {}));
  }

  /** A hint; dropped if it is for another position than the one shown. */
  setHint(hint) {
    if (hint && hint.ply === this.state.ply && this.viewing === null && this.coming === undefined && hint.serial === (this.state.line.at(-1) ?? 0)) {
      this.hint = hint;
      this.board.say(hintWords(this, hint));
    }
    this.refresh();
  }
}
