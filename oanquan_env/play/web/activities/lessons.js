// The lessons, as boards with their moves.

import { Game, PERSON } from "../model/game.js";
import { copyFrame } from "../model/trace.js";
import { moveText, parseMove } from "../model/notation.js";
import { parsePosition } from "../model/position-reading.js";
import { drawingJson, namesOf, nodeJson } from "../model/state.js";

/**
 * Return the lessons in the data, each with its drawing, the board before its move, the legal moves, and the move or
 * null.
 */
export async function lessonsOf(engine, catalogue, data) {
  const rules = engine.rules(catalogue.presets[catalogue.begin]);
  const [lessons, empty] = await Promise.all([
    data("lessons.json"),
    data(`drawing-${rules.players}-${rules.fields}.json`),
  ]);
  return lessons.map(({ name, position, move }) => {
    const start = parsePosition(rules, position, engine),
      game = new Game(engine, rules, start, Array(rules.players).fill(PERSON)),
      names = namesOf(game, start.mover);
    if (move !== null) game.step(parseMove(move));
    const drawing = drawingJson(empty, rules, names);
    return {
      name,
      drawing,
      start: copyFrame(start),
      legal: engine.legal(rules, start).map(moveText),
      move: move && nodeJson(game.node, drawing, names),
    };
  });
}
