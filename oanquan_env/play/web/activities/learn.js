// How to play: the rules, each with a move that the learner makes on a separate board; then a first game.

import { BoardView } from "../board/board.js";
import { ended, stonesWon } from "../board/moving-board.js";
import { $, addStyle } from "../dom.js";
import { complain, page, words } from "../page-state.js";
import { store } from "../storage.js";
import "../words/dialog-words.js";
import { lessons, newcomersGame, playFor } from "../current-game.js";

addStyle(`
#learn-dialog { width: min(47.5rem, calc(100vw - 20px)); }
#learn-board { --rest: 310px; }
#learn-words { min-height: 6.2em; margin: 10px 0; font-size: 1.0625rem; }
#learn-task { min-height: 3em; margin: 0; font-weight: 600; }
#learn-page { margin-right: auto; align-self: center; color: var(--soft); }
@media (max-width: 560px), (max-height: 520px) { #learn-words { margin: 4px 0; font-size: 0.9375rem; } }
@media (max-width: 560px) {
  #learn-board { --rest: 370px; }
  #learn-dialog .end { gap: 6px; }
  #learn-dialog .end button { padding: 0 8px; }
}
@media (max-height: 520px) {
  #learn-dialog form { display: grid; grid-template-columns: 3fr 2fr; gap: 0 16px; }
  #learn-title, #learn-dialog .end { grid-column: 1 / -1; }
  #learn-board { --rest: 180px; grid-row: span 2; }
}`);
const learn = { at: 0, lessons: null, view: null };

export async function open() {
  learn.lessons ??= await lessons();
  store.set("learned", "yes");
  $("learn").classList.remove("main");
  $("learn-dialog").showModal();
  learn.view ??= makeBoard();
  learn.view.language = page.language;
  showLesson(0);
}

function makeBoard() {
  const board = new BoardView($("learn-board"), page.language);
  board.addEventListener("move", ({ detail }) => tried(detail));
  return board;
}

function showLesson(at) {
  Object.assign(learn, { at, turn: {} });
  const lesson = learn.lessons[at],
    [title, text] = words().lessons[lesson.name];
  $("learn-title").textContent = title;
  $("learn-words").textContent = text;
  $("learn-page").textContent = `${at + 1} / ${learn.lessons.length}`;
  $("learn-back").disabled = at === 0;
  $("learn-next").textContent = at + 1 < learn.lessons.length ? words().next : words().firstGame;
  learn.view.cancel();
  if (learn.drawn !== lesson.drawing.box.join()) {
    learn.view.setDrawing(lesson.drawing);
    learn.drawn = lesson.drawing.box.join();
  }
  learn.view.speed = matchMedia("(prefers-reduced-motion: reduce)").matches ? Infinity : 0.8;
  ask(lesson, lesson.move ? words().task : () => "");
}

/** Let the learner move; `instruction` gives the instruction for choosing the field and the direction. */
function ask({ start, won, move, legal }, instruction) {
  const asked = move?.move ?? "";
  learn.view.show({ frame: start, won, mover: 0, winners: null, legal: move ? legal : [] });
  $("learn-task").textContent = instruction(
    asked[0],
    asked.endsWith("A") ? learn.view.words.anticlockwise : learn.view.words.clockwise,
    asked,
  );
}

async function tried(chosen) {
  const { turn } = learn,
    lesson = learn.lessons[learn.at],
    { start, won, move, outcome } = lesson;
  if (chosen !== move.move) {
    ask(lesson, words().otherMove);
    return;
  }
  const { mover, under, over } = move,
    reached = ended(learn.view.drawing, move.after, outcome),
    after = { ...reached, won: stonesWon([move], won.length, won), mover, under, over };
  $("learn-task").textContent = "";
  await learn.view.play(move, { frame: start, won, mover: 0, winners: null }, after);
  if (learn.turn !== turn || !$("learn-dialog").open) return; // another lesson has been shown meanwhile
  learn.view.show(after);
  $("learn-task").textContent = words().well;
  $("learn-next").focus();
}

/** Start a game against the weakest level, with a sentence of help before each move. */
async function begin() {
  $("learn-dialog").close();
  await playFor({ helped: true }, newcomersGame());
}

$("learn-back").onclick = () => showLesson(learn.at - 1);
$("learn-next").onclick = () =>
  learn.at + 1 < learn.lessons.length ? showLesson(learn.at + 1) : begin().catch(complain);
$("learn-dialog").onclose = () => learn.view?.cancel();
