// The points that each move of a game gave away, from the values of its positions, for the page's review. It uses no
// document.

const NODES = 4_000_000; // moves in all searches of a whole game
export const QUICK = 20_000; // moves in the first search of each position
const LARGE = 3; // minimum number of points that a mistake gives away

/**
 * A budget of search moves for the positions of a game, from the last to the first; earlier positions share unused
 * moves.
 */
export class Budget {
  constructor(positions) {
    this.number = positions - 1; // the position whose turn it is
    this.left = NODES;
  }

  get share() {
    return Math.floor(this.left / (this.number + 1));
  }

  /** Subtract the moves of a position's search. */
  spend(nodes) {
    this.left -= Math.min(nodes, this.share);
    this.number -= 1;
  }

  /** Return whether the position's share allows a deeper search than the one that made its hint (thinking.js). */
  deepens({ search: { proved, nodes } }) {
    return !proved && nodes > 0 && nodes < this.share;
  }
}

/**
 * Value each position of a game. `hints` are indexed by the number of moves; missing ones are undefined. `played` has
 * the moves as texts. `final` has the `leads` at the end of a finished game, or is null.
 *
 * -> for each position null or { mover, leads, exact, best, values, proved, search, price, changed }. `leads` are the
 * players' final leads with best play (for three or four players only the mover's), and `exact` whether they are
 * proved. `best` is the best move, `values` the mover's final lead after each move, `proved` the moves with proved
 * values. `price` is the number of points that the move played gave away, and `changed` whether it changed which of two
 * players wins.
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
export const leads = (scores) =>
  scores.map((points) =>
    Math.round((scores.length * points - scores.reduce((sum, one) => sum + one)) / (scores.length - 1)),
  );

function valued({ mover, best: advised, values: seen, exact, search }, move, after, players) {
  const values = { ...seen },
    proved = new Set(exact);
  if (after?.exact && move in values && mover in after.leads) {
    // the result of the move is proved
    values[move] = after.leads[mover];
    proved.add(move);
  }
  const expected = values[advised] < seen[advised] ? top(values) : advised,
    best = proved.has(move) && values[move] > values[expected] ? move : expected;
  const price = move in values ? Math.max(0, values[best] - values[move]) : 0;
  return {
    mover,
    leads:
      players > 2 ? { [mover]: values[best] } : mover ? [-values[best], values[best]] : [values[best], -values[best]],
    exact: Object.keys(values).every((one) => proved.has(one)),
    best,
    values,
    proved,
    search,
    price,
    changed: players === 2 && price > 0 && Math.sign(values[best]) !== Math.sign(values[move]),
  };
}

const top = (values) => Object.keys(values).reduce((best, other) => (values[other] > values[best] ? other : best));

/** Return whether a review lists the move played. */
export const isMistake = (loss) => Boolean(loss) && (loss.price >= LARGE || loss.changed);

/**
 * Return { blunders, share } of each player: the number of its listed mistakes, and its score in percent of what it
 * would have without its losses. Null if the value of a position is missing.
 */
export function summary(found, scores) {
  if (!found.every(Boolean)) return null;
  return scores.map((points, player) => {
    const own = found.filter(({ mover }) => mover === player),
      // a lead also counts the points that others get
      lost = own.reduce((sum, { price }) => sum + price, 0) * (1 - 1 / scores.length);
    return {
      blunders: own.filter(isMistake).length,
      share: points > 0 ? Math.round((100 * points) / (points + lost)) : 0,
    };
  });
}
