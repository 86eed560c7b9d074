// Writes records of games as texts similar to PGN (docs/RULES.md 7), as records/games.py does; record-reading.js reads
// them. A record is {rules, moves, position, start, result, termination, headers, comments}: `position` is the text of
// the position at which the game began, null for the set-up, and `start` the position itself; comments are keyed by the
// number of the move before them.

import { Refused } from "./refused.js";
import { rulesText } from "./rules.js";
import { TERMINATIONS, moveText, moveTexts, seatName } from "./notation.js";

export const UNFINISHED = "*";
export const OWNERSHIP_HEADERS = ["Sold", "Pawned"];

// ---- writing --------------------------------------------------------------------------------------------------------

/** Escape a text for quotes or for a comment, which `closing` would close. */
function escaped(text, closing) {
  const safe = text.replaceAll("\\", "\\\\").replaceAll(closing, `\\${closing}`).replaceAll("\r", "\\r");
  return closing === '"' ? safe.replaceAll("\n", "\\n") : safe; // a comment may span several lines
}

/** Return the text of one record. */
function recordText(record, catalogue) {
  const { moves, position = null, result = UNFINISHED, termination = "", comments = {} } = record,
    { players } = record.rules;
  const comment = (number) => (Object.hasOwn(comments, number) ? [`{${escaped(comments[number], "}")}}`] : []);
  const headers = { Rules: rulesText(record.rules, catalogue), ...record.headers };
  if (position !== null) headers.Position = position;
  headers.Result = result;
  if (termination) headers.Termination = termination;
  const lines = [
    ...Object.entries(headers).map(([name, value]) => `[${name} "${escaped(value, '"')}"]`),
    "",
    ...comment(0),
  ];
  for (let begin = 0; begin < moves.length; begin += players) {
    const round = moves
      .slice(begin, begin + players)
      .flatMap((move, index) => [moveText(move), ...comment(begin + index + 1)]);
    lines.push([`${begin / players + 1}.`, ...round].join(" "));
  }
  return [...lines, result, ""].join("\n");
}

/** Return the text of several records, separated by empty lines. */
export const formatRecords = (records, catalogue) => records.map((record) => recordText(record, catalogue)).join("\n");

/**
 * Return the result of a finished position, such as `42-28`, and why it is over; `*` and nothing if the game goes on.
 */
export function resultOf(engine, rules, position) {
  if (!position.ended) return { result: UNFINISHED, termination: "" };
  return { result: engine.standings(rules, position).join("-"), termination: TERMINATIONS[position.ended] };
}

/** Return the position after a move. Throws Refused, listing the legal moves, if it cannot be played. */
export function playLegal(engine, rules, position, action) {
  const legal = engine.legal(rules, position),
    seat = position.mover;
  if (!legal.includes(action)) {
    const over = TERMINATIONS[position.ended];
    const why = position.ended
      ? [`the game is over (${over})`, "ván đã hết"]
      : [`legal: ${moveTexts(legal)}`, `đi được: ${moveTexts(legal)}`];
    throw new Refused(
      "move",
      `${seatName(rules.players, seat)} cannot play ${moveText(action)}; ${why[0]}`,
      `${seatName(rules.players, seat, "vi")} không đi được ${moveText(action)}; ${why[1]}`,
    );
  }
  return engine.play(rules, position, action).position;
}
