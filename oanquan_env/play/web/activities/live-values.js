// The value of each move of the position shown, drawn beside its square while a switch is on.

import { $, complain, page, store } from "../common.js";
import { hint, view } from "../table.js";

const known = new Map(); // hints by position, null while one is searched
// whether values are on; the match or game with a friend in which they were switched on
let always = store.get("live") === "yes",
  contest = null;

/**
 * Return whether values are shown: never in a puzzle; in a match or with a friend, only if switched on in this game.
 */
function isOn() {
  const { game, puzzle, match, friend } = page.state;
  return !puzzle && (match || friend ? contest === game : always);
}

export function toggle(on) {
  const { game, match, friend } = page.state;
  if (match || friend) contest = on ? game : null;
  else {
    always = on;
    store.set("live", on ? "yes" : "no");
  }
  view.refresh();
}

const keyOf = (number) => `${page.state.game} ${number && page.state.line[number - 1]}`;

/** Search the position after `number` moves, and show its values if it is still the one shown. */
async function search(number) {
  const key = keyOf(number),
    { turn, line } = page.state;
  if (known.has(key) || (turn === "over" && number === line.length)) return;
  known.set(key, null);
  try {
    known.set(key, await hint(number));
    if (key !== keyOf(view.number)) return;
    if (view.coming === undefined) view.refresh();
    else view.board.setHints(known.get(key)); // while the next move is shown
  } catch (error) {
    known.delete(key);
    complain(error);
  }
}

view.valuesAt = (number) => {
  if (!isOn()) return null;
  const reviewed = view.reviewed?.(number); // the numbers that the review gives in words
  if (reviewed) return reviewed;
  for (const one of new Set([number, page.state.line.length])) search(one); // the current position is shown next
  return known.get(keyOf(number));
};
view.addEventListener("render", () => {
  $("live").checked = isOn();
});
if (page.state) view.refresh();
