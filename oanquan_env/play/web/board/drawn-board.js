// The drawn board: the empty board, and a position on it.
//
// It knows no rules and computes no layout: it draws positions from JSON.

import { sheet } from "./board-style.js";
import { WORDS } from "../words/board-words.js";
import { Plate } from "./plate.js";
import { element, html } from "../dom.js";
import { copyFrame } from "../model/trace.js";
import { heap, outline, pebble, rotate } from "./rotation.js";

export const SHORTEST = 0.5; // milliseconds: shorter motion is skipped

/** A board that shows positions. */
export class DrawnBoard extends EventTarget {
  constructor(host, language = "en") {
    super();
    this.host = host;
    this.language = language;
    this.root = host.shadowRoot || host.attachShadow({ mode: "open" });
    this.root.replaceChildren();
    this.svg = element("svg", { role: "group" }, this.root);
    this.live = html("div", { className: "hidden" }, this.root);
    this.live.setAttribute("aria-live", "polite");
    this.speed = matchMedia("(prefers-reduced-motion: reduce)").matches ? Infinity : 1;
    this.position = null;
    this.playing = null;
    this.seat = 0; // the seat at the bottom
    this.resized = new ResizeObserver(() => this.fit());
    this.resized.observe(host);
  }

  get words() {
    return WORDS[this.language];
  }

  /** The name of each seat within a sentence. */
  get called() {
    return this.drawing.seats[this.language].map((name) => this.named(name));
  }

  /** Adapt a text to an upright board, which has no bottom. */
  named(text) {
    return this.upright
      ? text.replace(/(b)ên (dưới|trên)/gi, (_, first, side) => `${first}ên ${side === "dưới" ? "phải" : "trái"}`)
      : text;
  }

  destroy() {
    this.resized.disconnect();
  }

  // ---- the empty board ---------------------------------------------------------------------------------------------

  setDrawing(drawing) {
    this.plain = drawing;
    this.position = null;
    this.two = drawing.players === 2;
    this.root.adoptedStyleSheets = [sheet(drawing.colours)];
    this.upright = this.stands();
    this.draw();
  }

  /** Turn the board so that this player sits at the bottom. */
  sit(seat) {
    if (seat === this.seat) return;
    this.seat = seat;
    this.draw();
  }

  /** Whether a two-row board stands upright, which makes it larger on a phone. */
  stands() {
    return this.two && this.host.clientWidth < 560 && innerHeight > 1.2 * innerWidth;
  }

  /** Draw the empty board in its present orientation. */
  draw() {
    const { plain } = this,
      angle = (2 * Math.PI * this.seat) / plain.players - (this.upright ? Math.PI / 2 : 0);
    const drawing = (this.drawing = rotate(plain, angle)),
      [left, top, width, height] = plain.box,
      [x, y] = drawing.middle;
    this.view = this.upright
      ? [x - 224, y - width / 2, 448, width]
      : this.two
        ? [left + 24, 0, width - 48, plain.size[1]] // wide screens let the board grow
        : [left, top, width, height];
    this.svg.setAttribute("viewBox", this.view.join(" "));
    this.svg.classList.toggle("upright", this.upright);
    this.svg.replaceChildren();
    const layer = (name, heard) =>
      element("g", heard ? { class: name } : { class: name, "aria-hidden": true }, this.svg);
    const turn = { transform: `rotate(${(angle * 180) / Math.PI} ${x} ${y})` },
      back = layer("back");
    for (const style of ["drop", "rim", "floor"]) {
      for (const square of drawing.squares)
        element("path", { class: `${style}${square.radius ? " round" : ""}`, d: outline(square) }, back);
    }
    this.under = element("g", turn, layer("marks"));
    this.tabs = element("g", turn, layer("back"));
    this.pieces = layer("pieces");
    this.over = element("g", turn, layer("marks"));
    this.counts = layer("counts");
    this.plates = layer("plates", true);
    this.hits = layer("hits", true);
    this.hints = layer("hints");
    this.paths = layer("hints paths");
    this.hand = layer("pieces");
    this.ways = layer("ways", true);
    this.heaps = drawing.squares.map(() => []);
    this.stones = Array(drawing.players).fill(null);
    this.squares = drawing.squares.map((square, index) => this.makeSquare(square, index));
    this.plate = drawing.plates.map((_, player) => new Plate(this, player));
    this.handBadge = this.makeBadge(this.hand);
    this.fit();
    if (this.position) this.show(this.position);
  }

  makeSquare(square, index) {
    const [x, y] = square.label;
    const label =
      square.field < this.drawing.fields
        ? element("text", { class: "label", x, y }, this.counts, String(square.field + 1))
        : null;
    const count = element("text", { class: "count" }, this.counts);
    const badge = this.makeBadge(this.counts);
    this.putBadge(badge, square.pile, 0);
    const hit = element("path", { class: "hit", d: outline(square), role: "img", "data-square": index }, this.hits);
    if (label) hit.dataset.field = square.field + 1;
    return { label, count, badge, hit };
  }

  makeBadge(parent) {
    const group = element("g", { class: "badge", display: "none" }, parent);
    element("rect", { x: -21, y: -15, width: 42, height: 30, rx: 15 }, group);
    element("text", {}, group);
    return group;
  }

  putBadge(badge, [x, y], seeds) {
    badge.setAttribute("transform", `translate(${x} ${y}) scale(${Math.max(1, (this.k || 1) * 0.72)})`);
    badge.setAttribute("display", seeds ? "inline" : "none");
    badge.lastChild.textContent = seeds || "";
  }

  /** Keep letters readable however small the board is: `k` is the number of drawing units per pixel. */
  fit() {
    if (!this.view) return;
    if (this.stands() !== this.upright) {
      this.upright = !this.upright;
      this.draw();
      return;
    }
    const width = this.svg.clientWidth || this.host.clientWidth,
      height = this.svg.clientHeight || Infinity;
    if (!width) return;
    this.k = Math.max(this.view[2] / width, this.view[3] / height);
    this.svg.style.setProperty("--k", this.k.toFixed(3));
    for (const plate of this.plate) plate.lay();
    if (this.position && !this.playing) this.drawCounts();
  }

  /** The radius of the arrows for a move, in units of the drawing. */
  get wayRadius() {
    return Math.max(32, 23 * this.k);
  }

  // ---- a position --------------------------------------------------------------------------------------------------

  /**
   * Show a position at once: `frame`, `mover`, `won` (stones that each player captured), `under` and `over` (marks of
   * the last move), `tabs` (marks of sold and pawned fields), `names` (name and player of each plate) and `winners`
   * (once the game is over).
   */
  show(position) {
    this.position = position;
    this.frame = copyFrame(position.frame);
    this.won = position.won ? [...position.won] : Array(this.drawing.players).fill(0);
    this.under.innerHTML = position.under || "";
    this.over.innerHTML = position.over || "";
    this.tabs.innerHTML = position.tabs || "";
    this.svg.classList.toggle("left", Boolean(position.winners));
    this.pieces.replaceChildren();
    this.hand.replaceChildren(this.handBadge);
    this.putBadge(this.handBadge, [0, 0], 0);
    this.heaps = this.heaps.map(() => []);
    this.stones = this.stones.map((_, side) => (this.frame.stones[side] ? this.makeStone(side) : null));
    this.squares.forEach(({ hit }, index) => {
      hit.classList.remove("lifted", "last", "gap", "taken");
      this.arrange(index, 0);
    });
    this.drawCounts();
    this.drawPlates();
  }

  drawPlates() {
    for (const plate of this.plate) plate.draw();
  }

  makeStone(side) {
    const at = this.drawing.squares[side * (this.drawing.fields + 1) + this.drawing.fields].stone;
    const node = element("g", { class: "piece" }, this.pieces);
    node.innerHTML = this.drawing.stone;
    node.at = [...at, 1];
    this.place(node, node.at, 0);
    return node;
  }

  makePebble(role, at) {
    const node = element("g", { class: "piece" }, this.pieces);
    node.innerHTML = pebble(this.drawing, role);
    node.at = at;
    node.style.transform = `translate(${at[0]}px,${at[1]}px) scale(${at[2]})`;
    return node;
  }

  /** Arrange the pebbles of a square for its number of seeds. */
  arrange(index, ms) {
    const nodes = this.heaps[index],
      want = Math.min(this.frame.seeds[index], this.drawing.most_pebbles);
    const places = heap(this.drawing.squares[index], want);
    while (nodes.length > want) nodes.pop().remove();
    places.forEach(([x, y, size, angle, role], number) => {
      if (!nodes[number]) nodes.push(this.makePebble(role, [x, y, size]));
      nodes[number].children[1].setAttribute("transform", `rotate(${angle})`);
      this.place(nodes[number], [x, y, size], ms);
    });
  }

  drawCounts() {
    this.squares.forEach((_, index) => this.drawCount(index));
  }

  drawCount(index) {
    const seeds = this.frame.seeds[index],
      square = this.squares[index],
      many = seeds > this.drawing.most_pebbles;
    const place = this.drawing.squares[index],
      inwards = Math.min(1, (47 - 6.9 * (this.k || 1)) / 38), // keeps large digits within the square
      [x, y] = place.centre.map((at, axis) => at + (place.count[axis] - at) * inwards),
      stone = place.field === this.drawing.fields && this.frame.stones[place.player];
    square.count.textContent = seeds && !many ? seeds : "";
    square.count.setAttribute("x", x);
    square.count.setAttribute("y", y);
    this.putBadge(square.badge, place.pile, many ? seeds : 0);
    const holds =
      [seeds ? `${seeds} ${seeds === 1 ? this.words.seed : this.words.seeds}` : "", stone ? this.words.stone : ""]
        .filter(Boolean)
        .join(", ") || this.words.empty;
    square.hit.setAttribute(
      "aria-label",
      `${this.named(place.name[this.language])}: ${holds}${this.canChoose(index) ? `. ${this.words.choose}` : ""}`,
    );
  }

  /** Return whether a person may play the field `index` now. */
  canChoose() {
    return false;
  }

  /** Move a piece to [x, y, scale], in a flat arc of `ms` milliseconds while a move is played. */
  place(node, to, ms) {
    const from = node.at,
      text = ([x, y, size]) => `translate(${x}px,${y}px) scale(${size})`;
    node.at = to;
    node.style.transform = text(to);
    const run = this.playing;
    if (
      !run ||
      run.skipped ||
      ms / this.speed < SHORTEST ||
      (from[0] === to[0] && from[1] === to[1] && from[2] === to[2])
    )
      return null;
    const distance = Math.hypot(to[0] - from[0], to[1] - from[1]);
    const middle = [
      (from[0] + to[0]) / 2,
      (from[1] + to[1]) / 2 - Math.min(34, distance / 4),
      Math.max(from[2], to[2]) * 1.08,
    ];
    const animation = node.animate([{ transform: text(from) }, { transform: text(middle) }, { transform: text(to) }], {
      duration: ms / this.speed,
      easing: "cubic-bezier(.35,.1,.35,1)",
    });
    run.animations.add(animation);
    animation.onfinish = () => run.animations.delete(animation);
    return animation;
  }
}
