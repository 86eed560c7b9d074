// Plays sessions for test_page_model.py: lists of [request, arguments] in, after each of them the state or the refusal out.
// The move of a player that is no person comes by the request "answer", so that the tests choose it.

import { readFileSync } from "node:fs";

const web = new URL("../../oanquan_env/play/web/", import.meta.url);
const { Engine } = await import(new URL("engine.js", web));
const { Session } = await import(new URL("session.js", web));
const { parseMove } = await import(new URL("notation.js", web));

const data = async (name) => JSON.parse(readFileSync(new URL(`data/${name}`, web)));
const engine = await Engine.load(readFileSync(new URL("engine.wasm", web)), JSON.parse(readFileSync(new URL("engine.json", web))));
const catalogue = await data("catalogue.json");

async function play(script) {
  let answer = null, game = null;
  const thinker = { known() {}, proved: async () => false, choose: () => new Promise((resolve) => { answer = resolve; }) };
  const session = new Session({ engine, thinker, data, catalogue }), told = [], known = new Set();
  for (const [name, asked] of script) {
    let refused = null;
    try {
      if (name === "answer") {
        const changed = new Promise((resolve) => { session.addEventListener("changed", resolve, { once: true }); });
        answer(parseMove(asked.move));
        await changed;
      } else await session.request(name, asked);
    } catch (error) {
      if (error.name !== "Refused") throw error;
      refused = error.json();
    }
    const state = session.state(), drawn = session.drawing();
    if (drawn.squares.length !== state.start.seeds.length) throw new Error("another drawing");
    if (state.game !== game) known.clear();
    game = state.game;
    for (const serial of known) delete state.moves[serial]; // told before
    for (const serial of Object.keys(state.moves)) known.add(serial);
    told.push({ refused, state });
  }
  return told;
}

const scripts = JSON.parse(readFileSync(0, "utf8")), results = [];
for (const script of scripts) results.push(await play(script));
process.stdout.write(JSON.stringify(results), () => process.exit(0));
