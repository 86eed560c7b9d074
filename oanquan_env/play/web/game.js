// A game on the board: the moves that come, positions that are looked at, and the buttons.

import { BoardView } from "./board.js";
import { WORDS } from "./board-words.js";
import { moveArrow } from "./move-markers.js";
import { stonesWon, sweeping } from "./moving-board.js";
import { html } from "./nodes.js";
import { hintWords, plateNames, status } from "./narration.js";
import { SPEEDS, Tools } from "./tools.js";

const REST = 400; // milliseconds that a person's move is seen before the answer, where nothing moves

/**
 * A game: the board, what is said of it, and its buttons. It follows the states of a session, plays the moves that are
 * new, and hands requests to `send(name, arguments)`. Events: "render" after every change of what is shown, "option"
 * (detail [name, value]).
 */
export class GameView extends EventTarget {
  constructor(host, send, language = "en") {
    super();
    this.send = send;
    this.host = host;
    this.board = new BoardView(host, language);
    this.board.addEventListener("move", (event) => {
      if (this.board.loud) this.board.wake();
      this.send("move", { move: event.detail, ply: this.state.ply });
    });
    this.saying = html("p", { className: "say" }, this.board.root);
    const step = (by) => this.view(this.number + by);
    this.tools = new Tools(this.board.root, {
      undo: () => this.send("undo", {}), redo: () => this.send("redo", {}), hint: () => this.askHint(),
      before: () => this.view(this.noted(-1)), after: () => this.view(this.noted(1)),
      first: () => this.view(0), previous: () => step(-1), tour: () => this.tour(), next: () => step(1), last: () => this.view(null),
      again: () => this.replay(this.number), skip: () => this.board.skip(), loud: () => { this.board.wake(); this.option("loud", !this.board.loud); },
    }, (name, value) => this.option(name, value));
    this.moves = {};
    this.notes = new Map();
    this.whole = "";
    this.displayed = [];
    this.viewing = null;
    this.moved = 0; // when a move was last shown
    this.looks = 0; // how often a person began to look at something else
    this.marks = null; // of a number of moves: what is drawn in place of the last move's marks, or null
    this.option("speed", this.board.speed === Infinity ? "none" : "normal");
    this.option("loud", false);
    this.setLanguage(language);
  }

  get words() { return WORDS[this.board.language]; }

  destroy() { this.board.destroy(); }

  /** Speed, preview or sound. */
  option(name, value) {
    const { board, tools } = this;
    if (name === "speed") {
      tools.speed.value = value;
      board.speed = SPEEDS[tools.speed.value];
      if (board.speed === Infinity) board.skip();
    } else if (name === "loud") {
      board.loud = value;
      tools.setLoud(value);
    } else tools.preview.checked = board.preview = value;
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
      this.notes.clear();
      this.whole = "";
      this.displayed = [...state.line];
      this.stop();
    }
    Object.assign(this.moves, state.moves);
    this.state = state;
    this.hint = null;
    const persons = state.seats.map((seat) => seat.person), alone = persons.filter(Boolean).length === 1;
    const bottom = state.puzzle ? state.starter : alone ? persons.indexOf(true) : 0;
    if (drawing) { this.board.seat = bottom; this.board.setDrawing(drawing); } else this.board.sit(bottom);
    const coming = this.coming === undefined ? this.displayed : [...this.displayed, this.coming];
    if (!coming.every((serial, number) => state.line[number] === serial)) {
      this.stop();
      this.displayed = [...state.line];
    }
    this.follow();
  }

  /** End all motion, and look at the game as it stands. */
  stop() {
    this.looks += 1;
    this.touring = null;
    this.viewing = null;
    this.coming = this.replaying = undefined;
    this.board.speed = SPEEDS[this.tools.speed.value]; // motion that was asked for may have changed it
    this.board.cancel();
    this.board.hush();
  }

  async follow() {
    if (this.following) return;
    this.following = true;
    try {
      while (this.viewing === null && this.displayed.length < this.state.line.length) {
        const game = this.state.game, number = this.displayed.length, serial = this.state.line[number];
        this.coming = serial;
        this.setTools();
        const before = this.moves[this.state.line[number - 1]], still = this.board.speed === Infinity && this.state.seats[before?.player]?.person;
        const rest = still ? this.moved + REST - performance.now() : 0;
        if (rest > 0) await new Promise((resolve) => { setTimeout(resolve, rest); });
        if (this.coming !== serial) continue; // something else is shown meanwhile
        await this.play(number + 1);
        this.moved = performance.now();
        this.coming = undefined;
        if (this.state.game === game && this.state.line[number] === serial && this.displayed.length === number) this.displayed.push(serial);
        this.dispatchEvent(new Event("render"));
      }
    } finally {
      this.following = false;
      this.coming = undefined;
    }
    this.refresh();
  }

  /** The motion of a move, the `number`th of the game. */
  play(number) {
    const move = { ...this.moves[this.state.line[number - 1]], lines: { [this.board.language]: this.lines(number) } };
    return this.board.play(move, this.position(number - 1), { ...this.position(number), legal: [] }, (line) => this.tell(line));
  }

  /** The words of a move, without the final points: these stand below the board. */
  lines(number) {
    const { line, outcome } = this.state, lines = this.moves[line[number - 1]].lines[this.board.language].map((text) => this.board.named(text));
    return outcome && number === line.length ? lines.slice(0, -1) : lines;
  }

  /** Whether all moves of the game have been shown. */
  get settled() { return this.displayed.length === this.state.line.length && this.coming === undefined; }

  /** How many moves of the game have led to what is shown. */
  get number() { return this.viewing ?? this.displayed.length; }

  /** The position after so many moves of the game, as `BoardView.show` takes it. */
  position(number) {
    const { state } = this, line = state.line.slice(0, number).map((serial) => this.moves[serial]), move = line.at(-1), { under, over } = this.marks?.(number) ?? move ?? {};
    const position = {
      frame: move ? move.after : state.start, mover: move ? move.mover : state.starter, legal: [], won: stonesWon(line, state.seats.length),
      under, over, tabs: state.match?.owners.tabs, names: plateNames(this), winners: null,
      hint: this.valuesAt?.(number), // live-values.js
    };
    if (number < state.line.length) return position;
    if (this.puzzled?.reply && this.puzzled.puzzle === state.puzzle) position.over += moveArrow(this.board.plain, "played", state.mover, this.puzzled.reply);
    if (state.outcome) {
      position.sweep = sweeping(this.board.drawing, position.frame, state.outcome.scores, state.match?.owners.codes);
      position.frame = position.sweep.after;
      position.winners = state.outcome.winners;
    } else if (state.resigned !== null) {
      position.winners = state.seats.map((_, seat) => seat).filter((seat) => seat !== state.resigned);
      if (state.match) position.frame = { ...position.frame, scores: state.match.rounds.at(-1).scores };
    } else if (state.turn === "person") Object.assign(position, { legal: state.legal, previews: state.previews });
    return position;
  }

  /** Show what is to be shown, without motion. */
  refresh() {
    if (this.coming !== undefined || this.replaying !== undefined) return;
    this.board.show(this.position(this.number));
    if (this.hint) this.board.setHints(this.hint, true);
    this.saying.classList.toggle("over", this.state.turn === "over" && this.viewing === null);
    this.speak(this.hint ? hintWords(this, this.hint) : status(this));
    this.setTools();
    this.dispatchEvent(new Event("render"));
  }

  setTools() {
    const { state, number } = this, moving = this.coming !== undefined || this.replaying !== undefined;
    const behind = number > 0 && !this.touring, ahead = this.viewing !== null && !this.touring;
    this.tools.set({
      undo: state.can_undo, redo: state.can_redo, hint: !moving && state.turn === "person" && this.viewing === null && !state.puzzle,
      before: this.notes.size > 0, after: this.notes.size > 0,
      first: behind, previous: behind, tour: this.coming === undefined, next: ahead, last: this.viewing !== null, again: !moving && number > 0, skip: moving, loud: true,
    }, { moving, touring: Boolean(this.touring), played: this.displayed.length > 0, noted: this.whole !== "" });
  }

  tell(text) { this.saying.textContent = text; }

  /** Tell it to a screen reader, too. */
  speak(text) {
    this.tell(text);
    this.board.say(text);
  }

  // ---- looking through the game ------------------------------------------------------------------------------------

  /** Words about positions, by their number of moves, and about the whole game as it stands; they change nothing else. */
  setNotes(notes, whole = "") {
    if (!notes.size && !this.notes.size && whole === this.whole) return;
    Object.assign(this, { notes, whole });
    if (this.coming !== undefined || this.replaying !== undefined || this.hint) return;
    if (this.saying.textContent !== status(this)) this.speak(status(this));
    this.setTools();
  }

  /** The title of a puzzle, and the best answer to a wrong move, or null. */
  setPuzzle(puzzle, title, reply) {
    if (this.puzzled?.puzzle === puzzle && this.puzzled.title === title && this.puzzled.reply === reply) return;
    this.puzzled = { puzzle, title, reply };
    this.refresh();
  }

  /** The next position with a note, before (-1) or behind (1) the one shown; after the last the first comes again. */
  noted(by) {
    const numbers = [...this.notes.keys()].sort((a, b) => by * (a - b));
    return numbers.find((number) => by * (number - this.number) > 0) ?? numbers[0];
  }

  /** The position after so many moves, or null for the game as it stands. */
  view(number) {
    if (number !== null && !(number >= 0 && number <= this.state.line.length)) return;
    this.stop();
    this.hint = null;
    this.viewing = number === null || number >= this.state.line.length ? null : number;
    this.displayed = [...this.state.line];
    if (this.number) this.board.say(this.lines(this.number).join(" "));
    this.follow(); // it shows the position, and says its words
  }

  /** Show the motion of a move again, and stay behind it. */
  async replay(number) {
    if (!number || this.coming !== undefined) return;
    const replaying = {}, touring = this.touring;
    this.stop();
    this.hint = null;
    this.touring = touring;
    if (this.board.speed === Infinity) this.board.speed = 1; // it was asked for
    this.displayed = [...this.state.line];
    this.viewing = number - 1;
    this.replaying = replaying;
    this.setTools();
    await this.play(number);
    if (this.replaying !== replaying) return; // something else is shown meanwhile
    this.stop();
    this.touring = touring;
    this.viewing = number >= this.state.line.length ? null : number;
    this.refresh();
    this.follow();
  }

  /** Play all moves from the position shown, or from the start; again to stop. */
  async tour() {
    if (this.touring) { this.view(this.number); return; }
    const tour = (this.touring = {});
    for (let number = (this.viewing ?? 0) + 1; number <= this.state.line.length; number += 1) {
      await this.replay(number);
      if (this.touring !== tour) return; // something else is shown meanwhile
      if (number < this.state.line.length) await new Promise((resolve) => setTimeout(resolve, 600));
      if (this.touring !== tour) return;
    }
    this.touring = null;
    this.setTools();
  }

  // ---- hints -------------------------------------------------------------------------------------------------------

  async askHint() {
    this.tell(this.words.looking);
    this.setHint(await this.send("hint", {}));
  }

  /** A hint; dropped if it is for another position than the one shown. */
  setHint(hint) {
    const fits = hint && hint.ply === this.state.ply && this.viewing === null && this.coming === undefined && hint.serial === (this.state.line.at(-1) ?? 0);
    if (fits) this.hint = hint;
    this.refresh();
  }
}
