// Continues stored games for test_resuming.py: reads { requests, changes, texts, missing } for each game. The requests
// make a game, and `changes` change its stored parts; `texts`, if given, are stored instead. The files in `missing`
// cannot be loaded. Prints { failed } or { moves, seats, id, puzzle, rules, aim, refused, errors }, and `copies`, the
// copies of unread texts.

import { readFileSync } from "node:fs";

const web = new URL("../../oanquan_env/play/web/", import.meta.url),
  content = (name) => readFileSync(new URL(name, web)),
  storage = new Map();
globalThis.localStorage = {
  getItem: (key) => storage.get(key) ?? null,
  setItem: (key, value) => storage.set(key, value),
};
Object.defineProperty(globalThis, "navigator", { value: { language: "en", onLine: true } });
const load = (name) => import(new URL(name, web));
const [{ Engine }, { Session }, { resume }, { Refused, missing: lost }, { store }] = await Promise.all(
  ["model/engine.js", "model/session.js", "model/resuming.js", "model/refused.js", "storage.js"].map(load),
);
const catalogue = JSON.parse(content("data/catalogue.json")),
  engine = await Engine.load(content("engine.wasm"), JSON.parse(content("engine.json")));

function begin(missing) {
  const reach = (name) => {
    if (missing.includes(name)) throw lost(name);
  };
  const thinker = {
    needsPython(name) {
      reach("players/thinker.js");
      if (name !== "random") throw new Refused("player", `unknown player '${name}'`);
    },
    choose: () => new Promise(() => {}),
  };
  return new Session({
    engine,
    thinker,
    catalogue,
    data: async (name) => {
      reach(name);
      return JSON.parse(content(`data/${name}`));
    },
  });
}

async function resumed({ requests = [], changes = {}, texts = null, missing = [] }) {
  const first = begin([]);
  storage.clear();
  for (const [name, asked] of requests) await first.request(name, asked);
  const stored = texts ?? [JSON.stringify({ ...first.snapshot(), aim: null, ...changes })],
    session = begin(missing),
    copies = () => store.get("last-unread");
  try {
    const { errors, ...found } = await resume(session, stored, catalogue.levels, {
      rules: catalogue.begin,
      seats: ["human", "beginner"],
    });
    const { line, moves, seats, friend, puzzle, rules } = session.state();
    return {
      ...found,
      moves: line.map((serial) => moves[serial].move),
      seats: seats.map(({ name }) => name),
      id: friend?.id ?? null,
      puzzle,
      rules,
      errors: errors.map(({ code }) => code),
      copies: copies(),
    };
  } catch (error) {
    if (!error.file) throw error;
    return { failed: error.file, copies: copies() };
  }
}

const results = [];
const { games, lists } = JSON.parse(readFileSync(0, "utf8"));
for (const game of games) results.push(await resumed(game));
const read = lists.map((texts) =>
  texts.map((text) => {
    store.set("own", text);
    return [store.list("own", ({ id }) => id.startsWith("a")), store.get("own-unread")];
  }),
);
process.stdout.write(JSON.stringify({ games: results, lists: read }));
