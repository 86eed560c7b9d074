// A match of several rounds (docs/RULES.md 6) as plain data; the engine settles the rounds.
//
// A match is { rules, rounds, ownership: {sold, pawned}, starter, over, winner }: `rules` are the match rules, `ownership` and
// `starter` those of the round being played. A round is { number, starter, ownership, scores, winner, termination (a number),
// owed, sold, pawned, returned } and what was given for its record: { start, moves (actions), headers,
// comments }.

const FREE = { sold: [[], []], pawned: [[], []] };

/** The names of fields such as "S1" that are in `rows` but not in `others`. */
const gained = (rows, others) => rows.flatMap((row, player) => row.filter((field) => !others[player].includes(field)).map((field) => `${"SN"[player]}${field + 1}`));

/** A match before its first round. `rules` are those of the match. */
export const newMatch = (rules) => ({ rules, rounds: [], ownership: FREE, starter: 0, over: false, winner: null });

/** Whether a field is pawned or sold: leftovers then go by ownership, so values of positions are not proved. */
export const changedHands = (match) => match !== null && Object.values(match.ownership).flat(2).length > 0;

/** The match after a round that ended at `position`; `round` has its moves and the headers of its record. */
export function settle(engine, rules, match, position, round = {}) {
  const { ownership, starter } = match, number = match.rounds.length + 1;
  const settled = engine.settle(rules, match.rules, { ownership, starter, round: number, position });
  const { scores, winner, owed, over } = settled, after = settled.ownership, held = ({ sold, pawned }) => sold.map((row, player) => [...row, ...pawned[player]]);
  const changes = { sold: gained(after.sold, ownership.sold), pawned: gained(after.pawned, ownership.pawned), returned: gained(held(ownership), held(after)) };
  const played = { ...round, ...changes, number, starter, ownership, scores, winner, owed, termination: position.ended };
  return { ...match, rounds: [...match.rounds, played], ownership: after, starter: settled.starter, over, winner: settled.matchWinner };
}
