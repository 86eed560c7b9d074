// How to play: the rules, each shown by a move on a board of its own.

import { BoardView } from "./board.js";
import { $, page, store, words } from "./common.js";
import "./dialog-words.js";
import { lessons } from "./table.js";

const learn = { at: 0, lessons: null, view: null };

export async function open() {
  learn.lessons ??= await lessons();
  store.set("learned", "yes");
  $("learn").classList.remove("main");
  $("learn-dialog").showModal();
  learn.view ??= new BoardView($("learn-board"), page.language);
  learn.view.language = page.language;
  showLesson(0);
}

async function showLesson(at) {
  learn.at = at;
  const lesson = learn.lessons[at], [title, text] = words().lessons[lesson.name], turn = learn.turn = {};
  $("learn-title").textContent = title;
  $("learn-words").textContent = text;
  $("learn-page").textContent = `${at + 1} / ${learn.lessons.length}`;
  $("learn-back").disabled = at === 0;
  $("learn-next").textContent = at + 1 < learn.lessons.length ? words().next : words().play;
  learn.view.cancel();
  if (learn.drawn !== lesson.drawing.box.join()) { learn.view.setDrawing(lesson.drawing); learn.drawn = lesson.drawing.box.join(); }
  const before = { frame: lesson.start, mover: 0, winners: null }, move = lesson.move;
  learn.view.speed = matchMedia("(prefers-reduced-motion: reduce)").matches ? Infinity : 0.8;
  learn.view.show(before);
  const after = move && { frame: move.after, mover: move.mover, under: move.under, over: move.over, winners: null };
  while (move && learn.turn === turn && $("learn-dialog").open) {
    await new Promise((resolve) => setTimeout(resolve, 1200));
    if (learn.turn !== turn || !$("learn-dialog").open) return;
    const reached = await learn.view.play(move, before, after);
    if (!reached && learn.view.speed === Infinity) return;
    await new Promise((resolve) => setTimeout(resolve, 2600));
  }
}

$("learn-back").onclick = () => showLesson(learn.at - 1);
$("learn-next").onclick = () => (learn.at + 1 < learn.lessons.length ? showLesson(learn.at + 1) : $("learn-dialog").close());
$("learn-dialog").onclose = () => { learn.turn = null; learn.view?.cancel(); };
