// The openings dialog: moves with proved or searched values, lines to step through, games from any position, and the
// proof.

import { play, playFor, services, view } from "../current-game.js";
import { make } from "../dom.js";
import { PERSON } from "../model/game.js";
import { moveText } from "../model/notation.js";
import { explain, page, presetName, words } from "../page-state.js";
import { Book, refutation, valueOf } from "../players/book.js";
import { checkProof } from "../players/certificate.js";
import { PROOF } from "../words/proof-words.js";
import { Study, addStyle, how, showMoves } from "./study.js";

const STYLE = `
#openings-dialog { width: min(1020px, calc(100vw - 20px)); }
#openings-dialog :is(h3, p) { margin: 8px 0; }
#openings-top { display: flex; gap: 6px 24px; align-items: center; justify-content: space-between; }
#openings-top h2 { margin: 0; white-space: nowrap; }
#openings-top select { min-width: 0; }
#openings-refuted { display: flex; gap: 12px; align-items: center; justify-content: space-between; }
#openings-refuted button { flex: none; }
#openings-board { --rest: 540px; }
#openings-answer { scroll-margin-bottom: 90px; }
#openings-table { display: grid; grid-template: auto 1fr / minmax(0, 1fr) 250px; gap: 8px 24px; }
#openings-moves { grid-row: 1 / 3; grid-column: 2; }
#openings-dialog .help { margin: 8px 0; padding: 0 12px 8px; color: var(--soft); font-size: 0.875rem; width: fit-content; }
#openings-dialog .help:not([open]) { padding-bottom: 0; }
#openings-line button { min-height: 38px; padding: 0 10px; }
#openings-line button[aria-current] { background: var(--warm); font-weight: 700; }
#openings-dialog progress { width: 100%; accent-color: var(--green); }
@media (max-width: 720px) {
  #openings-board { --rest: 380px; }
  #openings-table { grid-template: none / minmax(0, 1fr) 150px; gap: 8px; }
  #openings-moves { grid-row: 1; }
  #openings-refuted, #openings-value { font-size: 0.875rem; line-height: 1.3; }
  #openings-value { min-height: 3.9em; } /* values that arrive later must not move the buttons */
  #openings-table > :last-child { grid-column: 1 / -1; }
}`;
const explorer = { preset: null, study: null, walk: null }; // `walk`: the line being shown
const LISTED = 10; // maximum number of listed moves of a line
let nodes = null; // the elements of the dialog
const texts = () => PROOF[page.language];
const button = (textContent, onclick, more = {}) =>
  make("button", {
    type: "button",
    textContent,
    onclick: () => Promise.resolve(onclick()).catch((error) => tell(explain(error))),
    ...more,
  });
const part = (name, id, more = {}) => (nodes[id] = make(name, { id: `openings-${id}`, ...more }));

addStyle(STYLE);

export async function open() {
  const { rules, seats } = page.state,
    { openings, default: usual } = page.catalogue,
    own = openings.includes(rules) || seats.length > 2 ? [] : [rules]; // rules without an opening table
  build([...openings, ...own]);
  nodes.dialog.showModal();
  try {
    await choose(seats.length > 2 ? usual : rules);
  } catch (error) {
    nodes.dialog.close();
    throw error;
  }
}

/** Change the preset; if it cannot be loaded, keep the present one. */
async function change(preset) {
  try {
    await choose(preset);
  } catch (error) {
    nodes.rules.value = explorer.preset;
    tell(explain(error));
  }
}

/** Write the dialog in the page's language. */
function build(presets) {
  nodes = {};
  const rules = part("select", "rules", { onchange: () => change(rules.value) }),
    board = part("div", "board");
  rules.append(...presets.map((name) => make("option", { value: name, textContent: presetName(name) })));
  const row = (...buttons) => make("div", { className: "row-of" }, ...buttons);
  const more = make(
    "div",
    {},
    make(
      "details",
      { className: "help" },
      make("summary", { textContent: "?", ariaLabel: texts().help }),
      texts().about,
    ),
    row(button(words().fromHere, playFromHere), button(words().analyse, analyse)),
    part("h3", "proof", { textContent: texts().proof }),
    part("p", "claim"),
    row(
      button(texts().check, check, { className: "main", hidden: true }),
      button(texts().beat, beat, { className: "beat", hidden: true }),
    ),
    part("progress", "progress", { hidden: true }),
    part("p", "answer"),
  );
  part("dialog", "dialog").append(
    make(
      "form",
      { method: "dialog" },
      make("div", { id: "openings-top" }, make("h2", { textContent: words().openings, id: "openings-title" }), rules),
      part("p", "refuted"),
      part("div", "line", { className: "row-of" }),
      part("p", "value"),
      make("div", { id: "openings-table" }, board, part("div", "moves", { className: "move-values" }), more),
      make("div", { className: "end" }, make("button", { value: "close", textContent: words().close })),
    ),
  );
  rules.setAttribute("aria-label", words().rules);
  nodes.answer.setAttribute("role", "status");
  nodes.line.setAttribute("aria-label", texts().moves);
  nodes.dialog.setAttribute("aria-labelledby", "openings-title");
  nodes.dialog.onclose = () => {
    explorer.walk = null;
    explorer.study.end();
    nodes.dialog.remove();
  };
  document.body.append(nodes.dialog);
  explorer.study = new Study(board, (move) => go(move));
}

/** Show the answer to a person's request, and scroll it into view. */
function tell(text, { answer } = nodes) {
  answer.textContent = text;
  if (text) answer.scrollIntoView({ block: "nearest" });
}
const data = (name) => services().data(name);

/** Start at the set-up of a preset. */
async function choose(preset) {
  nodes.rules.value = preset;
  const { study } = explorer,
    loaded = await Study.load(preset),
    { rules, table, listed } = loaded,
    { engine } = services();
  if (nodes.rules.value !== preset) return; // another preset was chosen meanwhile
  explorer.preset = preset;
  explorer.walk = null;
  study.begin(loaded, engine.start(rules), { en: PROOF.en.names, vi: PROOF.vi.names }, texts().plates);
  const bad = refutation(engine, rules, table),
    line = bad?.line ?? [];
  nodes.refuted.hidden = !bad;
  if (bad) {
    const ends =
      line.reduce((position, action) => engine.play(rules, position, action).position, engine.start(rules)).ended !== 0;
    const sentence = texts().refuted(
      moveText(line[0]),
      bad.points,
      -bad.upper,
      bad.exact,
      line.length > 1 ? moveText(line[1]) : null,
      ends,
    );
    nodes.refuted.replaceChildren(
      make("span", { textContent: sentence }),
      button(texts().showIt, () => walk(line)),
    );
  }
  const { lower, upper } = valueOf(rules, table, study.game.position, study.moves()),
    certified = page.catalogue.certificates.includes(preset);
  explorer.bounds = { bound: upper, least: lower };
  nodes.claim.textContent = certified ? texts().claim(lower, upper) : texts().unclaimed(texts().between(lower, upper));
  nodes.proof.hidden = nodes.claim.hidden = !listed;
  for (const one of nodes.dialog.querySelectorAll(".main, .beat")) one.hidden = !certified;
  tell("");
  show();
}

// ---- the position and its moves -------------------------------------------------------------------------------------

/** Show the current position of the line, first with the proved values, and with searched ones when they arrive. */
async function show() {
  const { study } = explorer;
  study.stop();
  study.view.cancel();
  study.view.show(study.board());
  tell("");
  const moves = showPosition();
  if (study.hint || moves.every(({ proved }) => proved)) return;
  try {
    if (await study.ask()) showPosition();
  } catch (error) {
    tell(explain(error));
  }
}

/** Show the line, the value and the moves of the position; return the moves. */
function showPosition() {
  const { study } = explorer,
    { game, table, hint, rules } = study,
    { position } = game,
    text = texts(),
    line = game.line();
  nodes.line.replaceChildren(
    ...[words().start, ...line.map(({ action }, number) => `${number + 1}. ${moveText(action)}`)]
      .map((text, number) => {
        const made = button(text, () => {
          explorer.walk = null;
          game.backTo(number);
          show();
        });
        if (number === line.length) made.setAttribute("aria-current", "step");
        return made;
      })
      .filter((_, number) => !number || number > line.length - LISTED),
  );
  const moves = study.moves();
  showMoves(nodes.moves, game.node, moves, go);
  if (game.over) {
    const [south, north] = game.outcome().scores;
    nodes.value.textContent = text.over(text.result(south - north), `${south}–${north}`);
  } else {
    const value = valueOf(rules, table, position, moves);
    const best = value.value === null ? how(value) : `${text.best(text.result(value.value))} (${how(value, hint)})`;
    nodes.value.textContent = `${text.turn(position.mover)}; ${best}.`;
  }
  return moves;
}

/** Play a move, chosen by a person or from the line being shown, with its motion. */
async function go(move, walk = null) {
  explorer.walk = walk;
  const { study } = explorer,
    action = study.action(move);
  if (action === undefined) return;
  const shown = study.play(action);
  showPosition();
  if (await shown) show();
}

/** Play a line from the start until a person does something else. */
async function walk(line) {
  const walk = {};
  explorer.study.goTo([]);
  for (const action of line) {
    await go(moveText(action), walk);
    await new Promise((resolve) => {
      setTimeout(resolve, 900);
    });
    if (explorer.walk !== walk) return;
  }
}

// ---- from here ------------------------------------------------------------------------------------------------------

/**
 * Start the page's game from here: a person plays the side to move, and the page's present opponent plays the other
 * side.
 */
async function playFromHere() {
  const { preset } = explorer,
    { game } = explorer.study,
    other = page.state.opponent,
    { mover } = game.position;
  const moves = game
    .line()
    .map(({ action }) => moveText(action))
    .join("");
  await play("new", { rules: preset, moves, seats: mover ? [other, PERSON] : [PERSON, other] });
  nodes.dialog.close();
}

/** Open the analysis board here. */
async function analyse() {
  const { preset, study } = explorer;
  nodes.dialog.close();
  await (
    await import("./analysis.js")
  ).open({ rules: preset, moves: study.game.line().map(({ action }) => moveText(action)) });
}

/** Start a game against the proof: a person plays North, and tries to hold South's lead to the proved bound. */
async function beat() {
  const { bounds } = explorer;
  await playFor(bounds, { rules: explorer.preset, seats: ["perfect", PERSON] });
  nodes.dialog.close();
}

/** The goal of a game against the proof, and at the end whether it was reached. */
view.goals.push(() => {
  const {
    aim: goal,
    state: { game, outcome },
  } = page;
  if (goal?.game !== game || goal.bound === undefined) return null;
  const ahead = outcome && outcome.scores[0] - outcome.scores[1];
  if (!outcome || !view.settled) return texts().goal(goal);
  return ahead <= goal.bound ? texts().held(ahead, goal) : texts().missed(ahead, goal);
}); // page.js loads this module if a saved game has a goal

// ---- the proof ------------------------------------------------------------------------------------------------------

/** Check the page's certificate for these rules. */
async function check() {
  const elements = nodes,
    { progress, dialog } = elements,
    began = performance.now(),
    button = dialog.querySelector(".main"),
    name = Book.file(explorer.preset);
  const content = await data(name);
  button.disabled = true;
  Object.assign(progress, { hidden: false, value: 0 });
  try {
    const found = await checkProof(services().engine, page.catalogue, name, content, (done, all) => {
      Object.assign(progress, { max: all, value: done });
      elements.answer.textContent = texts().following(done, all);
    });
    const {
        lower: { bound: lower },
        upper: { bound: upper },
      } = found,
      what = lower === upper ? texts().result(lower) : texts().ahead(lower, upper);
    tell(texts().holds(what, found, performance.now() - began), elements);
  } catch (error) {
    tell(texts().fails(error.detail?.[page.language] ?? explain(error)), elements);
  } finally {
    progress.hidden = true;
    button.disabled = false;
  }
}
