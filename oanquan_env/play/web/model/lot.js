// Rock, paper, scissors (oẳn tù tì), by which players decide who begins.

/**
 * Return { hands, starter }: what each player shows in the last round (0 rock, 1 paper, 2 scissors; null if it is out),
 * and the player that is left. In a round with exactly two kinds of hands, the players with the losing kind drop out.
 */
export function drawLots(players, random = Math.random) {
  let left = Array.from({ length: players }, (_, player) => player),
    hands = [];
  while (left.length > 1) {
    hands = Array(players).fill(null);
    for (const player of left) hands[player] = Math.floor(3 * random());
    const shown = [...new Set(left.map((player) => hands[player]))];
    if (shown.length !== 2) continue;
    const winning = (shown[0] + 1) % 3 === shown[1] ? shown[1] : shown[0];
    left = left.filter((player) => hands[player] === winning);
  }
  return { hands, starter: left[0] };
}
