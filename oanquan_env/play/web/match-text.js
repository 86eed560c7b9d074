// Games and matches that go on from texts: from records (records/match_records.py), and from the moves of a link.
// All are {rules, start, moves, match, headers, resigned}: the match is the one before the round that these moves belong to,
// and null for a single game. Rounds are settled by the engine; a record must agree with what its moves lead to.

import { Refused } from "./refused.js";
import { parseMatchRules, quoted, rulesText } from "./rules.js";
import { TERMINATIONS, parseMove } from "./notation.js";
import { OWNERSHIP_HEADERS, UNFINISHED, parseRecords, playLegal, roundHeaders, roundPosition, roundRecord } from "./records.js";
import { newMatch, settle } from "./match-model.js";

const RESIGNED = TERMINATIONS.indexOf("resigned");
const isResigned = (record) => record.termination === "resigned";
const refuse = (en, vi, more) => { throw new Refused("record", en, vi, more); };

/** The game or the match that records hold; of several games the one of that number, from 1. Throws Refused. */
export function readGame(text, number, engine, catalogue) {
  const records = parseRecords(text, catalogue, engine);
  if (!records.length) refuse("the file is empty", "tệp trống");
  if (Object.hasOwn(records[0].headers, "Match")) {
    const { match, record } = resumeMatch(records, engine, catalogue);
    return { ...record, match, resigned: isResigned(record) };
  }
  if (number === null && records.length > 1) throw new Refused("games", `it holds ${records.length} games`, `tệp có ${records.length} ván`, { games: records.length });
  const record = records[(number ?? 1) - 1];
  if (!record) refuse(`there is no game ${number}`, `không có ván ${number}`);
  if (OWNERSHIP_HEADERS.some((name) => Object.hasOwn(record.headers, name))) {
    refuse("it is a round of a match, in which fields are sold", "đây là một ván của trận có bán ruộng");
  }
  return { ...record, match: null, resigned: isResigned(record) };
}

/** The match before the last of its rounds, and the record of that round, which may be unfinished. Throws Refused. */
export function resumeMatch(records, engine, catalogue) {
  const first = records[0], last = records.at(-1);
  let match = newMatch(rulesOfMatch(first, catalogue));
  for (const [index, record] of records.entries()) {
    const number = index + 1, { rules, moves, start, headers } = record;
    if (match.over) refuse(`round ${number}: the match was over after round ${index}`, `ván ${number}: trận đã kết thúc sau ván ${index}`);
    const expected = { Rules: rulesText(first.rules, catalogue), Position: String(roundPosition(engine, first.rules, match.starter)) };
    const asked = { Match: "", Sold: "", Pawned: "", ...roundHeaders(match.rules, number, match.ownership), Match: first.headers.Match };
    const written = Object.fromEntries(Object.keys(asked).map((name) => [name, headers[name] ?? ""]));
    compare(number, { ...expected, ...asked }, { Rules: rulesText(rules, catalogue), Position: String(record.position), ...written });
    if (record === last && record.result === UNFINISHED && !isResigned(record)) break;
    const position = record.last.ended || !isResigned(record) ? record.last : { ...record.last, ended: RESIGNED };
    if (!position.ended) refuse(`round ${number}: the moves do not finish the round`, `ván ${number}: các nước đi chưa hết ván`);
    const settled = settle(engine, rules, match, position, { start, moves, headers });
    const { result, termination } = roundRecord(engine, rules, match.rules, settled.rounds.at(-1));
    compare(number, { Result: result, Termination: termination }, { Result: record.result, Termination: record.termination });
    if (record !== last) match = settled;
  }
  return { match, record: last };
}

function rulesOfMatch({ headers, rules }, catalogue) {
  try {
    return parseMatchRules(headers.Match ?? "", rules, catalogue);
  } catch (error) { return refuse(`round 1: ${error.detail.en}`, `ván 1: ${error.detail.vi}`); }
}

function compare(number, expected, written) {
  for (const [name, value] of Object.entries(expected)) {
    if (written[name] === value) continue;
    const texts = [quoted(written[name]), quoted(value)];
    refuse(`round ${number}: ${name} is ${texts[0]}, but should be ${texts[1]}`, `ván ${number}: ${name} là ${texts[0]}, nhưng phải là ${texts[1]}`);
  }
}

/** The text of a match's moves for a link: rounds are separated by a full stop, and one that was resigned has a minus sign. */
export const roundsText = (rounds) => rounds.map(({ moves, resigned }) => `${moves}${resigned ? "-" : ""}`).join(".");

/** The match that the moves of its rounds lead to, the last of which may go on; the inverse of roundsText. */
export function playRounds(rules, matchRules, text, engine) {
  const rounds = text.split(".");
  let match = newMatch(matchRules);
  for (const [index, round] of rounds.entries()) {
    const [, written, resigned] = /^([^-]*)(-?)$/.exec(round) ?? [], start = engine.start(rules, match.starter);
    if (written === undefined) throw new Refused("move", `cannot read the moves ${quoted(round)} of round ${index + 1}`, `không đọc được ${quoted(round)} ở ván ${index + 1}`);
    if (match.over) throw new Refused("move", `the match was over after round ${index}`, `trận đã kết thúc sau ván ${index}`);
    const moves = (written.match(/..?/gsu) ?? []).map(parseMove);
    let position = start;
    for (const move of moves) position = playLegal(engine, rules, position, move);
    if (index === rounds.length - 1) return { rules, start, moves, match, headers: {}, resigned: Boolean(resigned) };
    if (!position.ended && !resigned) throw new Refused("move", `the moves do not finish round ${index + 1}`, `các nước đi chưa hết ván ${index + 1}`);
    match = settle(engine, rules, match, resigned ? { ...position, ended: RESIGNED } : position, { start, moves, headers: {} });
  }
  return null;
}
