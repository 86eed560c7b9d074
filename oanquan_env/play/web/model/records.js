// Writes records of games as texts similar to PGN (docs/RULES.md 7), as records/games.py does; record-reading.js reads
// them. A record is {rules, root, position, start, result, termination, headers}: `position` is the text of the position
// at which the game began, null for the set-up, and `start` the position itself. `root` is the tree of the moves. A node
// is {move: "5A", comment: "", children: [node, ...]}: the first child continues the line, and the others begin
// variations. The root's move is null, and its comment stands before the first move.
//
// A record that was read also has the main line as {moves, comments}: its actions, and the comments by the number of the
// move before them.

import { Refused } from "./refused.js";
import { rulesText } from "./rules.js";
import { TERMINATIONS, moveText, moveTexts, seatName } from "./notation.js";

export const UNFINISHED = "*";
export const MAX_NESTING = 50; // the number of variations within one another, as in records/lines.py
export const OWNERSHIP_HEADERS = ["Sold", "Pawned"];

// ---- writing --------------------------------------------------------------------------------------------------------

/** Escape a text for quotes or for a comment, which `closing` would close. */
function escaped(text, closing) {
  const safe = text.replaceAll("\\", "\\\\").replaceAll(closing, `\\${closing}`).replaceAll("\r", "\\r");
  return closing === '"' ? safe.replaceAll("\n", "\\n") : safe; // a comment may span several lines
}

export const newNode = (move, comment = "") => ({ move, comment, children: [] });

/** Return the tree of a game without variations, from actions and comments. */
function treeOf(moves, comments = {}) {
  const commentOn = (number) => (Object.hasOwn(comments, number) ? comments[number] : ""),
    root = newNode(null, commentOn(0));
  let last = root;
  for (const [index, move] of moves.entries()) {
    const node = newNode(moveText(move), commentOn(index + 1));
    last.children.push(node);
    last = node;
  }
  return root;
}

const commentTexts = ({ comment }) => (comment ? [`{${escaped(comment, "}")}}`] : []);

/**
 * Return the texts of the groups of one move per player from `node` on, a move after `played` moves. `others` are the
 * variations of this move.
 */
function lineTexts(node, players, played, others = []) {
  const groups = [];
  let words = [];
  for (; node; [node, ...others] = node.children) {
    if (played % players === 0) {
      if (words.length) groups.push(words.join(" "));
      words = [`${played / players + 1}.`];
    }
    const at = played;
    words.push(node.move, ...commentTexts(node), ...others.map((one) => `(${lineTexts(one, players, at).join(" ")})`));
    played += 1;
  }
  return words.length ? [...groups, words.join(" ")] : groups;
}

/** Return the text of one record, with `root`, or with `moves` and `comments` if it has no variations. */
function recordText(record, catalogue) {
  const {
      position = null,
      result = UNFINISHED,
      termination = "",
      root = treeOf(record.moves, record.comments),
    } = record,
    headers = { Rules: rulesText(record.rules, catalogue), ...record.headers };
  if (position !== null) headers.Position = position;
  headers.Result = result;
  if (termination) headers.Termination = termination;
  const [first, ...others] = root.children;
  return [
    ...Object.entries(headers).map(([name, value]) => `[${name} "${escaped(value, '"')}"]`),
    "",
    ...commentTexts(root),
    ...lineTexts(first, record.rules.players, 0, others),
    result,
    "",
  ].join("\n");
}

/** Return the text of several records, separated by empty lines. */
export const formatRecords = (records, catalogue) => records.map((record) => recordText(record, catalogue)).join("\n");

/**
 * Return the result of a finished position, such as `42-28`, and why it is over; `*` and nothing if the game goes on.
 */
export function resultOf(engine, rules, position) {
  if (!position.ended) return { result: UNFINISHED, termination: "" };
  return { result: engine.standings(rules, position).join("-"), termination: TERMINATIONS[position.ended] };
}

/** Return the position after a move. Throws Refused, listing the legal moves, if it cannot be played. */
export function playLegal(engine, rules, position, action) {
  const legal = engine.legal(rules, position),
    seat = position.mover;
  if (!legal.includes(action)) {
    const over = TERMINATIONS[position.ended];
    const why = position.ended
      ? [`the game is over (${over})`, "ván đã hết"]
      : [`legal: ${moveTexts(legal)}`, `đi được: ${moveTexts(legal)}`];
    throw new Refused(
      "move",
      `${seatName(rules.players, seat)} cannot play ${moveText(action)}; ${why[0]}`,
      `${seatName(rules.players, seat, "vi")} không đi được ${moveText(action)}; ${why[1]}`,
    );
  }
  return engine.play(rules, position, action).position;
}
