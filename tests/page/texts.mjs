// Answers test_texts.py: reads a call [name, ...arguments] from each line, and prints {value}, {refused} or {failed}.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const web = new URL("../../oanquan_env/play/web/", import.meta.url),
  file = (name) => readFileSync(new URL(name, web));
const load = (name) => import(new URL(name, web));
const [
  rules,
  notation,
  records,
  matches,
  links,
  { Engine },
  { Refused },
  { parseRecords },
  { playRounds, resumeMatch },
  { findLink, readLink },
  { parsePosition },
] = await Promise.all(
  [
    "rules",
    "notation",
    "records",
    "match-model",
    "links",
    "engine",
    "refused",
    "record-reading",
    "match-reading",
    "link-reading",
    "position-reading",
  ].map((name) => load(`model/${name}.js`)),
);
const engine = await Engine.load(file("engine.wasm"), JSON.parse(file("engine.json")));
const catalogue = JSON.parse(file("data/catalogue.json"));
const { rulesInWords } = await load("words/rule-words.js"),
  ruleWords = JSON.parse(file("data/rule-words.json"));
const read = (text) => rules.parseRules(text, catalogue);

const texts = (moves) => moves.map(notation.moveText);
const text = (given) => records.formatRecords(given, catalogue);

/** Return the last round of a match as texts, its link, and what is read from the link. */
function describe({ rules: by, start, moves, match, resigned }) {
  const game = {
    engine,
    rules: by,
    match,
    root: { position: start },
    played: ["human", "easy"],
    isPlayer: (name) => name === "easy",
    resigned: resigned ? 0 : null,
    line: () => moves.map((action) => ({ action })),
  };
  const link = links.linkOf(game, catalogue),
    held = readLink(link, catalogue);
  return {
    link,
    held,
    moves: texts(moves),
    resigned,
    start: notation.positionText(by, start),
    headers: matches.roundHeaders(match),
    finished: text(matches.matchRecords(engine, by, match)),
  };
}

function resumed(given) {
  const { match, record } = resumeMatch(parseRecords(given, catalogue, engine), engine, catalogue);
  return describe({ ...record, match, resigned: record.termination === "resigned" });
}

function linked({ rules: by, position, moves, seats }) {
  const handle = engine.rules(read(by)),
    begun = position ? parsePosition(handle, position, engine) : engine.start(handle);
  const game = {
    engine,
    rules: handle,
    match: null,
    root: { position: begun },
    played: seats,
    isPlayer: (name) => name !== "human",
    resigned: null,
    line: () => moves.map((move) => ({ action: notation.parseMove(move) })),
  };
  return links.linkOf(game, catalogue);
}

const ANSWERS = {
  rules: (text) => [rules.rulesText(read(text), catalogue), read(text)],
  inWords: (text, language) => rulesInWords(read(text), language, ruleWords),
  match: (text, match) => rules.matchRulesText(rules.parseMatchRules(match, read(text), catalogue)),
  move: (text) => [notation.parseMove(text), notation.moveText(notation.parseMove(text))],
  position(by, text) {
    const handle = engine.rules(read(by)),
      position = parsePosition(handle, text, engine);
    return [notation.positionText(handle, position), position.ended];
  },
  squares: (by) =>
    [...Array(read(by).players * (read(by).fields + 1)).keys()].map((index) => notation.squareName(read(by), index)),
  records: (given) => text(parseRecords(given, catalogue, engine)),
  resumed,
  rounds: (by, match, moves) =>
    describe(playRounds(moves, engine.rules(read(by)), rules.parseMatchRules(match, read(by), catalogue), engine)),
  linked,
  fragment: (text) => readLink(text, catalogue),
  found: findLink,
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...given] = JSON.parse(line);
  let answer;
  try {
    answer = { value: ANSWERS[name](...given) };
  } catch (error) {
    answer = error instanceof Refused ? { refused: { ...error, line: error.line } } : { failed: error.stack };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
