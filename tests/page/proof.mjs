// Asks certificate.js and book.js for test_proof.py: calls in, as [method, ...arguments], and what each gives, or
// why it is refused, out.

import { readFileSync } from "node:fs";

const web = new URL("../../oanquan_env/play/web/", import.meta.url);
const { Engine } = await import(new URL("engine.js", web));
const { Openings, movesOf, refutation, valueOf } = await import(new URL("book.js", web));
const { moveText } = await import(new URL("notation.js", web));
const { parsePosition } = await import(new URL("position-reading.js", web));
const { checkProof } = await import(new URL("certificate.js", web));

const json = (name) => JSON.parse(readFileSync(new URL(name, web), "utf8"));
const catalogue = json("data/catalogue.json"), engine = await Engine.load(readFileSync(new URL("moves.wasm", web)), json("engine.json"));

const read = (preset) => {
  const rules = engine.rules(catalogue.presets[preset].values);
  return [rules, new Openings(engine, preset, json(`data/${Openings.file(preset)}`))];
};

const METHODS = {
  /** What a certificate, in base64, proves, and what its progress heard. */
  async check(content) {
    const heard = [], { text, lower, upper } = await checkProof(engine, catalogue, "proof.npz", Buffer.from(content, "base64"), (...told) => heard.push(told));
    return { text, lower, upper, heard };
  },
  /** The moves of positions, and what each is worth. */
  moves(preset, positions, hint = null) {
    const [rules, table] = read(preset);
    return positions.map((text) => {
      const position = parsePosition(rules, text, engine), moves = movesOf(engine, rules, table, position, hint);
      return { moves, ...valueOf(rules, table, position, moves) };
    });
  },
  refutation(preset) {
    const [rules, table] = read(preset);
    const { line, ...told } = refutation(engine, rules, table);
    return { ...told, moves: line.map(moveText) };
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
