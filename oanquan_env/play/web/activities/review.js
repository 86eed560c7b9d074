// The review: the lead in the position shown, a graph of the game, and the moves that gave points away.

import { $, addStyle, make, element } from "../dom.js";
import { complain, page } from "../page-state.js";
import { arrows, gain, ownPuzzle, showMistake, who } from "./mistake.js";
import { Budget, QUICK, isMistake, leads, losses, summary } from "../model/losses.js";
import { MINUS, capital } from "../words/format.js";
import { roundOf } from "../model/notation.js";
import { REVIEW } from "../words/review-words.js";
import { hint, view } from "../current-game.js";
import { how, playerName } from "../words/narration.js";

// margins of the graph in its units, sixteenths of a rem; ticks in points
const LEFT = 30,
  HEAD = 16,
  FOOT = 16,
  TICKS = [30, 10, 0, -10, -30];
addStyle(`
#mistakes { margin: 8px 0 0; height: 240px; overflow: auto; }
#mistakes > li:first-child { position: sticky; top: 0; } /* the button to practise */
#mistakes b { color: var(--amber); }
#mistakes li > button { text-align: left; width: 100%; padding: 6px 10px; font-size: 0.875rem; margin-bottom: 4px; }
#mistakes button[aria-current] { background: var(--warm); }
#mistakes progress { width: 100%; accent-color: var(--green); }
#mistakes p { font-size: 0.875rem; }
#graph { display: block; width: 100%; height: 8.25rem; margin-top: 8px; cursor: pointer; background: var(--panel);
  border: 1px solid var(--line); border-radius: 8px; }
#graph .zero { stroke: var(--line); } #graph .area { fill: var(--green); opacity: .22; }
#graph .line { fill: none; stroke: var(--green); stroke-width: 2; }
#graph .here { stroke: var(--ink); stroke-dasharray: 3 3; } #graph .mistake { fill: var(--amber); }
#graph text { fill: var(--soft); font-size: 11px; }
#lead { font-size: 0.875rem; min-height: 1.5em; }
@media (min-height: 521px) { #board.mistake { --rest: 330px; } }
#mistake { padding: 4px 0 10px; font-size: 0.9375rem; }
#mistake ul { margin: 0 auto 8px; padding: 0; list-style: none; width: fit-content; }
#mistake li { display: flex; gap: 10px; align-items: center; line-height: 1.35; }
#mistake .row-of { justify-content: center; }
.key { width: 45px; height: 15px; flex: none; fill: none; stroke: currentColor; }
.key.played { color: var(--red); } .key.best { color: var(--green); } .key .head { fill: currentColor; stroke: none; }
aside.reviewing > :is(#game-rules, p:has(#about)) { display: none; }
aside.reviewing > #values { order: -1; }
aside.reviewing #moves { grid-template-columns: repeat(auto-fill, minmax(12rem, 1fr)); }
aside.reviewing #moves button { width: 6rem; }
@media (min-width: 1100px) {
  #graph { height: 5.5rem; flex: none; }
  aside.reviewing { height: calc(100dvh - 4.25rem); }
  aside.reviewing > #values { order: 0; flex: 1 1 15rem; min-height: 15rem; display: flex; flex-direction: column; }
  aside.reviewing #mistakes { flex: 1 1 0; min-height: 0; margin-bottom: 0; }
  aside.reviewing #moves { max-height: max(5.25rem, 100dvh - 50rem); }
  aside.reviewing > #match :is(p, a) { display: none; }
  aside.reviewing #next { padding: 8px 10px; }
  aside.reviewing #next button { padding: 0 7px; font-size: 0.875rem; }
  aside.reviewing > .row-of button { padding: 0 10px; }
  aside.reviewing :is(#resign:disabled, #card) { display: none; } /* sharing has the picture, too */
}
@media (max-width: 560px) {
  #board.mistake { --rest: 362px; }
  #mistake { font-size: 0.875rem; }
}`);
// values by game and budgets by line, so that a finished review is kept
const games = new Map(),
  budgets = new Map();
const remembered = (map, key, make) => map.get(key) ?? map.set(key, make()).get(key);
let values = new Map(); // serial number of a move, 0 for none -> values of the moves after it
// the game of the values, and the one that a person wants to review
let game = null,
  reviewed = null,
  lastKept = null,
  busy = false;
// whether the position that a person looks at was already known to be a mistake
let panel = { looks: null, opens: false };
// losses of the line's moves, the budget of its searches, and the line
let found = [],
  budget = null,
  line = "";

view.marks = (number) =>
  line === lineKey() && reviewing() && isMistake(found[number]) ? arrows(found[number], playedAfter(number)) : null;

/** Show the review of this game, keeping the board in view. */
export function review() {
  reviewed = page.state.game;
  if (matchMedia("(min-width: 1100px)").matches) $("story").parentNode.open = false; // makes room for the mistakes
  view.refresh();
  view.host.scrollIntoView({ block: "nearest", behavior: "smooth" });
  $("values").parentNode.scrollTo(0, 0);
}

const texts = () => REVIEW[page.language];
const lineKey = () => `${page.state.game} ${page.state.line}`;
const serialAt = (number) => (number ? page.state.line[number - 1] : 0);
const playedAfter = (number) => view.moves[page.state.line[number]]?.move;
export const reviewing = () => reviewed === page.state.game && page.state.turn === "over" && !page.state.puzzle;

/** Return how well each player played, once the review of a finished game is done; else null. */
export const summaries = () =>
  reviewing() && line === lineKey() && budget.number < 0 ? summary(found, page.state.outcome.scores) : null;
const positions = () => page.state.line.length + (page.state.outcome ? 0 : 1);

/**
 * Compute the losses from the values known now, and from the result unless fields changed hands: searches do not know
 * the owners of fields.
 */
function computeLosses() {
  const { line, outcome, match, seats } = page.state,
    hints = Array.from({ length: positions() }, (_, number) => values.get(serialAt(number)));
  const final = outcome && leads(outcome.scores);
  found = losses(
    hints,
    line.map((serial) => view.moves[serial].move),
    match?.owners.tabs ? null : final,
    seats.length,
  );
  if (final) found[line.length] = { leads: final, exact: true };
}

/** Return South's final margin after this many moves with best play by both, and how it is known. */
function margin(number) {
  const loss = found[number];
  return (
    loss && {
      points: Math.round(loss.leads[0]),
      known: loss.best ? how(view, { best: loss.best, exact: [...loss.proved], search: loss.search }) : "",
    }
  );
}

/** Return the loss and the reason if the `number`th move is a mistake (`isMistake`), otherwise null. */
export function mistake(number) {
  const loss = found[number - 1];
  return reviewing() && isMistake(loss) ? describe(number, loss) : null;
}

function describe(number, loss) {
  const why = reason(number, loss);
  return { price: loss.price, number, loss, why, text: `${capital(why)}. ${texts().best(loss.best)}.` };
}

function reason(number, { mover, best, values, price, changed }) {
  const words = texts(),
    move = playedAfter(number - 1),
    after = found[number],
    answered = after?.best && after.mover !== mover,
    parts = [];
  const won = gain(number - 1, best),
    taken = gain(number - 1, move),
    [points, stones] = answered ? gain(number, after.best) : [0, 0];
  if (changed && values[best] > 0 && values[move] < 0) parts.push(words.lost);
  else if (changed && values[best] >= 0 && values[move] <= 0)
    parts.push(values[best] > 0 ? words.drawn : words.undrawn);
  if (stones) parts.push(words.takesStones(playerName(view, after.mover), stones, after.best));
  else if (won[1] > taken[1]) parts.push(words.missedStone(best));
  else if (won[0] - taken[0] >= price / 2) parts.push(words.missed(best, won[0]));
  else if (points >= price / 2) parts.push(words.takesSeeds(playerName(view, after.mover), points, after.best));
  const last = parts.pop();
  return [words.price(price), ...parts].join(", ") + (last ? words.and + last : "");
}

// ---- searching ------------------------------------------------------------------------------------------------------

/** Search for the missing values, the position shown first; then search more deeply. */
async function fill() {
  if (busy) return;
  busy = true;
  try {
    for (let next = nextSearch(); next; next = nextSearch()) {
      const asked = game,
        at = line,
        answer = await hint(...next);
      if (asked !== game || at !== line) continue;
      if (next === budget.asked) budget.spend(answer.search.nodes);
      values.set(answer.serial, answer);
      computeLosses();
      view.dispatchEvent(new Event("render"));
    }
  } catch (error) {
    if (error.name !== "AbortError") complain(error);
  } finally {
    busy = false;
  }
}

/** Return the position to search next, and its number of nodes; null for none. */
function nextSearch() {
  if (!reviewing()) return null;
  const all = positions(),
    order = [view.number, ...Array.from({ length: all }, (_, place) => all - 1 - place)];
  const open = order.find((number) => number < all && !values.has(serialAt(number)));
  if (open !== undefined) return [open, QUICK];
  while (budget.number >= 0 && !budget.deepens(values.get(serialAt(budget.number)))) budget.spend(0);
  return budget.number < 0 ? null : (budget.asked = [budget.number, budget.share]);
}

// ---- what is shown --------------------------------------------------------------------------------------------------

export function showValues() {
  const on = reviewing(),
    two = page.state.seats.length === 2;
  if (game !== page.state.game) {
    game = page.state.game;
    values = remembered(games, game, () => new Map());
  }
  if (line !== lineKey()) {
    line = lineKey();
    budget = remembered(budgets, line, () => new Budget(positions()));
    computeLosses();
  }
  $("lead").hidden = !on || !two;
  $("graph").toggleAttribute("hidden", !on || !two);
  $("values").parentNode.classList.toggle("reviewing", on);
  listMistakes();
  const shown = found[view.number],
    known = on && isMistake(shown) && view.viewing !== null && Boolean(shown.best);
  // a panel that appears later would move the board
  if (panel.looks !== view.looks) panel = { looks: view.looks, opens: known };
  showMistake(known && panel.opens ? shown : null, view.number, playedAfter(view.number));
  if (!on) return;
  if (two) {
    showLead();
    showGraph();
  }
  fill();
}

/** Say who is ahead in the position shown. */
function showLead() {
  const words = texts(),
    now = margin(view.number);
  $("lead").textContent = !now
    ? "…"
    : now.points
      ? words.ahead(capital(playerName(view, now.points > 0 ? 0 : 1)), Math.abs(now.points), now.known)
      : words.even(now.known);
}

function showGraph() {
  const graph = $("graph"),
    all = Math.max(1, page.state.line.length),
    known = [],
    unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16, // in pixels
    width = (graph.clientWidth || 300) / unit,
    height = (graph.clientHeight || 120) / unit;
  const half = (height - HEAD - FOOT) / 2,
    middle = HEAD + half,
    x = (number) => LEFT + ((width - LEFT - 8) * number) / all,
    y = (points) => middle - 0.95 * half * Math.tanh(points / 25);
  const write = (text, x, y, anchor) => element("text", { x, y, "text-anchor": anchor }, graph, text);
  graph.setAttribute("viewBox", `0 0 ${width} ${height}`);
  graph.replaceChildren();
  for (const points of TICKS) {
    element("path", { class: "zero", d: `M${LEFT},${y(points)}H${width - 8}` }, graph);
    write(points ? `+${Math.abs(points)}` : "0", LEFT - 4, y(points) + 4, "end");
  }
  const rounds = roundOf(all, 2),
    every = [1, 2, 5, 10, 20, 50].find((step) => rounds / step <= 8) ?? 100;
  for (let round = every; round <= rounds; round += every) write(round, x(2 * round - 1), height - 4, "middle");
  for (let number = 0; number <= page.state.line.length; number++) {
    const now = margin(number);
    if (now) known.push([x(number), y(now.points)]);
  }
  if (known.length) {
    element(
      "path",
      { class: "area", d: `M${known[0][0]},${middle}L${known.join("L")}L${known.at(-1)[0]},${middle}Z` },
      graph,
    );
    element("path", { class: "line", d: `M${known.join("L")}` }, graph);
  }
  element("path", { class: "here", d: `M${x(view.number)},${HEAD}V${height - FOOT}` }, graph);
  for (let number = 1; number <= page.state.line.length; number++) {
    const now = margin(number);
    if (now && isMistake(found[number - 1]))
      element("circle", { class: "mistake", cx: x(number), cy: y(now.points), r: 4.5 }, graph);
  }
  // above the lines: who is ahead where the graph is high, and where it is low
  [0, 1].forEach((player) =>
    write(`${"▲▼"[player]} ${capital(playerName(view, player))}`, player ? width - 8 : 4, 12, player ? "end" : "start"),
  );
  graph.setAttribute("aria-label", texts().graph);
  graph.onclick = (event) => {
    const at = (event.clientX - graph.getBoundingClientRect().left) / unit;
    view.view(Math.max(0, Math.round((all * (at - LEFT)) / (width - LEFT - 8))));
  };
}
new ResizeObserver(() => reviewing() && showGraph()).observe($("graph"));

/** List the mistakes, and set a note on the position before each, so that buttons can step between them. */
function listMistakes() {
  if (!reviewing()) {
    $("mistakes").hidden = true;
    view.setNotes(new Map());
    return;
  }
  const { line, seats } = page.state,
    made = line.map((_, index) => mistake(index + 1)).filter(Boolean),
    all = positions();
  const looked = Array.from({ length: all }, (_, number) => number).filter((number) =>
      values.has(serialAt(number)),
    ).length,
    open = looked < all,
    done = budget.number < 0,
    isOwn = ({ loss }) => seats[loss.mover].person,
    own = made.filter(isOwn);
  const words = open
    ? texts().looking
    : done
      ? texts().mistakes(made.length, own.length)
      : texts().closer(Math.round((100 * (all - 1 - budget.number)) / all));
  const name = ({ number, loss }) =>
    `${roundOf(number, seats.length)}. ${capital(playerName(view, loss.mover))} ${playedAfter(number - 1)}`;
  const go =
    ({ number }) =>
    () => {
      view.view(number - 1);
      $("table").scrollIntoView({ block: "nearest", behavior: "smooth" });
      $("values").parentNode.scrollTo(0, 0); // to the legend, if it is there
    };
  const item = (one) => {
    const button = make(
      "button",
      { onclick: go(one) },
      make("b", { textContent: `${name(one)} ${MINUS}${one.price}` }),
      ` ${one.text}`,
    );
    if (one.number - 1 === view.viewing) button.setAttribute("aria-current", "step");
    return make("li", {}, button);
  };
  const puzzles = () => own.map(({ loss, number }) => ownPuzzle(loss, number - 1));
  if (done && own.length && lastKept !== lineKey())
    import("./puzzles.js").then(({ keepOwn }) => keepOwn(puzzles())).catch(complain);
  if (done) lastKept = lineKey();
  // once done, the text below the board says this
  const step = open ? looked : all - 1 - budget.number,
    head = done
      ? []
      : [make("p", { textContent: words }), make("progress", { max: all, value: step, ariaLabel: words })];
  const practice =
    done && own.length
      ? [
          make("button", {
            className: "main",
            textContent: texts().practise,
            onclick: () => import("./puzzles.js").then(({ practise }) => practise(puzzles()[0])).catch(complain),
          }),
        ]
      : [];
  $("mistakes").hidden = done && !made.length;
  replaceKeepingFocus($("mistakes"), [
    make("li", {}, ...head, ...practice),
    ...(done ? [...own, ...made.filter((one) => !isOwn(one))].map(item) : []),
  ]);
  view.setNotes(
    new Map(
      made.map(({ number, loss, why }) => [
        number - 1,
        `${texts().played(who(loss.mover), playedAfter(number - 1))}${texts().which}${why}.`,
      ]),
    ),
    done ? words : texts().looking,
  );
}

/** Replace the items of a list, unless they are the same; restore the focus of a button. */
function replaceKeepingFocus(list, items) {
  if (items.length === list.children.length && items.every((item, number) => item.isEqualNode(list.children[number])))
    return;
  const place = [...list.querySelectorAll("button")].indexOf(document.activeElement);
  list.replaceChildren(...items);
  const current = list.querySelector("[aria-current]");
  const covered = list.querySelector(".main")?.offsetHeight ?? 0;
  if (current) list.scrollTop = current.offsetTop - list.offsetTop - covered - 8;
  if (place >= 0) list.querySelectorAll("button")[place]?.focus({ preventScroll: true });
}
