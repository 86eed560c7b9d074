// A game as the fragment of an address: #rules=vietnamese&moves=5A3A, with from=POSITION for one that did not begin at the
// set-up, match=RULES for a match, whose moves are those of all rounds (match-model.js), and south=NAME and so on for players
// who are no persons, as a record names them. In a link for a friend, game=ID tells games apart, and other persons are named
// friend. A link may come from anybody: it has few keys, each once, and no text in it is longer than it must be.

import { FRIEND, PERSON } from "./game-model.js";
import { SEATS, moveText, positionText } from "./notation.js";
import { Refused } from "./refused.js";
import { matchRulesText, parseRules, quoted, rulesText } from "./rules.js";
import { roundsText } from "./match-model.js";

const sides = (players) => SEATS.en[players].map((name) => name.toLowerCase());

/** The fragment, without #, of a game (game-model.js); with the `id` of a game with friends, for the friend whose turn is next. */
export function linkOf(game, catalogue, id = null) {
  const { engine, rules, match, played, resigned } = game, moves = game.line().map(({ action }) => action);
  const begun = positionText(rules, game.root.position), usual = begun === positionText(rules, engine.start(rules));
  const held = [["rules", rulesText(rules, catalogue)]];
  if (match) held.push(["match", matchRulesText(match.rules)]);
  else if (!usual) held.push(["from", begun]);
  held.push(["moves", match ? roundsText(match, moves, resigned !== null) : moves.map(moveText).join("") + (id && resigned !== null ? "-" : "")]);
  const sitting = id ? seatsOfReader(game) : played.map((name) => (game.known(name) ? name : PERSON));
  for (const [seat, side] of sides(rules.players).entries()) if (sitting[seat] !== PERSON) held.push([side, sitting[seat]]);
  if (id) held.push(["game", id]);
  return held.map(([key, value]) => `${key}=${safe(value)}`).join("&");
}

/** Who sits where for the friend whose turn comes next: it is a person there, and the persons here are its friends. */
function seatsOfReader({ names, position: { mover } }) {
  const reader = names.map((_, turn) => (mover + turn) % names.length).find((seat) => names[seat] === FRIEND);
  return names.map((name, seat) => (seat === reader ? PERSON : name === PERSON ? FRIEND : name));
}

/** A text in a fragment; characters that fragments may have stay readable, but not *, which some messengers take out. */
const safe = (text) => encodeURIComponent(text).replace(/%(2C|2F|3A|3D)/g, decodeURIComponent).replaceAll("%20", "+").replaceAll("*", "%2A");

// ---- reading ---------------------------------------------------------------------------------------------------------

const LONGEST = { rules: 1000, from: 1000, match: 1000, moves: 50_000, south: 100, east: 100, north: 100, west: 100, game: 20 };
const LONGEST_LINK = 100_000;

const refuse = (en, vi) => { throw new Refused("request", en, vi); };

/** The game that a fragment holds, as the request "new" takes it; null if it holds none. Throws Refused. */
export function readLink(fragment, catalogue) {
  const text = fragment.replace(/^#/, ""), held = new Map();
  if (!text.includes("=")) return null;
  if (text.length > LONGEST_LINK) refuse(`a link has at most ${LONGEST_LINK} characters`, `liên kết dài nhất là ${LONGEST_LINK} ký tự`);
  for (const [key, value] of new URLSearchParams(text)) {
    const known = Object.keys(LONGEST).join(", ");
    if (!Object.hasOwn(LONGEST, key)) refuse(`the link has an unknown part ${quoted(key)}; known: ${known}`, `liên kết có phần lạ ${quoted(key)}; chỉ có: ${known}`);
    if (held.has(key)) refuse(`the link has ${key} twice`, `liên kết có ${key} hai lần`);
    if (value.length > LONGEST[key]) refuse(`${key} in a link has at most ${LONGEST[key]} characters`, `${key} trong liên kết dài nhất là ${LONGEST[key]} ký tự`);
    held.set(key, value);
  }
  const rules = held.get("rules") ?? catalogue.default, seats = sides(parseRules(rules, catalogue).players);
  const stranger = sides(4).find((side) => held.has(side) && !seats.includes(side));
  if (stranger) refuse(`nobody sits ${stranger} by the rules of the link`, `theo luật của liên kết, không có ai ở ${stranger}`);
  if (held.has("match") && held.has("from")) refuse("a match begins at the set-up: a link has from or match", "cả trận bắt đầu từ đầu: liên kết chỉ có from hoặc match");
  return {
    rules, position: held.get("from") ?? null, match: held.get("match") ?? null, moves: held.get("moves") ?? "", id: held.get("game") ?? null,
    seats: seats.map((side) => held.get(side) ?? catalogue.person),
  };
}
