// Checks a certificate, as oanquan_env/benchmark/verification.py does: plays the strategy of each bound against every reply.
// Nothing of the search that found the strategies is here, and no document.

import { Strategy, damaged, readArrays } from "./certificate.js";
import { parsePosition } from "./position-reading.js";
import { parseRules } from "./rules.js";

const TURN = 30; // milliseconds: then the page has its turn
const BOUNDS = ["lower", "upper"];
const pause = () => new Promise((resolve) => { setTimeout(resolve); });

/**
 * What a certificate proves: { rules, text, start, lower, upper }. Each bound, null where nothing is claimed, is { bound,
 * positions, replies, plies }: points of the future margin of the position's mover, mirror images counted once, and the
 * moves of the longest game. `onprogress(done, all)` hears how many positions were followed. Throws Refused.
 */
export async function checkProof(engine, catalogue, file, content, onprogress = () => {}) {
  const arrays = await readArrays(file, content), claimed = BOUNDS.filter((name) => name in arrays);
  const known = ["format", "rules", "position", ...claimed.flatMap((name) => [name, `${name}_moves`, `${name}_again`])];
  const stranger = Object.keys(arrays).find((name) => !known.includes(name));
  if (arrays.format !== 1) damaged(file, "format", `${arrays.format}; 1 is wanted`, `${arrays.format}; phải là 1`);
  if (stranger) damaged(file, stranger, "no part of a certificate", "không phải phần của chứng minh");
  if (!claimed.length) damaged(file, "lower, upper", "the certificate claims no bound", "chứng minh không nêu chặn nào");
  const within = (place, read) => {
    try { return read(String(arrays[place])); } catch ({ detail }) { return damaged(file, place, detail.en, detail.vi); }
  };
  const rules = within("rules", (text) => engine.rules(parseRules(text, catalogue)));
  if (rules.players !== 2 || rules.refill === "forfeit") damaged(file, "rules", "certificates are for two players who refill on credit", "chứng minh chỉ dành cho hai người được vay dân");
  const start = within("position", (text) => parsePosition(rules, text, engine));
  if (start.ended) damaged(file, "position", "the game is over", "ván đã hết");
  const strategies = claimed.map((name) => new Strategy(engine, rules, start, file, name, arrays)), found = { lower: null, upper: null };
  const all = strategies.reduce((sum, { moves }) => sum + moves.length, 0);
  let before = 0, turn = performance.now();
  for (const strategy of strategies) {
    for (const done of strategy.follow()) {
      if (performance.now() - turn < TURN) continue;
      onprogress(before + done, all);
      await pause();
      turn = performance.now();
    }
    found[strategy.name] = strategy.check();
    before += strategy.moves.length;
    onprogress(before, all);
  }
  return { rules, text: arrays.rules, start, ...found };
}
