// Pictures of a game, drawn by the page's board: the final position as a card to share, and the whole game as a GIF.

import { styleOf } from "./board-style.js";
import { DrawnBoard } from "./drawn-board.js";
import { Gif } from "./gif.js";
import { markShapes } from "./move-markers.js";
import { sweeping } from "./moving-board.js";
import { element, html } from "../dom.js";
import { copyFrame } from "../model/trace.js";
import { heap } from "./rotation.js";

// milliseconds that a picture is shown: at the start, after a move, at the end
const BEGIN = 1200,
  MOVE = 1100,
  END = 4000;
// milliseconds of the steps within a move
const LIFT = 320,
  SEED = 150,
  LAP = 240,
  GAP = 420,
  TAKING = 420;
const WIDTH = 600,
  AREA = 210_000; // maximum size of a GIF in pixels
// heights of the lines above and below the board, in units of the drawing
const HEAD = 64,
  ROW = 48,
  SIDE = 24; // margin of a card

/**
 * Yield the pictures of a game: the board, marks, and seeds in the hand between two steps. `game` is {drawing, start,
 * starter, moves, scores, winners, tabs, codes, names, labels, verdict}: moves as in a state, final scores and winners or
 * null, `tabs` and `names` as in `DrawnBoard.show`, `codes` as in `sweeping`, a label for each move, and words for the end.
 */
export function pictures({ drawing, start, starter, moves, scores, winners, labels, verdict }) {
  const made = [
    {
      ...copyFrame(start),
      mover: starter,
      won: Array(start.scores.length).fill(0),
      note: "",
      last: null,
      hand: null,
      winners: null,
      ms: BEGIN,
    },
  ];
  const add = (frame, rest) => made.push({ ...made.at(-1), ...copyFrame(frame), hand: null, ...rest });
  for (const [number, move] of moves.entries()) {
    const { square: origin } = move.steps[0],
      frame = copyFrame(number ? moves[number - 1].after : start),
      won = [...made.at(-1).won];
    let last = { origin, path: [], last: origin, captured: [], step: move.move.endsWith("A") ? 1 : -1 };
    const show = (ms, hand = null) =>
      add(frame, { ms, hand, last, won: [...won], mover: move.player, note: labels[number] });
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
        won[step.player] += step.stones;
        show(TAKING);
      } else {
        const left = step.player * (drawing.fields + 1);
        for (let index = left; index < left + step.seeds; index++) frame.seeds[index] += 1;
        frame.scores[step.player] -= step.seeds;
        show(TAKING);
      }
    }
    add(move.after, { mover: move.mover, ms: MOVE });
  }
  Object.assign(made.at(-1), scores ? { scores, winners, note: verdict } : {}, { ms: END });
  return made;
}

/** Return the last picture of a game, with the seeds left on the board in their owners' bowls. */
export function finalPicture(game) {
  const { drawing, start, moves, scores, codes } = game,
    last = pictures(game).at(-1);
  return scores ? { ...last, ...sweeping(drawing, moves.at(-1)?.after ?? start, scores, codes).after } : last;
}

/** A board outside the visible page that is rendered to pictures. */
class Sketch extends DrawnBoard {
  constructor(game, language, above, below, palette, scaleOf, side = 0) {
    super(html("div", {}, document.body), language);
    this.host.style.cssText = "position: fixed; left: -2000px; width: 800px";
    Object.assign(this, { game, above, style: styleOf(palette) });
    this.setDrawing(game.drawing);
    const [, top, , height] = this.view,
      [left, , width] = game.drawing.box;
    this.box = [left - side, top - above, width + 2 * side, height + above + below];
    const [, , wide, high] = this.box,
      scale = scaleOf(wide, high);
    this.canvas = html("canvas", { width: Math.round(wide * scale), height: Math.round(high * scale) });
    this.pen = this.canvas.getContext("2d", { willReadFrequently: true, alpha: false });
  }

  destroy() {
    super.destroy();
    this.host.remove();
  }

  /**
   * Draw a picture on the canvas, with lines of words [text, side, line number, size]: below the board from 0, above it
   * -1.
   */
  async paint(picture, lines) {
    const {
      game: { tabs, names, drawing },
      box: [left, top, width],
      canvas,
    } = this;
    this.show({ ...picture, frame: picture, tabs, names, ...(picture.last && markShapes(drawing, picture.last)) });
    if (picture.hand) this.hold(...picture.hand);
    const svg = this.svg.cloneNode(true),
      foot = top + this.above + this.view[3];
    svg.setAttribute("viewBox", this.box.join(" "));
    // not by an attribute, which the page's security policy forbids
    svg.style.cssText =
      `width:${canvas.width}px;height:${canvas.height}px;max-height:none;--k:1;` +
      `font-family:system-ui,"DejaVu Sans",sans-serif`;
    svg.prepend(
      element("style", {}, null, this.style),
      element("rect", { class: "f-card", x: left, y: top, width: "100%", height: "100%" }),
    );
    for (const [text, side, line, size] of lines) {
      const x = { start: left + 30, middle: left + width / 2, end: left + width - 30 }[side],
        y = line < 0 ? top + this.above / 2 : foot + ROW * (line + 0.4);
      element("text", { class: "f-ink", x, y }, svg, text).style.cssText = `text-anchor:${side};font-size:${size}px`;
    }
    const image = new Image(canvas.width, canvas.height);
    image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
    await image.decode();
    this.pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  }

  /** Draw seeds held over a square. */
  hold(index, seeds) {
    const { squares, most_pebbles: most } = this.drawing,
      {
        pile: [left, top],
      } = squares[index];
    for (const [x, y, size, , role] of heap(squares[index], Math.min(seeds, most)))
      this.hand.prepend(this.makePebble(role, [x, y - 46, size]));
    this.putBadge(this.handBadge, [left, top - 84], seeds > 1 ? seeds : 0);
  }
}

/** Return a game as the bytes of a GIF; `onprogress` is called with the share that is done. */
export async function gif(game, language, onprogress = () => {}) {
  const { light } = game.drawing.colours,
    size = (width, height) => Math.min(WIDTH / width, Math.sqrt(AREA / (width * height)));
  const sketch = new Sketch(game, language, 0, ROW, light, size),
    frames = [...pictures(game).slice(0, -1), finalPicture(game)],
    { width, height } = sketch.canvas;
  const pixels = async (picture) => {
    await sketch.paint(picture, [[picture.note, "middle", 0, 20]]);
    return sketch.pen.getImageData(0, 0, width, height).data;
  };
  const samples = [await pixels(frames[0]), await pixels(frames[frames.length >> 1]), await pixels(frames.at(-1))];
  const made = new Gif(width, height, palette(light, samples));
  for (const [number, picture] of frames.entries()) {
    made.add(await pixels(picture), picture.ms);
    if (number % 10 === 0) onprogress((number + 1) / frames.length);
  }
  sketch.destroy();
  return made.end();
}

/** Return the board's colours, and the most frequent colours in pictures, such as edges and tints. */
function palette(light, samples) {
  const counts = new Map();
  for (const pixels of samples) {
    for (let at = 0; at < pixels.length; at += 4) {
      const key = (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  const seen = [...counts.keys()].sort((one, other) => counts.get(other) - counts.get(one));
  const own = Object.values(light).map((colour) => parseInt(colour.slice(1), 16));
  return [...new Set([...own, ...seen])].slice(0, 127).map((key) => [key >> 16, (key >> 8) & 255, key & 255]);
}

/** Return the final picture as a PNG, with the verdict above it, and lines of pairs of texts below it. */
export async function card(game, language, rows, dark) {
  const { colours } = game.drawing,
    sketch = new Sketch(game, language, HEAD, ROW * rows.length, dark ? colours.dark : colours.light, () => 2, SIDE);
  const lines = rows.flatMap(([one, other], line) => [
    [one, "start", line, 21],
    [other, "end", line, 21],
  ]);
  await sketch.paint(finalPicture(game), [[game.verdict, "start", -1, 30], ["Ô Ăn Quan", "end", -1, 21], ...lines]);
  sketch.destroy();
  return new Promise((resolve) => {
    sketch.canvas.toBlob(resolve, "image/png");
  });
}
