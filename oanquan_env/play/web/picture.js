// A game as a GIF: the elements of its film, drawn on a canvas.

import { Scene, pictures } from "./film.js";
import { Gif } from "./gif.js";

const WIDTH = 600; // pixels of two rows of five fields, and as much room for other boards
const AREA = 180_000;

/** A game as the bytes of a GIF; `onprogress` hears which share of it is made. */
export async function gif(game, onprogress = () => {}) {
  const { drawing } = game, scene = new Scene(drawing, game), shown = pictures(game), [width, height] = drawing.size;
  const scale = Math.min(WIDTH / width, Math.sqrt(AREA / (width * height)));
  const canvas = Object.assign(document.createElement("canvas"), { width: Math.round(width * scale), height: Math.round(height * scale) });
  const pen = canvas.getContext("2d", { willReadFrequently: true, alpha: false }), artist = new Artist(scene.definitions());
  const made = new Gif(canvas.width, canvas.height, palette(drawing.colours.light));
  pen.fillStyle = drawing.colours.light.card;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.scale(scale, scale);
  artist.draw(pen, scene.backdrop());
  pen.resetTransform();
  const backdrop = await createImageBitmap(canvas);
  let paused = performance.now();
  for (const [number, picture] of shown.entries()) {
    pen.drawImage(backdrop, 0, 0);
    pen.save();
    pen.scale(scale, scale);
    for (const layer of scene.layers(picture)) for (const element of layer) artist.draw(pen, element);
    pen.restore();
    made.add(pen.getImageData(0, 0, canvas.width, canvas.height).data, picture.ms);
    if (performance.now() - paused < 100) continue;
    onprogress((number + 1) / shown.length);
    await new Promise((resolve) => setTimeout(resolve)); // the page stays alive
    paused = performance.now();
  }
  return made.end();
}

/** The board's colours, and those that lie between two of them where one is laid over the other, or at an edge. */
function palette(light) {
  const rgb = (role) => [1, 3, 5].map((at) => parseInt(light[role].slice(at, at + 2), 16));
  const mixed = (under, over, share) => under.map((part, channel) => Math.round(part + (over[channel] - part) * share));
  const grounds = ["field", "mandarin"].flatMap((role) => [rgb(role), ...["passed", "captured"].map((tint) => mixed(rgb(role), rgb(tint), 0.3))]);
  const pebbles = ["pebble0", "pebble1", "pebble2", "pebble3", "pebble4"].map(rgb), card = rgb("card"), shade = rgb("shade"), shine = rgb("shine"), stone = rgb("stone"), rim = rgb("stone_rim");
  const edge = rgb("edge"), lines = ["ink", "faint", "accent", "edge"].map(rgb), marks = ["passed", "captured", "ink"].map(rgb);
  const all = [
    ...Object.keys(light).map(rgb), ...grounds, ...grounds.flatMap((ground) => [mixed(ground, shade, 0.3), mixed(ground, shade, 0.6), mixed(ground, edge, 0.5)]),
    ...pebbles.flatMap((pebble) => [mixed(pebble, shine, 0.5), mixed(pebble, shade, 0.35), mixed(pebble, grounds[0], 0.5)]),
    mixed(stone, rim, 0.28), mixed(stone, shine, 0.55), mixed(stone, shine, 0.27), mixed(stone, grounds[3], 0.5), mixed(rim, grounds[3], 0.5),
    ...lines.flatMap((line) => [0.25, 0.5, 0.75].map((share) => mixed(card, line, share))), ...marks.flatMap((mark) => grounds.slice(0, 4).map((ground) => mixed(ground, mark, 0.5))),
    ...[0.3, 0.6].map((share) => mixed(grounds[0], rgb("count"), share)), mixed(card, rgb("drop"), 0.5), mixed(rgb("drop"), edge, 0.5),
  ];
  return [...new Map(all.map((colour) => [colour.join(), colour])).values()].slice(0, 127);
}

/** Draws SVG elements, of the few kinds that a film has, on a canvas. */
class Artist {
  constructor(definitions) {
    this.known = new Map(); // text -> its shapes
    this.defined = new Map([...this.parse(definitions).querySelectorAll("g[id]")].map((group) => [`#${group.id}`, [...group.children].map((node) => this.shape(node))]));
  }

  parse(text) { return new DOMParser().parseFromString(`<svg xmlns="http://www.w3.org/2000/svg">${text}</svg>`, "image/svg+xml").documentElement; }

  draw(pen, text) {
    if (!this.known.has(text)) this.known.set(text, [...this.parse(text).children].map((node) => this.shape(node)));
    for (const shape of this.known.get(text)) this.paint(pen, shape);
  }

  /** What a node paints: an outline or words, in its colours; or other shapes. */
  shape(node) {
    const value = (name) => Number(node.getAttribute(name) ?? 0), painted = (name) => ((node.getAttribute(name) ?? "none") === "none" ? null : node.getAttribute(name));
    const shape = {
      matrix: node.transform.baseVal.consolidate()?.matrix, fill: painted("fill"), stroke: painted("stroke"), width: value("stroke-width"), opacity: Number(node.getAttribute("opacity") ?? 1),
    };
    if (node.tagName === "use") shape.parts = this.defined.get(node.getAttribute("href"));
    else if (node.tagName === "text") {
      Object.assign(shape, {
        text: node.textContent, x: value("x"), y: value("y"), align: { start: "left", middle: "center", end: "right" }[node.getAttribute("text-anchor")],
        font: `${node.getAttribute("font-weight") ?? ""} ${value("font-size")}px DejaVu Sans, Verdana, sans-serif`,
      });
    } else {
      shape.path = new Path2D(node.getAttribute("d") ?? (node.tagName === "polygon" ? `M${node.getAttribute("points")}Z` : ""));
      if (node.tagName === "ellipse") shape.path.ellipse(value("cx"), value("cy"), value("rx"), value("ry"), 0, 0, 2 * Math.PI);
      if (node.tagName === "rect") shape.path.roundRect(value("x"), value("y"), value("width"), value("height"), value("rx"));
    }
    return shape;
  }

  paint(pen, { matrix, fill, stroke, width, opacity, parts, text, x, y, align, font, path }) {
    pen.save();
    if (matrix) pen.transform(matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f);
    pen.globalAlpha = opacity;
    pen.lineJoin = "round";
    if (parts) for (const part of parts) this.paint(pen, part);
    if (fill) pen.fillStyle = fill;
    if (text) { Object.assign(pen, { font, textAlign: align }); pen.fillText(text, x, y); }
    if (path && fill) pen.fill(path);
    if (path && stroke) { Object.assign(pen, { strokeStyle: stroke, lineWidth: width }); pen.stroke(path); }
    pen.restore();
  }
}
