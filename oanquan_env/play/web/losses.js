// What each move of a game gave away, by the values of its positions, for the review of the page. It knows no document.

export const NODES = 4_000_000; // moves that the searches of a whole game play
export const QUICK = 20_000; // for one position, before those
export const LARGE = 3; // points

/** Splits the moves of searches among the positions of a game, the last one first; those before share what one leaves over. */
export class Budget {
  constructor(positions) {
    this.number = positions - 1; // the position whose turn it is
    this.left = NODES;
  }

  get share() { return Math.floor(this.left / (this.number + 1)); }

  /** The search of a position is done. */
  spend(nodes) {
    this.left -= Math.min(nodes, this.share);
    this.number -= 1;
  }

  /** Whether a search of this hint (thinking.js) would see more with the position's share. */
  deepens({ search: { proved, nodes } }) { return !proved && nodes > 0 && nodes < this.share; }
}

/**
 * Of each move of a game, and of its end, what the position before it is worth: `hints` by number of moves, undefined
 * where there is none yet, `played` texts, and `final`, South's lead in a finished game, or null.
 *
 * -> of each position null, or { mover, lead, exact, best, values, proved, search, price, changed }: South's `lead` with best
 * play and whether it is `exact`, the best move, and of each move the mover's final lead in `values`, `proved` the certain
 * ones; `price` are the points that the move played gave away, `changed` whether they changed who wins.
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
  if (after?.exact && move in values) { // what came of it is certain
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

/** Whether a review lists the move after such a position. */
export const isMistake = (loss) => Boolean(loss) && (loss.price >= LARGE || loss.changed);

/**
 * Of each of two players its listed mistakes, and what share in percent its `scores` are of the points that it would
 * have had without what its moves gave away. Null where the value of a position is not known.
 */
export function summary(found, scores) {
  if (!found.every(Boolean)) return null;
  return scores.map((points, player) => {
    const own = found.filter(({ mover }) => mover === player), lost = own.reduce((sum, { price }) => sum + price, 0) / 2; // a lead counts each point twice
    return { blunders: own.filter(isMistake).length, share: points > 0 ? Math.round((100 * points) / (points + lost)) : 0 };
  });
}
