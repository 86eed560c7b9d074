// Puzzles: the package's and those of own games, as games of a session (session.js).
//
// A puzzle is { position, line }, and { name?, themes?, id? } in the package: `line` has the moves of the solver and the
// opponent in turn; several right moves share one text, such as "3A 5C". `name` is the key of its words.

import { PERSON } from "./game.js";
import { moveText } from "./notation.js";
import { impossible, notYours } from "./refused.js";
import { parseRules, rulesText } from "./rules.js";

/**
 * Show `puzzle`, a position under `rules`, or the package's puzzle `number` of a level (the first follows the last).
 * The game is kept until `resume`. `day` is the day whose puzzle it is (puzzle-log.js), or null.
 */
export async function showPuzzle(
  session,
  { puzzle: custom = null, rules: text = null, level = "first", number = 0, day = null },
) {
  const { presets, default: usual } = session.catalogue,
    own = text ?? rulesText((session.paused?.game ?? session.game).rules, session.catalogue);
  const { puzzle, by, counts } = custom
    ? {
        puzzle: { position: custom.position, line: custom.line, id: custom.id ?? "", name: "own" },
        by: own,
        counts: {},
      }
    : await packaged(session, presets[own]?.values.players === 2 ? own : usual, level, number);
  const rules = session.engine.rules(parseRules(by, session.catalogue)),
    start = await session.position(rules, puzzle.position);
  const chosen = {
    ...puzzle,
    source: custom ? { puzzle, rules: by } : { level, number, rules: own, day },
    day,
    level: custom ? "own" : level,
    number: custom ? 0 : number % counts[level],
    counts,
    revealed: false,
  };
  return session.put({ rules, start }, Array(rules.players).fill(PERSON), { paused: session.toResume, puzzle: chosen });
}

/** Play the rest of the puzzle's line; a wrong move must be taken back first. */
export function showAnswer(session) {
  if (!session.puzzle || answered(session)) throw notYours("request");
  session.puzzle.revealed = true;
  while (!answered(session)) {
    session.game.push(session.legal(session.game, session.puzzle.line[session.game.line().length].split(" ")[0]));
    if (!answered(session)) reply(session);
  }
}

/** Return the moves played of a puzzle's line, whether the last of them leaves it, and whether the line is finished. */
export function progress({ line }, game) {
  const moves = game.line().map(({ action }) => moveText(action)),
    last = moves.length - 1;
  const wrong = last >= 0 && !line[last].split(" ").includes(moves[last]);
  return { moves, wrong, done: !wrong && moves.length === line.length };
}

/**
 * Return the puzzle being shown; its `answer` follows a wrong move or the end of its line. `revealed`: the page played
 * the line.
 */
export function puzzleJson(puzzle, game) {
  const { level, name = "", number, counts, id = "", themes = [], found = null, revealed, day } = puzzle,
    { moves, wrong, done } = progress(puzzle, game);
  const steps = (puzzle.line.length + 1) / 2,
    step = Math.min(steps, Math.floor((moves.length - wrong) / 2) + 1);
  const answer = wrong || done ? { move: moves.at(-1), right: done, line: puzzle.line } : null;
  return {
    level,
    name,
    number,
    counts,
    id,
    themes,
    found,
    rules: puzzle.source.rules,
    day,
    revealed,
    step,
    steps,
    answer,
  };
}

/** Whether the line of the session's puzzle is finished, or the solver has left it. */
export function answered({ puzzle, game }) {
  const { wrong, done } = puzzle ? progress(puzzle, game) : {};
  return wrong || done || false;
}

/** Play the opponent's next move of the puzzle's line. */
export function reply(session) {
  const { game, puzzle } = session;
  game.push(session.legal(game, puzzle.line[game.line().length]));
}

/**
 * Return a puzzle of the package, its rules (the default in the first level), and the number of puzzles in each level.
 */
async function packaged({ data, catalogue }, preset, level, number) {
  const [first, others] = await Promise.all([data("puzzles-first.json"), data(`puzzles-${preset}.json`)]),
    levels = { first, ...others };
  if (!Object.hasOwn(levels, level) || !levels[level].length || !Number.isInteger(number) || number < 0)
    throw impossible(`there is no puzzle ${number} of '${level}'`, "không có câu đố này");
  const counts = Object.fromEntries(Object.entries(levels).map(([name, all]) => [name, all.length]));
  return {
    puzzle: levels[level][number % counts[level]],
    by: level === "first" ? catalogue.default : preset,
    counts,
  };
}
