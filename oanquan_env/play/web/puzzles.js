// Puzzles: which level, and the next one.

import { $, complain, make, page, store, words } from "./common.js";
import { play, view } from "./table.js";

const LEVELS = ["first", "easy", "medium", "hard"];
const reached = (level) => Number(store.get(`puzzle-${level}`)) || 0;

export async function openPuzzle(level, number = reached(level)) {
  $("puzzle-dialog").close();
  try { await play("puzzle", { level, number }); } catch (error) { complain(error); }
}

$("puzzles").onclick = () => {
  $("puzzle-levels").replaceChildren(...LEVELS.map((level) => make("button", {
    type: "button", onclick: () => openPuzzle(level), textContent: words().levels[level] + (reached(level) ? ` (${words().solved(reached(level))})` : ""),
  })));
  $("puzzle-dialog").showModal();
};
