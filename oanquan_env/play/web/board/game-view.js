// A game on the board: new moves, positions that a person looks at, and the buttons.

import { BoardView } from "./board.js";
import { WORDS } from "../words/board-words.js";
import { moveArrow } from "./move-markers.js";
import { ended, stonesWon } from "./moving-board.js";
import { html } from "../dom.js";
import { hintWords, plateNames, status } from "../words/narration.js";
import { ButtonBar, SPEEDS } from "../buttons.js";

const REST = 400; // milliseconds between a person's move and the reply, without motion

/**
 * The view of a game: the board, the text below it, and its buttons. It follows the states of a session, shows new
 * moves, and passes requests to `send(name, arguments)`. Events: "render" after every change, "option" (detail [name,
 * value]).
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
    this.board.addEventListener("choose", () => this.hint || this.tell(status(this)));
    this.board.addEventListener("refuse", () => this.tell(this.words.own));
    this.saying = html("p", { className: "say" }, this.board.root);
    const step = (by) => this.view(this.number + by);
    this.buttonBar = new ButtonBar(
      this.board.root,
      {
        undo: () => this.send("undo", {}),
        redo: () => this.send("redo", {}),
        hint: () => this.askHint(),
        before: () => this.view(this.noted(-1)),
        after: () => this.view(this.noted(1)),
        options: null, // opens a popover
        loud: () => {
          this.board.wake();
          this.option("loud", !this.board.loud);
        },
        first: () => this.view(0),
        previous: () => step(-1),
        tour: () => this.tour(),
        next: () => step(1),
        skip: () => this.board.skip(),
        last: () => this.view(null),
        again: () => this.replay(this.number),
      },
      (name, value) => this.option(name, value),
    );
    this.moves = {};
    this.notes = new Map();
    this.whole = "";
    this.displayed = [];
    this.viewing = null;
    this.moved = 0; // when a move was last shown
    this.unaided = () => false; // whether the game goes on without hints
    this.goals = []; // functions that return the goal of the game, how it was met, or null
    this.preparing = null; // the game whose computer players still load their files
    this.looks = 0; // how often `stop` was called; it changes when something else is shown
    this.marks = null; // (number of moves) -> marks that replace those of the last move, or null
    this.option("speed", this.board.speed === Infinity ? "none" : "normal");
    this.option("loud", false);
    this.setLanguage(language);
  }

  get words() {
    return WORDS[this.board.language];
  }

  destroy() {
    this.board.destroy();
  }

  /** Set speed, preview or sound. */
  option(name, value) {
    const { board, buttonBar } = this;
    if (name === "speed") {
      buttonBar.speed.value = value;
      board.speed = SPEEDS[buttonBar.speed.value];
      if (board.speed === Infinity) board.skip();
    } else if (name === "loud") {
      board.loud = value;
      buttonBar.setLoud(value);
    } else buttonBar.preview.checked = board.preview = value;
    this.dispatchEvent(new CustomEvent("option", { detail: [name, value] }));
  }

  setLanguage(language) {
    this.board.language = language;
    this.buttonBar.setLanguage(language);
    if (this.state) this.refresh();
  }

  /**
   * Press the button for a key; return false if there is none. Arrows step through a game if no field can be chosen.
   */
  key(event) {
    if (!this.buttonBar.key(event, !this.board.legal.size)) return false;
    this.board.byKeyboard = true;
    return true;
  }

  // ---- following the game ------------------------------------------------------------------------------------------

  /** Take a new state; pass `drawing` with the first state, and when the board or the names on it change. */
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
    const persons = state.seats.map((seat) => seat.person),
      alone = persons.filter(Boolean).length === 1;
    const bottom = state.puzzle ? state.starter : alone ? persons.indexOf(true) : 0;
    if (drawing) {
      this.board.seat = bottom;
      this.board.setDrawing(drawing);
    } else this.board.sit(bottom);
    const coming = this.coming === undefined ? this.displayed : [...this.displayed, this.coming];
    if (!coming.every((serial, number) => state.line[number] === serial)) {
      this.stop();
      this.displayed = [...state.line];
    }
    this.follow();
  }

  /** End all motion, and show the current position. */
  stop() {
    this.looks += 1;
    this.touring = null;
    this.viewing = null;
    this.coming = this.replaying = undefined;
    this.board.speed = SPEEDS[this.buttonBar.speed.value]; // a requested motion may have changed it
    this.board.cancel();
    this.board.hush();
  }

  async follow() {
    if (this.following) return;
    this.following = true;
    try {
      while (this.viewing === null && this.displayed.length < this.state.line.length) {
        const game = this.state.game,
          number = this.displayed.length,
          serial = this.state.line[number];
        this.coming = serial;
        this.setButtons();
        const before = this.moves[this.state.line[number - 1]],
          still = this.board.speed === Infinity && this.state.seats[before?.player]?.person;
        const rest = still ? this.moved + REST - performance.now() : 0;
        if (rest > 0)
          await new Promise((resolve) => {
            setTimeout(resolve, rest);
          });
        if (this.coming !== serial) continue; // a person looks at something else
        await this.play(number + 1);
        this.moved = performance.now();
        this.coming = undefined;
        if (this.state.game === game && this.state.line[number] === serial && this.displayed.length === number)
          this.displayed.push(serial);
        this.dispatchEvent(new Event("render"));
      }
    } finally {
      this.following = false;
      this.coming = undefined;
    }
    this.refresh();
  }

  /** Show the motion of the `number`th move. */
  play(number) {
    const move = { ...this.moves[this.state.line[number - 1]], lines: { [this.board.language]: this.lines(number) } };
    return this.board.play(move, this.position(number - 1), { ...this.position(number), legal: [] }, (line) =>
      this.tell(line),
    );
  }

  /** Return the sentences about a move, without the final points, which are below the board. */
  lines(number) {
    const { line, outcome } = this.state,
      lines = this.moves[line[number - 1]].lines[this.board.language].map((text) => this.board.named(text));
    return outcome && number === line.length ? lines.slice(0, -1) : lines;
  }

  /** Whether all moves of the game have been shown. */
  get settled() {
    return this.displayed.length === this.state.line.length && this.coming === undefined;
  }

  /** The number of moves before the position shown. */
  get number() {
    return this.viewing ?? this.displayed.length;
  }

  /** Return the position after `number` moves, as `BoardView.show` takes it. */
  position(number) {
    const { state } = this,
      line = state.line.slice(0, number).map((serial) => this.moves[serial]),
      move = line.at(-1),
      { under, over } = this.marks?.(number) ?? move ?? {};
    const position = {
      frame: move ? move.after : state.start,
      mover: move ? move.mover : state.starter,
      legal: [],
      won: stonesWon(line, state.seats.length),
      under,
      over,
      tabs: state.match?.owners.tabs,
      names: plateNames(this),
      winners: null,
    };
    if (number < state.line.length) return position;
    if (this.puzzled?.reply && this.puzzled.puzzle === state.puzzle)
      position.over += moveArrow(this.board.plain, "played", state.mover, this.puzzled.reply);
    if (state.outcome)
      Object.assign(position, ended(this.board.drawing, position.frame, state.outcome, state.match?.owners.codes));
    else if (state.resigned !== null) {
      position.winners = state.winners;
      if (state.match) position.frame = { ...position.frame, scores: state.match.rounds.at(-1).scores };
    } else if (state.turn === "person") Object.assign(position, { legal: state.legal, previews: state.previews });
    return position;
  }

  /** Show the position without motion. */
  refresh() {
    if (this.coming !== undefined || this.replaying !== undefined) return;
    this.board.show(this.position(this.number));
    if (this.hint) this.board.setHints(this.hint, true);
    this.saying.classList.toggle("over", this.state.turn === "over" && this.viewing === null);
    this.speak(this.hint ? hintWords(this, this.hint) : status(this));
    this.setButtons();
    this.dispatchEvent(new Event("render"));
  }

  setButtons() {
    const { state, number } = this,
      moving = this.coming !== undefined || this.replaying !== undefined;
    const behind = number > 0 && !this.touring,
      ahead = this.viewing !== null && !this.touring;
    this.buttonBar.set(
      {
        undo: state.can_undo,
        redo: state.can_redo,
        hint: !moving && state.turn === "person" && this.viewing === null && !state.puzzle && !this.unaided(),
        before: this.notes.size > 0,
        after: this.notes.size > 0,
        first: behind,
        previous: behind,
        tour: this.coming === undefined && this.displayed.length > 0,
        next: ahead,
        last: this.viewing !== null,
        again: !moving && number > 0,
        skip: moving,
      },
      { moving, touring: Boolean(this.touring), noted: this.whole !== "" },
    );
  }

  tell(text) {
    this.saying.textContent = text;
  }

  /** Show a text, also to screen readers. */
  speak(text) {
    this.tell(text);
    this.board.say(text);
  }

  // ---- looking through the game ------------------------------------------------------------------------------------

  /** Set notes on positions, by their number of moves, and a note on the whole game. */
  setNotes(notes, whole = "") {
    if (!notes.size && !this.notes.size && whole === this.whole) return;
    Object.assign(this, { notes, whole });
    if (this.coming !== undefined || this.replaying !== undefined || this.hint) return;
    if (this.saying.textContent !== status(this)) this.speak(status(this));
    this.setButtons();
  }

  /** Set what is known about a puzzle: {puzzle, title, reply, taken, missed}, as in words/puzzle-tasks.js. */
  setPuzzle(puzzled) {
    if (["puzzle", "title", "reply"].every((name) => this.puzzled?.[name] === puzzled[name])) return;
    this.puzzled = puzzled;
    this.refresh();
  }

  /**
   * Return the number of the next position with a note, forwards (`by` 1) or backwards (-1); the first follows the
   * last.
   */
  noted(by) {
    const numbers = [...this.notes.keys()].sort((a, b) => by * (a - b));
    return numbers.find((number) => by * (number - this.number) > 0) ?? numbers[0];
  }

  /** Show the position after `number` moves; null shows the current position. */
  view(number) {
    if (number !== null && !(number >= 0 && number <= this.state.line.length)) return;
    this.stop();
    this.hint = null;
    this.viewing = number === null || number >= this.state.line.length ? null : number;
    this.displayed = [...this.state.line];
    if (this.number) this.board.say(this.lines(this.number).join(" "));
    this.follow(); // shows the position and its text
  }

  /** Show the motion of a move again, and stay after it. */
  async replay(number) {
    if (!number || this.coming !== undefined) return;
    const replaying = {},
      touring = this.touring;
    this.stop();
    this.hint = null;
    this.touring = touring;
    if (this.board.speed === Infinity) this.board.speed = 1; // a person asked for motion
    this.displayed = [...this.state.line];
    this.viewing = number - 1;
    this.replaying = replaying;
    this.setButtons();
    await this.play(number);
    if (this.replaying !== replaying) return; // as in `follow`
    this.stop();
    this.touring = touring;
    this.viewing = number >= this.state.line.length ? null : number;
    this.refresh();
    this.follow();
  }

  /** Show all moves from the position shown, or from the start; a second call stops. */
  async tour() {
    if (this.touring) {
      this.view(this.number);
      return;
    }
    const tour = (this.touring = {});
    for (let number = (this.viewing ?? 0) + 1; number <= this.state.line.length; number += 1) {
      await this.replay(number);
      if (this.touring !== tour) return; // as in `follow`
      if (number < this.state.line.length) await new Promise((resolve) => setTimeout(resolve, 600));
      if (this.touring !== tour) return;
    }
    this.touring = null;
    this.setButtons();
  }

  // ---- hints -------------------------------------------------------------------------------------------------------

  async askHint() {
    this.tell(this.words.looking);
    this.setHint(await this.send("hint", {}));
  }

  /** Show a hint, unless it is for another position. */
  setHint(hint) {
    const fits =
      hint &&
      hint.ply === this.state.ply &&
      this.viewing === null &&
      this.coming === undefined &&
      hint.serial === (this.state.line.at(-1) ?? 0);
    if (fits) this.hint = hint;
    this.refresh();
  }
}
