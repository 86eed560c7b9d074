// Runs sessions for test_model.py: reads lists of [request, arguments], and prints {refused, state, seats} for each
// request. Further requests: "answer" plays a move for the player that is not a person; "hint" returns a hint;
// "reopen" restores the game from its snapshot in another session; "link" starts the game again from its link; "read"
// starts a game from a given link; and "lessons" returns the lessons.

import { readFileSync } from "node:fs";

const web = new URL("../../oanquan_env/play/web/", import.meta.url),
  content = (name) => readFileSync(new URL(name, web));
const load = (name) => import(new URL(name, web));
const [{ Engine }, { Session }, { lessonsOf }, { parseMove, positionText }, { readLink }, { Refused }] =
  await Promise.all(
    [
      "model/engine.js",
      "model/session.js",
      "activities/lessons.js",
      "model/notation.js",
      "model/link-reading.js",
      "model/refused.js",
    ].map(load),
  );
const data = async (name) => JSON.parse(content(`data/${name}`)),
  catalogue = await data("catalogue.json");
const engine = await Engine.load(content("engine.wasm"), JSON.parse(content("engine.json")));

async function play(script) {
  let answer = null,
    game = null;
  const thinker = {
    needsPython(name) {
      if (name !== "random") throw new Refused("player", `unknown player '${name}'`);
    },
    choose: () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
    hint: async (rules, position, options) => ({ best: positionText(rules, position), options }),
  };
  const begin = () => new Session({ engine, thinker, data, catalogue }),
    answers = [],
    known = new Set();
  let session = begin();
  const others = {
    async answer({ move }) {
      const changed = new Promise((resolve) => {
        session.addEventListener("changed", resolve, { once: true });
      });
      answer(parseMove(move));
      await changed;
    },
    hint: async ({ moves }) => ({ hint: await session.hint(moves) }),
    async reopen() {
      const snapshot = JSON.stringify(session.snapshot());
      session = begin();
      await session.restore(JSON.parse(snapshot));
    },
    read: ({ link }) => session.request("new", readLink(link, catalogue)),
    link: () => session.request("new", readLink(session.state().link, catalogue)),
    lessons: async () => ({ lessons: await lessonsOf(engine, catalogue, data) }),
  };
  for (const [name, asked] of script) {
    let result = null,
      refused = null;
    try {
      result = await (others[name]?.(asked) ?? session.request(name, asked));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refused = { ...error };
    }
    const state = session.state();
    const { seats, squares } = session.drawing();
    if (squares.length !== state.start.seeds.length) throw new Error("the drawing is of another board");
    if (state.game !== game) known.clear();
    game = state.game;
    for (const serial of known) delete state.moves[serial]; // sent with an earlier answer
    for (const serial of Object.keys(state.moves)) known.add(serial);
    answers.push({ refused, state, seats, ...result });
  }
  return answers;
}

const results = [];
for (const script of JSON.parse(readFileSync(0, "utf8"))) results.push(await play(script));
process.stdout.write(JSON.stringify(results));
