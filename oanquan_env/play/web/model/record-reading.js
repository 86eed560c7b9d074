// Reads records of games (records.js), as records/games.py does. The engine replays the moves; a record that was read
// also has its last position, `last`.

import { columnOf, moveText, parseMove } from "./notation.js";
import { parsePosition } from "./position-reading.js";
import { MAX_NESTING, OWNERSHIP_HEADERS, UNFINISHED, newNode, playLegal, resultOf } from "./records.js";
import { Refused } from "./refused.js";
import { BLANKS, parseRules, quoted } from "./rules.js";

const RESERVED = ["Rules", "Position", "Result", "Termination"];
const BLANK = new RegExp(`[${BLANKS}\\ufeff]*`, "uy"),
  WORD = new RegExp(`[^${BLANKS}{}()\\[\\]]+`, "uy"),
  NUMBER = /([0-9]+)\./uy,
  OPENING = /\(/uy,
  CLOSING = /\)/uy;
const HEADER = /\[([A-Za-z][A-Za-z0-9_-]*)[ \t]+"([^"\\]*(?:\\.[^"\\]*)*)"[ \t]*\]/suy;
const COMMENT = /\{([^}\\]*(?:\\.[^}\\]*)*)\}/suy;
const RESULT = /^(\*|-?[0-9]+(--?[0-9]+)+)$/;
const ESCAPES = { n: "\n", r: "\r", "\\": "\\", '"': '"', "}": "}" };

/** A text and a position in it. Line ends of Windows and of old Macs are read as \n. */
class Reader {
  constructor(text) {
    Object.assign(this, { text: text.replace(/\r\n?/g, "\n"), place: 0 });
  }

  /** Skip blanks; return whether the text ends there. */
  atEnd() {
    this.place += this.match(BLANK)[0].length;
    return this.place === this.text.length;
  }

  match(pattern) {
    pattern.lastIndex = this.place;
    return pattern.exec(this.text);
  }

  /** Skip blanks, match a pattern, and return the match after moving past it. */
  take(pattern) {
    this.atEnd();
    const match = this.match(pattern);
    if (match) this.place += match[0].length;
    return match;
  }

  error(place, en, vi) {
    const before = this.text.slice(0, place),
      lineStart = before.lastIndexOf("\n") + 1;
    const line = before.split("\n").length,
      column = columnOf(this.text.slice(lineStart), place - lineStart);
    return new Refused("record", `line ${line}, column ${column}: ${en}`, `dòng ${line}, ký tự ${column}: ${vi}`, {
      line,
      column,
    });
  }

  /** Read a text that begins at `place`, resolving its backslashes. */
  unescaped(text, place) {
    return text.replace(/\\(.)/gsu, (all, letter, at) => {
      if (!Object.hasOwn(ESCAPES, letter))
        throw this.error(place + at, `unknown escape ${quoted(all)}`, `không hiểu ${quoted(all)}`);
      return ESCAPES[letter];
    });
  }
}

/** Read all records of a text. Throws Refused, with the place, if something cannot be read or replayed. */
export function parseRecords(text, catalogue, engine) {
  const reader = new Reader(text),
    records = [];
  while (!reader.atEnd()) records.push(readRecord(reader, catalogue, engine));
  return records;
}

function readRecord(reader, catalogue, engine) {
  const begin = reader.place,
    headers = readHeaders(reader);
  for (const name of ["Rules", "Result"]) {
    if (!headers.has(name))
      throw reader.error(begin, `a record must have the header [${name} …]`, `biên bản phải có dòng [${name} …]`);
  }
  const { rules, start } = readStart(reader, headers, catalogue, engine);
  const root = newNode(null),
    last = readLine(reader, { engine, rules }, root, start);
  checkResult(reader, headers, resultOf(engine, rules, last));
  return {
    rules,
    root,
    ...mainLine(root),
    start,
    last,
    position: headers.get("Position")?.value ?? null,
    result: headers.get("Result").value,
    termination: headers.get("Termination")?.value ?? "",
    headers: Object.fromEntries(
      [...headers].filter(([name]) => !RESERVED.includes(name)).map(([name, { value }]) => [name, value]),
    ),
  };
}

/** Return the actions and comments of the main line of a tree. */
function mainLine(root) {
  const moves = [],
    comments = {};
  for (let node = root; node; [node] = node.children) {
    if (node.move !== null) moves.push(parseMove(node.move));
    if (node.comment) comments[moves.length] = node.comment;
  }
  return { moves, comments };
}

/** Read headers: name -> value, and where the value begins. */
function readHeaders(reader) {
  const headers = new Map();
  while (!reader.atEnd() && reader.text[reader.place] === "[") {
    const begin = reader.place,
      match = reader.take(HEADER);
    if (!match) throw reader.error(begin, 'a header is [Name "value"]', 'dòng đầu phải có dạng [Tên "giá trị"]');
    const [all, name, value] = match,
      place = begin + all.indexOf('"') + 1;
    if (headers.has(name)) throw reader.error(begin, `the header ${name} comes twice`, `dòng ${name} có hai lần`);
    headers.set(name, { value: reader.unescaped(value, place), place });
  }
  return headers;
}

function readStart(reader, headers, catalogue, engine) {
  let header = headers.get("Rules");
  try {
    const rules = engine.rules(parseRules(header.value, catalogue));
    header = headers.get("Position");
    return { rules, start: header ? parsePosition(rules, header.value, engine) : engine.start(rules) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const place = placeOf(reader.text, header.place, error.column ?? 1);
    throw reader.error(place, error.detail.en, error.detail.vi);
  }
}

/** Return the index of a column, from 1, in the part of a text that begins at `place`. */
const placeOf = (text, place, column) =>
  place + [...text.slice(place, place + 2 * column)].slice(0, column - 1).join("").length;

/**
 * Read and play a line after the node `parent`: the moves of the game, up to the result, or a variation, past its `)`.
 * Return the position after it.
 *
 * `played` is the number of moves in the record before the line, and `nesting` the number of variations within one
 * another.
 */
function readLine(reader, game, parent, position, played = 0, nesting = 0) {
  let node = nesting ? null : parent, // the last node of the line
    before = null, // the node and the position before its last move
    said = null, // the comments on its last move; there is none before the first move of a variation
    numbered = false;
  for (;;) {
    const comment = reader.take(COMMENT);
    if (comment) {
      const text = reader.unescaped(comment[1], comment.index + 1);
      said = said === null ? text : `${said} ${text}`;
      if (node) node.comment = said;
    } else if (reader.atEnd() || "{[".includes(reader.text[reader.place])) {
      throw nesting
        ? reader.error(reader.place, "the record ends without the ) of a variation", "biên bản thiếu dấu ) ở cuối biến")
        : reader.error(
            reader.place,
            `the record ends without its result (${UNFINISHED} for an unfinished game)`,
            `biên bản thiếu kết quả ở cuối (${UNFINISHED} nếu chưa hết ván)`,
          );
    } else if (!numbered && reader.take(OPENING)) {
      checkOpening(reader, before !== null, nesting);
      readLine(reader, game, before.node, before.position, played - 1, nesting + 1);
    } else if (!numbered && (nesting ? before && reader.take(CLOSING) : atResult(reader))) {
      return position;
    } else if (!numbered && played % game.rules.players === 0) {
      const ends = nesting ? (before ? [", or )", " hoặc dấu )"] : ["", ""]) : [", or the result", " hoặc kết quả"];
      readNumber(reader, played / game.rules.players + 1, ends);
      numbered = true; // a comment may stand between number and move
    } else {
      before = { node: node ?? parent, position };
      ({ node, position } = readMove(reader, game, before));
      if (before.node !== parent || !nesting) said = null;
      node.comment = said ?? "";
      played += 1;
      numbered = false;
    }
  }
}

const atResult = (reader) => RESULT.test(reader.match(WORD)?.[0] ?? "");

/** Refuse a variation without a move to replace, or with too many variations around it. */
function checkOpening(reader, moved, nesting) {
  const place = reader.place - 1;
  if (!moved)
    throw reader.error(
      place,
      "a variation must follow the move that it replaces",
      "biến phải đứng sau nước mà nó thay",
    );
  if (nesting === MAX_NESTING)
    throw reader.error(
      place,
      `variations can be nested at most ${MAX_NESTING} times`,
      `biến chỉ được lồng nhau nhiều nhất ${MAX_NESTING} lần`,
    );
}

function readNumber(reader, wanted, [en, vi]) {
  const number = reader.take(NUMBER);
  if (number?.[1] !== `${wanted}`)
    throw reader.error(
      number?.index ?? reader.place,
      `expected the number ${wanted}. here${en}`,
      `ở đây cần số ${wanted}.${vi}`,
    );
}

/** Read and play a move after a node; return the new node and the position after the move. */
function readMove(reader, { engine, rules }, { node: parent, position }) {
  const word = reader.take(WORD);
  if (!word) throw reader.error(reader.place, "expected a move here", "ở đây cần một nước đi");
  try {
    const action = parseMove(word[0]),
      node = newNode(moveText(action));
    if (parent.children.some(({ move }) => move === node.move))
      throw new Refused(
        "move",
        `a variation must begin with a new move; ${node.move} is already here`,
        `biến phải bắt đầu bằng nước khác; ở đây đã có ${node.move}`,
      );
    const after = playLegal(engine, rules, position, action);
    parent.children.push(node);
    return { node, position: after };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { en, vi } = error.detail,
      ply = position.ply + 1;
    throw reader.error(word.index + (error.column ?? 1) - 1, `ply ${ply}: ${en}`, `nước thứ ${ply}: ${vi}`);
  }
}

/** Compare the result and termination in the record with the result and termination of the replayed game. */
function checkResult(reader, headers, { result, termination }) {
  const written = headers.get("Result"),
    word = reader.take(WORD),
    claim = headers.get("Termination");
  if (word?.[0] !== written.value) {
    throw reader.error(
      word?.index ?? written.place,
      `the result after the moves must be the header's, ${quoted(written.value)}`,
      `kết quả ở cuối khác với ${quoted(written.value)} ở dòng Result`,
    );
  }
  // match-model.js checks these
  const sharedOut = result !== UNFINISHED && OWNERSHIP_HEADERS.some((name) => headers.has(name));
  if (written.value !== result && !(sharedOut && written.value !== UNFINISHED)) {
    throw reader.error(
      written.place,
      `Result is ${quoted(written.value)}, but the moves lead to ${result}`,
      `Result là ${quoted(written.value)}, nhưng các nước đi dẫn đến ${result}`,
    );
  }
  if (termination && claim?.value !== termination) {
    throw reader.error(
      (claim ?? written).place,
      `the header Termination must be ${termination}, as the moves lead to it`,
      `các nước đi dẫn đến ${termination}, nhưng dòng Termination không ghi như vậy`,
    );
  }
}
