// Matches as texts: records, one a round, with the fields' owners in its headers (records/match_records.py), and the moves of
// all rounds in a link; match-reading.js reads them.

import { matchRulesText } from "./rules.js";
import { TERMINATIONS, moveText, positionText } from "./notation.js";
import { UNFINISHED } from "./records.js";

export const RESIGNED = TERMINATIONS.indexOf("resigned");

/** The headers of a record of the round that is being played. */
export const roundHeaders = (match) => headersOf(match.rules, match.rounds.length + 1, match.ownership);

function headersOf(matchRules, number, { sold, pawned }) {
  const names = (rows) => rows.flatMap((row, player) => row.map((field) => `${"SN"[player]}${field + 1}`)).join(" ");
  const headers = { Match: matchRulesText(matchRules), Round: `${number}`, Sold: names(sold), Pawned: names(pawned) };
  return Object.fromEntries(Object.entries(headers).filter(([, text]) => text));
}

/** The records of the finished rounds. */
export const matchRecords = (engine, rules, match) => match.rounds.map((round) => recordOf(engine, rules, match.rules, round));

export function recordOf(engine, rules, matchRules, { number, starter, ownership, moves, scores, termination, headers, comments }) {
  return {
    rules, moves, comments, position: positionOf(engine, rules, starter), termination: TERMINATIONS[termination],
    result: termination === RESIGNED ? UNFINISHED : scores.join("-"),  // the moves of one that was resigned lead to none
    headers: { ...headers, ...headersOf(matchRules, number, ownership) },
  };
}

/** The text of the position at which a round begins; null for the set-up, at which South moves. */
export const positionOf = (engine, rules, starter) => (starter ? positionText(rules, engine.start(rules, starter)) : null);

/** The moves of all rounds, the last of which may go on: `5A3A.1C-`; a minus sign ends a round that was resigned. */
export function roundsText(match, moves, resigned) {
  const text = (actions, given) => actions.map(moveText).join("") + "-".repeat(given);
  return [...match.rounds.map((round) => text(round.moves, round.termination === RESIGNED)), text(moves, resigned)].join(".");
}
