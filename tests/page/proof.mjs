// Calls certificate.js and book.js for test_proof.py: reads calls [method, ...arguments], and prints the value of each
// call or the reason for its refusal.

import { readFileSync } from "node:fs";

const web = new URL("../../oanquan_env/play/web/", import.meta.url);
const { Engine } = await import(new URL("model/engine.js", web));
const { Openings, movesOf, refutation, valueOf } = await import(new URL("players/book.js", web));
const { moveText } = await import(new URL("model/notation.js", web));
const { parsePosition } = await import(new URL("model/position-reading.js", web));
const { checkProof } = await import(new URL("players/certificate.js", web));

const json = (name) => JSON.parse(readFileSync(new URL(name, web), "utf8"));
const catalogue = json("data/catalogue.json"),
  engine = await Engine.load(readFileSync(new URL("moves.wasm", web)), json("engine.json"));

const read = (preset) => {
  const rules = engine.rules(catalogue.presets[preset]);
  return [rules, new Openings(engine, preset, json(`data/${Openings.file(preset)}`))];
};

const METHODS = {
  /** Check a certificate in base64; return what it proves and the progress that was reported. */
  async check(content) {
    const heard = [],
      { text, lower, upper } = await checkProof(
        engine,
        catalogue,
        "proof.npz",
        Buffer.from(content, "base64"),
        (...counts) => heard.push(counts),
      );
    return { text, lower, upper, heard };
  },
  /** Return the moves of each position and the value of the position. */
  moves(preset, positions, hint = null) {
    const [rules, table] = read(preset);
    return positions.map((text) => {
      const position = parsePosition(rules, text, engine),
        moves = movesOf(engine, rules, table, position, hint);
      return { moves, ...valueOf(rules, table, position, moves) };
    });
  },
  refutation(preset) {
    const [rules, table] = read(preset);
    const { line, ...rest } = refutation(engine, rules, table);
    return { ...rest, moves: line.map(moveText) };
  },
};

const results = [];
for (const [method, ...given] of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    results.push({ value: await METHODS[method](...given) });
  } catch (error) {
    if (error.name !== "Refused") throw error;
    results.push({ refused: { ...error } });
  }
}
process.stdout.write(JSON.stringify(results));
