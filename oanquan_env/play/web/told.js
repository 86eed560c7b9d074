// What is said of a game: who plays, who won, what a hint and a puzzle say. `view` is a `GameView`.

import { ROLES, WORDS, moveName } from "./board-words.js";

const wordsOf = (view) => WORDS[view.board.language];
export const seatName = (view, player) => view.board.drawing.seats[view.board.language][player];

/** Of each seat its name, and who sits there. */
export function names(view) {
  const persons = view.state.seats.filter((seat) => seat.person).length;
  return view.state.seats.map((seat, player) => {
    const role = ROLES[view.board.language][seat.name] ?? seat.name.split(":")[0];
    return seat.person && persons !== 1 ? seatName(view, player) : `${seatName(view, player)} · ${role}`;
  });
}

/** A seat as a sentence names it. */
export function sentenceName(view, player) {
  const [name, sitting] = names(view)[player].split(" · "), { seats } = view.state;
  if (!sitting) return name;
  const role = seats[player].proved ? `${sitting}, ${wordsOf(view).proved}` : sitting;
  if (view.board.language !== "vi" || seats[player].person) return `${name} (${role})`;
  return seats.filter((seat) => !seat.person).length === 1 ? `Máy (${role})` : `${name} (máy, ${role})`;
}

/** Points with their owners. */
export const standing = (view, scores) => scores.map((score, player) => `${seatName(view, player)}\u00a0${String(score).replace("-", "\u2212")}`).join(", ");

/** Who won, without the points; empty while a game goes on. */
export function verdict(view) {
  const { state } = view, words = wordsOf(view);
  if (state.resigned !== null) {
    const others = state.seats.map((_, seat) => seat).filter((seat) => seat !== state.resigned);
    return words.resigned(sentenceName(view, state.resigned), others.length === 1 ? sentenceName(view, others[0]) : "");
  }
  if (!state.outcome) return "";
  const { winners } = state.outcome;
  if (winners.length === state.seats.length) return words.draw;
  const persons = state.seats.flatMap((seat, player) => (seat.person ? [player] : []));
  if (persons.length === 1 && winners.length === 1 && winners[0] === persons[0]) return words.youWin;
  const won = words.wins(winners.map((seat) => sentenceName(view, seat)).join(", "));
  return persons.length === 1 && !winners.includes(persons[0]) ? `${words.youLose}: ${won}` : won;
}

export function status(view) {
  const { state } = view, words = wordsOf(view);
  if (view.trouble) return view.trouble;
  if (view.viewing !== null) {
    const move = view.viewing ? view.moves[state.line[view.viewing - 1]].move : "";
    return [words.viewing(view.viewing, state.line.length), moveName(move, view.board.language)].filter(Boolean).join(": ");
  }
  if (state.puzzle) return puzzleWords(view);
  if (state.resigned !== null) return `${verdict(view)}${state.match ? ` ${standing(view, state.match.rounds.at(-1).scores)}.` : ""}`;
  if (state.outcome) return `${words.over} ${verdict(view)} (${standing(view, state.outcome.scores)}).`;
  if (state.trouble) return `${words.trouble} ${state.trouble}`;
  if (state.turn === "player") return words.thinking(sentenceName(view, state.mover));
  const alone = state.seats.filter((seat) => seat.person).length === 1, turn = alone ? words.yourTurn : words.turn(seatName(view, state.mover));
  return state.line.length < 2 ? `${turn} ${words.tap}` : turn;
}

function puzzleWords(view) {
  const { puzzle, starter } = view.state, words = wordsOf(view), { answer } = puzzle;
  if (!answer) return `${words.turn(seatName(view, starter))} ${words.puzzles[puzzle.name]}`;
  const move = moveName(answer.move, view.board.language), best = answer.values[answer.best];
  if (answer.right) return words.right(move) + (best === undefined ? "" : words.ending(best));
  return best === undefined ? words.wrong(move) : words.losing(move, best - answer.values[answer.move]);
}

/** Whether a value is proved, or how far was looked. */
export const how = (view, { proved, depth }) => (proved ? wordsOf(view).proved : wordsOf(view).seen(depth));

export function hintWords(view, { best, values, search }) {
  const words = wordsOf(view), way = best.endsWith("A") ? words.anticlockwise : words.clockwise;
  return `${words.hinted(best[0], way, moveName(best, view.board.language))}: ${words.ends(values[best], how(view, search))}`;
}
