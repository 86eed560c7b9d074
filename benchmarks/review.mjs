// Reviews games as the page does, by its own modules: a line {rules, moves} in, for each game a line out, the losses of its
// moves after the quick pass and after the searches of the whole budget, [[price, changed], ...] each, and the moves played.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const web = new URL("../oanquan_env/play/web/", import.meta.url), content = (name) => readFileSync(new URL(name, web));
const [{ Engine }, { Budget, QUICK, losses }, { moveText, parseMove }, { parseRules }, { Thinking }] = await Promise.all(
  ["engine.js", "losses.js", "notation.js", "rules.js", "thinking.js"].map((name) => import(new URL(name, web))),
);
const layout = JSON.parse(content("engine.json")), catalogue = JSON.parse(content("data/catalogue.json"));
const data = async (name) => (name.endsWith(".json") ? JSON.parse(content(`data/${name}`)) : new Uint8Array(content(`data/${name}`)).buffer);
const bytes = content("engine.wasm"), engine = await Engine.load(bytes, layout), thinking = new Thinking({ engine: bytes, layout, data });

async function review({ rules: text, moves }) {
  const rules = engine.rules(parseRules(text, catalogue)), played = moves.match(/../g).map(parseMove);
  const line = played.reduce((positions, action) => [...positions, engine.play(rules, positions.at(-1), action).position], [engine.start(rules)]);
  const before = line.slice(0, -1), [south, north] = engine.standings(rules, line.at(-1)), told = (hints) => losses(hints, played.map(moveText), south - north).slice(0, -1).map(({ price, changed }) => [price, changed]);
  const look = async (number, nodes) => ({ mover: line[number].mover, ...(await thinking.hint(rules, line[number], { review: true, nodes })) });
  const hints = [], budget = new Budget(before.length);
  for (const number of before.keys()) hints.push(await look(number, QUICK));
  const quick = told(hints);
  let nodes = hints.reduce((sum, { search }) => sum + search.nodes, 0);
  while (budget.number >= 0) {
    const { number, share } = budget, deepens = budget.deepens(hints[number]);
    if (deepens) hints[number] = await look(number, share);
    budget.spend(deepens ? hints[number].search.nodes : 0);
    nodes += deepens ? hints[number].search.nodes : 0;
  }
  return { quick, full: told(hints), nodes };
}

for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${JSON.stringify(await review(JSON.parse(line)))}\n`);
