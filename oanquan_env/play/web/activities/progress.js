// Results against the levels, and the opponent that they suggest next; stored in this browser.

import { $ } from "../dom.js";
import { complain, page, words } from "../page-state.js";
import { store } from "../storage.js";
import { play } from "../current-game.js";
import { ROLES } from "../words/board-words.js";

const KEPT = "results",
  MOST = 50; // results kept of each level
const counted = new Set(); // games, each of which counts once however often its end is undone

/** Return the results against each level as texts of W (won), D and L, oldest first. */
export function results() {
  let kept = null;
  try {
    kept = JSON.parse(store.get(KEPT));
  } catch {
    /* damaged */
  }
  return Object.fromEntries(
    page.catalogue.levels.map((level) => [level, /^[WDL]+$/.test(kept?.[level]) ? kept[level].slice(-MOST) : ""]),
  );
}

/** Return the level that plays against one person, or null. */
function levelOf({ seats, puzzle, match }) {
  const [level] = seats.filter(({ person }) => !person);
  return seats.length === 2 && seats.some(({ person }) => person) && !puzzle && !match ? (level?.name ?? null) : null;
}

/** Count the finished game, and offer a game against the next level if the results suggest one. */
export function finish() {
  const { state } = page,
    level = levelOf(state),
    all = results(),
    { levels } = page.catalogue;
  if (!levels.includes(level)) return;
  if (!counted.has(state.game)) {
    counted.add(state.game);
    const seat = state.seats.findIndex(({ person }) => person),
      { winners } = state;
    all[level] += winners.length > 1 ? "D" : winners[0] === seat ? "W" : "L";
    store.set(KEPT, JSON.stringify(all));
  }
  const next = suggested(level, all[level], levels),
    { rules, seats, turn } = state;
  $("suggest").hidden = !next || turn !== "over";
  if (!next) return;
  $("suggest").textContent = words().playNext(ROLES[page.language][next]);
  $("suggest").onclick = () =>
    play("new", { rules, seats: seats.map(({ name, person }) => (person ? name : next)) }).catch(complain);
}

/** Return the next level after two wins in the last three games, the one before after three losses, or null. */
function suggested(level, played, levels) {
  const last = played.slice(-3),
    step = last.replace(/[^W]/g, "").length > 1 ? 1 : last === "LLL" ? -1 : 0;
  return step ? (levels[levels.indexOf(level) + step] ?? null) : null;
}
