// A mistake: both moves as arrows, and the best line played on the board.

import { $, make } from "../dom.js";
import { complain, page } from "../page-state.js";
import { ARROWS, moveArrow } from "../board/move-markers.js";
import { ended, stonesWon } from "../board/moving-board.js";
import { capital } from "../words/format.js";
import { parseMove, positionText } from "../model/notation.js";
import { REVIEW } from "../words/review-words.js";
import { nodeJson } from "../model/state.js";
import { variation, services, view } from "../current-game.js";
import { how, playerName } from "../words/narration.js";
import { captured } from "../model/trace.js";

const PLIES = 3; // plies of the best line to play
const PAUSE = 700; // milliseconds between plies
const texts = () => REVIEW[page.language];

/** Return who made a move, as the beginning of a sentence. */
export const who = (player) =>
  page.state.seats.filter(({ person }) => person).length === 1 && page.state.seats[player].person
    ? texts().you
    : capital(playerName(view, player));

/** Return the points and stones that a move wins at once after the first `number` moves. */
export const gain = (number, move) => captured(variation(number).trace(parseMove(move)));

/** Return what the board draws over the position before a mistake. */
export const arrows = ({ mover, best, values }, move) => ({
  under: "",
  over:
    moveArrow(view.board.plain, "best", mover, best) +
    (move in values ? moveArrow(view.board.plain, "played", mover, move) : ""),
});

// ---- the panel below the board --------------------------------------------------------------------------------------

const legend = (kind, label, text) => {
  const line = make("li", {});
  line.innerHTML =
    `<svg class="key" viewBox="0 0 60 20" role="img">` +
    `<path d="M2,10H40" stroke-width="6"${ARROWS[kind].dash}/><path class="head" d="M40,2L58,10L40,18Z"/></svg>`;
  line.firstChild.setAttribute("aria-label", label);
  line.firstChild.classList.add(kind);
  line.append(text);
  return line;
};

/** Show the panel about the move after the first `number` moves, or none. */
export function showMistake(loss, number, move) {
  const panel = $("mistake") ?? build(),
    showing = Boolean(panel.line) && view.replaying === panel.line,
    shown = view.replaying === undefined || showing;
  panel.hidden = !loss || !shown;
  $("board").classList.toggle("mistake", !panel.hidden);
  if (panel.hidden) return;
  const { mover, best, values, proved, search } = loss,
    ends = (one) => texts().ends(values[one], how(view, { best: one, exact: [...proved], search }));
  const text = JSON.stringify([page.language, page.state.game, number, values, [...proved], showing]);
  if (text === panel.text) return; // unchanged, so buttons keep the focus
  panel.text = text;
  panel.replaceChildren(
    make(
      "ul",
      {},
      legend("played", texts().dashed, `${texts().played(who(mover), move)}: ${ends(move)}`),
      legend("best", texts().solid, `${texts().best(best)}: ${ends(best)}`),
    ),
    make(
      "div",
      { className: "row-of" },
      make("button", {
        type: "button",
        className: "main",
        textContent: showing ? texts().stop : texts().showIt,
        onclick: () => (showing ? view.view(number) : showLine(loss, number, move).catch(complain)),
      }),
    ),
  );
}

function build() {
  const panel = make("section", { id: "mistake", hidden: true });
  if (matchMedia("(max-height: 520px)").matches) $("values").prepend(panel);
  else $("table").append(panel);
  return panel;
}

/** Play the best line on the board, then return to the position. */
async function showLine(loss, number, played) {
  const panel = $("mistake"),
    line = {},
    game = variation(number),
    names = view.board.plain.seats,
    { rules } = game;
  const ours = () => view.replaying === line && panel.line === line,
    drawing = view.board.plain;
  view.view(number);
  view.replaying = panel.line = line;
  view.setButtons();
  showMistake(loss, number, played);
  if (view.board.speed === Infinity) view.board.speed = 1; // motion was requested explicitly
  try {
    let before = { ...view.position(number), under: "", over: "" };
    for (let ply = 1, move = loss.best; ours() && move; ply += 1) {
      game.step(parseMove(move));
      const node = nodeJson(game.node, drawing, names),
        outcome = game.outcome();
      const after = {
        ...before,
        ...ended(view.board.drawing, node.after, outcome, page.state.match?.owners.codes),
        won: stonesWon([node], before.won.length, before.won),
        mover: node.mover,
        under: node.under,
        over: node.over,
      };
      const next =
        !outcome && ply < PLIES
          ? services().thinker.hint(rules, game.position, { proved: !page.state.match?.owners.tabs })
          : null; // it thinks during the motion
      const words = texts().line(move, ply, PLIES);
      view.speak(words);
      await view.board.play(node, before, after, (text) => view.tell(`${words} ${view.board.named(text)}`));
      if (ours())
        await new Promise((resolve) => {
          setTimeout(resolve, PAUSE);
        });
      before = { ...after, sweep: null };
      move = (await next)?.best;
    }
  } finally {
    const back = ours();
    if (panel.line === line) panel.line = null;
    if (back) view.view(number);
  }
}

// ---- a puzzle -------------------------------------------------------------------------------------------------------

/**
 * Show the position after the first `number` moves as a puzzle (puzzles.js): find a move that is as good as the best.
 */
export function ownPuzzle({ best, values }, number) {
  const { rules, position } = variation(number),
    right = Object.keys(values).filter((move) => values[move] >= values[best]),
    text = positionText(rules, position);
  return {
    id: `${page.state.rules} ${text}`,
    rules: page.state.rules,
    puzzle: { position: text, line: [right.join(" ")] },
  };
}
