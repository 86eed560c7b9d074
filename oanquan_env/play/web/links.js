// A game as the fragment of an address: #rules=vietnamese&moves=5A3A, with from=POSITION for one that did not begin at the
// set-up, match=RULES for a match, whose moves are those of all rounds (match-text.js), and south=NAME and so on for players
// who are no persons, as a record names them; link-reading.js reads it.

import { SEATS, moveText, positionText } from "./notation.js";
import { matchRulesText, rulesText } from "./rules.js";
import { roundsText } from "./match-text.js";

export const sides = (players) => SEATS.en[players].map((name) => name.toLowerCase());

/** The fragment, without #, of a game (game-model.js). */
export function linkOf(game, catalogue) {
  const { engine, rules, match, played, resigned } = game, moves = game.line().map(({ action }) => action);
  const begun = positionText(rules, game.root.position), usual = begun === positionText(rules, engine.start(rules));
  const held = [["rules", rulesText(rules, catalogue)]];
  if (match) held.push(["match", matchRulesText(match.rules)]);
  else if (!usual) held.push(["from", begun]);
  held.push(["moves", match ? roundsText(match, moves, resigned !== null) : moves.map(moveText).join("")]);
  for (const [seat, side] of sides(rules.players).entries()) if (game.known(played[seat])) held.push([side, played[seat]]);
  return held.map(([key, value]) => `${key}=${safe(value)}`).join("&");
}

/** A text in a fragment; characters that fragments may have stay readable, but not *, which some messengers take out. */
const safe = (text) => encodeURIComponent(text).replace(/%(2C|2F|3A|3D)/g, decodeURIComponent).replaceAll("%20", "+").replaceAll("*", "%2A");
