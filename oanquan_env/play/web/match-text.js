// Matches as texts: records, one a round, with the fields' owners in its headers (records/match_records.py), and the moves of
// all rounds in a link. Reading settles the rounds by the engine; a record must agree with what its moves lead to.

import { Refused } from "./refused.js";
import { matchRulesText, parseMatchRules, quoted, rulesText } from "./rules.js";
import { TERMINATIONS, moveText, parseMove, positionText } from "./notation.js";
import { UNFINISHED, playLegal } from "./records.js";
import { newMatch, settle } from "./match-model.js";

const RESIGNED = TERMINATIONS.indexOf("resigned");

// ---- writing --------------------------------------------------------------------------------------------------------

/** The headers of a record of the round that is being played. */
export const roundHeaders = (match) => headersOf(match.rules, match.rounds.length + 1, match.ownership);

function headersOf(matchRules, number, { sold, pawned }) {
  const names = (rows) => rows.flatMap((row, player) => row.map((field) => `${"SN"[player]}${field + 1}`)).join(" ");
  const headers = { Match: matchRulesText(matchRules), Round: `${number}`, Sold: names(sold), Pawned: names(pawned) };
  return Object.fromEntries(Object.entries(headers).filter(([, text]) => text));
}

/** The records of the finished rounds. */
export const matchRecords = (engine, rules, match) => match.rounds.map((round) => recordOf(engine, rules, match.rules, round));

function recordOf(engine, rules, matchRules, { number, starter, ownership, moves, scores, termination, headers }) {
  return {
    rules, moves, position: positionOf(engine, rules, starter), termination: TERMINATIONS[termination],
    result: termination === RESIGNED ? UNFINISHED : scores.join("-"),  // the moves of one that was resigned lead to none
    headers: { ...headers, ...headersOf(matchRules, number, ownership) },
  };
}

/** The text of the position at which a round begins; null for the set-up, at which South moves. */
const positionOf = (engine, rules, starter) => (starter ? positionText(rules, engine.start(rules, starter)) : null);

// ---- reading --------------------------------------------------------------------------------------------------------

/** The match before the last of its rounds, and the record of that round, which may go on; of the headers others are left. */
export function resumeMatch(records, engine, catalogue) {
  const [first] = records, { rules } = first;
  let match = newMatch(rulesOfMatch(first, catalogue)), others = {};
  for (const [index, record] of records.entries()) {
    const { moves, start, last, headers } = record, isLast = index === records.length - 1, isResigned = record.termination === "resigned";
    if (match.over) throw fault(index + 1, `the match was over after round ${index}`, `trận đã kết thúc sau ván ${index}`);
    const names = { Match: "", Round: "", Sold: "", Pawned: "" }, position = positionOf(engine, rules, match.starter);
    const expected = { ...names, ...roundHeaders(match), Match: first.headers.Match ?? "" };
    others = Object.fromEntries(Object.entries(headers).filter(([name]) => !Object.hasOwn(names, name)));
    const written = Object.fromEntries(Object.keys(names).map((name) => [name, headers[name] ?? ""]));
    compare(index + 1, { Rules: rulesText(rules, catalogue), Position: `${position}` }, { Rules: rulesText(record.rules, catalogue), Position: `${record.position}` });
    compare(index + 1, expected, written);
    if (isLast && record.result === UNFINISHED && !isResigned) break;
    if (!last.ended && !isResigned) throw fault(index + 1, "the moves do not finish the round", "các nước đi chưa hết ván");
    const settled = settle(engine, rules, match, last.ended ? last : { ...last, ended: RESIGNED }, { start, moves, headers: others });
    const { result, termination } = recordOf(engine, rules, match.rules, settled.rounds.at(-1));
    compare(index + 1, { Result: result, Termination: termination }, { Result: record.result, Termination: record.termination });
    if (!isLast) match = settled;
  }
  return { match, record: { ...records.at(-1), headers: others } };
}

const fault = (number, en, vi, code = "record") => new Refused(code, `round ${number}: ${en}`, `ván ${number}: ${vi}`);

function rulesOfMatch({ headers, rules }, catalogue) {
  try {
    return parseMatchRules(headers.Match ?? "", rules, catalogue);
  } catch ({ detail }) { throw fault(1, detail.en, detail.vi); }
}

function compare(number, expected, written) {
  for (const [name, value] of Object.entries(expected)) {
    if (written[name] === value) continue;
    const texts = [quoted(written[name]), quoted(value)];
    throw fault(number, `${name} is ${texts[0]}, but should be ${texts[1]}`, `${name} là ${texts[0]}, nhưng phải là ${texts[1]}`);
  }
}

// ---- links ----------------------------------------------------------------------------------------------------------

/** The moves of all rounds, the last of which may go on: `5A3A.1C-`; a minus sign ends a round that was resigned. */
export function roundsText(match, moves, resigned) {
  const text = (actions, given) => actions.map(moveText).join("") + "-".repeat(given);
  return [...match.rounds.map((round) => text(round.moves, round.termination === RESIGNED)), text(moves, resigned)].join(".");
}

/** The match before the last round of such a text, and that round: {match, rules, start, moves, resigned}. Throws Refused. */
export function playRounds(text, rules, matchRules, engine) {
  const rounds = text.split(".");
  for (let match = newMatch(matchRules), number = 1; ; number += 1) {
    const round = rounds[number - 1], resigned = round.endsWith("-"), start = engine.start(rules, match.starter);
    const moves = (round.slice(0, round.length - resigned).match(/..?/gsu) ?? []).map(parseMove);
    const last = moves.reduce((position, move) => playLegal(engine, rules, position, move), start);
    if (number === rounds.length) return { match, rules, start, moves, resigned };
    if (!last.ended && !resigned) throw fault(number, "the moves do not finish the round", "các nước đi chưa hết ván", "move");
    match = settle(engine, rules, match, last.ended ? last : { ...last, ended: RESIGNED }, { start, moves, headers: {} });
    if (match.over) throw fault(number + 1, `the match was over after round ${number}`, `trận đã kết thúc sau ván ${number}`, "move");
  }
}
