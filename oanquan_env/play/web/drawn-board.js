// The board as it stands: the empty board, and a position on it.
//
// It decides no rule and knows no geometry: it draws positions that it is given as JSON (`oanquan_env.play.picture`).

import { sheet } from "./board-style.js";
import { WORDS } from "./board-words.js";
import { MINUS, copyFrame, element, html } from "./nodes.js";

export const SHORTEST = 0.5; // milliseconds: shorter motion is none

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
    this.resized = new ResizeObserver(() => this.fit());
    this.resized.observe(host);
  }

  get words() { return WORDS[this.language]; }

  destroy() {
    this.resized.disconnect();
  }

  // ---- the empty board ---------------------------------------------------------------------------------------------

  setDrawing(drawing) {
    this.drawing = drawing;
    this.root.adoptedStyleSheets = [sheet(drawing.colours)];
    const [left, top, width, height] = drawing.box;
    this.two = drawing.players === 2;
    this.view = this.two ? [left, 0, width, drawing.size[1]] : [left, top, width, height];
    this.svg.setAttribute("viewBox", this.view.join(" "));
    this.svg.replaceChildren();
    const layer = (name) => element("g", { class: name }, this.svg);
    layer("back").innerHTML = drawing.backdrop;
    this.under = layer("marks");
    this.tabs = layer("marks");
    this.pieces = layer("pieces");
    this.over = layer("marks");
    this.counts = layer("counts");
    this.plates = layer("plates");
    this.hits = layer("hits");
    this.hints = layer("hints");
    this.hand = layer("pieces");
    this.ways = layer("ways");
    this.heaps = drawing.squares.map(() => []);
    this.stones = Array(drawing.players).fill(null);
    this.squares = drawing.squares.map((square, index) => this.makeSquare(square, index));
    this.plate = drawing.plates.map((at) => this.makePlate(at));
    this.handBadge = this.makeBadge(this.hand);
    this.fit();
  }

  makeSquare(square, index) {
    const [x, y] = square.label;
    const label = square.field < this.drawing.fields
      ? element("text", { class: "label", x, y }, this.counts, String(square.field + 1)) : null;
    const count = element("text", { class: "count", x: square.count[0], y: square.count[1] }, this.counts);
    const badge = this.makeBadge(this.counts);
    this.putBadge(badge, square.pile, 0);
    const hit = element("path", { class: "hit", d: square.outline, role: "img", "data-square": index }, this.hits);
    if (label) hit.dataset.field = square.field + 1;
    return { label, count, badge, hit };
  }

  makePlate([x, y]) {
    const group = element("text", { class: `plate${this.two ? " first" : ""}` }, this.plates);
    const name = element("tspan", { x, y: this.two ? y : y - 15 * this.drawing.text_scale }, group);
    const points = element("tspan", this.two ? { class: "points", dx: 14 } : { class: "points", x }, group);
    return { group, name, points, at: this.two ? [x + 150, y] : [x, y + 10], x, y };
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

  /** Letters keep a readable size however small the board is: `k` is units of the drawing in a pixel. */
  fit() {
    if (!this.view) return;
    const width = this.svg.clientWidth || this.host.clientWidth;
    if (!width) return;
    this.k = this.view[2] / width;
    this.svg.style.setProperty("--k", this.k.toFixed(3));
    if (!this.two) {
      const size = Math.max(21, 13 * this.k);
      for (const plate of this.plate) {
        plate.name.setAttribute("y", plate.y - 0.6 * size);
        plate.points.setAttribute("y", plate.y + 0.6 * size);
      }
    }
    if (this.position && !this.playing) this.drawCounts();
  }

  // ---- a position --------------------------------------------------------------------------------------------------

  /**
   * Show a position at once: `frame`, `mover`, `under` and `over` (marks of the last move), `tabs` (fields sold), `names`
   * (words for the plates) and `winners` (once the game is over).
   */
  show(position) {
    this.position = position;
    this.frame = copyFrame(position.frame);
    this.under.innerHTML = position.under || "";
    this.over.innerHTML = position.over || "";
    this.tabs.innerHTML = position.tabs || "";
    this.svg.classList.toggle("left", Boolean(position.winners));
    this.pieces.replaceChildren();
    this.hand.replaceChildren(this.handBadge);
    this.putBadge(this.handBadge, [0, 0], 0);
    this.heaps = this.heaps.map(() => []);
    this.stones = this.stones.map((_, side) => (this.frame.stones[side] ? this.makeStone(side) : null));
    this.squares.forEach((square, index) => { square.hit.className.baseVal = "hit"; this.arrange(index, 0); });
    this.drawCounts();
    this.drawPlates();
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
    node.innerHTML = this.drawing.pebbles[`pebble${role}`];
    node.at = at;
    node.style.transform = `translate(${at[0]}px,${at[1]}px) scale(${at[2]})`;
    return node;
  }

  /** Let the pebbles of a square lie as its number of seeds asks for. */
  arrange(index, ms) {
    const nodes = this.heaps[index], want = Math.min(this.frame.seeds[index], this.drawing.most_pebbles);
    const places = want ? this.drawing.squares[index].heaps[want - 1] : [];
    while (nodes.length > want) nodes.pop().remove();
    places.forEach(([x, y, size, angle, role], number) => {
      if (!nodes[number]) nodes.push(this.makePebble(role, [x, y, size]));
      nodes[number].children[1].setAttribute("transform", `rotate(${angle})`);
      this.place(nodes[number], [x, y, size], ms);
    });
  }

  drawCounts() { this.squares.forEach((_, index) => this.drawCount(index)); }

  drawCount(index) {
    const seeds = this.frame.seeds[index], square = this.squares[index], many = seeds > this.drawing.most_pebbles;
    square.count.textContent = seeds && !many ? seeds : "";
    this.putBadge(square.badge, this.drawing.squares[index].pile, many ? seeds : 0);
    const place = this.drawing.squares[index], stone = place.field === this.drawing.fields && this.frame.stones[place.player];
    const holds = [seeds ? `${seeds} ${seeds === 1 ? this.words.seed : this.words.seeds}` : "", stone ? this.words.stone : ""]
      .filter(Boolean).join(", ") || this.words.empty;
    square.hit.setAttribute("aria-label", `${place.name[this.language]}: ${holds}${this.canChoose(index) ? `. ${this.words.choose}` : ""}`);
  }

  /** Whether a person may play that field now. */
  canChoose() { return false; }

  drawPlates() {
    const { names, winners, mover } = this.position, scores = this.frame.scores;
    this.plate.forEach((plate, player) => {
      plate.name.textContent = (names || this.drawing.seats[this.language])[player];
      plate.points.textContent = String(scores[player]).replace("-", MINUS);
      plate.group.classList.toggle("turn", winners ? winners.includes(player) : player === mover);
    });
  }

  /** Put a piece at [x, y, scale], along a flat arc in `ms` if a move is being played. */
  place(node, to, ms) {
    const from = node.at, text = ([x, y, size]) => `translate(${x}px,${y}px) scale(${size})`;
    node.at = to;
    node.style.transform = text(to);
    const run = this.playing;
    if (!run || run.skipped || ms / this.speed < SHORTEST || (from[0] === to[0] && from[1] === to[1] && from[2] === to[2])) return null;
    const distance = Math.hypot(to[0] - from[0], to[1] - from[1]);
    const middle = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2 - Math.min(34, distance / 4), Math.max(from[2], to[2]) * 1.08];
    const animation = node.animate(
      [{ transform: text(from) }, { transform: text(middle) }, { transform: text(to) }],
      { duration: ms / this.speed, easing: "cubic-bezier(.35,.1,.35,1)" },
    );
    run.animations.add(animation);
    animation.onfinish = () => run.animations.delete(animation);
    return animation;
  }
}
