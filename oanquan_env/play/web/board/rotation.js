// Turns a drawing about its centre, so that a person sits at the bottom, or at the right of an upright board.

/**
 * Turn a drawing clockwise by `angle`, a multiple of the angle between two sides of the board, or of 90° for two rows.
 */
export function rotate(drawing, angle) {
  const count = drawing.squares.length,
    middle = [0, 1].map((axis) => drawing.squares.reduce((sum, square) => sum + square.centre[axis], 0) / count);
  const cos = Math.cos(angle),
    sin = Math.sin(angle),
    round = (value) => Math.round(value * 1000) / 1000;
  const at = ([x, y, ...rest]) => {
    const dx = x - middle[0],
      dy = y - middle[1];
    return [round(middle[0] + dx * cos - dy * sin), round(middle[1] + dx * sin + dy * cos), ...rest];
  };
  const squares = drawing.squares.map((square) => ({
    ...square,
    corners: square.corners.map(at),
    heading: square.heading + angle,
    turn: angle,
    ...Object.fromEntries(["centre", "pile", "stone", "count", "label"].map((name) => [name, at(square[name])])),
  }));
  return { ...drawing, middle, angle, squares, plates: drawing.plates.map(at) };
}

/** Return the positions of a square's seeds: [x, y, scale, angle, colour] of each. */
export function heap({ pile: [x, y], pebbles, heaps, turn = 0 }, seeds) {
  const cos = Math.cos(turn) / 10,
    sin = Math.sin(turn) / 10,
    held = heaps[seeds - 1] ?? [];
  return pebbles.slice(0, seeds).map(([size, colour], number) => {
    const [dx, dy, angle] = held.slice(3 * number, 3 * number + 3);
    return [x + dx * cos - dy * sin, y + dx * sin + dy * cos, size, angle, colour];
  });
}

/** Return the path of a square; a mandarin square is a sector whose corners are the centre and the ends of its arc. */
export function outline({ corners, radius }) {
  const points = corners.map((corner) => corner.join());
  return radius ? `M${points[0]}L${points[1]}A${radius},${radius} 0 0 0 ${points[2]}Z` : `M${points.join("L")}Z`;
}

/** Return the shapes of a pebble in one of five colours. */
export const pebble = ({ pebble, colours: { light } }, role) =>
  pebble.replaceAll("pebble0", `pebble${role}`).replace(light.pebble0, light[`pebble${role}`]);
