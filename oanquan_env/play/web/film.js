// A game as a film: its pictures, each as elements of SVG, and all of them as one moving SVG without scripts.

import { markShapes } from "./marks.js";
import { MINUS, copyFrame } from "./nodes.js";
import { heap, outline, pebble } from "./turned.js";

const BEGIN = 1200, MOVE = 1100, END = 4000; // milliseconds for which a picture is seen: at first, after a move, at the end
const LIFT = 320, SEED = 150, LAP = 240, GAP = 420, TAKING = 420; // and within a move
const HELD = 46; // how far above a square its seeds are held
export const FONTS = "DejaVu Sans, Verdana, Segoe UI, Helvetica, Arial, sans-serif";

/**
 * The pictures of a game: the board, marks and seeds in the hand between two steps. `game` is {drawing, start, starter,
 * moves, scores, winners, owners, names, labels, verdict}: moves as of a state, final scores and winners or null, the
 * marks of owners as SVG, a name for each plate, a label for each move, and words for the end.
 */
export function pictures({ drawing, start, starter, moves, scores, winners, labels, verdict }) {
  const made = [{ ...copyFrame(start), marked: [starter], note: "", last: null, hand: null, over: false, ms: BEGIN }];
  const add = (frame, rest) => made.push({ ...made.at(-1), ...copyFrame(frame), hand: null, ...rest });
  for (const [number, move] of moves.entries()) {
    const { square: origin } = move.steps[0], frame = copyFrame(number ? moves[number - 1].after : start);
    let last = { origin, path: [], last: origin, captured: [], step: move.move.endsWith("A") ? 1 : -1 };
    const show = (ms, hand = null) => add(frame, { ms, hand, last, marked: [move.player], note: labels[number] });
    for (const step of move.steps) {
      if (step.kind === "lap") {
        frame.seeds[step.square] -= step.seeds;
        show(LIFT, [step.square, step.seeds]);
        for (const [sown, square] of step.squares.entries()) {
          const held = step.seeds - sown - 1;
          frame.seeds[square] += 1;
          last = { ...last, path: [...last.path, square], last: square };
          show(held ? SEED : LAP, held ? [square, held] : null);
        }
      } else if (step.kind === "taking") {
        last = { ...last, captured: [...last.captured, step.square] };
        show(GAP);
        frame.seeds[step.square] -= step.seeds;
        frame.stones[Math.floor(step.square / (drawing.fields + 1))] -= step.stones;
        frame.scores[step.player] += step.points;
        show(TAKING);
      } else {
        const left = step.player * (drawing.fields + 1);
        for (let index = left; index < left + step.seeds; index++) frame.seeds[index] += 1;
        frame.scores[step.player] -= step.seeds;
        show(TAKING);
      }
    }
    add(move.after, { marked: [move.mover], ms: MOVE });
  }
  const end = made.at(-1);
  if (scores) Object.assign(end, { scores, marked: winners, over: true });
  Object.assign(end, { status: verdict, ms: END });
  return made;
}

// ---- elements --------------------------------------------------------------------------------------------------------

const number = (value) => String(Number(value.toFixed(2)));
export const escaped = (text) => text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);

/** Makes the elements of pictures on one board. */
export class Scene {
  constructor(drawing, { owners = "", names }) {
    Object.assign(this, { drawing, owners, names, colours: drawing.colours.light });
  }

  fill(role) { return ` class="f-${role}" fill="${this.colours[role]}"`; }

  words(text, [x, y], size, role, { anchor = "middle", bold = false } = {}) {
    if (text === "") return "";
    return `<text x="${number(x)}" y="${number(y + 0.36 * size)}" font-size="${number(size)}" text-anchor="${anchor}"${bold ? ' font-weight="bold"' : ""}`
      + `${this.fill(role)}>${escaped(text)}</text>`;
  }

  definitions() {
    const pebbles = [0, 1, 2, 3, 4].map((role) => `<g id="pebble${role}">${pebble(this.drawing, role)}</g>`);
    return `<defs>${pebbles.join("")}<g id="quan">${this.drawing.stone}</g></defs>`;
  }

  /** The empty board on its card. */
  backdrop() {
    const { drawing: { size: [width, height], squares }, colours } = this, layer = (draw) => squares.map(draw).join("");
    const stroke = (role, thick) => `class="s-${role}" stroke="${colours[role]}" stroke-width="${thick}" stroke-linejoin="round"`;
    return `<rect x="0" y="0" width="${width}" height="${height}" rx="18"${this.fill("card")}/>`
      + layer((square) => `<path d="${outline(square)}" transform="translate(0 5)" ${stroke("drop", 12)} fill="${colours.drop}"/>`)
      + layer((square) => `<path d="${outline(square)}" ${stroke("edge", 9)} fill="none"/>`)
      + layer((square) => `<path d="${outline(square)}"${this.fill(square.radius ? "mandarin" : "field")}/>`)
      + layer((square) => `<path d="${outline(square)}" ${stroke("edge", 2.5)} fill="none"/>`) + this.owners;
  }

  /** The elements of one picture, layer by layer, lowest first. */
  layers(picture) {
    const marks = picture.last && markShapes(this.drawing, picture.last), single = (shapes) => shapes?.match(/<[^>]+>/g) ?? [];
    return [single(marks?.under), this.pieces(picture), single(marks?.over), [...this.labels(picture), ...this.plates(picture), ...this.notes(picture)], this.hand(picture)];
  }

  pieces({ seeds, stones, over }) {
    const { squares, most_pebbles: most } = this.drawing, made = [];
    for (const [index, square] of squares.entries()) {
      const held = seeds[index];
      if (square.radius && stones[square.player]) made.push(`<use href="#quan" transform="translate(${square.stone.map(number).join(" ")})"/>`);
      if (!held) continue;
      if (over) made.push(this.words(`(${held})`, square.pile, 21, "faint")); // counted, and no longer in play
      else if (held <= most) made.push(this.heap(square, held) + this.words(String(held), square.count, 14, "count"));
      else {
        const [x, y] = square.pile, half = held < 100 ? 19 : 25;
        made.push(`${this.heap(square, most)}<rect x="${number(x - half)}" y="${number(y - 14)}" width="${2 * half}" height="28" rx="14"${this.fill("badge")} opacity="0.88"/>`
          + this.words(String(held), square.pile, 21, "badge_ink", { bold: true }));
      }
    }
    return made;
  }

  heap(square, seeds, up = 0) {
    return heap(square, seeds).map(([x, y, size, , role]) => `<use href="#pebble${role}" transform="translate(${number(x)} ${number(y - up)})scale(${number(size)})"/>`).join("");
  }

  /** The seeds that are held over a square; their number, where they are too many to draw. */
  hand({ hand }) {
    if (!hand) return [];
    const square = this.drawing.squares[hand[0]], held = hand[1], most = this.drawing.most_pebbles;
    return [this.heap(square, Math.min(held, most), HELD)
      + (held > most ? this.words(String(held), [square.pile[0], square.pile[1] - 2 * HELD], 21, "ink", { bold: true }) : "")];
  }

  labels({ seeds, marked, over }) {
    return this.drawing.squares.flatMap(({ label, field, player, radius }, index) => {
      const playable = !over && marked.includes(player) && seeds[index] > 0;
      return radius ? [] : [this.words(String(field + 1), label, 17, playable ? "accent" : "faint", { bold: playable })];
    });
  }

  /** Each player's points and name; beside two rows in a line, within the rows of more players below each other. */
  plates({ scores, marked }) {
    const { plates, text_scale: scale, players } = this.drawing;
    return plates.flatMap(([x, y], player) => {
      const turn = marked.includes(player), role = turn ? "accent" : "ink", points = String(scores[player]).replace("-", MINUS), name = this.names[player];
      return players === 2
        ? [this.words(points, [x, y], 28, role, { anchor: "start", bold: true }), this.words(name, [x + 58, y], 21, role, { anchor: "start", bold: turn })]
        : [this.words(name, [x, y - 15 * scale], 19 * scale, role, { bold: turn }), this.words(points, [x, y + 12 * scale], 27 * scale, role, { bold: true })];
    });
  }

  /** The last move, and at the end who won. */
  notes({ note, status = "" }) {
    const { size: [width, height], text_scale: scale, players, squares } = this.drawing;
    const middle = [0, 1].map((axis) => squares.reduce((sum, square) => sum + square.centre[axis], 0) / squares.length);
    const places = { 2: [[width - 50, 42], [width - 50, height - 42]], 3: [[24, 28], [width - 24, 28]], 4: [[middle[0], middle[1] + 14 * scale], [middle[0], middle[1] - 10 * scale]] }[players];
    const anchors = { 2: ["end", "end"], 3: ["start", "end"], 4: ["middle", "middle"] }[players];
    return [this.words(note, places[0], 16 * scale, "faint", { anchor: anchors[0] }), this.words(status, places[1], 18 * scale, "ink", { anchor: anchors[1] })];
  }
}

// ---- one moving picture ----------------------------------------------------------------------------------------------

/** A style sheet with the dark colours. */
export const recoloured = ({ colours: { dark } }) => Object.entries(dark).map(([role, colour]) => `.f-${role}{fill:${colour}}.s-${role}{stroke:${colour}}`).join("");

/** A game as an SVG document that begins again at its end; what several pictures share stands there once, with its times. */
export function movingSvg(game, title) {
  const { drawing } = game, [width, height] = drawing.size, scene = new Scene(drawing, game), shown = pictures(game);
  const ends = shown.reduce((sums, { ms }) => [...sums, sums.at(-1) + ms], [0]), times = ends.map((end) => Number((end / ends.at(-1)).toFixed(5)));
  const layers = shown.map((picture) => scene.layers(picture)), parts = [];
  for (const level of layers[0].keys()) {
    const seen = new Map(), together = new Map();
    for (const [at, layer] of layers.entries()) for (const element of layer[level]) seen.set(element, [...(seen.get(element) ?? []), at]);
    for (const [element, when] of seen) together.set(when.join(), [...(together.get(when.join()) ?? []), element]);
    for (const [when, elements] of together) parts.push(timed(elements.join(""), new Set(when.split(",").map(Number)), times, ends.at(-1)));
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${1.2 * width}" height="${1.2 * height}" role="img" font-family="${FONTS}">`
    + `<title>${escaped(title)}</title><style>svg{max-width:100%;height:auto}@media (prefers-color-scheme:dark){${recoloured(drawing)}}</style>${scene.definitions()}${scene.backdrop()}${parts.join("\n")}</svg>\n`;
}

/** Elements that are seen in some of the pictures. */
function timed(elements, when, times, duration) {
  const starts = times.slice(0, -1).flatMap((time, at) => (at && when.has(at) === when.has(at - 1) ? [] : [[time, when.has(at) ? "visible" : "hidden"]]));
  if (starts.length === 1) return elements;
  return `<g visibility="${starts[0][1]}">${elements}<animate attributeName="visibility" calcMode="discrete" dur="${duration}ms" repeatCount="indefinite" `
    + `keyTimes="${starts.map(([time]) => time).join(";")}" values="${starts.map(([, value]) => value).join(";")}"/></g>`;
}
