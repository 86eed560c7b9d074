// A board on which a person plays all sides, and the values of the moves: for the analysis and the openings.

import { BoardView } from "../board/board.js";
import { ended, stonesWon } from "../board/moving-board.js";
import { services } from "../current-game.js";
import { addStyle, make } from "../dom.js";
import { Game, PERSON } from "../model/game.js";
import { moveText } from "../model/notation.js";
import { parseRules } from "../model/rules.js";
import { drawingJson, nodeJson, previewsOf } from "../model/state.js";
import { copyFrame } from "../model/trace.js";
import { page, words } from "../page-state.js";
import { Openings, movesOf } from "../players/book.js";
import { ANY } from "../players/players.js";
import { signed } from "../words/format.js";
import { PROOF } from "../words/proof-words.js";

addStyle(`
.study { width: 100vw; max-width: none; height: 100dvh; max-height: none; border-radius: 0; padding: 6px 24px;
  overflow: auto; }
.study[open] { display: grid; gap: 6px 28px;
  grid-template: auto minmax(0, 1fr) / minmax(0, 1fr) clamp(340px, 25vw, 720px); }
.study header { grid-column: 1 / -1; flex-wrap: nowrap; padding: 0; margin: 0; width: 100%; gap: 12px; }
.study h2 { margin: 0 auto 0 0; white-space: nowrap; }
.study select { min-width: 0; max-width: 22em; }
.study > div { min-width: 0; min-height: 0; }
.study-board { --rest: 200px; }
.study-said { min-height: 2.8em; margin: 6px 0; text-align: center; line-height: 1.4; }
.study-board ~ .row-of { justify-content: center; }
.study-side { display: flex; flex-direction: column; gap: 8px; overflow: auto; padding: 3px; margin: -3px; }
#analysis-tools + .move-values { margin-top: 8px; }
.study .help { color: var(--soft); font-size: 0.875rem; }
.study .help summary { padding: 6px 0; }
.study .help[open] { padding-bottom: 8px; }
.move-values { display: grid; gap: 4px; grid-template-columns: repeat(auto-fill, minmax(7.5rem, 1fr)); }
.move-values button { display: grid; grid-template-columns: 2em 2.3em minmax(0, 1fr); gap: 6px; align-items: center;
  min-height: 2.625rem; padding: 0 0.625rem; text-align: left; line-height: 1.15; font-variant-numeric: tabular-nums; }
.move-values small { color: var(--soft); font-size: 0.75rem; }
.move-values .best { border-color: var(--green); background: color-mix(in srgb, var(--green) 14%, var(--panel)); }
@media (min-width: 901px) and (min-height: 700px) { .study-board { --rest: 300px; } }
@media (max-width: 900px), (max-height: 520px) {
  .study { padding: 4px 12px; }
  .study[open] { gap: 4px 14px; }
  .study h2 { font-size: 1.0625rem; }
}
@media (max-width: 900px) and (min-height: 521px) {
  .study[open] { grid-template: none / minmax(0, 1fr); align-content: start; }
  .study > div { min-height: auto; }
  .study-board { --rest: 310px; }
  .study-said { font-size: 0.9375rem; }
  .study-side { overflow: visible; }
}
@media (max-width: 560px) {
  .study { padding: 4px 8px; }
  .study header { gap: 6px; }
  .study h2 { font-size: 0.875rem; }
  .study select { flex: auto; font-size: 0.8125rem; }
  .study header button { padding: 0 8px; font-size: 0.875rem; }
}
@media (max-height: 520px) {
  .study[open] { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
  .study-board { --rest: 150px; }
  .study-said { min-height: 1.4em; margin: 2px; font-size: 0.875rem; }
  .move-values { grid-template-columns: repeat(auto-fill, minmax(7rem, 1fr)); }
  .move-values button { min-height: 2.25rem; }
}`);

/**
 * Return a dialog that fills the window: a head with its title, a list of rules and a button that closes it, then two
 * columns, `main` with the board and `side`. The element `values` is below the board if there is room, else in `side`.
 */
export function studyDialog(id, title, rules, main, side, values) {
  const heading = make("h2", { id: `${id}-title`, textContent: title, tabIndex: -1, autofocus: true }),
    dialog = make("dialog", { id, className: "study" });
  const close = make("button", { type: "button", textContent: words().close, onclick: () => dialog.close() });
  rules.ariaLabel = words().rules;
  side.classList.add("study-side");
  if (matchMedia("(min-width: 901px) and (min-height: 700px)").matches) main.push(values);
  else side.prepend(values);
  dialog.append(make("header", {}, heading, rules, close), make("div", {}, ...main), side);
  dialog.setAttribute("aria-labelledby", heading.id);
  return dialog;
}

/** A board in the element `host`; `go(move)` is called when a person chooses a move. */
export class Study {
  #search = new AbortController();

  constructor(host, go) {
    this.view = new BoardView(host, page.language);
    this.view.addEventListener("move", ({ detail }) => go(detail));
  }

  /** Load what a board needs for rules, given as text. */
  static async load(text) {
    const { engine, data } = services(),
      rules = engine.rules(parseRules(text, page.catalogue)),
      listed = page.catalogue.openings.includes(text);
    const [table, drawing] = await Promise.all([
      listed && data(Openings.file(text)),
      data(`drawing-${rules.players}-${rules.fields}.json`),
    ]);
    return {
      rules,
      listed,
      drawing,
      table: listed ? Openings.read(engine, rules, text, table) : Openings.none(engine),
    };
  }

  /** Begin a game at a position, with what `load` returned. `names` are as in state.js; `plates` has a text for each seat, by default its name. */
  begin({ rules, table, drawing }, start, names, plates = null) {
    const { engine } = services();
    Object.assign(this, { engine, rules, table, names, plates, drawing: drawingJson(drawing, rules, names) });
    this.hints = new Map(); // by the serial number of the last move
    this.game = new Game(engine, rules, start, Array(rules.players).fill(PERSON));
    this.view.cancel(); // the board is redrawn anyway, so drop running motion
    this.view.setDrawing(this.drawing);
  }

  end() {
    this.#search.abort();
    this.view.cancel();
    this.view.destroy();
  }

  /** Go to the position after moves, given as texts, from the start. */
  goTo(moves) {
    this.game.node = this.game.root;
    for (const move of moves) this.game.step(this.action(move));
  }

  /** Return the legal action of a move; undefined if it is not legal. */
  action(move) {
    return this.game.legal().find((action) => moveText(action) === move);
  }

  /** Return the present position as `BoardView.show` takes it. */
  board() {
    const { game, view } = this,
      { position } = game,
      played = game.line().map((node) => nodeJson(node, this.drawing, this.names)),
      move = played.at(-1),
      legal = game.legal();
    return {
      ...ended(view.drawing, move?.after ?? copyFrame(position), game.outcome()),
      won: stonesWon(played, this.rules.players),
      mover: position.mover,
      under: move?.under,
      over: move?.over,
      names: this.plates?.map((name) => [name, ""]),
      legal: legal.map(moveText),
      previews: previewsOf(game, legal),
    };
  }

  /** Play a legal move with its motion; return whether the game is still at the position after it. */
  async play(action, onStep) {
    const { game, view } = this,
      before = this.board();
    view.cancel();
    const node = game.step(action),
      after = this.board();
    await view.play(nodeJson(node, this.drawing, this.names), before, { ...after, legal: [] }, onStep);
    return this.game === game && game.node === node;
  }

  // ---- values -------------------------------------------------------------------------------------------------------

  get hint() {
    return this.hints.get(this.game.node.serial) ?? null;
  }

  /** End the search of another position. */
  stop() {
    this.#search.abort();
    this.#search = new AbortController();
  }

  /** Search the values of the present moves; return whether the position is still the same. */
  async ask() {
    const { game, rules, hints } = this,
      { serial } = game.node;
    try {
      hints.set(serial, await services().thinker.hint(rules, game.position, { signal: this.#search.signal }));
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
    return this.game === game && game.node.serial === serial && hints.has(serial);
  }

  /**
   * Return the moves of the present position, as `movesOf` in book.js, but with values as the mover's final lead, and
   * whether they are the best; for more than two players, without bounds.
   */
  moves() {
    const { engine, rules, game, hint, table } = this;
    if (game.over) return [];
    const all = rules.players === 2 ? movesOf(engine, rules, table, game.position, hint) : this.#searched();
    const turned = game.position.mover && rules.players === 2 ? all.map(negated) : all,
      most = Math.max(...turned.map(({ value }) => value ?? Infinity));
    return turned.map((one) => ({ ...one, best: one.value === most }));
  }

  #searched() {
    const { game, hint } = this;
    return game
      .legal()
      .map(moveText)
      .map((move) => ({
        move,
        lower: -Infinity,
        upper: Infinity,
        value: hint?.values[move] ?? null,
        proved: hint?.exact.includes(move) ?? false,
      }))
      .sort((one, other) => other.value - one.value);
  }
}

const negated = (one) => ({
  ...one,
  value: one.value === null ? null : -one.value,
  lower: -one.upper,
  upper: -one.lower,
});

/** Return what explains the numbers for two players, to be opened; `first` begins it. */
export function legend(first = "") {
  const { help, about } = PROOF[page.language];
  return make("details", { className: "help" }, make("summary", { textContent: help }), `${first} ${about}`);
}

/** Say whether a value is proved; given the `hint`, also if its net is the one for any rules. */
export function how({ value, proved }, hint = null) {
  const texts = PROOF[page.language];
  if (proved) return texts.proved;
  if (value === null) return texts.looking;
  return hint?.search.net === ANY ? `${texts.searched} ${texts.anyRules}` : texts.searched;
}

/** Return the texts of a move's button: its value, a sign of how it is known, and in words how, with proved bounds. */
function labels(one) {
  const { value, proved, lower, upper } = one,
    words = PROOF[page.language],
    isBounded = !proved && (lower > -Infinity || upper < Infinity);
  const lead = value === null ? "…" : value ? signed(value) : "0",
    title = how(one) + (isBounded ? `; ${words.proved}: ${words.range(lower, upper)}` : "");
  return [lead, proved ? "✓" : value === null ? "" : "≈", title];
}

/**
 * Show the values of `moves`, from `study.moves()`, beside the squares of the board, and a button for each in `list`, in
 * their order. The buttons wait for all values, which change the order, so that nothing moves under a finger.
 */
export function showMoves(study, list, moves, go) {
  const known = moves.filter(({ value }) => value !== null),
    disabled = known.length < moves.length;
  study.view.setHints({
    values: Object.fromEntries(known.map(({ move, value }) => [move, value])),
    best: moves.find(({ best }) => best)?.move,
  });
  const buttons = moves.map((one) => {
    const { move, best } = one,
      [lead, sign, title] = labels(one),
      button = make("button", { type: "button", value: move, title, disabled, onclick: () => go(move) });
    button.innerHTML = `<b>${move}</b> <span>${lead}</span> <small>${sign}</small>`;
    button.classList.toggle("best", best);
    return button;
  });
  const isSame =
    buttons.length === list.children.length && buttons.every((one, at) => one.isEqualNode(list.children[at]));
  if (!isSame) list.replaceChildren(...buttons);
}
