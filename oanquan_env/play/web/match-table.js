// The rounds of a match beside the board; it loads with the first match.

import { $, make, page } from "./common.js";
import { capital } from "./nodes.js";
import { settlement } from "./settlement.js";
import { view } from "./table.js";
import { sentenceName } from "./told.js";

export function showRounds() {
  const { match } = page.state;
  if (!match) return; // another game was opened meanwhile
  const row = (kind, cells) => make("tr", {}, ...cells.map((cell) => make(kind, { textContent: cell })));
  const sold = (player) => `${match.sold[player]}${match.pawned[player] ? ` + ${match.pawned[player]} ${view.words.pawned}` : ""}`;
  const rounds = match.rounds.map((round, index) => row("td", [`${view.words.round} ${index + 1}`, ...round.scores]));
  if (!match.settled) rounds.push(row("td", [`${view.words.round} ${match.number}`, "…", "…"]));
  const why = match.rounds.length ? settlement(view, match.rounds.at(-1)) : "";
  const soft = (text) => make("p", { className: "soft", textContent: text });
  $("match").replaceChildren(
    make("table", {}, row("th", ["", ...page.state.seats.map((_, seat) => capital(sentenceName(view, seat)))]), ...rounds, row("th", [view.words.sold, sold(0), sold(1)])),
    ...[why, view.words.toLose(match.fields_to_lose), match.owners.tabs ? view.words.corners : ""].filter(Boolean).map(soft),
  );
}
