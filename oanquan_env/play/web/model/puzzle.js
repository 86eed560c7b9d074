// Puzzles: the package's and those of own games, as games of a session (session.js). It loads with the first puzzle.
//
// A puzzle is { position, line }, and { name?, themes?, id? } in the package: `line` has the moves of the solver and the
// opponent in turn; several right moves share one text, such as "3A 5C". `name` is the key of its words.

import { PERSON } from "./game.js";
import { moveText } from "./notation.js";
import { impossible } from "./refused.js";
import { parseRules, rulesText } from "./rules.js";
import "../words/puzzle-tasks.js";

/** The puzzle of a session: {position, line, source, day, level, number, counts, revealed}, with name, themes and id. */
class Puzzle {
  constructor(chosen) {
    Object.assign(this, chosen);
  }

  /** Return the moves played of the line, whether the last of them leaves it, and whether the line is finished. */
  progress(game) {
    const { line } = this,
      moves = game.line().map(({ action }) => moveText(action)),
      last = moves.length - 1;
    const wrong = last >= 0 && !line[last].split(" ").includes(moves[last]);
    return { moves, wrong, done: !wrong && moves.length === line.length };
  }

  /** Whether the line is finished, or the solver has left it. */
  answered(game) {
    const { wrong, done } = this.progress(game);
    return wrong || done;
  }

  /** Play the opponent's next move of the line, unless the puzzle is answered. */
  reply(session, { game } = session) {
    if (!this.answered(game)) game.push(session.legal(game, this.line[game.line().length]));
  }

  /** Play the rest of the line. */
  reveal(session, { game } = session) {
    this.revealed = true;
    while (!this.answered(game)) {
      game.push(session.legal(game, this.line[game.line().length].split(" ")[0]));
      this.reply(session);
    }
  }

  /** Return what a page shows; `answer` follows a wrong move or the end of the line. `revealed`: the page played it. */
  json(game) {
    const { level, name = "", number, counts, id = "", themes = [], found = null, revealed, day } = this,
      { moves, wrong, done } = this.progress(game);
    const steps = (this.line.length + 1) / 2,
      step = Math.min(steps, Math.floor((moves.length - wrong) / 2) + 1);
    const answer = wrong || done ? { move: moves.at(-1), right: done, line: this.line } : null,
      { rules } = this.source;
    return { level, name, number, counts, id, themes, found, rules, day, revealed, step, steps, answer };
  }
}

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
    : await packaged(session, presets[own]?.players === 2 ? own : usual, level, number);
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
  return session.put({ rules, start }, Array(rules.players).fill(PERSON), {
    paused: session.toResume,
    puzzle: new Puzzle(chosen),
  });
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
