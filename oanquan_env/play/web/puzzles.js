// Puzzles: which level, which ones are solved, the next one, and the way back to the game.

import { $, complain, make, page, store, words } from "./common.js";
import { play, view } from "./table.js";

const LEVELS = ["first", "easy", "medium", "hard"];

/** The puzzles of a level that were solved: texts of their rules and number. */
const solved = (level) => { try { return new Set(JSON.parse(store.get(`solved-${level}`))); } catch { return new Set(); } };
const name = (number) => `${page.state.rules} ${number}`;

/** Open the first puzzle of a level, from that number on, that is not solved; where all are solved, that number. */
export async function openPuzzle(level, from = 0) {
  $("puzzle-dialog").close();
  try {
    await play("puzzle", { level, number: from });
    const known = solved(level), { number, counts } = page.state.puzzle, order = Array.from({ length: counts[level] }, (_, step) => (number + step) % counts[level]);
    const open = order.find((one) => !known.has(name(one))) ?? number;
    if (open !== number) await play("puzzle", { level, number: open });
  } catch (error) { complain(error); }
}

view.addEventListener("shown", () => {
  const puzzle = page.state?.puzzle;
  $("resume").hidden = !page.state?.kept;
  if (puzzle?.answer?.right && puzzle.level !== "own") store.set(`solved-${puzzle.level}`, JSON.stringify([...solved(puzzle.level).add(name(puzzle.number))]));
});
$("resume").onclick = () => play("resume").catch(complain);
$("puzzles").onclick = () => {
  $("puzzle-levels").replaceChildren(...LEVELS.map((level) => make("button", {
    type: "button", onclick: () => openPuzzle(level), textContent: words().levels[level] + (solved(level).size ? ` (${words().solved(solved(level).size)})` : ""),
  })));
  $("puzzle-dialog").showModal();
};
