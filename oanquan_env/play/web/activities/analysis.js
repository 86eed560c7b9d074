// The analysis board: a person plays all sides from any position, goes back, and branches. The tree of moves is stored,
// and shared as a link or a record.

import { services, variation, view } from "../current-game.js";
import { make } from "../dom.js";
import { analysisLink } from "../model/links.js";
import { numbered, parseMove, positionText } from "../model/notation.js";
import { parsePosition } from "../model/position-reading.js";
import { parseRecords } from "../model/record-reading.js";
import { formatRecords, newNode, resultOf } from "../model/records.js";
import { Refused } from "../model/refused.js";
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
// `began` identifies an analysis; `whole` is the tree before the rules were switched, and the text of what was left of it
const analysis = { began: 0, rules: "", root: newNode(null), path: [], study: null, whole: null };
let nodes = null, // the elements of the dialog
  valued = false; // whether values are shown
const texts = () => ANALYSIS[page.language];

// ---- storage --------------------------------------------------------------------------------------------------------

/**
 * Return the stored analyses, the last changed first: {text, rules, position, line, moves, at, began}. `text` is a
 * record, `line` its main line without blanks, `moves` the number of all moves, and `at` the place in `pathsOf` of the
 * node shown.
 */
const kept = () =>
  store.list(
    KEPT,
    ({ text, rules, position, line, moves, at, began }) =>
      [text, rules, position, line].every(isText) && [moves, at, began].every(Number.isInteger),
  );

/** Return the present analysis as a stored one; its `position` is empty if it began at the set-up. */
function written() {
  const { study, root, path, rules, began } = analysis,
    { engine, game } = study,
    paths = trees.pathsOf(root),
    main = trees.nodesOn(root, trees.endOf(root)).map(({ move }) => move),
    start = game.root.position,
    from = positionText(study.rules, start),
    position = from === positionText(study.rules, engine.start(study.rules)) ? "" : from,
    moves = main.map(parseMove),
    last = moves.reduce((before, action) => engine.play(study.rules, before, action).position, start);
  const record = { rules: study.rules, root, position: position || null, headers: {} },
    text = formatRecords([{ ...record, ...resultOf(engine, study.rules, last) }], page.catalogue);
  const at = paths.findIndex((one) => `${one}` === `${path}`);
  return { text, rules, position, line: main.join(""), moves: paths.length - 1, at, began };
}

function keep() {
  const present = analysis.root.children.length ? [written()] : [];
  store.set(KEPT, JSON.stringify([...present, ...others()].slice(0, MOST)));
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
    before = line ? kept().find((one) => same(one) && readTree(one)) : null,
    tree = root ?? (before ? readTree(before) : newNode(null));
  const all = root ? [] : trees.addLine(tree, moves),
    legal = trees.pruned(tree, start, stepOf(loaded.rules)),
    path = root ? trees.pathsOf(legal.root).at(at) : all.slice(0, ply);
  Object.assign(analysis, {
    began: began ?? before?.began ?? Date.now(),
    rules,
    root: legal.root,
    path: path ?? [],
    whole: null,
  });
  build(seat);
  begin(loaded, start);
  nodes.tree.querySelector("[aria-current]").focus({ preventScroll: true }); // so that the keys step through the moves
  if (legal.ended) tellEnd(legal.ended);
}

/** Return the tree of a stored analysis, or null if it cannot be read. */
function readTree({ text }) {
  try {
    return parseRecords(text, page.catalogue, services().engine)[0].root;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return null;
  }
}

/** Open a game of the page after `ply` moves. */
export function openHere(ply = view.number) {
  const { rules, position } = variation(0),
    usual = positionText(rules, services().engine.start(rules)),
    text = positionText(rules, position);
  return open({
    rules: page.state.rules,
    position: text === usual ? "" : text,
    moves: page.state.line.map((serial) => view.moves[serial].move),
    ply,
    seat: view.board.seat,
  });
}

/** Open a record that was read, with its variations. */
export const openRecord = ({ rules, position, root }, at = 0, began = null) =>
  open({ rules: rulesText(rules, page.catalogue), position: position ?? "", root, at, began });

const openKept = async ({ text, at, began }) =>
  openRecord(parseRecords(text, page.catalogue, services().engine)[0], at, began);

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

/** Say where the main line ends, because its next move is not legal. */
const tellEnd = (move) => say(texts().ended(trees.endOf(analysis.root).length, move));

/** Show a game by the rules that `Study.load` returned. */
function begin(loaded, start) {
  const { study } = analysis,
    names = seatNames(Array(loaded.rules.players).fill(true), null);
  study.begin(loaded, start, names);
  nodes.rules.value = analysis.rules;
  show();
}

/** Play the same moves by other rules, as far as they are legal; the others come back with their rules. */
async function switchRules(rules) {
  const { study, root, path, whole } = analysis,
    before = study.game.root.position,
    { engine } = study;
  try {
    const loaded = await Study.load(rules),
      isSetUp =
        positionText(study.rules, before) === positionText(study.rules, engine.start(study.rules, before.mover));
    const start = isSetUp
      ? engine.start(loaded.rules, Math.min(before.mover, loaded.rules.players - 1))
      : parsePosition(loaded.rules, positionText(study.rules, before), engine);
    const all = whole?.left === trees.treeText(root) ? whole.root : root,
      { root: left, ended } = trees.pruned(all, start, stepOf(loaded.rules));
    const moves = trees.nodesOn(root, path).map(({ move }) => move);
    Object.assign(analysis, { rules, root: left, path: [], whole: { root: all, left: trees.treeText(left) } });
    for (const move of moves) {
      const index = trees.nodeAt(left, analysis.path).children.findIndex((child) => child.move === move);
      if (index < 0) break;
      analysis.path.push(index);
    }
    begin(loaded, start);
    if (ended) tellEnd(ended);
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
    record: () => copy(written().text, texts().recordCopied),
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
    best = hint && shown.length ? texts().best(name(mover), hint.values[hint.best], how(view, hint)) : "";
  showMoves(study, nodes.values, shown, play);
  const at = path.length ? `${numbered(path.length, rules.players)}${moves().at(-1)}` : texts().start;
  say(`${at}. ${capital(outcome ? texts().over(standing.join(", ")) : best || texts().turn(name(mover)))}`);
}

function showTree() {
  const { root, path, study } = analysis,
    node = trees.nodeAt(root, path);
  drawTree(nodes.tree, root, path, { ...texts(), players: study.rules.players, go });
  nodes.comment.value = node.comment;
  nodes.start.disabled = nodes.back.disabled = nodes.remove.disabled = !path.length;
  nodes.forward.disabled = nodes.last.disabled = !node.children.length;
  nodes.main.disabled = path.every((index) => !index);
}

/** List the other stored analyses. */
function showKept() {
  const time = new Intl.DateTimeFormat(page.language, { dateStyle: "short", timeStyle: "short" }),
    all = others();
  nodes.saved.hidden = !all.length;
  nodes.saved.replaceChildren(
    make("option", { textContent: texts().saved }),
    ...all.map(({ rules, moves, began }) =>
      make("option", {
        value: began,
        textContent: [presetName(rules), texts().length(moves), time.format(began)].join(" · "),
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

function copyLink() {
  const { rules, position, at } = written(),
    link = analysisLink({ rules, position, tree: trees.treeText(analysis.root), at });
  return copy(`${location.href.split("#")[0]}#${link}`, texts().linkCopied);
}
