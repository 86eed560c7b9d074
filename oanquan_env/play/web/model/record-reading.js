// Reads records of games (records.js), as records/games.py does. The engine replays the moves; a record that was read
// also has its last position, `last`.

import { columnOf, parseMove } from "./notation.js";
import { parsePosition } from "./position-reading.js";
import { OWNERSHIP_HEADERS, UNFINISHED, playLegal, resultOf } from "./records.js";
import { Refused } from "./refused.js";
import { BLANKS, parseRules, quoted } from "./rules.js";

const RESERVED = ["Rules", "Position", "Result", "Termination"];
const BLANK = new RegExp(`[${BLANKS}\\ufeff]*`, "uy"),
  WORD = new RegExp(`[^${BLANKS}{}\\[\\]]+`, "uy"),
  NUMBER = /([0-9]+)\./uy;
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
  const { moves, comments, last } = readMoves(reader, rules, start, engine);
  checkResult(reader, headers, resultOf(engine, rules, last));
  return {
    rules,
    moves,
    comments,
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

/** Read and play the moves up to the result, and stop before it. */
function readMoves(reader, rules, start, engine) {
  const moves = [],
    said = new Map();
  let last = start,
    numbered = false;
  for (;;) {
    const comment = reader.take(COMMENT);
    if (comment) {
      const text = reader.unescaped(comment[1], comment.index + 1),
        before = said.get(moves.length);
      said.set(moves.length, before === undefined ? text : `${before} ${text}`);
      continue;
    }
    if (reader.atEnd() || "{[".includes(reader.text[reader.place])) {
      throw reader.error(
        reader.place,
        `the record ends without its result (${UNFINISHED} for an unfinished game)`,
        `biên bản thiếu kết quả ở cuối (${UNFINISHED} nếu chưa hết ván)`,
      );
    }
    const word = reader.match(WORD);
    if (word && RESULT.test(word[0]) && !numbered) return { moves, comments: Object.fromEntries(said), last };
    if (moves.length % rules.players === 0 && !numbered) {
      const wanted = `${moves.length / rules.players + 1}`,
        number = reader.take(NUMBER);
      if (number?.[1] !== wanted) {
        throw reader.error(
          number?.index ?? reader.place,
          `expected the number ${wanted}. here, or the result`,
          `ở đây cần số ${wanted}. hoặc kết quả`,
        );
      }
      numbered = true; // a comment may stand between number and move
      continue;
    }
    const move = readMove(reader, rules, last, engine);
    last = move.position;
    moves.push(move.action);
    numbered = false;
  }
}

function readMove(reader, rules, position, engine) {
  const word = reader.take(WORD);
  if (!word) throw reader.error(reader.place, "expected a move here", "ở đây cần một nước đi");
  try {
    const action = parseMove(word[0]);
    return { action, position: playLegal(engine, rules, position, action) };
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
