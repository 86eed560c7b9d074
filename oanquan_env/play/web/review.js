// Who is ahead after each move: a bar for the position shown, a graph of the game, and the moves that gave points away.

import { moveName } from "./board-words.js";
import { $, complain, make, page, store } from "./common.js";
import { MINUS, capital, element } from "./nodes.js";
import { request, view } from "./table.js";
import { how, seatName } from "./told.js";

const MISTAKE = 3; // points that a move gives away at least to be told
const LEFT = 30, FOOT = 16, TICKS = [30, 10, 0, -10, -30]; // pixels of the graph for its scale; points
const values = new Map(); // serial number of a move, 0 for none -> what the moves after it are worth
let game = null, reviewed = null, busy = false; // the game of the values, and the one that a person wants to look through

$("evaluate").checked = store.get("evaluate") === "yes";
$("evaluate").onchange = () => {
  store.set("evaluate", $("evaluate").checked ? "yes" : "no");
  reviewed = null;
  view.refresh();
};

/** Show the review of this game; the board stays in sight. */
export function review() {
  reviewed = page.state.game;
  view.refresh();
  view.host.scrollIntoView({ block: "nearest", behavior: "smooth" });
}

const serialAt = (number) => (number ? page.state.line[number - 1] : 0);
const valued = () => ($("evaluate").checked || reviewed === page.state.game) && page.state.seats.length === 2 && !page.state.puzzle;
export const reviewing = () => valued() && page.state.turn === "over";

/** South's final points less North's after so many moves if both play their best, and how this is known. */
function margin(number) {
  const { line, outcome } = page.state;
  if (number === line.length && outcome) return { points: outcome.scores[0] - outcome.scores[1], known: "" };
  const value = values.get(serialAt(number));
  return value && { points: Math.round((value.mover ? -1 : 1) * value.values[value.best]), known: how(view, value) };
}

/** The move of that number, if it gave points away: how many, and why. */
export function mistake(number) {
  const { moves } = view, move = moves[serialAt(number)], before = values.get(serialAt(number - 1));
  if (!valued() || !before || !(move.move in before.values)) return null;
  const price = Math.round(before.values[before.best] - before.values[move.move]);
  return price < MISTAKE ? null : { price, number, text: reason(number, move, before, price) };
}

function reason(number, move, before, price) {
  const { words } = view, named = (text) => moveName(text, page.language), after = values.get(serialAt(number));
  const taken = move.steps.reduce((sum, { points = 0, stones = 0 }) => [sum[0] + points, sum[1] + stones], [0, 0]);
  const best = before.values[before.best], played = before.values[move.move], parts = [], answered = after && after.mover !== before.mover;
  if (best > 0 && played < 0) parts.push(words.lost);
  else if (best >= 0 && played <= 0 && best !== played) parts.push(best > 0 ? words.drawn : words.undrawn);
  if (answered && after.captured[1]) parts.push(words.takesStones(seatName(view, after.mover), after.captured[1], named(after.best)));
  else if (before.captured[1] > taken[1]) parts.push(words.missedStone(named(before.best)));
  else if (before.captured[0] - taken[0] >= price / 2) parts.push(words.missed(named(before.best), before.captured[0]));
  else if (answered && after.captured[0] >= price / 2) parts.push(words.takesSeeds(seatName(view, after.mover), after.captured[0], named(after.best)));
  return `${[words.price(price), ...parts].join(", ")}. ${words.better(named(before.best))}`;
}

/** Ask for the values that are missing, that of the position shown first. */
async function fill() {
  if (busy) return;
  busy = true;
  try {
    for (;;) {
      const { line, outcome } = page.state, last = outcome ? line.length - 1 : line.length;
      const wanted = [view.number, ...Array.from({ length: last + 1 }, (_, number) => last - number)];
      const number = wanted.find((number) => number <= last && !values.has(serialAt(number)));
      if (number === undefined || !valued()) return;
      const asked = game, { hint } = await request("hint", { moves: number });
      if (asked !== game) continue;
      values.set(hint.serial, hint);
      view.dispatchEvent(new Event("shown"));
    }
  } catch (error) { complain(error); } finally { busy = false; }
}

export function showValues() {
  const on = valued();
  if (game !== page.state.game) { values.clear(); game = page.state.game; }
  $("values").hidden = page.state.seats.length > 2 || Boolean(page.state.puzzle);
  $("bar").hidden = !on;
  $("graph").toggleAttribute("hidden", !on);
  $("mistakes").hidden = !reviewing();
  showMistakes();
  if (!on) return;
  showBar(margin(view.number));
  showGraph();
  fill();
}

function showBar(now) {
  const bar = $("bar"), points = now ? now.points : null, { words } = view;
  bar.classList.toggle("old", !now);
  if (now) bar.firstElementChild.style.width = `${50 + 50 * Math.tanh(points / 25)}%`;
  const text = !now ? "…" : points ? words.ahead(capital(seatName(view, points > 0 ? 0 : 1)), Math.abs(points), now.known) : words.even(now.known);
  bar.lastElementChild.textContent = text;
  bar.setAttribute("aria-valuenow", points ?? 0);
  bar.setAttribute("aria-valuetext", text);
}

function showGraph() {
  const graph = $("graph"), all = Math.max(1, page.state.line.length), known = [], width = graph.clientWidth || 300, height = graph.clientHeight || 120;
  const middle = (height - FOOT) / 2, x = (number) => LEFT + ((width - LEFT - 8) * number) / all, y = (points) => middle * (1 - 0.95 * Math.tanh(points / 25));
  const write = (text, x, y, anchor) => element("text", { x, y, "text-anchor": anchor }, graph, text);
  graph.setAttribute("viewBox", `0 0 ${width} ${height}`);
  graph.replaceChildren();
  for (const points of TICKS) {
    element("path", { class: "zero", d: `M${LEFT},${y(points)}H${width - 8}` }, graph);
    write(points ? `+${Math.abs(points)}` : "0", LEFT - 4, y(points) + 4, "end");
  }
  const every = [1, 2, 5, 10, 20, 50, 100].find((step) => all / step <= 8) ?? 200;
  for (let number = every; number <= all; number += every) write(number, x(number), height - 4, "middle");
  for (let number = 0; number <= page.state.line.length; number++) {
    const now = margin(number);
    if (now) known.push([x(number), y(now.points)]);
  }
  if (known.length) {
    element("path", { class: "area", d: `M${known[0][0]},${middle}L${known.join("L")}L${known.at(-1)[0]},${middle}Z` }, graph);
    element("path", { class: "line", d: `M${known.join("L")}` }, graph);
  }
  element("path", { class: "here", d: `M${x(view.number)},0V${height - FOOT}` }, graph);
  for (let number = 1; number <= page.state.line.length; number++) {
    const now = margin(number);
    if (now && mistake(number)) element("circle", { class: "mistake", cx: x(number), cy: y(now.points), r: 4.5 }, graph);
  }
  [0, 1].forEach((player) => write(capital(seatName(view, player)), width - 12, player ? height - FOOT - 4 : 12, "end"));
  graph.setAttribute("aria-label", view.words.graph);
  graph.onclick = (event) => {
    const number = Math.round((all * (event.clientX - graph.getBoundingClientRect().left - LEFT)) / (width - LEFT - 8));
    view.view(Math.max(0, number));
  };
}

/** The moves that gave points away, in a list and as notes of the board, whose buttons lead from one to the next. */
function showMistakes() {
  const { line } = page.state, made = reviewing() ? line.map((_, index) => mistake(index + 1)).filter(Boolean) : [];
  const looking = line.some((_, index) => !values.has(serialAt(index))), told = looking ? view.words.reviewing : view.words.mistakes(made.length);
  const name = ({ number }) => `${number}. ${capital(seatName(view, values.get(serialAt(number - 1)).mover))} ${moveName(view.moves[serialAt(number)].move, page.language)}`;
  const go = ({ number }) => () => { view.view(number); view.host.scrollIntoView({ block: "nearest", behavior: "smooth" }); };
  const button = (one) => make("button", { onclick: go(one) }, make("b", { textContent: `${name(one)} ${MINUS}${one.price}` }), ` ${one.text}`);
  $("mistakes").replaceChildren(...made.map((one) => make("li", {}, button(one))));
  view.setNotes(new Map(made.map(({ number, text }) => [number, text])), reviewing() ? told : "");
}
