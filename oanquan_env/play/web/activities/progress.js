// Results against the levels, and the opponent that they suggest next; stored in this browser.

import { page, store } from "../common.js";

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

/** Count the finished game in `state`; return its level and the level to play next, or null if there is none. */
export function finish(state) {
  const level = levelOf(state),
    all = results(),
    { levels } = page.catalogue;
  if (!levels.includes(level)) return null;
  if (!counted.has(state.game)) {
    counted.add(state.game);
    const seat = state.seats.findIndex(({ person }) => person),
      winners = state.outcome?.winners ?? [1 - state.resigned];
    all[level] += winners.length > 1 ? "D" : winners[0] === seat ? "W" : "L";
    store.set(KEPT, JSON.stringify(all));
  }
  return { level, next: suggested(level, all[level], levels) };
}

/** Return the next level after two wins in the last three games, the one before after three losses, or null. */
function suggested(level, played, levels) {
  const last = played.slice(-3),
    step = last.replace(/[^W]/g, "").length > 1 ? 1 : last === "LLL" ? -1 : 0;
  return step ? (levels[levels.indexOf(level) + step] ?? null) : null;
}
