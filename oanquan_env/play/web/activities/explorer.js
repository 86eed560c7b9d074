// The openings dialog: moves with proved or searched values, lines to step through, games from any position, and the
// proof.

import { play, playFor, services, view } from "../current-game.js";
import { addStyle, make } from "../dom.js";
import { PERSON } from "../model/game.js";
import { moveText, numbered } from "../model/notation.js";
import { explain, page, presetName, words } from "../page-state.js";
import { Book, movesOf, refutation, valueOf } from "../players/book.js";
import { checkProof } from "../players/certificate.js";
import { PROOF } from "../words/proof-words.js";
import { Study, how, legend, showMoves, studyDialog } from "./study.js";

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

addStyle(`
#openings-dialog :is(h3, .study-side p) { margin: 0; }
#openings-refuted { display: flex; gap: 12px; align-items: center; justify-content: space-between; }
#openings-refuted button { flex: none; }
#openings-answer { scroll-margin-bottom: 20px; }
#openings-line button { min-height: 2.375rem; padding: 0 0.625rem; }
#openings-line button[aria-current] { background: var(--warm); font-weight: 700; }
#openings-dialog progress { width: 100%; accent-color: var(--green); }
@media (max-width: 900px) and (min-height: 521px) {
  #openings-board { --rest: min(470px, 54dvh); }
  #openings-value { min-height: 4.2em; } /* values that arrive later must not move the buttons */
}`);

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
    board = part("div", "board", { className: "study-board" });
  rules.append(...presets.map((name) => make("option", { value: name, textContent: presetName(name) })));
  const row = (...buttons) => make("div", { className: "row-of" }, ...buttons);
  const side = make(
    "div",
    {},
    part("p", "refuted"),
    row(button(words().fromHere, playFromHere), button(words().analyse, analyse)),
    legend(texts().first),
    part("h3", "proof", { textContent: texts().proof }),
    part("p", "claim"),
    row(
      button(texts().check, check, { className: "main", hidden: true }),
      button(texts().beat, beat, { className: "beat", hidden: true }),
    ),
    part("progress", "progress", { hidden: true }),
    part("p", "answer"),
  );
  const main = [
    board,
    part("p", "value", { className: "study-said" }),
    part("div", "line", { className: "row-of", ariaLabel: words().moves, role: "group" }),
  ];
  const moves = part("div", "moves", { className: "move-values" });
  nodes.dialog = studyDialog("openings-dialog", words().openings, rules, main, side, moves);
  nodes.answer.setAttribute("role", "status");
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
  nodes.refuted.replaceChildren();
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
  const start = study.game.position,
    { lower, upper } = valueOf(rules, table, start, movesOf(engine, rules, table, start)),
    certified = page.catalogue.certificates.includes(preset);
  explorer.bounds = { bound: upper, least: lower };
  nodes.claim.textContent = certified ? texts().claim(lower, upper) : texts().unclaimed(texts().range(lower, upper));
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
    { game, table, hint, rules, engine } = study,
    { position } = game,
    text = texts(),
    line = game.line();
  nodes.line.replaceChildren(
    ...[words().start, ...line.map(({ action }, number) => `${numbered(number + 1, rules.players)}${moveText(action)}`)]
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
  nodes.refuted.hidden = line.length > 0 || !nodes.refuted.firstChild; // it speaks of the first move
  const moves = study.moves();
  showMoves(study, nodes.moves, moves, go);
  if (game.over) {
    const [south, north] = game.outcome().scores;
    nodes.value.textContent = text.over(text.result(south - north), `${south}–${north}`);
  } else {
    const value = valueOf(rules, table, position, movesOf(engine, rules, table, position, hint)),
      { lower, upper, proved } = value;
    const best = value.value === null ? how(value) : `${text.best(text.result(value.value))} (${how(value, hint)}).`;
    const certain = proved || upper - lower === Infinity ? "" : text.certain(text.range(lower, upper));
    nodes.value.textContent = `${text.turn(position.mover)}; ${best} ${certain}`;
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
  nodes.value.textContent = ""; // until the motion ends
  study.view.setHints(null);
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
    state: { game, outcome, resigned },
  } = page;
  if (goal?.game !== game || goal.bound === undefined || resigned !== null) return null;
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
  progress.scrollIntoView({ block: "center" });
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
