// The requests that change the game of a session (session.js), by name. Each takes the session and its arguments; if it is
// impossible, it throws Refused and changes nothing.

import { newMatch } from "./match-model.js";
import { readMoves } from "./notation.js";
import { impossible, notYours } from "./refused.js";
import { parseMatchRules, parseRules } from "./rules.js";

const evenBelow = (count) => count - 2 + (count % 2);

export const REQUESTS = {
  /** Begin a game at the set-up, where `starter` moves first, at a position, or as a round of a match (roundsText). */
  async new(
    session,
    {
      rules: text = session.catalogue.default,
      seats = null,
      starter = 0,
      position = null,
      moves = "",
      match = null,
      id = null,
    },
  ) {
    const rules = session.engine.rules(parseRules(text, session.catalogue));
    if (match !== null) {
      if (position !== null)
        throw impossible("a match begins from the initial position", "cả trận bắt đầu từ thế cờ ban đầu");
      const { playRounds } = await import("./match-reading.js");
      return session.put(
        playRounds(moves, rules, parseMatchRules(match, rules, session.catalogue), session.engine),
        seats,
        {
          id,
        },
      );
    }
    if (!Number.isInteger(starter) || starter < 0 || starter >= rules.players)
      throw impossible(`starter must be 0 to ${rules.players - 1}; got ${starter}`, "");
    const start = position === null ? session.engine.start(rules, starter) : await session.position(rules, position);
    return session.put({ rules, start, ...readMoves(moves) }, seats, { id });
  },

  /** Play a person's move. Refuse it unless the game is at `ply`, because the request may arrive twice or late. */
  move(session, { move, ply }) {
    const { game } = session;
    if (ply !== game.position.ply || game.over || game.player !== null || session.answered) throw notYours("move");
    game.push(session.legal(game, move));
    session.puzzle?.reply(session);
  },

  /** Take back a person's last move and the replies to it. */
  undo(session) {
    const { game } = session;
    if (session.puzzle && game.line().length)
      game.backTo(evenBelow(game.line().length)); // the solver is to move
    else if (!game.undo()) throw impossible("you have no move to undo", "bạn không có nước nào để đi lại");
  },

  /** Play again the moves that were taken back. */
  redo(session) {
    if (!session.game.redo()) throw impossible("there is no move to redo", "không có nước nào để làm lại");
  },

  /** Go back to the position after the first `moves` moves. */
  back(session, { moves }) {
    session.after(moves);
    session.game.backTo(session.puzzle ? moves - (moves % 2) : moves); // in a puzzle, the solver is to move
  },

  /** Begin the same game or match again; with `swap`, all players move one seat on. */
  rematch(session, { swap = false }) {
    const { rules, names, match, root } = session.game,
      seats = swap ? [...names.slice(1), names[0]] : names;
    return session.put(
      match
        ? { rules, start: session.engine.start(rules), match: newMatch(match.rules) }
        : { rules, start: root.position },
      seats,
      { paused: session.paused },
    );
  },

  /** Leave a puzzle, and continue the game before it. */
  resume(session) {
    if (!session.paused) throw impossible("there is no game to go back to", "không có ván nào để quay lại");
    const { game, number, id, drawing, values } = session.paused;
    Object.assign(session, { game, number, id, puzzle: null });
    session.emptyBoard = drawing;
    session.values = values;
    session.paused = null;
  },

  /** Resign for the person to move. */
  resign(session) {
    if (session.game.over || session.game.player !== null) throw notYours("request");
    session.game.resign();
  },

  /** Begin the next round of a match. */
  next_round(session) {
    const { game } = session,
      settled = game.settled();
    if (!settled || settled.over) throw impossible("there is no next round", "không còn ván nào trong trận");
    const headers = Object.fromEntries(
      game.played.map((name, seat) => [game.side(seat), name]).filter(([, name]) => name),
    );
    return session.put(
      {
        rules: game.rules,
        start: session.engine.start(game.rules, settled.starter),
        match: settled,
        record: { headers },
      },
      game.names,
      { id: session.id },
    );
  },

  /** Continue the match in the records `text`, or game `number` (from 1). */
  async load(session, { text, number = null, seats = null, id = null }) {
    return session.put(await session.read(text, number), seats, { id });
  },

  /** Show a puzzle; see puzzle.js. */
  async puzzle(session, asked) {
    return (await import("./puzzle.js")).showPuzzle(session, asked);
  },

  /** Play the rest of the puzzle's line; a wrong move must be taken back first. */
  show_answer(session) {
    if (!session.puzzle || session.answered) throw notYours("request");
    session.puzzle.reveal(session);
  },
};
