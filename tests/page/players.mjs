// Runs the page's players for test_players.py: reads calls [method, ...arguments], with rules and positions as texts,
// and prints the value of each call or the reason for its refusal.

import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";

const web = new URL("../../oanquan_env/play/web/", import.meta.url);
const { fold } = await import(new URL("players/any-rules-net.js", web));
const { Engine } = await import(new URL("model/engine.js", web));
const { Book, Openings, movesOf } = await import(new URL("players/book.js", web));
const { Strategy } = await import(new URL("players/certificate.js", web));
const { parsePosition } = await import(new URL("model/position-reading.js", web));
const { playerOf, seeded } = await import(new URL("players/players.js", web));
const { parseRules } = await import(new URL("model/rules.js", web));
const { Thinker } = await import(new URL("players/thinker.js", web));
const { Thinking } = await import(new URL("players/thinking.js", web));

const { folder, calls } = JSON.parse(readFileSync(0, "utf8"));
const json = (file) => JSON.parse(readFileSync(file, "utf8"));
const catalogue = json(new URL("data/catalogue.json", web)),
  layout = json(new URL("engine.json", web));
const bytes = readFileSync(new URL("engine.wasm", web));
/** Return the content of a file: a net from the folder that the test made, any other file from the page. */
async function data(name) {
  const file = name.startsWith("net-") ? `${folder}/${name}` : new URL(`data/${name}`, web);
  return name.endsWith(".json") ? json(file) : new Uint8Array(readFileSync(file)).buffer;
}
const think = async (given) => new Thinking(given),
  made = { engine: bytes, layout, data },
  thinking = new Thinking(made),
  engine = await Engine.load(bytes, layout);
const read = (rules, position) => {
  const fields = parseRules(rules, catalogue);
  return [fields, position && parsePosition(engine.rules(fields), position, engine)];
};
const live = { made: 0, ended: 0 };
/** Return a thread that runs `file` and has the interface of a browser's Worker. */
function workerOf(file) {
  const thread = new Worker(new URL(file, import.meta.url)),
    port = { postMessage: (message) => thread.postMessage(message) };
  live.made += 1;
  port.terminate = () => {
    live.ended += 1;
    thread.terminate();
  };
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
  fold: async (net, rules) => Buffer.from(fold(await data(net), read(rules)[0], catalogue)).toString("base64"),
  /** Return the proved move of a book, read from `content` if given, after each [start, actions]; null if over. */
  async book(preset, histories, content) {
    const rules = engine.rules(read(preset)[0]);
    const book = await Book.read(
      engine,
      rules,
      preset,
      content ? Buffer.from(content, "base64") : await data(Book.file(preset)),
    );
    return histories.map(([position, history]) => {
      const start = parsePosition(rules, position, engine),
        end = history.reduce((at, action) => engine.play(rules, at, action).position, start);
      return end.ended ? null : book.provedMove(end);
    });
  },
  /** Return [action, lower, upper] of each position's moves in a table of openings, read from `content` if given. */
  openings: async (preset, positions, content) => {
    const rules = engine.rules(read(preset)[0]),
      table = new Openings(engine, preset, content ?? (await data(Openings.file(preset))));
    const text = (bound) => (Number.isFinite(bound) ? bound : null);
    return positions.map((position) =>
      Object.entries(table.moveValues(rules, parsePosition(rules, position, engine))).map(
        ([action, { lower, upper }]) => [Number(action), text(lower), text(upper)],
      ),
    );
  },
  /** Play a game from the initial position; return its actions and final points. */
  async game(preset, names, seed) {
    const rules = engine.rules(read(preset)[0]),
      start = engine.start(rules),
      history = [];
    let position = start;
    for (; !position.ended; position = engine.play(rules, position, history.at(-1)).position) {
      history.push(await thinking.choose(names[position.mover], rules, position, seed + position.ply));
    }
    return { history, standings: engine.standings(rules, position) };
  },
  /** Return the values for a hint, for the board and for Openings, and how often they were computed. */
  async values(rules, position) {
    const [fields, at] = read(rules, position),
      counted = { asked: 0 },
      counting = async () => ({ hint: (...args) => ((counted.asked += 1), thinking.hint(...args)) });
    const thinker = new Thinker({ ...made, catalogue, think: counting }),
      table = Openings.read(engine, engine.rules(fields), rules, await data(Openings.file(rules)));
    const dropped = new AbortController(),
      first = thinker.hint(fields, at, { signal: dropped.signal }).catch(() => {}),
      hint = thinker.hint(fields, at, { proved: true });
    dropped.abort(new DOMException("", "AbortError"));
    await first;
    const { values, search } = await hint;
    await thinker.hint(fields, at);
    const shown = movesOf(engine, engine.rules(fields), table, at, await thinker.hint(fields, at));
    return { values, search, shown: Object.fromEntries(shown.map(({ move, value }) => [move, value])), ...counted };
  },
  /** Return the files that a player loads when it is prepared, and the files and strategies that its move needs then. */
  async prepared(name, rules, position) {
    const loaded = [],
      mind = new Thinking({ ...made, data: (file) => (loaded.push(file), data(file)) }),
      { follow } = Strategy.prototype;
    let followed = 0;
    Strategy.prototype.follow = function () {
      followed += 1;
      return follow.call(this);
    };
    await mind.prepare(name, read(rules)[0], 1);
    const before = [loaded.splice(0), followed];
    await mind.best(name, ...read(rules, position));
    Strategy.prototype.follow = follow;
    return [before, [loaded, followed]];
  },
  draws: (seed, count) => Array.from({ length: count }, seeded(seed)),
  /** Send requests to a thinker with a worker, abort one that runs and one that waits, and log all answers in order. */
  async requests(rules, position) {
    const [fields, at] = read(rules, position),
      log = [];
    const thinker = new Thinker({
      ...made,
      catalogue,
      think,
      worker,
      ask: async (name, ...texts) => (log.push([name, ...texts]), "2A"),
      askable: (name) => name.startsWith("ppo:"),
    });
    const first = new AbortController(),
      waiting = new AbortController(),
      logged = (name) => [(value) => log.push([name, value]), (error) => log.push([name, error.message])];
    const asked = [
      thinker.hint(fields, at, { signal: first.signal }).then(...logged("aborted")),
      thinker.hint(fields, at, { nodes: 9, signal: waiting.signal }).then(...logged("left")),
      thinker.choose("greedy", fields, at, 1).then(...logged("greedy")),
      thinker.choose("ppo:pretrained", fields, at, 1).then(...logged("python")),
      thinker.choose("greedy", fields, { ...at, ended: 1 }, 1).then(...logged("over")),
    ];
    setTimeout(() => first.abort(new Error("first")), 20);
    waiting.abort(new Error("second"));
    await Promise.all(asked);
    try {
      thinker.needsPython("other:Thing", fields);
    } catch {
      log.push(["unknown"]);
    }
    const everything = new Thinker({ ...made, catalogue, ask: () => "2A" }); // as in a notebook
    log.push(["notebook", everything.needsPython("other:Thing", fields)]);
    return { log, live: { ...live } };
  },
  /** Return the answers to the same request from a thinker with a worker and from a thinker without one. */
  alike: (name, ...texts) =>
    Promise.all(
      [worker, null].map((maker) =>
        new Thinker({ ...made, catalogue, think, worker: maker }).choose(name, ...read(...texts), 7),
      ),
    ),
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
