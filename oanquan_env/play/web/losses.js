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
 * Value each position of a game. `hints`, by number of moves, are undefined where there is no hint yet. `played` are the
 * moves as texts. `final` are the `leads` at the end of a finished game, or null.
 *
 * -> of each position null, or { mover, leads, exact, best, values, proved, search, price, changed }: the players' final `leads`
 * with best play (of three or four players only the mover's) and whether they are `exact`, the best move, and of each move the
 * mover's final lead in `values`, `proved` the certain ones; `price` are the points that the move played gave away, `changed`
 * whether they changed which of two players wins.
 */
export function losses(hints, played, final, players = 2) {
  const found = Array(played.length + 1).fill(null);
  let after = final && { leads: final, exact: true };
  found[played.length] = after;
  for (let number = played.length - (final ? 1 : 0); number >= 0; number -= 1) {
    after = found[number] = hints[number] ? valued(hints[number], played[number], after, players) : null;
  }
  return found;
}

/** Return each player's lead over the mean of the others. */
export const leads = (scores) => scores.map((points) => Math.round((scores.length * points - scores.reduce((sum, one) => sum + one)) / (scores.length - 1)));

function valued({ mover, best: advised, values: seen, exact, search }, move, after, players) {
  const values = { ...seen }, proved = new Set(exact);
  if (after?.exact && move in values && mover in after.leads) { // what came of it is certain
    values[move] = after.leads[mover];
    proved.add(move);
  }
  const expected = values[advised] < seen[advised] ? top(values) : advised, best = proved.has(move) && values[move] > values[expected] ? move : expected;
  const price = move in values ? Math.max(0, values[best] - values[move]) : 0;
  return {
    mover, leads: players > 2 ? { [mover]: values[best] } : mover ? [-values[best], values[best]] : [values[best], -values[best]], exact: Object.keys(values).every((one) => proved.has(one)), best, values, proved, search,
    price, changed: players === 2 && price > 0 && Math.sign(values[best]) !== Math.sign(values[move]),
  };
}

const top = (values) => Object.keys(values).reduce((best, other) => (values[other] > values[best] ? other : best));

/** Whether a review lists the move after such a position. */
export const isMistake = (loss) => Boolean(loss) && (loss.price >= LARGE || loss.changed);

/**
 * Of each player its listed mistakes, and what share in percent its `scores` are of the points that it would
 * have had without what its moves gave away. Null where the value of a position is not known.
 */
export function summary(found, scores) {
  if (!found.every(Boolean)) return null;
  return scores.map((points, player) => {
    const own = found.filter(({ mover }) => mover === player), lost = own.reduce((sum, { price }) => sum + price, 0) * (1 - 1 / scores.length); // a point that another one gets counts in a lead for more
    return { blunders: own.filter(isMistake).length, share: points > 0 ? Math.round((100 * points) / (points + lost)) : 0 };
  });
}
