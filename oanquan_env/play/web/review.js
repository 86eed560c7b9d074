// Who is ahead after each move: a bar for the position shown, a graph of the game, and the moves that gave points away.

import { moveName } from "./board-words.js";
import { $, complain, make, page, store, words } from "./common.js";
import { MINUS, element } from "./nodes.js";
import { request, view } from "./table.js";
import { how, seatName } from "./told.js";

const MISTAKE = 3; // points that a move gives away at least to be told
const WIDTH = 300, HEIGHT = 84;
const values = new Map(); // serial number of a move, 0 for none -> what the moves after it are worth
let game = null, busy = false;

$("evaluate").checked = store.get("evaluate") === "yes";
$("evaluate").onchange = () => {
  store.set("evaluate", $("evaluate").checked ? "yes" : "no");
  view.refresh();
};

/** Show the review of the whole game. */
export function review() {
  if (!$("evaluate").checked) $("evaluate").click();
  $("values").scrollIntoView({ block: "nearest", behavior: "smooth" });
}

const serialAt = (number) => (number ? page.state.line[number - 1] : 0);
const round = (value) => Math.round(10 * value) / 10;
const said = (value) => view.words.number(round(Math.abs(value)));

/** South's final points less North's after so many moves if both play their best, and how this is known. */
function margin(number) {
  const { line, outcome } = page.state;
  if (number === line.length && outcome) return { points: outcome.scores[0] - outcome.scores[1], told: "" };
  const value = values.get(serialAt(number));
  return value && { points: (value.mover ? -1 : 1) * value.values[value.best], told: `(${how(view, value.search)})` };
}

/** The move of that number, if it gave points away: how many, and why. */
export function mistake(number) {
  const { moves } = view, move = moves[serialAt(number)], before = values.get(serialAt(number - 1));
  if (!$("evaluate").checked || !before || !(move.move in before.values)) return null;
  const price = round(before.values[before.best] - before.values[move.move]);
  return price < MISTAKE ? null : { price, number, text: reason(number, move, before, price) };
}

function reason(number, move, before, price) {
  const why = words().why, named = (text) => moveName(text, page.language), after = values.get(serialAt(number));
  const taken = move.steps.reduce((sum, { points = 0, stones = 0 }) => [sum[0] + points, sum[1] + stones], [0, 0]);
  const best = before.values[before.best], played = before.values[move.move], parts = [];
  if (best > 0 && played < 0) parts.push(why.lost);
  else if (best >= 0 && played <= 0 && best !== played) parts.push(best > 0 ? why.drawn : why.undrawn);
  if (after && after.mover !== before.mover && after.captured[1]) parts.push(why.stones(seatName(view, after.mover), after.captured[1], named(after.best)));
  else if (before.captured[1] > taken[1]) parts.push(why.missedStone(named(before.best)));
  else if (before.captured[0] - taken[0] >= price / 2) parts.push(why.missed(named(before.best), before.captured[0]));
  else if (after && after.mover !== before.mover && after.captured[0] >= price / 2) parts.push(why.seeds(seatName(view, after.mover), after.captured[0], named(after.best)));
  return `${why.price(said(price))}${parts.map((part) => `, ${part}`).join("")}. ${why.better(named(before.best))}`;
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
      if (number === undefined || !$("evaluate").checked || view.trouble) return;
      const asked = game, { hint } = await request("hint", { moves: number });
      if (asked !== game) continue;
      values.set(hint.serial, hint);
      view.dispatchEvent(new Event("shown"));
    }
  } catch (error) {
    if (!view.trouble) complain(error);
  } finally { busy = false; }
}

export function showValues() {
  const two = page.state.seats.length === 2, on = $("evaluate").checked && !page.state.puzzle;
  if (game !== page.state.game) { values.clear(); game = page.state.game; }
  $("values").hidden = !two || Boolean(page.state.puzzle);
  $("bar").hidden = !on;
  $("graph").toggleAttribute("hidden", !on);
  $("mistakes").hidden = !on || page.state.turn !== "over";
  if (!two || !on) return;
  showBar(margin(view.number));
  showGraph();
  if (page.state.turn === "over") showMistakes();
  fill();
}

function showBar(now) {
  const bar = $("bar"), points = now ? round(now.points) : null;
  bar.classList.toggle("old", !now);
  if (now) bar.firstElementChild.style.width = `${50 + 50 * Math.tanh(points / 25)}%`;
  const text = !now ? "…" : points ? words().ahead(seatName(view, points > 0 ? 0 : 1), said(points), now.told) : words().even(now.told);
  bar.lastElementChild.textContent = text;
  bar.setAttribute("aria-valuenow", points ?? 0);
  bar.setAttribute("aria-valuetext", text);
}

function showGraph() {
  const graph = $("graph"), all = Math.max(1, page.state.line.length), line = [];
  const x = (number) => (WIDTH * number) / all, y = (points) => (HEIGHT / 2) * (1 - 0.95 * Math.tanh(points / 25));
  graph.replaceChildren();
  element("path", { class: "zero", d: `M0,${HEIGHT / 2}H${WIDTH}` }, graph);
  for (let number = 0; number <= page.state.line.length; number++) {
    const now = margin(number);
    if (now) line.push([x(number), y(now.points)]);
  }
  if (line.length) {
    element("path", { class: "area", d: `M${line[0][0]},${HEIGHT / 2}L${line.join("L")}L${line.at(-1)[0]},${HEIGHT / 2}Z` }, graph);
    element("path", { class: "line", d: `M${line.join("L")}` }, graph);
  }
  element("path", { class: "here", d: `M${x(view.number)},0V${HEIGHT}` }, graph);
  for (let number = 1; number <= page.state.line.length; number++) {
    const now = margin(number);
    if (now && mistake(number)) element("circle", { class: "mistake", cx: x(number), cy: y(now.points), r: 4.5 }, graph);
  }
  graph.setAttribute("aria-label", words().graph);
  graph.onclick = (event) => {
    const box = graph.getBoundingClientRect();
    const number = Math.round((all * (event.clientX - box.left)) / box.width);
    view.view(number >= page.state.line.length ? null : number);
  };
}

function showMistakes() {
  const made = page.state.line.map((_, index) => mistake(index + 1)).filter(Boolean), missing = page.state.line.some((_, index) => !values.has(serialAt(index)));
  const name = ({ number }) => `${number}. ${seatName(view, values.get(serialAt(number - 1)).mover)} ${moveName(view.moves[serialAt(number)].move, page.language)}`;
  const nodes = made.map((one) => make("li", {}, make("button", { onclick: () => view.view(one.number) }, make("b", { textContent: `${name(one)} ${MINUS}${said(one.price)}` }), ` ${one.text}`)));
  if (!nodes.length) nodes.push(make("li", { textContent: missing ? words().reviewing : words().noMistakes }));
  $("mistakes").replaceChildren(...nodes);
}
