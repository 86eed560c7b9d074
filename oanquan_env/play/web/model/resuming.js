// Continues games that this browser has stored. It uses no document.

import { areTexts, isGame, isText, store } from "../storage.js";
import { FRIEND, PERSON } from "./game.js";
import { Refused } from "./refused.js";

const isPuzzle = (value) =>
  isText(value?.rules) &&
  (value.puzzle
    ? isText(value.puzzle.position) && areTexts(value.puzzle.line) && value.puzzle.line.length % 2
    : isText(value.level)) &&
  Number.isInteger(value.day ?? 0);
const isAim = (value) =>
  value?.helped === true ||
  [
    [value?.bound, value?.least],
    [value?.par, value?.day],
  ].some((numbers) => numbers.every(Number.isInteger));

/**
 * Return the game in a stored text without invalid parts, or null: other pages of the host may have written it. Keep a
 * copy of a text with invalid parts.
 */
function read(text) {
  let found = null;
  try {
    const kept = JSON.parse(text),
      { text: record, seats, id, puzzle, aim } = kept ?? {};
    if (isGame(kept))
      found = {
        text: record,
        seats,
        id,
        puzzle: isPuzzle(puzzle) ? puzzle : null,
        aim: isAim(aim) ? aim : null,
      };
  } catch {
    /* no JSON */
  }
  if (JSON.stringify(found) !== text) store.keepUnread("last", text);
  return found;
}

/** Return a game that was refused as an unfinished game: another version of the page may read it. */
const asUnfinished = ({ text, seats, id }) => ({
  text,
  seats,
  id,
  rules: /\[Rules "([^"]*)"/.exec(text)?.[1] ?? "",
  moves: 0,
  at: Date.now(),
});

/** Load a stored game with `load`; persons replace players that are no longer available. */
export async function loadKept(load, game, levels) {
  try {
    await load(game);
  } catch (error) {
    if (error.code !== "player") throw error;
    await load({
      ...game,
      seats: game.seats.map((name) => ([PERSON, FRIEND, ...levels].includes(name) ? name : PERSON)),
    });
  }
}

/**
 * Continue the first game in the stored `texts`, or else begin a game with the request `begin`. Return its aim, and the
 * games that were read and refused, as unfinished games, with the errors. Any other error is thrown: another attempt
 * may succeed.
 */
export async function resume(session, texts, levels, begin) {
  const [before = null] = texts.map(read).filter(Boolean),
    refused = [],
    errors = [];
  const isDone = (act, game = null) =>
    act.then(
      () => true,
      (error) => {
        if (!(error instanceof Refused)) throw error;
        errors.push(error);
        if (game) refused.push(asUnfinished(game));
        return false;
      },
    );
  const load = ({ text, seats, id }) =>
    loadKept((asked) => session.request("load", asked), { text, seats, id }, levels);
  if (!before || !(await isDone(load(before), before))) {
    await session.request("new", begin);
    return { aim: null, refused, errors };
  }
  const aim = before.aim && { ...before.aim, game: session.number };
  if (before.puzzle) await isDone(session.request("puzzle", before.puzzle));
  return { aim, refused, errors };
}
