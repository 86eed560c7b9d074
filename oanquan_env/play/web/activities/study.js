// A board on which a person plays all sides, and the values of the moves: for the analysis and the openings.

import { BoardView } from "../board/board.js";
import { stonesWon, sweeping } from "../board/moving-board.js";
import { services } from "../current-game.js";
import { make } from "../dom.js";
import { Game, PERSON } from "../model/game.js";
import { moveText } from "../model/notation.js";
import { parseRules } from "../model/rules.js";
import { drawingJson, nodeJson, previewsOf } from "../model/state.js";
import { copyFrame } from "../model/trace.js";
import { page } from "../page-state.js";
import { Openings, movesOf } from "../players/book.js";
import { ANY } from "../players/players.js";
import { signed } from "../words/format.js";
import { PROOF } from "../words/proof-words.js";

const STYLE = `
.move-values { display: grid; gap: 4px; align-content: start; }
.move-values button { display: grid; grid-template-columns: 2em 2.6em minmax(0, 1fr); gap: 8px; align-items: center;
  min-height: 42px; padding: 0 10px; text-align: left; line-height: 1.15; font-variant-numeric: tabular-nums; }
.move-values small { color: var(--soft); }
.move-values .best { border-color: var(--green); background: color-mix(in srgb, var(--green) 14%, var(--panel)); }
@media (max-width: 720px) {
  .move-values small { font-size: 0.6875rem; }
  .move-values button { grid-template-columns: 1.6em 2.1em minmax(0, 1fr); gap: 4px; height: 46px; min-height: 0;
    padding: 0 6px; font-size: 0.875rem; }
}`;

/** Add a style sheet to the page. */
export function addStyle(text) {
  const style = new CSSStyleSheet();
  style.replaceSync(text);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, style];
}
addStyle(STYLE);

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

  /** Return the present position as `BoardView.show` takes it, with the values in `hint` beside its squares. */
  board(hint = null) {
    const { game, view } = this,
      { position } = game,
      played = game.line().map((node) => nodeJson(node, this.drawing, this.names)),
      move = played.at(-1),
      outcome = game.outcome(),
      frame = move?.after ?? copyFrame(position),
      sweep = outcome && sweeping(view.drawing, frame, outcome.scores),
      legal = game.legal();
    return {
      frame: sweep?.after ?? frame,
      sweep,
      hint,
      won: stonesWon(played, this.rules.players),
      mover: position.mover,
      under: move?.under,
      over: move?.over,
      winners: outcome?.winners ?? null,
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

  /** Return the moves of the present position, as `movesOf` in book.js; for more than two players, without bounds. */
  moves() {
    const { engine, rules, game, hint, table } = this;
    if (game.over) return [];
    if (rules.players === 2) return movesOf(engine, rules, table, game.position, hint);
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

/** Say whether a value is proved, or its bounds; given the `hint`, also if its net is the one for any rules. */
export function how({ lower, upper, value, proved }, hint = null) {
  const texts = PROOF[page.language],
    bounds = lower === -Infinity && upper === Infinity ? "" : texts.between(lower, upper);
  if (proved) return texts.proved;
  const searched = hint?.search.net === ANY ? `${texts.searched} ${texts.anyRules}` : texts.searched;
  return [value === null ? bounds || texts.looking : `${searched}${bounds && ";"}`, value === null ? "" : bounds]
    .filter(Boolean)
    .join(" ");
}

const lead = ({ value }) => (value === null ? "…" : value ? signed(value) : "0");

/** Show a button for each move of the node `node`; values that arrive later do not move the buttons. */
export function showMoves(list, node, moves, go) {
  if (list.node !== node || list.children.length !== moves.length) {
    list.node = node;
    list.replaceChildren(
      ...moves.map(({ move }) =>
        make(
          "button",
          { type: "button", value: move, onclick: () => go(move) },
          ...[make("b"), " ", make("span"), " ", make("small")],
        ),
      ),
    );
  }
  for (const button of list.children) {
    const one = moves.find(({ move }) => move === button.value);
    [one.move, lead(one), how(one)].forEach((text, number) => (button.children[number].textContent = text));
    button.classList.toggle("best", Boolean(one.best));
  }
}
