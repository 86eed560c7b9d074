// The texts about a game: players, winner and hints. `view` is a `GameView`.

import { GREETINGS, ROLES, STRENGTHS, WORDS } from "./board-words.js";
import { MINUS, capital } from "./format.js";
import { roundOf } from "../model/notation.js";

const wordsOf = (view) => WORDS[view.board.language];

/** The name of a seat within a sentence, without its player. */
export const seatName = (view, player) => view.board.called[player];

/**
 * Return a player's name and its role; the role is empty if the name already shows it, as in a game of one person
 * against a level or a friend.
 */
function nameAndRole(view, player) {
  const { seats, puzzle, starter } = view.state,
    { language } = view.board,
    { name, person } = seats[player],
    known = ROLES[language],
    alone = seats.filter((seat) => seat.person).length === 1;
  if (puzzle && player === starter) return [known.human, ""];
  if (alone && seats.length === 2 && seats.every((seat) => seat.name in known)) return [known[name], ""];
  const called = seatName(view, player),
    role = person ? "" : (known[name] ?? name);
  return [called, called.startsWith(role) ? "" : role];
}

export const playerName = (view, player) => nameAndRole(view, player)[0];

/**
 * Return each seat's name, player and portrait for the plates beside the board; with three or four players, levels are
 * omitted for lack of room.
 */
export const plateNames = (view) =>
  view.state.seats.map((seat, player) => {
    const { two } = view.board,
      [name, role] = nameAndRole(view, player);
    return [
      capital(two ? name.replace(/^your /, "") : name.replace(/^.*bên /, "")),
      two || seat.person ? (STRENGTHS[view.board.language][seat.name] ?? role.split(":")[0]) : "",
      seat.name,
    ];
  });

/** Return a seat's name with its player, as used in sentences. */
export function sentenceName(view, player) {
  const [name, role] = nameAndRole(view, player);
  return role ? `${name} (${role})` : name;
}

/** List the points with their owners. */
const standing = (view, scores) =>
  scores.map((score, player) => `${playerName(view, player)}\u00a0${String(score).replace("-", MINUS)}`).join(", ");

/** Return who won, without the points. */
function verdict(view) {
  const { winners, resigned, seats } = view.state,
    words = wordsOf(view),
    won = words.wins(winners.map((seat) => sentenceName(view, seat)));
  if (resigned !== null) return `${words.resigns(sentenceName(view, resigned))}: ${won}`;
  if (winners.length === seats.length) return words.draw;
  const persons = seats.flatMap((seat, player) => (seat.person ? [player] : []));
  if (persons.length !== 1 || winners.includes(persons[0])) return won;
  return seats.length === 2 ? words.youLose : `${words.youLose}: ${won}`;
}

/** Return the text below the board. */
export function status(view) {
  const { state } = view,
    words = wordsOf(view);
  if (view.viewing !== null) {
    const { player, move } = view.moves[state.line[view.viewing - 1]] ?? {},
      [round, all] = [view.viewing, state.line.length].map((ply) => roundOf(ply, state.seats.length));
    return (
      words.viewing(round, all) +
      (move ? `: ${capital(playerName(view, player))} ${move}` : "") +
      (view.notes.has(view.viewing) ? `. ${view.notes.get(view.viewing)}` : "")
    );
  }
  if (state.puzzle) return words.ofPuzzle(view);
  const goal = view.goals.map((words) => words(view)).find(Boolean);
  if (state.turn === "over") {
    const scores = state.match ? state.match.rounds.at(-1).scores : state.outcome?.scores,
      result = capital(verdict(view));
    const points = scores && standing(view, scores);
    return [
      state.outcome ? words.over(state.match) : "",
      points ? `${result} (${points}).` : `${result}.`,
      goal,
      view.notes.get(view.number),
      view.whole,
    ]
      .filter(Boolean)
      .join(" ");
  }
  if (state.trouble) return `${words.trouble} ${navigator.onLine === false ? words.offline : state.trouble}`;
  if (state.turn === "friend") return words.waiting(playerName(view, state.mover));
  if (state.turn === "player")
    return capital(words[view.preparing === state.game ? "preparing" : "thinking"](sentenceName(view, state.mover)));
  const alone = state.seats.filter((seat) => seat.person).length === 1,
    turn = alone ? words.yourTurn : words.turn(seatName(view, state.mover));
  if (goal) return `${turn} ${goal}`;
  if (view.helped === state.game) return help(view);
  if (view.board.chosen !== null) return direct(view);
  // one sentence at a turn, so that a newcomer is not told too much at once
  const before = state.line.length,
    others = alone && before > 1 ? state.seats.flatMap(({ person }, seat) => (person ? [] : [seat])) : [];
  if (others.length === 1 && before < 4) return words.goal(playerName(view, others[0]));
  if (others.length === 1 && before < 6) return greeting(view, others[0]) || turn;
  if (before > 1) return turn;
  return alone ? words.tap : `${turn} ${words.tap}`;
}

/** Return advice for a first game, from what each move would capture at once and from the person's row. */
function help(view) {
  const {
      state,
      board: {
        drawing: { fields },
      },
    } = view,
    words = wordsOf(view),
    at = state.mover * (fields + 1);
  const [
    {
      move,
      captured: [points, stones],
    },
  ] = Object.entries(state.previews)
    .map(([move, { captured }]) => ({ move, captured }))
    .sort((one, other) => other.captured[0] - one.captured[0]);
  const next = view.board.chosen !== null ? direct(view) : view.board.preview ? words.look : "";
  if (state.line.length < state.seats.length) return next || words.tap; // the largest capture may be a mistake
  if (points) return words.canTake(move[0], move.endsWith("A") ? words.anticlockwise : words.clockwise, points, stones);
  const left = view
    .position(state.line.length)
    .frame.seeds.slice(at, at + fields)
    .reduce((all, seeds) => all + seeds, 0);
  if (left < 3) return words.bare;
  return `${words.noCapture} ${next}`;
}

/** Ask for the direction of the chosen square. */
const direct = ({ board: { chosen, drawing, words } }) => words.direct(drawing.squares[chosen].field + 1);

/** Return what a seat's level says of itself; other players say nothing. */
function greeting({ state: { seats }, board: { language } }, seat) {
  const { name } = seats[seat],
    said = GREETINGS[language][name];
  return said ? `${ROLES[language][name]}: “${said}”` : "";
}

/**
 * Say that a value is measured against the average of several others, and in brackets whether it is proved or how deep
 * the search was.
 */
export const how = (view, { best, exact, search }, players = view.state.seats.length) =>
  (players > 2 ? wordsOf(view).average : "") +
  (search ? ` (${exact.includes(best) ? wordsOf(view).proved : wordsOf(view).seen(search.depth, search.net)})` : "");

export function hintWords(view, hint) {
  const {
    best,
    values,
    captured: [points],
  } = hint;
  const words = wordsOf(view),
    way = best.endsWith("A") ? words.anticlockwise : words.clockwise;
  const ends = words.ends(Math.round(values[best]), how(view, hint), view.state.seats.length);
  const hinted = words.hinted(best[0], way, best);
  return `${hinted}: ${points ? `${words.captures} ${points}; ` : ""}${ends}`;
}
