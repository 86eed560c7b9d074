// A game as JSON: everything that a page shows except the drawing.

import { FRIEND } from "./game.js";
import { markShapes, tabShapes } from "../board/move-markers.js";
import { moveLines, seatNames, squareWords } from "../words/move-words.js";
import { copyFrame, lastMark, preview, stepsOf } from "./trace.js";
import { moveText, positionText } from "./notation.js";

/** Return the names of a game's seats in sentences; `solver` is the seat of the person solving a puzzle, or null. */
export const namesOf = (game, solver = null) =>
  seatNames(
    game.names.map((name, seat) => (game.person(seat) ? null : name)),
    solver,
  );

export function gameJson(game, drawing, names) {
  const { position, root } = game,
    legal = game.legal(),
    outcome = game.outcome(),
    person = !game.over && game.player === null;
  return {
    position: positionText(game.rules, position),
    start: copyFrame(root.position),
    starter: root.position.mover,
    line: game.line().map(({ serial }) => serial),
    moves: Object.fromEntries([...game.nodes].map(([serial, node]) => [serial, nodeJson(node, drawing, names)])),
    mover: position.mover,
    ply: position.ply,
    legal: legal.map(moveText),
    previews: person ? previewsOf(game, legal) : {},
    seats: game.names.map((name, seat) => ({ name, person: game.person(seat) })),
    turn: game.over ? "over" : person ? "person" : game.player === FRIEND ? "friend" : "player",
    resigned: game.resigned,
    winners: game.winners(outcome),
    outcome,
    played: game.played,
    can_undo: game.canUndo,
    can_redo: game.canRedo,
    match: game.match && matchJson(game, drawing),
  };
}

/** Return the constant data of a move: its steps, the board after it, its marks, and its story in both languages. */
export function nodeJson(node, drawing, names) {
  const { trace } = node,
    last = lastMark(trace),
    lines = (language) => moveLines(trace, language, names[language]);
  return (node.json ??= {
    mover: node.position.mover,
    player: trace.player,
    move: moveText(trace.action),
    steps: stepsOf(trace),
    after: trace.after,
    standings: trace.standings,
    last,
    ...markShapes(drawing, last),
    lines: { en: lines("en"), vi: lines("vi") },
  });
}

/** Return the effect of each legal move; none for a move that never ends. */
export function previewsOf(game, legal) {
  const of = (action) => {
    try {
      return preview(game.trace(action));
    } catch {
      return { path: [], taken: [], captured: [0, 0] };
    }
  };
  return (game.node.previews ??= Object.fromEntries(legal.map((action) => [moveText(action), of(action)])));
}

function matchJson(game, drawing) {
  const { match } = game,
    settled = game.settled(),
    latest = settled ?? match,
    { ownership } = match;
  const codes = ownership.sold.map((sold, player) =>
    Array.from({ length: game.rules.fields }, (_, field) =>
      sold.includes(field) ? 2 : ownership.pawned[player].includes(field) ? 1 : 0,
    ),
  );
  return {
    number: match.rounds.length + 1,
    rounds: latest.rounds.map(({ scores, winner, owed, sold, pawned, returned }) => ({
      scores,
      winner,
      owed,
      sold,
      pawned,
      returned,
    })),
    owners: { codes, tabs: tabShapes(drawing, codes) },
    sold: latest.ownership.sold.map((row) => row.length),
    pawned: latest.ownership.pawned.map((row) => row.length),
    fields_to_lose: match.rules.fields_to_lose,
    settled: settled !== null,
    over: settled?.over ?? false,
    winner: settled?.winner ?? null,
  };
}

/** Return the empty board for some rules, with the names of its seats and squares. */
export function drawingJson(drawing, rules, names) {
  const words = (index, language) => squareWords(language, names[language], rules.fields, index);
  const squares = drawing.squares.map((square, index) => ({
    ...square,
    name: { en: words(index, "en"), vi: words(index, "vi") },
  }));
  return { ...drawing, stone_value: rules.stone_value, seats: names, squares };
}
