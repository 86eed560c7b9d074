// The lessons, as boards with their moves.

import { Game, PERSON } from "../model/game.js";
import { copyFrame } from "../model/trace.js";
import { moveText, parseMove } from "../model/notation.js";
import { parsePosition } from "../model/position-reading.js";
import { drawingJson, namesOf, nodeJson } from "../model/state.js";

/**
 * Return the lessons in the data, each with its drawing, the board before its move, the stones that each player won
 * before, the legal moves, the move or null, and the outcome if the move ends the game.
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
      won: [0, rules.players - start.stones.filter(Boolean).length], // missing stones are the opponent's
      legal: engine.legal(rules, start).map(moveText),
      move: move && nodeJson(game.node, drawing, names),
      outcome: game.outcome(),
    };
  });
}
