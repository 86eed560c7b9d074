// Asks the page's players for test_page_players.py: calls in, as [method, ...arguments] with rules and positions as
// texts, and what each gives, or why it is refused, out.

import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";

const web = new URL("../../oanquan_env/play/web/", import.meta.url);
const { Engine } = await import(new URL("engine.js", web));
const { Book, Openings } = await import(new URL("book.js", web));
const { positionText } = await import(new URL("notation.js", web));
const { parsePosition } = await import(new URL("position-reading.js", web));
const { playerOf, seeded } = await import(new URL("players.js", web));
const { parseRules } = await import(new URL("rules.js", web));
const { Thinker } = await import(new URL("thinker.js", web));
const { Thinking } = await import(new URL("thinking.js", web));

const { folder, calls } = JSON.parse(readFileSync(0, "utf8"));
const json = (file) => JSON.parse(readFileSync(file, "utf8"));
const catalogue = json(new URL("data/catalogue.json", web)), layout = json(new URL("engine.json", web));
const bytes = readFileSync(new URL("engine.wasm", web));
/** A file of the folder that the test made, or else of the page. */
async function data(name) {
  const file = name.startsWith("net-") ? `${folder}/${name}` : new URL(`data/${name}`, web);
  return name.endsWith(".json") ? json(file) : new Uint8Array(readFileSync(file)).buffer;
}
const think = async (given) => new Thinking(given), made = { engine: bytes, layout, data }, thinking = new Thinking(made), engine = await Engine.load(bytes, layout);
const read = (rules, position) => {
  const fields = parseRules(rules, catalogue);
  return [fields, position && parsePosition(engine.rules(fields), position, engine)];
};
const live = { made: 0, ended: 0 };
/** A Worker of the page's kind, which runs `file`. */
function workerOf(file) {
  const thread = new Worker(new URL(file, import.meta.url)), port = { postMessage: (message) => thread.postMessage(message) };
  live.made += 1;
  port.terminate = () => { live.ended += 1; thread.terminate(); };
  thread.on("message", (data) => port.onmessage({ data }));
  thread.on("error", () => port.onerror());
  return port;
}
const worker = () => workerOf("worker.mjs");

const METHODS = {
  best: (name, rules, position) => thinking.best(name, ...read(rules, position)),
  choose: (name, rules, position, seed) => thinking.choose(name, ...read(rules, position), seed),
  hint: (rules, position, options) => thinking.hint(...read(rules, position), options),
  player: (name, rules) => playerOf(name, read(rules)[0], catalogue),
  /** What a book, read from `content` if given, knows of positions, by their history of actions. */
  async book(preset, histories, content) {
    const rules = engine.rules(read(preset)[0]);
    const book = await Book.read(engine, rules, preset, content ? Buffer.from(content, "base64") : await data(Book.file(preset)));
    return histories.map(([position, history]) => {
      const start = parsePosition(rules, position, engine), end = history.reduce((at, action) => engine.play(rules, at, action).position, start);
      return end.ended ? null : book.provedMove(end);
    });
  },
  /** Bounds of the moves in positions, by a table that is read from `content` if given. */
  openings: async (preset, positions, content) => {
    const rules = engine.rules(read(preset)[0]), table = new Openings(engine, preset, content ?? (await data(Openings.file(preset))));
    const text = (bound) => (Number.isFinite(bound) ? bound : null);
    return positions.map((position) => Object.entries(table.moveValues(rules, parsePosition(rules, position, engine))).map(([action, { lower, upper }]) => [Number(action), text(lower), text(upper)]));
  },
  /** A game of players from the set-up. */
  async game(preset, names, seed) {
    const rules = engine.rules(read(preset)[0]), start = engine.start(rules), history = [];
    let position = start;
    for (; !position.ended; position = engine.play(rules, position, history.at(-1)).position) {
      history.push(await thinking.choose(names[position.mover], rules, position, seed + position.ply));
    }
    return { history, standings: engine.standings(rules, position) };
  },
  draws: (seed, count) => Array.from({ length: count }, seeded(seed)),
  /** Requests to a thinker with a worker: their order, one that aborts while it is thought about, one that waits, errors. */
  async requests(rules, position) {
    const [fields, at] = read(rules, position), told = [];
    const thinker = new Thinker({ ...made, catalogue, think, worker, ask: async (name, ...texts) => (told.push([name, ...texts]), "2A"), askable: (name) => name.startsWith("ppo:") });
    const first = new AbortController(), waiting = new AbortController(), said = (name) => [(value) => told.push([name, value]), (error) => told.push([name, error.message])];
    const asked = [
      thinker.hint(fields, at, { signal: first.signal }).then(...said("aborted")),
      thinker.hint(fields, at, { review: true, signal: waiting.signal }).then(...said("left")),
      thinker.choose("greedy", fields, at, 1).then(...said("greedy")),
      thinker.choose("ppo:pretrained", fields, at, 1).then(...said("python")),
      thinker.choose("greedy", fields, { ...at, ended: 1 }, 1).then(...said("over")),
    ];
    setTimeout(() => first.abort(new Error("first")), 20);
    waiting.abort(new Error("second"));
    await Promise.all(asked);
    try { thinker.needsPython("other:Thing", fields); } catch { told.push(["unknown"]); }
    return { told, live: { ...live } };
  },
  /** The same request to a thinker with a worker and without one. */
  alike: (name, ...texts) => Promise.all([worker, null].map((maker) => new Thinker({ ...made, catalogue, think, worker: maker }).choose(name, ...read(...texts), 7))),
};

const results = [];
for (const [method, ...given] of calls) {
  try {
    results.push({ value: await METHODS[method](...given) });
  } catch (error) {
    if (error.name !== "Refused") throw error;
    results.push({ refused: { ...error } });
  }
}
process.stdout.write(JSON.stringify(results), () => process.exit(0));
