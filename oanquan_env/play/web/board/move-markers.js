// The marks of a move, and of fields that changed hands in a match, as SVG for the board and for pictures.
//
// `drawing` is the JSON of an empty board, unturned.

const TABS = { 1: { fill: "card", stroke: "accent" }, 2: { fill: "accent", stroke: "edge" } };

/** Round to hundredths. */
const number = (value) => String(Number(value.toFixed(2)) + 0);
const point = ([x, y]) => `${number(x)},${number(y)}`;
const between = (from, to, part) => from.map((value, axis) => value + (to[axis] - value) * part);
const ascending = (squares) => [...new Set(squares)].sort((a, b) => a - b);

/** Return plain attributes for all SVG viewers, and classes that a style may recolour. */
function paint(drawing, { fill, stroke, width, opacity }) {
  const { light } = drawing.colours,
    classes = [fill && `f-${fill}`, stroke && `s-${stroke}`].filter(Boolean).join(" ");
  return (
    ` class="${classes}" fill="${fill ? light[fill] : "none"}"` +
    (stroke ? ` stroke="${light[stroke]}" stroke-width="${number(width)}" stroke-linejoin="round"` : "") +
    (opacity ? ` opacity="${number(opacity)}"` : "")
  );
}

const polygon = (drawing, points, painted) =>
  `<polygon points="${points.map(point).join(" ")}"${paint(drawing, painted)}/>`;

/** Return the outline of a square, `inset` units inside it. */
function outline(drawing, index, painted, inset = 0) {
  const { corners, centre, radius } = drawing.squares[index];
  const reach = Math.max(...corners.map((corner) => Math.hypot(corner[0] - centre[0], corner[1] - centre[1])));
  const part = 1 - inset / reach,
    points = inset ? corners.map((corner) => between(centre, corner, part)) : corners;
  if (!radius) return polygon(drawing, points, painted);
  const [middle, start, end] = points.map(point),
    size = number(radius * part);
  return `<path d="M${middle}L${start}A${size} ${size} 0 0 0 ${end}Z"${paint(drawing, painted)}/>`;
}

/** Return the borders crossed from each square to the next, as indices of the squares before them on the ring. */
function crossed(squares, step, count) {
  const gates = [];
  for (let number = 1; number < squares.length; number++) {
    let at = squares[number - 1];
    do {
      gates.push(step > 0 ? at : (at - 1 + count) % count);
      at = (at + step + count) % count;
    } while (at !== squares[number]);
  }
  return gates;
}

/** Return an arrowhead on the border with the next square anticlockwise. */
function arrow(drawing, index, step, fill) {
  const { corners, radius, heading } = drawing.squares[index],
    angle = heading + (step > 0 ? 0 : Math.PI);
  const [x, y] = radius ? between(corners[0], corners[2], 50 / radius) : between(corners[1], corners[2], 0.5);
  const cos = Math.cos(angle),
    sin = Math.sin(angle);
  const points = [
    [9, 0],
    [-6, 8],
    [-2, 0],
    [-6, -8],
  ].map(([a, b]) => [x + a * cos - b * sin, y + a * sin + b * cos]);
  return polygon(drawing, points, { fill, stroke: "card", width: 1.2 });
}

/**
 * Return the marks of a move: tints of the squares passed and captured for `under` the pieces, arrowheads for `over`
 * them. `last` is {origin, path, last, captured, step}: ring indices, and step 1 (anticlockwise) or -1.
 */
export function markShapes(drawing, { origin, path, last, captured, step }) {
  const tint = (fill) => (index) => outline(drawing, index, { fill, opacity: 0.3 });
  const ring = (stroke, width) => (index) => outline(drawing, index, { stroke, width }, 6);
  const under = [
    ...ascending(path)
      .filter((index) => !captured.includes(index))
      .map(tint("passed")),
    ...ascending(captured).map(tint("captured")),
    ring("passed", 3.5)(origin),
    ...(last === origin ? [] : [ring("ink", 3)(last)]),
    ...captured.map(ring("captured", 3.5)),
  ];
  const count = drawing.squares.length,
    taken = ascending(crossed([last, ...captured], step, count));
  const sown = ascending(crossed([origin, ...path], step, count)).filter((gate) => !taken.includes(gate));
  const over = [
    ...sown.map((gate) => arrow(drawing, gate, step, "ink")),
    ...taken.map((gate) => arrow(drawing, gate, step, "captured")),
  ];
  return { under: under.join(""), over: over.join("") };
}

/** Return corner marks of pawned (code 1) and sold (2) fields; `codes` has each player's fields from its left. */
export function tabShapes(drawing, codes) {
  return codes
    .flat()
    .map((code, number) => {
      const index = Math.floor(number / drawing.fields) * (drawing.fields + 1) + (number % drawing.fields);
      const [, before, corner, behind] = drawing.squares[index].corners,
        tab = [corner, between(corner, behind, 0.22), between(corner, before, 0.22)];
      return code ? polygon(drawing, tab, { ...TABS[code], width: 2 }) : "";
    })
    .join("");
}

/** The styles of the arrows for a played move and a best move. `offset` separates two arrows from one square. */
export const ARROWS = {
  played: { role: "captured", dash: ' stroke-dasharray="11 8"', offset: 15, ring: 44 },
  best: { role: "stone", dash: "", offset: -15, ring: 38 },
};

/** Return an arrow from a move's field into the next one. */
export function moveArrow(drawing, kind, mover, move) {
  const {
      centre: [x, y],
      heading,
    } = drawing.squares[mover * (drawing.fields + 1) + Number(move[0]) - 1],
    { role, dash, offset, ring } = ARROWS[kind];
  const line = (colour, width, dashed) =>
    `<path${paint(drawing, { stroke: colour, width })}${dashed} d="M0,0H62"/>` +
    `<path${paint(drawing, { fill: colour, stroke: colour, width: width / 3 })} d="M58,-17L88,0L58,17Z"/>`;
  return (
    `<g transform="translate(${x} ${y}) rotate(${(heading * 180) / Math.PI})">` +
    `<rect${paint(drawing, { stroke: role, width: 5 })}${dash} ` +
    `x="${-ring}" y="${-ring}" width="${2 * ring}" height="${2 * ring}" rx="6"/>` +
    `<g transform="translate(0 ${offset}) scale(${move.endsWith("A") ? 1 : -1} 1)">` +
    `${line("card", 15, "")}${line(role, 9, dash)}</g></g>`
  );
}
