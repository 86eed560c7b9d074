// What each move of a game gave away, from the values of its positions, for the page's review. It uses no document.

export const NODES = 4_000_000; // moves played by the searches of a whole game
export const QUICK = 20_000; // for each position, in a first quick pass
export const LARGE = 3; // points given away by a move that counts as a mistake

/** Divides the search nodes among the positions of a game, last position first; earlier positions share what one leaves over. */
export class Budget {
  constructor(positions) {
    this.number = positions - 1; // the position to search next
    this.left = NODES;
  }

  get share() { return Math.floor(this.left / (this.number + 1)); }

  /** Record that the search of a position is done. */
  spend(nodes) {
    this.left -= Math.min(nodes, this.share);
    this.number -= 1;
  }

  /** Whether a new search with the position's share would find more than this hint (thinking.js). */
  deepens({ search: { proved, nodes } }) { return !proved && nodes > 0 && nodes < this.share; }
}

/**
 * Return the value of each position of a game, including the last: `hints` by number of moves, undefined where there is none
 * yet; `played`, the moves as texts; and `final`, South's lead in a finished game, or null.
 *
 * -> for each position null, or { mover, lead, exact, best, values, proved, search, price, changed }: South's `lead` with best
 * play and whether it is `exact`; the best move; the mover's final lead after each move in `values`, and the moves for which it
 * is `proved`; `price`, the points that the played move gave away; and `changed`, whether that changed the winner.
 */
export function losses(hints, played, final) {
  const found = Array(played.length + 1).fill(null);
  let after = final === null ? null : { lead: final, exact: true };
  found[played.length] = after;
  for (let number = played.length - (final === null ? 0 : 1); number >= 0; number -= 1) {
    after = found[number] = hints[number] ? valued(hints[number], played[number], after) : null;
  }
  return found;
}

function valued({ mover, best: advised, values: seen, exact, search }, move, after) {
  const values = { ...seen }, proved = new Set(exact), sign = mover ? -1 : 1;
  if (after?.exact && move in values) { // the value of the next position is known for certain
    values[move] = sign * after.lead;
    proved.add(move);
  }
  const expected = values[advised] < seen[advised] ? top(values) : advised, best = proved.has(move) && values[move] > values[expected] ? move : expected;
  const price = move in values ? Math.max(0, values[best] - values[move]) : 0;
  return {
    mover, lead: sign * values[best], exact: Object.keys(values).every((one) => proved.has(one)), best, values, proved, search,
    price, changed: price > 0 && Math.sign(values[best]) !== Math.sign(values[move]),
  };
}

const top = (values) => Object.keys(values).reduce((best, other) => (values[other] > values[best] ? other : best));

/** Whether a review lists the move played in such a position. */
export const isMistake = (loss) => Boolean(loss) && (loss.price >= LARGE || loss.changed);

/**
 * Return for each of two players its number of listed mistakes, and its `scores` as a percentage of the points that it would
 * have had without the points its moves gave away. Null if the value of a position is unknown.
 */
export function summary(found, scores) {
  if (!found.every(Boolean)) return null;
  return scores.map((points, player) => {
    const own = found.filter(({ mover }) => mover === player), given = own.reduce((sum, { price }) => sum + price, 0) / 2; // a lead counts each point twice
    return { blunders: own.filter(isMistake).length, share: points > 0 ? Math.round((100 * points) / (points + given)) : 0 };
  });
}
