// A match of several rounds (docs/RULES.md 6) as plain data, as records (records/match_records.py), and as the moves in
// a link; the engine settles the rounds, and match-reading.js reads these texts.
//
// A match is { rules, rounds, ownership: {sold, pawned}, starter, over, winner }: `rules` are the match rules,
// `ownership` and `starter` belong to the round being played. A round is { number, starter, ownership, scores, winner,
// termination (a number), owed, sold, pawned, returned } and the data for its record: { start, moves (actions),
// headers, and root or comments, as in records.js }.

import { matchRulesText } from "./rules.js";
import { TERMINATIONS, moveText, positionText } from "./notation.js";
import { UNFINISHED } from "./records.js";

const FREE = { sold: [[], []], pawned: [[], []] };

/** Return the names, such as "S1", of fields that are in `rows` but not in `others`. */
const gained = (rows, others) =>
  rows.flatMap((row, player) =>
    row.filter((field) => !others[player].includes(field)).map((field) => `${"SN"[player]}${field + 1}`),
  );

/** Return a match before its first round; `rules` are the match rules. */
export const newMatch = (rules) => ({ rules, rounds: [], ownership: FREE, starter: 0, over: false, winner: null });

/** Whether a field is pawned or sold: leftovers then go by ownership, so table values are not valid as proofs. */
export const changedHands = (match) => match !== null && Object.values(match.ownership).flat(2).length > 0;

/** Return the match after a round that ended at `position`; `round` has its moves and the headers of its record. */
export function settle(engine, rules, match, position, round = {}) {
  const { ownership, starter } = match,
    number = match.rounds.length + 1;
  const settled = engine.settle(rules, match.rules, { ownership, starter, round: number, position });
  const { scores, winner, owed, over } = settled,
    after = settled.ownership,
    held = ({ sold, pawned }) => sold.map((row, player) => [...row, ...pawned[player]]);
  const changes = {
    sold: gained(after.sold, ownership.sold),
    pawned: gained(after.pawned, ownership.pawned),
    returned: gained(held(ownership), held(after)),
  };
  const played = {
    ...round,
    ...changes,
    number,
    starter,
    ownership,
    scores,
    winner,
    owed,
    termination: position.ended,
  };
  return {
    ...match,
    rounds: [...match.rounds, played],
    ownership: after,
    starter: settled.starter,
    over,
    winner: settled.matchWinner,
  };
}

// ---- as text --------------------------------------------------------------------------------------------------------

export const RESIGNED = TERMINATIONS.indexOf("resigned");

/** Return the headers for a record of the round being played. */
export const roundHeaders = (match) => headersOf(match.rules, match.rounds.length + 1, match.ownership);

function headersOf(matchRules, number, { sold, pawned }) {
  const names = (rows) => rows.flatMap((row, player) => row.map((field) => `${"SN"[player]}${field + 1}`)).join(" ");
  const headers = { Match: matchRulesText(matchRules), Round: `${number}`, Sold: names(sold), Pawned: names(pawned) };
  return Object.fromEntries(Object.entries(headers).filter(([, text]) => text));
}

/** Return the records of the finished rounds. */
export const matchRecords = (engine, rules, match) =>
  match.rounds.map((round) => recordOf(engine, rules, match.rules, round));

export function recordOf(
  engine,
  rules,
  matchRules,
  { number, starter, ownership, moves, root, comments, scores, termination, headers },
) {
  return {
    rules,
    moves,
    comments,
    root,
    position: positionOf(engine, rules, starter),
    termination: TERMINATIONS[termination],
    result: termination === RESIGNED ? UNFINISHED : scores.join("-"), // the moves of a resigned round lead to no result
    headers: { ...headers, ...headersOf(matchRules, number, ownership) },
  };
}

/** Return the text of the position at which a round begins; null for the set-up with South to move. */
export const positionOf = (engine, rules, starter) =>
  starter ? positionText(rules, engine.start(rules, starter)) : null;

/**
 * Return the moves of all rounds, the last of which may be unfinished: `5A3A.1C-`; a minus sign ends a resigned round.
 */
export function roundsText(match, moves, resigned) {
  const text = (actions, resigned) => actions.map(moveText).join("") + "-".repeat(resigned);
  return [
    ...match.rounds.map((round) => text(round.moves, round.termination === RESIGNED)),
    text(moves, resigned),
  ].join(".");
}
