// The panel beside the board: the game, its match, its moves, and what comes after its end.

import { STRENGTHS } from "./words/board-words.js";
import { $, make } from "./dom.js";
import { complain, page, presetName, words } from "./page-state.js";
import { FRIEND } from "./model/game.js";
import { numbered } from "./model/notation.js";
import { MINUS, capital } from "./words/format.js";
import { unfinishedGames, play, playFor, view } from "./current-game.js";
import { sentenceName } from "./words/narration.js";

let ended = null; // the game whose end has been announced
let running = null; // the last game that was seen unfinished
let values = null; // review.js, loaded with the first review

async function review() {
  try {
    values ??= await import("./activities/review.js");
    values.review();
  } catch (error) {
    complain(error);
  }
}

/**
 * Whether the analysis board would help nobody in a game against the computer, and solve no puzzle; it knows no sold
 * squares.
 */
function mayAnalyse({ puzzle, turn, seats, match }) {
  if (match?.owners.tabs) return false;
  if (puzzle) return Boolean(puzzle.answer?.right);
  const computer = ({ name, person }) => !person && name !== FRIEND;
  return turn === "over" || !seats.some(({ person }) => person) || !seats.some(computer);
}

$("game-rules").ontoggle = show;

export function show() {
  if (!page.state) return;
  const { state } = page,
    { number } = view;
  $("about-game").textContent =
    `${presetName(state.rules)} · ` +
    state.seats
      .map(({ name }, seat) => {
        const strength = STRENGTHS[page.language][name],
          named = capital(sentenceName(view, seat));
        return strength && state.seats.length === 2 ? `${named} · ${strength}` : named;
      })
      .join(" – ");
  if ($("game-rules").open)
    import("./activities/rules-in-words.js")
      .then((loaded) => loaded.tell($("game-rules"), state.rules))
      .catch(complain);
  values?.showValues();
  const lines = number ? view.lines(number) : [view.words.noMove],
    wrong = number && !values?.reviewing() ? values?.mistake(number) : null;
  $("story").replaceChildren(...lines.map((line) => make("li", { textContent: line })));
  if (wrong) $("story").append(make("li", { className: "wrong", textContent: wrong.text }));
  const due = state.friend?.due && view.settled,
    visible = !$("send").hidden;
  $("send").hidden = !due;
  // a first move also shows buttons above it
  if (due && !visible) requestAnimationFrame(() => $("send").scrollIntoView({ block: "nearest", behavior: "smooth" }));
  $("from-here").hidden = view.viewing === null;
  showMoves(number);
  showMatch();
  $("resign").disabled = state.turn !== "person" || Boolean(state.puzzle);
  const unfinished = unfinishedGames().length;
  $("resume").hidden = !state.can_resume && !unfinished;
  $("resume").textContent =
    state.can_resume || unfinished < 2 ? words().resume : `${words().unfinished} (${unfinished})`;
  showEnd();
  showPuzzle();
}

/** The puzzle panel, which loads with the first puzzle. */
function showPuzzle() {
  if (page.state.puzzle) import("./activities/puzzles.js").then((puzzles) => puzzles.show()).catch(complain);
  else for (const part of document.querySelectorAll(".of-puzzle")) part.hidden = true;
}

function showMoves(number) {
  const list = $("moves"),
    players = page.state.seats.length,
    serials = page.state.line.slice(0, view.displayed.length);
  const rows = [
    [0, words().start, null],
    ...serials.map((serial, index) => [
      index + 1,
      numbered(index + 1, players) + view.moves[serial].move,
      values?.mistake(index + 1),
    ]),
  ];
  const key = JSON.stringify([rows, number, page.language, page.state.game, values?.reviewing()]); // a review resizes it
  if (key === list.key) return; // do not replace buttons that a finger may be aiming at
  list.key = key;
  list.replaceChildren();
  for (const [ply, text, wrong] of rows) {
    const button = make("button", { onclick: () => view.view(ply) }, text);
    if (ply === number) button.setAttribute("aria-current", "step");
    if (ply) button.title = [...view.lines(ply), wrong?.text ?? ""].join(" ").trim();
    if (wrong) button.append(make("small", { textContent: ` ${MINUS}${wrong.price}` }));
    if (ply < 2 || ply % players === 1) list.append(make("li")); // an item for each round
    list.lastChild.append(button);
  }
  const current = list.querySelector("[aria-current]");
  if (current) list.scrollTop = current.offsetTop + current.offsetHeight - list.offsetTop - list.clientHeight;
}

// ---- a match --------------------------------------------------------------------------------------------------------

function showMatch() {
  $("match").hidden = !page.state.match;
  if (page.state.match)
    import("./activities/match-table.js")
      .then(({ roundsOf, goal }) => {
        $("match").replaceChildren(...roundsOf(view, make));
        if (!view.goals.includes(goal)) {
          view.goals.push(goal);
          view.refresh();
        }
      })
      .catch(complain);
}

// ---- the end --------------------------------------------------------------------------------------------------------

/** Show what a person can do after the end; another element below the board shows the result. */
function showEnd() {
  const { match, turn, game } = page.state,
    over = (turn === "over" || turn === "solved") && view.settled;
  $("next").hidden = !over;
  const [atEnd, before] = document.querySelectorAll(".analyse");
  atEnd.hidden = !mayAnalyse(page.state);
  before.hidden = over || atEnd.hidden;
  if (turn !== "over") running = game;
  if (!over) {
    if (ended !== null) view.host.scrollIntoView({ block: "nearest", behavior: "smooth" });
    ended = null;
    return;
  }
  const going = match && !match.over,
    solved = turn === "solved",
    head = $("next").querySelector("h2");
  head.textContent = match?.over ? matchEnd(match) : "";
  head.hidden = !head.textContent;
  $("next-round").hidden = !going;
  for (const name of ["rematch", "swap"]) $(name).hidden = solved || going || page.aim?.par !== undefined;
  $("card").hidden = solved || !page.state.outcome;
  $("review").hidden = solved || !page.state.line.length || values?.reviewing();
  if (ended === game) return;
  ended = game;
  $("suggest").hidden = true;
  if (turn === "over" && running === game)
    import("./activities/progress.js").then(({ finish }) => finish()).catch(complain);
  $("next").scrollIntoView({ block: "nearest", behavior: "smooth" });
  if (view.board.byKeyboard) $("next").querySelector("button:not([hidden])").focus();
}

function matchEnd(match) {
  return match.winner === null ? view.words.matchDrawn : view.words.matchWon(capital(sentenceName(view, match.winner)));
}

$("next-round").onclick = () => play("next_round").catch(complain);
$("rematch").onclick = () =>
  (page.aim?.bound === undefined ? play("rematch") : playFor(page.aim, {}, "rematch")).catch(complain);
$("resume").onclick = () =>
  (page.state.can_resume ? play("resume") : import("./activities/files.js").then(({ resume }) => resume())).catch(
    complain,
  );
$("send").onclick = () =>
  import("./activities/files.js").then(({ shareLink }) => shareLink(page.state.friend.link)).catch(complain);
$("swap").onclick = () => play("rematch", { swap: true }).catch(complain);
$("card").onclick = () =>
  import("./activities/files.js").then(({ shareCard }) => shareCard(values?.summaries() ?? null)).catch(complain);
$("review").onclick = review;
for (const button of document.querySelectorAll(".analyse"))
  button.onclick = () => import("./activities/analysis.js").then(({ openHere }) => openHere()).catch(complain);
$("from-here").onclick = () => play("back", { moves: view.viewing }).catch(complain);
