// The rounds of a match, shown beside the board; it loads with the first match.

import { WORDS } from "./board-words.js";
import { capital } from "./nodes.js";
import { seatName, sentenceName } from "./told.js";

/** Show the table of a match, made by common.js's `make`, with sentences below it; nothing if another game was opened meanwhile. */
export function roundsOf(view, make) {
  const { match, seats } = view.state;
  if (!match) return [];
  const row = (kind, cells) => make("tr", {}, ...cells.map((cell) => make(kind, { textContent: cell })));
  const sold = (player) => `${match.sold[player]}${match.pawned[player] ? ` + ${match.pawned[player]} ${view.words.pawned}` : ""}`;
  const rounds = match.rounds.map((round, index) => row("td", [`${view.words.round} ${index + 1}`, ...round.scores]));
  if (!match.settled) rounds.push(row("td", [`${view.words.round} ${match.number}`, "…", "…"]));
  const why = match.rounds.length ? settlement(view, match.rounds.at(-1)) : "";
  const soft = (text) => make("p", { className: "soft", textContent: text });
  return [
    make("table", {}, row("th", ["", ...seats.map((_, seat) => capital(sentenceName(view, seat)))]), ...rounds, row("th", [view.words.sold, sold(0), sold(1)])),
    ...[why, view.words.toLose(match.fields_to_lose), match.owners.tabs ? view.words.corners : ""].filter(Boolean).map(soft),
  ];
}

/** Explain why fields changed hands after a round: its `owed` points, and the fields `sold`, `pawned` and `returned`, such as "S1". */
export function settlement(view, { winner, owed, sold, pawned, returned }) {
  const words = WORDS[view.board.language], name = (player) => capital(seatName(view, player)), numbers = (fields) => fields.map((field) => field[1]);
  const given = [[sold, "sells"], [pawned, "pawns"]].flatMap(([fields, verb]) => (fields.length ? [words[verb](numbers(fields))] : [])).join(words.and);
  const told = [given && `${words.owes(name(1 - winner), owed, given)} ${words.prices}`, returned.length && `${name(winner)} ${words.redeems(numbers(returned))}.`];
  return told.filter(Boolean).join(" ") || `${capital(words.keeps)}.`;
}
