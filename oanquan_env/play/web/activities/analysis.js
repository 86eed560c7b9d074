// The analysis board: a person plays all sides from any position, goes back, and branches. The tree of moves is stored,
// and shared as a link or a record.

import { services, variation, view } from "../current-game.js";
import { make } from "../dom.js";
import { analysisLink } from "../model/links.js";
import { parseMove, positionText } from "../model/notation.js";
import { parsePosition } from "../model/position-reading.js";
import { parseRecords } from "../model/record-reading.js";
import { formatRecords, newNode, resultOf } from "../model/records.js";
import { rulesText } from "../model/rules.js";
import * as trees from "../model/tree.js";
import { complain, copy, explain, page, presetName, words } from "../page-state.js";
import { isText, store, tab } from "../storage.js";
import { ANALYSIS } from "../words/analysis-words.js";
import { MINUS, capital } from "../words/format.js";
import { seatNames } from "../words/move-words.js";
import { how } from "../words/narration.js";
import { Study, addStyle, showMoves } from "./study.js";

addStyle(`
#analysis { width: 100vw; max-width: none; height: 100dvh; max-height: none; border-radius: 0; padding: 6px 24px;
  overflow: auto; }
#analysis[open] { display: grid; gap: 6px 28px;
  grid-template: auto minmax(0, 1fr) / minmax(0, 1fr) clamp(340px, 27vw, 720px); }
#analysis header { grid-column: 1 / -1; flex-wrap: nowrap; padding: 0; margin: 0; width: 100%; gap: 12px; }
#analysis h2 { margin: 0 auto 0 0; }
#analysis select { min-width: 0; max-width: 16em; }
#analysis > div { min-width: 0; min-height: 0; }
#analysis-board { --rest: 200px; }
#analysis-said { min-height: 2.8em; margin: 6px 0; text-align: center; line-height: 1.4; }
#analysis-tools { justify-content: center; }
#analysis-side { display: flex; flex-direction: column; gap: 8px; }
#analysis-values { grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); }
#analysis-tree { flex: 1 1 6em; min-height: 5em; overflow: auto; margin: 0; padding: 8px; line-height: 1.9;
  background: var(--panel); border: 1px solid var(--line); border-radius: 12px; position: relative; }
#analysis-tree :is(ol, li) { display: inline; margin: 0; font-size: inherit; }
#analysis-tree ol { color: var(--soft); }
#analysis-tree ol::before { content: "("; }
#analysis-tree ol::after { content: ") "; }
#analysis-tree button { min-height: 34px; min-width: 38px; padding: 0 4px; border-color: transparent; background: none;
  color: inherit; font-weight: 600; font-variant-numeric: tabular-nums; }
#analysis-tree ol button { font-weight: 400; }
#analysis-tree button[aria-current] { background: var(--warm); color: var(--ink); font-weight: 700; }
#analysis-tree i { color: var(--soft); font-size: 0.875rem; padding-right: 4px; }
@media (max-width: 900px), (max-height: 520px) {
  #analysis { padding: 4px 12px; }
  #analysis[open] { gap: 4px 14px; }
  #analysis h2 { font-size: 1.0625rem; }
}
@media (max-width: 900px) and (min-height: 521px) {
  #analysis[open] { grid-template: none / minmax(0, 1fr); align-content: start; }
  #analysis > div { min-height: auto; }
  #analysis-board { --rest: 310px; }
  #analysis-tree { flex: none; max-height: 11em; }
}
@media (max-width: 900px), (max-height: 520px) { #analysis-values { order: 1; } }
@media (max-height: 520px) {
  #analysis[open] { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
  #analysis-board { --rest: 150px; }
  #analysis-said { min-height: 1.4em; margin: 2px; font-size: 0.875rem; }
  #analysis-side { overflow: auto; }
}`);

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
  if (!analysis.root.children.length) return;
  const others = kept().filter(({ began }) => began !== analysis.began);
  store.set(KEPT, JSON.stringify([written(), ...others].slice(0, MOST)));
}

// ---- opening --------------------------------------------------------------------------------------------------------

/**
 * Open the board with the moves of a game that began at `position`, a text (empty: the set-up), and show the position
 * after `ply` of them. A stored analysis of the same game goes on; `root` is a tree instead of `moves`, in which `at` is
 * the place in `pathsOf` of the node to show (-1: the last). `seat` is at the bottom.
 */
export async function open({ rules, position = "", moves = [], ply = moves.length, root = null, at = 0, seat = 0 }) {
  const { engine } = services(),
    loaded = await Study.load(rules),
    start = position ? parsePosition(loaded.rules, position, engine) : engine.start(loaded.rules),
    line = moves.join("");
  rules = rulesText(loaded.rules, page.catalogue);
  const same = (one) =>
      one.rules === rules && one.position === position && (one.line.startsWith(line) || line.startsWith(one.line)),
    before = line && kept().find(same),
    tree = root ?? (before ? parseRecords(before.text, page.catalogue, engine)[0].root : newNode(null));
  const all = root ? [] : trees.addLine(tree, moves),
    legal = trees.pruned(tree, start, stepOf(loaded.rules)),
    path = root ? trees.pathsOf(legal.root).at(at) : all.slice(0, ply);
  Object.assign(analysis, {
    began: before?.began ?? Date.now(),
    rules,
    root: legal.root,
    path: path ?? [],
    whole: null,
  });
  build(seat);
  begin(loaded, start);
  if (legal.ended) tellEnd(legal.ended);
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
export const openRecord = ({ rules, position, root }, at = 0) =>
  open({ rules: rulesText(rules, page.catalogue), position: position ?? "", root, at });

async function openKept({ text, at, began }) {
  await openRecord(parseRecords(text, page.catalogue, services().engine)[0], at);
  analysis.began = began;
  show();
}

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

const attempt = (act) => () => Promise.resolve(act()).catch(complain);
const button = (name, act) =>
  (nodes[name] = make("button", { type: "button", textContent: texts()[name], onclick: attempt(act) }));
const part = (name, id, more = {}, ...children) =>
  (nodes[id] = make(name, { id: `analysis-${id}`, ...more }, ...children));

/** Write the dialog in the page's language. */
function build(seat) {
  nodes?.dialog.close();
  nodes = {};
  const { presets } = page.catalogue,
    { rules } = analysis,
    listed = Object.keys(presets),
    board = part("div", "board");
  const select = (id, label, onchange) =>
    part("select", id, { ariaLabel: label, onchange: () => onchange(nodes[id].value) });
  const values = part("input", "valued", {
    type: "checkbox",
    checked: valued,
    onchange: () => {
      valued = values.checked;
      show();
    },
  });
  nodes.dialog = make(
    "dialog",
    { id: "analysis", autofocus: true },
    make(
      "header",
      {},
      make("h2", { id: "analysis-title", textContent: texts().title }),
      select("rules", words().rules, switchRules),
      make("button", { type: "button", textContent: words().close, onclick: () => nodes.dialog.close() }),
    ),
    make(
      "div",
      {},
      board,
      part("p", "said", { role: "status" }),
      part(
        "div",
        "tools",
        { className: "row-of" },
        button("back", () => go(analysis.path.slice(0, -1))),
        button("forward", forward),
        make("label", {}, values, texts().values),
      ),
    ),
    part(
      "div",
      "side",
      {},
      part("div", "values", { className: "move-values" }),
      part("ol", "tree", { ariaLabel: texts().moves }),
      part("input", "comment", {
        placeholder: texts().comment,
        ariaLabel: texts().comment,
        maxLength: 1000,
        onchange: comment,
      }),
      make(
        "div",
        { className: "row-of" },
        button("main", () => go(trees.promote(analysis.root, analysis.path))),
        button("remove", () => go(trees.remove(analysis.root, analysis.path))),
        button("link", copyLink),
        button("record", () => copy(written().text, texts().recordCopied)),
        select("saved", texts().saved, (began) =>
          openKept(kept().find((one) => one.began === Number(began))).catch(complain),
        ),
      ),
    ),
  );
  nodes.rules.append(
    ...[...listed, ...(rules in presets ? [] : [rules])].map((name) =>
      make("option", { value: name, textContent: presetName(name) }),
    ),
  );
  nodes.dialog.setAttribute("aria-labelledby", "analysis-title");
  nodes.dialog.onkeydown = onKey;
  nodes.dialog.onclose = ({ target }) => {
    analysis.study.end();
    target.remove();
    tab.set(OPEN, "");
  };
  document.body.append(nodes.dialog);
  analysis.study = new Study(board, play);
  Object.assign(analysis.study.view, { seat, preview: view.board.preview, loud: view.board.loud });
  analysis.study.view.speed = view.board.speed;
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

const say = (text) => (nodes.said.textContent = text);
const moves = () => trees.nodesOn(analysis.root, analysis.path).map(({ move }) => move);

/** Show the position at the path, and store the analysis. */
async function show() {
  const { study } = analysis,
    { game, view: board } = study;
  study.stop();
  board.cancel();
  study.goTo(moves());
  board.show(study.board(valued ? study.hint : null));
  showTree();
  showValues();
  keep();
  showKept();
  tab.set(OPEN, analysis.began);
  if (!valued || study.hint || game.over) return;
  try {
    if (!(await study.ask()) || !valued) return;
    board.setHints(study.hint);
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
    shown = valued && !outcome ? ofMover(study.moves(), mover, rules.players) : [],
    best = hint && shown.length ? texts().best(name(mover), hint.values[hint.best], how(view, hint)) : "";
  showMoves(nodes.values, game.node, shown, play);
  const at = path.length ? `${numbered(path.length, rules.players)}${moves().at(-1)}` : texts().start;
  say(`${at}. ${capital(outcome ? texts().over(standing.join(", ")) : best || texts().turn(name(mover)))}`);
}

/** Return moves with their values as the mover's final lead, and whether they are the best. */
function ofMover(all, mover, players) {
  const turned =
    players === 2 && mover
      ? all.map((one) => ({
          ...one,
          value: one.value === null ? null : -one.value,
          lower: -one.upper,
          upper: -one.lower,
        }))
      : all;
  const most = Math.max(...turned.map(({ value }) => value ?? Infinity));
  return turned.map((one) => ({ ...one, best: one.value === most }));
}

/** Return the number before the `ply`th move if it begins a round, as in records. */
const numbered = (ply, players) => ((ply - 1) % players ? "" : `${(ply - 1) / players + 1}. `);

function showTree() {
  const { root, path, study } = analysis,
    { players } = study.rules,
    here = `${path}`,
    focused = nodes.tree.contains(document.activeElement);
  const item = (node, at) => {
    const chosen = make("button", {
      type: "button",
      textContent: node.move ? `${numbered(at.length, players)}${node.move}` : texts().start,
      tabIndex: -1,
      onclick: () => go(at),
    });
    if (`${at}` === here) Object.assign(chosen, { tabIndex: 0, ariaCurrent: "step" });
    return make("li", {}, chosen, ...(node.comment ? [make("i", { textContent: node.comment })] : []));
  };
  const line = (node, at) => {
    const items = [];
    for (; node.children.length; [node] = node.children) {
      const [main, ...others] = node.children;
      const variations = others.map((other, index) => {
        const begun = [...at, index + 1];
        return make("ol", { ariaLabel: texts().variation }, item(other, begun), ...line(other, begun));
      });
      at = [...at, 0];
      items.push(item(main, at));
      items.at(-1).append(" ", ...variations);
    }
    return items;
  };
  nodes.tree.replaceChildren(item(root, []), ...line(root, []));
  const current = nodes.tree.querySelector("[aria-current]");
  nodes.tree.scrollTop = current.offsetTop - nodes.tree.clientHeight / 2;
  if (focused || document.activeElement === nodes.dialog) current.focus({ preventScroll: true });
  const node = trees.nodeAt(root, path);
  nodes.comment.value = node.comment;
  nodes.back.disabled = nodes.remove.disabled = !path.length;
  nodes.forward.disabled = !node.children.length;
  nodes.main.disabled = path.every((index) => !index);
}

/** List the stored analyses, if there are others. */
function showKept() {
  const time = new Intl.DateTimeFormat(page.language, { dateStyle: "short", timeStyle: "short" }),
    all = kept();
  nodes.saved.replaceChildren(
    make("option", { value: "", textContent: texts().saved }),
    ...all.map(({ rules, moves, began }) =>
      make("option", {
        value: began,
        textContent: [presetName(rules), texts().length(moves), time.format(began)].join(" · "),
      }),
    ),
  );
  nodes.saved.hidden = all.every(({ began }) => began === analysis.began);
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
  if (await shown) show();
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
