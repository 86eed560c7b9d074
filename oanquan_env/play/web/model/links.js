// A game as the fragment of an address: #rules=vietnamese&moves=5A3A, with from=POSITION if it did not begin at the
// set-up, match=RULES for a match, whose moves are those of all rounds (match-model.js), and south=NAME and so on for
// computer players, named as in records. In a link for a friend, game=ID identifies the game, and the other persons are
// named friend. A link to an analysis has tree=MOVES, with variations, and at=NUMBER. link-reading.js reads such links.

import { FRIEND, PERSON } from "./game.js";
import { SEATS, moveText, positionText } from "./notation.js";
import { matchRulesText, rulesText } from "./rules.js";
import { roundsText } from "./match-model.js";

/** The keys of the seats, in order. */
export const sides = (players) => SEATS.en[players].map((name) => name.toLowerCase());

/**
 * Return the fragment of a game (game.js), without #. With the `id` of a game with friends, it is for the next
 * friend to move.
 */
export function linkOf(game, catalogue, id = null) {
  const { engine, rules, match, played, resigned } = game,
    moves = game.line().map(({ action }) => action);
  const begun = positionText(rules, game.root.position),
    usual = begun === positionText(rules, engine.start(rules));
  const held = [["rules", rulesText(rules, catalogue)]];
  if (match) held.push(["match", matchRulesText(match.rules)]);
  else if (!usual) held.push(["from", begun]);
  held.push([
    "moves",
    match
      ? roundsText(match, moves, resigned !== null)
      : moves.map(moveText).join("") + (id && resigned !== null ? "-" : ""),
  ]);
  const sitting = id ? seatsOfReader(game) : played.map((name) => (game.isPlayer(name) ? name : PERSON));
  for (const [seat, side] of sides(rules.players).entries())
    if (sitting[seat] !== PERSON) held.push([side, sitting[seat]]);
  if (id) held.push(["game", id]);
  return fragmentOf(held);
}

/** Return the fragment of an analysis: the text of its tree (tree.js), and the place of the node shown. */
export const analysisLink = ({ rules, position, tree, at }) =>
  fragmentOf([["rules", rules], ...(position ? [["from", position]] : []), ["tree", tree], ["at", `${at}`]]);

function fragmentOf(held) {
  return held
    .map(([key, value]) => `${key}=${safe(value)}`)
    .join("&")
    .replace(/\.$/, "%2E"); // messengers leave the last dot out of a link
}

/**
 * Return the seats as the next friend to move sees them: this friend is the person, and the persons here are friends.
 */
function seatsOfReader({ names, position: { mover } }) {
  const reader = names.map((_, turn) => (mover + turn) % names.length).find((seat) => names[seat] === FRIEND);
  return names.map((name, seat) => (seat === reader ? PERSON : name === PERSON ? FRIEND : name));
}

/** Encode a text for a fragment; allowed characters stay readable, except *, which some messengers remove. */
const safe = (text) =>
  encodeURIComponent(text)
    .replace(/%(2C|2F|3A|3D)/g, decodeURIComponent)
    .replaceAll("%20", "+")
    .replaceAll("*", "%2A");
