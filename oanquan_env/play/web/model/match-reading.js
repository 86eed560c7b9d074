// Reads matches from texts (match-model.js). The engine settles the rounds; a record must agree with the outcome of its
// moves.

import { RESIGNED, newMatch, positionOf, recordOf, roundHeaders, settle } from "./match-model.js";
import { readMoves } from "./notation.js";
import { UNFINISHED, playLegal } from "./records.js";
import { Refused } from "./refused.js";
import { parseMatchRules, quoted, rulesText } from "./rules.js";

/**
 * Return the match before the last of its rounds, and that round's record, which may be unfinished, with the remaining
 * headers.
 */
export function resumeMatch(records, engine, catalogue) {
  const [first] = records,
    { rules } = first;
  let match = newMatch(rulesOfMatch(first, catalogue)),
    others = {};
  for (const [index, record] of records.entries()) {
    const { moves, root, start, last, headers } = record,
      isLast = index === records.length - 1,
      isResigned = record.termination === "resigned";
    if (match.over)
      throw fault(
        index + 1,
        `the match ended after round ${index}, so this round is one too many`,
        `trận đã kết thúc sau ván ${index}`,
      );
    const names = { Match: "", Round: "", Sold: "", Pawned: "" },
      position = positionOf(engine, rules, match.starter);
    const expected = { ...names, ...roundHeaders(match), Match: first.headers.Match ?? "" };
    others = Object.fromEntries(Object.entries(headers).filter(([name]) => !Object.hasOwn(names, name)));
    const written = Object.fromEntries(Object.keys(names).map((name) => [name, headers[name] ?? ""]));
    compare(
      index + 1,
      { Rules: rulesText(rules, catalogue), Position: `${position}` },
      { Rules: rulesText(record.rules, catalogue), Position: `${record.position}` },
    );
    compare(index + 1, expected, written);
    if (isLast && record.result === UNFINISHED && !isResigned) break;
    if (!last.ended && !isResigned)
      throw fault(index + 1, "the moves do not finish the round", "các nước đi chưa hết ván");
    const settled = settle(engine, rules, match, last.ended ? last : { ...last, ended: RESIGNED }, {
      start,
      moves,
      root,
      headers: others,
    });
    const { result, termination } = recordOf(engine, rules, match.rules, settled.rounds.at(-1));
    compare(
      index + 1,
      { Result: result, Termination: termination },
      { Result: record.result, Termination: record.termination },
    );
    if (!isLast) match = settled;
  }
  return { match, record: { ...records.at(-1), headers: others } };
}

const fault = (number, en, vi, code = "record") => new Refused(code, `round ${number}: ${en}`, `ván ${number}: ${vi}`);

function rulesOfMatch({ headers, rules }, catalogue) {
  try {
    return parseMatchRules(headers.Match ?? "", rules, catalogue);
  } catch ({ detail }) {
    throw fault(1, detail.en, detail.vi);
  }
}

function compare(number, expected, written) {
  for (const [name, value] of Object.entries(expected)) {
    if (written[name] === value) continue;
    const texts = [quoted(written[name]), quoted(value)];
    throw fault(
      number,
      `${name} is ${texts[0]}, but should be ${texts[1]}`,
      `${name} là ${texts[0]}, nhưng phải là ${texts[1]}`,
    );
  }
}

/**
 * Return the match before the last round of a link's text, and that round: {match, rules, start, moves, resigned}.
 * Throws Refused.
 */
export function playRounds(text, rules, matchRules, engine) {
  const rounds = text.split(".");
  for (let match = newMatch(matchRules), number = 1; ; number += 1) {
    const { moves, resigned } = readMoves(rounds[number - 1]),
      start = engine.start(rules, match.starter);
    const last = moves.reduce((position, move) => playLegal(engine, rules, position, move), start);
    if (number === rounds.length) return { match, rules, start, moves, resigned };
    if (!last.ended && !resigned)
      throw fault(number, "the moves do not finish the round", "các nước đi chưa hết ván", "move");
    match = settle(engine, rules, match, last.ended ? last : { ...last, ended: RESIGNED }, {
      start,
      moves,
      headers: {},
    });
    if (match.over)
      throw fault(
        number + 1,
        `the match ended after round ${number}, so this round is one too many`,
        `trận đã kết thúc sau ván ${number}`,
        "move",
      );
  }
}
