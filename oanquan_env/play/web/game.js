// A game on the board: what is said of it, its buttons, and the moves that come.

import { BoardView } from "./board.js";
import { ROLES, WORDS } from "./board-words.js";
import { MINUS, html, points, signed } from "./nodes.js";

const SPEEDS = { slow: 0.5, normal: 1, fast: 2.5, none: Infinity };

/**
 * A game: the board, what is said of it, and its buttons. It follows the states of `oanquan_env.play.session`, plays the
 * moves that are new, and hands requests to `send(name, arguments)`. Events: "shown" after every change of what is shown.
 */
export class GameView extends EventTarget {
  constructor(host, send, language = "en") {
    super();
    this.send = send;
    this.host = host;
    this.board = new BoardView(host, language);
    this.board.addEventListener("move", (event) => {
      this.send("move", { move: event.detail, ply: this.state.ply });
    });
    this.saying = html("p", { className: "say" }, this.board.root);
    this.tools = html("div", { className: "tools" }, this.board.root);
    this.tools.setAttribute("role", "toolbar");
    this.buttons = {};
    const press = { undo: () => this.send("undo", {}), redo: () => this.send("redo", {}), hint: () => this.askHint(),
      again: () => this.again(), skip: () => this.board.skip() };
    for (const [name, action] of Object.entries(press)) {
      this.buttons[name] = html("button", { type: "button", onclick: action }, this.tools);
      this.buttons[name].dataset.tool = name;
    }
    const label = html("label", {}, this.tools);
    this.speedWord = html("span", {}, label);
    this.speedChoice = html("select", { onchange: () => this.setSpeed(this.speedChoice.value) }, label);
    for (const speed of Object.keys(SPEEDS)) html("option", { value: speed }, this.speedChoice);
    this.setSpeed(this.board.speed === Infinity ? "none" : "normal");
    this.moves = {};
    this.shown = [];
    this.viewing = null;
    this.setLanguage(language);
  }

  get words() { return WORDS[this.board.language]; }

  destroy() { this.board.destroy(); }

  setSpeed(name) {
    this.speedChoice.value = name in SPEEDS ? name : "normal";
    this.board.speed = SPEEDS[this.speedChoice.value];
    if (this.board.speed === Infinity) this.board.skip();
    this.dispatchEvent(new Event("speed"));
  }

  setLanguage(language) {
    this.board.language = language;
    const keys = { undo: "U", redo: "R", hint: "H", again: "W", skip: "S" };
    for (const [name, button] of Object.entries(this.buttons)) {
      button.textContent = this.words[name];
      button.title = `${this.words[name]} (${keys[name]})`;
    }
    this.speedWord.textContent = this.words.speed;
    for (const option of this.speedChoice.options) option.textContent = this.words[option.value];
    if (this.state) this.refresh();
  }

  /** The keys of the buttons; true if the event was one of them. */
  key(event) {
    const tools = { u: "undo", r: "redo", h: "hint", w: "again", s: "skip" };
    const name = tools[event.key.toLowerCase()];
    if (!name || event.ctrlKey || event.altKey || event.metaKey) return false;
    if (/^(INPUT|SELECT)$/.test(event.composedPath()[0].tagName)) return false; // there they are letters
    this.board.byKeyboard = true;
    if (!this.buttons[name].disabled) this.buttons[name].click();
    return true;
  }

  // ---- following the game ------------------------------------------------------------------------------------------

  /** A new state; `drawing` comes with the first one and where the board is another. */
  update(state, drawing = null) {
    if (this.state && state.version < this.state.version) return;
    const other = !this.state || state.game !== this.state.game;
    if (other) {
      this.moves = {};
      this.shown = [...state.line];
      this.viewing = null;
      this.board.cancel();
    }
    Object.assign(this.moves, state.moves);
    if (drawing) this.board.setDrawing(drawing);
    this.state = state;
    this.hint = null;
    const coming = this.coming === undefined ? this.shown : [...this.shown, this.coming];
    if (!coming.every((serial, number) => state.line[number] === serial)) {
      this.board.cancel();
      this.shown = [...state.line];
      this.viewing = null;
    }
    this.follow();
  }

  async follow() {
    if (this.following) return;
    this.following = true;
    try {
      while (this.viewing === null && this.shown.length < this.state.line.length) {
        const game = this.state.game, number = this.shown.length, serial = this.state.line[number];
        this.coming = serial;
        this.setTools();
        await this.board.play(this.moves[serial], this.position(number), this.position(number + 1), (line) => this.tell(line));
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

  /** Whether all moves of the game have been shown. */
  get settled() { return this.shown.length === this.state.line.length && this.coming === undefined; }

  /** The position after so many moves of the game, as `BoardView.show` takes it. */
  position(number) {
    const { state } = this, move = number ? this.moves[state.line[number - 1]] : null;
    const position = {
      frame: move ? move.after : state.start, mover: move ? move.mover : state.starter, legal: [],
      under: move?.under, over: move?.over, tabs: state.match?.owners.tabs, names: this.plateNames(), winners: null,
    };
    if (number < state.line.length) return position;
    if (state.outcome) {
      position.frame = { ...position.frame, scores: state.outcome.scores };
      position.winners = state.outcome.winners;
    } else if (state.resigned !== null) {
      position.winners = state.seats.map((_, seat) => seat).filter((seat) => seat !== state.resigned);
    } else if (state.turn === "person") position.legal = state.legal;
    return position;
  }

  /** Show what is to be shown, without motion. */
  refresh() {
    if (this.coming !== undefined) return;
    const number = this.viewing ?? this.shown.length;
    this.board.show(this.position(number));
    if (this.hint && this.viewing === null) this.board.setHints(this.hint.values, this.hint.best);
    else this.board.values = null;
    this.tell(this.hint ? this.hintWords(this.hint) : this.status());
    this.setTools();
    this.dispatchEvent(new Event("shown"));
  }

  setTools() {
    const { state, buttons } = this, moving = this.coming !== undefined || Boolean(this.board.playing);
    buttons.undo.disabled = !state.can_undo;
    buttons.redo.disabled = !state.can_redo;
    buttons.hint.disabled = moving || state.turn !== "person" || this.viewing !== null;
    buttons.again.disabled = moving || !(this.viewing ?? this.shown.length);
    buttons.skip.disabled = !moving;
  }

  tell(text) { this.saying.textContent = text; }

  /** The position after so many moves, or null for the game as it stands. */
  view(number) {
    this.board.cancel();
    this.viewing = number === null || number >= this.state.line.length ? null : number;
    this.shown = [...this.state.line];
    this.coming = undefined;
    this.refresh();
  }

  async again() {
    const number = this.viewing ?? this.shown.length;
    if (!number || this.coming !== undefined) return;
    const speed = this.board.speed, serial = this.state.line[number - 1];
    if (speed === Infinity) this.board.speed = 1; // it was asked for
    this.coming = serial;
    const before = this.shown;
    this.shown = this.shown.slice(0, number - 1);
    this.setTools();
    const playing = this.board.play(this.moves[serial], this.position(number - 1), { ...this.position(number), legal: [] }, (line) => this.tell(line));
    this.setTools();
    await playing;
    this.board.speed = speed;
    if (this.coming === serial) { this.coming = undefined; this.shown = before; }
    this.follow();
  }

  // ---- words -------------------------------------------------------------------------------------------------------

  seat(player) { return this.board.drawing.seats[this.board.language][player]; }

  names() {
    const persons = this.state.seats.filter((seat) => seat.person).length;
    return this.state.seats.map((seat, player) => {
      const role = ROLES[this.board.language][seat.name] ?? seat.name.split(":")[0];
      return seat.person && persons !== 1 ? this.seat(player) : `${this.seat(player)} · ${role}`;
    });
  }

  /** Names beside the board; between the rows of three or four players there is no room for the levels. */
  plateNames() {
    return this.state.seats.length === 2 ? this.names()
      : this.names().map((name, player) => (this.state.seats[player].person ? name : this.seat(player)));
  }

  status() {
    const { state, words } = this, names = this.names();
    if (this.viewing !== null) {
      return this.viewing ? this.moves[state.line[this.viewing - 1]].lines[this.board.language].join(" ") : "";
    }
    if (state.resigned !== null) {
      const shared = state.match ? ` ${points(state.match.rounds.at(-1).scores)}.` : "";
      return `${this.seat(state.resigned)} ${words.resigns}.${shared}`;
    }
    if (state.outcome) {
      const { winners, scores } = state.outcome;
      if (winners.length === state.seats.length) return `${words.over} ${words.draw}, ${points(scores)}.`;
      const persons = state.seats.flatMap((seat, player) => (seat.person ? [player] : []));
      if (persons.length === 1 && (winners.length === 1 || !winners.includes(persons[0]))) {
        return `${words.over} ${winners.includes(persons[0]) ? words.youWin : words.youLose}, ${points(scores)}.`;
      }
      return `${words.over} ${winners.map((seat) => names[seat]).join(", ")} ${winners.length > 1 ? words.share : words.wins}, ${points(scores)}.`;
    }
    if (state.trouble) return `${words.trouble} ${state.trouble}`;
    if (state.turn === "player") return `${names[state.mover]} ${words.thinking}`;
    const alone = state.seats.filter((seat) => seat.person).length === 1;
    const turn = alone ? words.yourTurn : this.board.language === "vi" ? `Đến lượt ${names[state.mover]}.` : `${names[state.mover]} ${words.toMove}.`;
    return state.line.length < 2 ? `${turn} ${words.tap}` : turn;
  }

  // ---- hints -------------------------------------------------------------------------------------------------------

  async askHint() {
    this.tell(this.words.looking);
    this.setHint(await this.send("hint", {}));
  }

  /** A hint; dropped if it is for another position than the one shown. */
  setHint(hint) {
    if (hint && hint.ply === this.state.ply && this.viewing === null && this.coming === undefined
        && (hint.serial[0] ?? 0) === (this.state.line.at(-1) ?? 0)) {
      this.hint = hint;
      this.board.say(this.hintWords(hint));
    }
    if (this.coming === undefined) this.refresh();
  }

  hintWords({ best, values, search }) {
    const two = this.state.seats.length === 2, points = signed(values[best]), field = best[0], a = best.endsWith("A"), { words } = this;
    const way = a ? words.anticlockwise : words.clockwise;
    if (this.board.language === "vi") {
      const tried = `Thử ô ${field}, ${way} (${best})`;
      if (!search) return `${tried}: được ${points} điểm ngay, chưa tính nước đáp.`;
      const how = search.proved ? "đã chứng minh" : `nhìn trước ${search.depth} nước`;
      return `${tried}: ${points} điểm từ đây đến cuối ván nếu ${two ? "hai bên" : "mọi người"} đều đi tốt nhất (${how}).`;
    }
    const tried = `Try field ${field}, ${way} (${best})`;
    if (!search) return `${tried}: it wins ${points} points at once, answers not counted.`;
    const how = search.proved ? "proved" : `seen ${search.depth} moves ahead`;
    return `${tried}: ${points} points from here to the end, if ${two ? "both" : "all"} play their best (${how}).`;
  }
}
