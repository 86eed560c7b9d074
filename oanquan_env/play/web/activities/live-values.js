// The value of each move of the position shown, drawn beside its square while a switch is on.

import { $ } from "../dom.js";
import { complain, page } from "../page-state.js";
import { store } from "../storage.js";
import { hint, view } from "../current-game.js";

const known = new Map(); // hints by position, null while one is searched
let busy = false;
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

/** Return the number of moves before the next position to search; undefined if all are known. The one shown is first. */
function wanted() {
  const { turn, line } = page.state,
    at = view.number;
  if (!isOn()) return undefined;
  return [at, line.length].find(
    (number) => !known.has(keyOf(number)) && !view.reviewed?.(number) && (turn !== "over" || number < line.length),
  );
}

/** Search the wanted positions one after another; show the values of a position that is still on the board. */
async function fill() {
  if (busy) return;
  busy = true;
  try {
    for (let number = wanted(); number !== undefined; number = wanted()) {
      const key = keyOf(number);
      known.set(key, null);
      known.set(key, await hint(number));
      if (key !== keyOf(view.number)) continue;
      if (view.coming === undefined) view.refresh();
      else view.board.setHints(known.get(key)); // while the next move is shown
    }
  } catch (error) {
    for (const [key, answer] of known) if (!answer) known.delete(key);
    complain(error);
  } finally {
    busy = false;
  }
}

view.valuesAt = (number) => {
  if (!isOn()) return null;
  const reviewed = view.reviewed?.(number); // the numbers that the review gives in words
  if (reviewed) return reviewed;
  queueMicrotask(fill);
  return known.get(keyOf(number));
};
view.addEventListener("render", () => {
  $("live").checked = isOn();
});
if (page.state) view.refresh();
