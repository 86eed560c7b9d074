// The analysis board: a person plays all sides from any position, goes back, and branches. The tree of moves is stored,
// and shared as a link or a record.

import { services, variation, view } from "../current-game.js";
import { make } from "../dom.js";
import { analysisLink } from "../model/links.js";
import { numbered, parseMove, positionText } from "../model/notation.js";
import { parsePosition } from "../model/position-reading.js";
import { formatRecords, newNode, resultOf } from "../model/records.js";
import { rulesText } from "../model/rules.js";
import * as trees from "../model/tree.js";
import { complain, copy, explain, page, presetName } from "../page-state.js";
import { isText, store, tab } from "../storage.js";
import { ANALYSIS } from "../words/analysis-words.js";
import { MINUS, capital } from "../words/format.js";
import { seatNames } from "../words/move-words.js";
import { how } from "../words/narration.js";
import { makeDialog } from "./analysis-dialog.js";
import { drawTree } from "./move-tree.js";
import { Study, showMoves } from "./study.js";

const KEPT = "analyses",
  MOST = 8, // maximum number of analyses stored
  OPEN = "analysing"; // of this tab: when the analysis on the board was begun
// `began` identifies an analysis
const analysis = { began: 0, rules: "", root: newNode(null), path: [], study: null };
let nodes = null, // the elements of the dialog
  valued = false; // whether values are shown
const texts = () => ANALYSIS[page.language];

// ---- storage --------------------------------------------------------------------------------------------------------

/**
 * Return the stored analyses, the last changed first: {rules, position, tree, line, at, began}. `position` is empty if it
 * began at the set-up, `tree` is a list (tree.js), `line` its main line without blanks, and `at` the place in `pathsOf`
 * of the node shown.
 */
const kept = () =>
  store.list(
    KEPT,
    ({ rules, position, line, tree, at, began }) =>
      [rules, position, line].every(isText) && Boolean(trees.unlisted(tree)) && [at, began].every(Number.isInteger),
  );

/** Return the text of the position at which the analysis began; empty for the set-up. */
function begun({ engine, rules, game }) {
  const from = positionText(rules, game.root.position);
  return from === positionText(rules, engine.start(rules)) ? "" : from;
}

const placeShown = () => trees.pathsOf(analysis.root).findIndex((one) => `${one}` === `${analysis.path}`);

function keep() {
  const { study, root, rules, began } = analysis,
    tree = trees.listed(root),
    line = trees.nodesOn(root, trees.endOf(root)).map(({ move }) => move);
  const present = { rules, position: begun(study), line: line.join(""), tree, at: placeShown(), began };
  store.set(KEPT, JSON.stringify([...(tree.length > 1 ? [present] : []), ...others()].slice(0, MOST)));
}

/** Return the other stored analyses. */
const others = () => kept().filter(({ began }) => began !== analysis.began);

// ---- opening --------------------------------------------------------------------------------------------------------

/**
 * Open the board with the moves of a game that began at `position`, a text (empty: the set-up), and show the position
 * after `ply` of them. A stored analysis of the same game goes on; `root` is a tree instead of `moves`, in which `at` is
 * the place in `pathsOf` of the node to show (-1: the last). `seat` is at the bottom. `began`
 * identifies a stored analysis.
 */
export async function open({
  rules,
  position = "",
  moves = [],
  ply = moves.length,
  root = null,
  at = 0,
  seat = 0,
  began = null,
}) {
  const { engine } = services(),
    loaded = await Study.load(rules),
    start = position ? parsePosition(loaded.rules, position, engine) : engine.start(loaded.rules),
    line = moves.join("");
  rules = rulesText(loaded.rules, page.catalogue);
  const same = (one) =>
      one.rules === rules && one.position === position && (one.line.startsWith(line) || line.startsWith(one.line)),
    before = line ? kept().find(same) : null,
    tree = root ?? (before ? trees.unlisted(before.tree) : newNode(null));
  const played = trees.nodesOn(tree, trees.addLine(tree, moves)).slice(0, ply);
  trees.hideIllegal(tree, start, stepOf(loaded.rules));
  Object.assign(analysis, {
    began: began ?? before?.began ?? Date.now(),
    rules,
    root: tree,
    path: (root && trees.pathsOf(tree).at(at)) ?? trees.pathTo(tree, played),
  });
  build(seat);
  begin(loaded, start);
  nodes.tree.querySelector("[aria-current]").focus({ preventScroll: true }); // so that the keys step through the moves
}

/** Open the page's game at the position shown. */
export function openHere() {
  const { rules, position } = variation(0),
    usual = positionText(rules, services().engine.start(rules)),
    text = positionText(rules, position);
  return open({
    rules: page.state.rules,
    position: text === usual ? "" : text,
    moves: page.state.line.map((serial) => view.moves[serial].move),
    ply: view.number,
    seat: view.board.seat,
  });
}

/** Open a record that was read, with its variations. */
export const openRecord = ({ rules, position, root }) =>
  open({ rules: rulesText(rules, page.catalogue), position: position ?? "", root });

const openKept = ({ tree, ...stored }) => open({ ...stored, root: trees.unlisted(tree) });

/** Open again the analysis that was open in this tab. */
export async function resume() {
  const began = Number(tab.get(OPEN)),
    one = kept().find((stored) => stored.began === began);
  if (one) await openKept(one);
}

const stepOf =
  ({ ...rules }) =>
  (before, move) => {
    const { engine } = services(),
      action = parseMove(move),
      handle = engine.rules(rules);
    return engine.legal(handle, before).includes(action) ? engine.play(handle, before, action).position : null;
  };

/** Show a game by the rules that `Study.load` returned. */
function begin(loaded, start) {
  const { study } = analysis,
    names = seatNames(Array(loaded.rules.players).fill(null));
  study.begin(loaded, start, names);
  nodes.rules.value = analysis.rules;
  show();
}

/** Play the same moves by other rules; those that are not legal are hidden, and come back with rules that allow them. */
async function switchRules(rules) {
  const { study, root } = analysis,
    before = study.game.root.position,
    { engine } = study;
  try {
    const loaded = await Study.load(rules),
      isSetUp =
        positionText(study.rules, before) === positionText(study.rules, engine.start(study.rules, before.mover));
    const start = isSetUp
      ? engine.start(loaded.rules, Math.min(before.mover, loaded.rules.players - 1))
      : parsePosition(loaded.rules, positionText(study.rules, before), engine);
    const shown = trees.nodesOn(root, analysis.path);
    trees.hideIllegal(root, start, stepOf(loaded.rules));
    Object.assign(analysis, { rules, path: trees.pathTo(root, shown) });
    begin(loaded, start);
  } catch (error) {
    nodes.rules.value = analysis.rules;
    say(explain(error));
  }
}

// ---- the dialog -----------------------------------------------------------------------------------------------------

/** Leave the present analysis. */
function leave() {
  if (nodes === null) return;
  analysis.study.end();
  nodes.dialog.onclose = null;
  nodes.dialog.close();
  nodes.dialog.remove();
  nodes = null;
  tab.set(OPEN, "");
}

/** Open the dialog with the board. */
function build(seat) {
  leave();
  nodes = makeDialog(texts(), {
    start: () => go([]),
    back: () => go(analysis.path.slice(0, -1)),
    forward,
    last: () => go(trees.endOf(analysis.root, analysis.path)),
    main: () => go(trees.promote(analysis.root, analysis.path)),
    remove: () => go(trees.remove(analysis.root, analysis.path)),
    link: copyLink,
    record: () => copyOut(record(), texts().recordCopied),
    saved: (began) => openKept(kept().find((one) => one.began === Number(began))),
    rules: switchRules,
    comment,
    valued(checked) {
      valued = checked;
      show();
    },
  });
  const { presets } = page.catalogue,
    { rules } = analysis;
  nodes.rules.append(
    ...[...Object.keys(presets), ...(rules in presets ? [] : [rules])].map((name) =>
      make("option", { value: name, textContent: presetName(name) }),
    ),
  );
  nodes.valued.checked = valued;
  nodes.dialog.onkeydown = onKey;
  nodes.dialog.onclose = leave;
  document.body.append(nodes.dialog);
  const { preview, loud, speed } = view.board;
  analysis.study = new Study(nodes.board, (move) => play(move).catch((error) => show(complain(error))));
  Object.assign(analysis.study.view, { seat, preview, loud, speed });
  nodes.dialog.showModal();
}

/** Left and right step through the line, up and down choose another alternative. */
function onKey(event) {
  const { root, path } = analysis,
    steps = {
      ArrowLeft: () => path.slice(0, -1),
      ArrowRight: () => (trees.nodeAt(root, path).children.length ? [...path, 0] : path),
      ArrowUp: () => trees.beside(root, path, -1),
      ArrowDown: () => trees.beside(root, path, 1),
      Home: () => [],
      End: () => trees.endOf(root, path),
    },
    { tagName } = event.composedPath()[0];
  if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey || /INPUT|SELECT/.test(tagName)) return;
  event.preventDefault();
  go(steps[event.key]());
}

// ---- what is shown --------------------------------------------------------------------------------------------------

const say = (text) => {
  if (nodes) nodes.said.textContent = text;
};
const moves = () => trees.nodesOn(analysis.root, analysis.path).map(({ move }) => move);

/** Show the position at the path, and store the analysis. */
async function show() {
  const { study } = analysis,
    { game, view: board } = study;
  study.stop();
  board.cancel();
  study.goTo(moves());
  board.show(study.board());
  showTree();
  showValues();
  keep();
  showKept();
  tab.set(OPEN, analysis.began);
  if (!valued || study.hint || game.over) return;
  try {
    if (!(await study.ask()) || !valued || study !== analysis.study || !nodes) return;
    showValues();
  } catch (error) {
    say(explain(error));
  }
}

/** Say how the game ends with best play: who of two players wins, otherwise the mover's lead. */
function expected(hint, mover, name) {
  const { players } = analysis.study.rules,
    lead = hint.values[hint.best],
    known = how(view, hint, players);
  if (players > 2) return texts().best(name(mover), lead, known);
  return texts().wins(name(lead > 0 ? mover : 1 - mover), Math.abs(lead), known);
}

/** Show the text below the board and the values of the moves. */
function showValues() {
  const { study, path } = analysis,
    { game, rules, hint } = study,
    { mover, scores } = game.position,
    outcome = game.outcome(),
    name = (seat) => study.view.called[seat];
  const standing = (outcome?.scores ?? scores).map(
      (points, seat) => `${name(seat)} ${`${points}`.replace("-", MINUS)}`,
    ),
    shown = valued ? study.moves() : [],
    best = hint && shown.length ? expected(hint, mover, name) : "";
  showMoves(study, nodes.values, shown, play);
  nodes.help.hidden = rules.players > 2;
  const at = path.length ? `${numbered(path.length, rules.players)}${moves().at(-1)}` : texts().start;
  say(`${at}. ${capital(outcome ? texts().over(standing.join(", ")) : best || texts().turn(name(mover)))}`);
}

const hiddenWords = () => texts().hidden(trees.hiddenIn(analysis.root));

function showTree() {
  const { root, path, study } = analysis,
    node = trees.nodeAt(root, path);
  drawTree(nodes.tree, root, path, { ...texts(), players: study.rules.players, go });
  nodes.comment.value = node.comment;
  if (nodes.hidden.textContent !== hiddenWords()) nodes.hidden.textContent = hiddenWords();
  nodes.start.disabled = nodes.back.disabled = nodes.remove.disabled = !path.length;
  nodes.forward.disabled = nodes.last.disabled = !node.children.length;
  nodes.main.disabled = path.every((index) => !index);
}

/** List the other stored analyses. */
function showKept() {
  const time = new Intl.DateTimeFormat(page.language === "en" ? "en-GB" : "vi", {
      dateStyle: "short",
      timeStyle: "short",
    }),
    all = others();
  nodes.saved.hidden = !all.length;
  nodes.saved.replaceChildren(
    make("option", { textContent: texts().saved }),
    ...all.map(({ rules, tree, began }) =>
      make("option", {
        value: began,
        textContent: [presetName(rules), texts().length(tree.length - 1), time.format(began)].join(" · "),
      }),
    ),
  );
}

// ---- what a person does ---------------------------------------------------------------------------------------------

/** Go to a node. */
function go(path) {
  analysis.path = path;
  show();
}

/** Go on in the line, with the motion of the move. */
const forward = () => play(trees.nodeAt(analysis.root, analysis.path).children[0].move);

/** Play a move, which may begin a variation. */
async function play(move) {
  const { study, root, path } = analysis,
    action = study.action(move);
  if (action === undefined) return;
  study.stop();
  analysis.path = trees.add(root, path, move);
  const shown = study.play(action, say);
  showTree();
  keep();
  if ((await shown) && nodes) show();
}

function comment() {
  trees.nodeAt(analysis.root, analysis.path).comment = nodes.comment.value.trim();
  show();
}

/** Return the record of the moves that the rules allow. */
function record() {
  const { study, root } = analysis,
    { engine, rules, game } = study,
    moves = trees.nodesOn(root, trees.endOf(root)).map(({ move }) => parseMove(move)),
    last = moves.reduce((before, action) => engine.play(rules, before, action).position, game.root.position);
  const one = { rules, root, position: begun(study) || null, headers: {}, ...resultOf(engine, rules, last) };
  return formatRecords([one], page.catalogue);
}

function copyLink() {
  const { study, root, rules } = analysis,
    link = analysisLink({ rules, position: begun(study), tree: trees.treeText(root), at: placeShown() });
  return copyOut(`${location.href.split("#")[0]}#${link}`, texts().linkCopied);
}

/** Copy a text, and say also what is not in it. */
const copyOut = (text, confirmation) => copy(text, `${confirmation} ${hiddenWords()}`.trim());
