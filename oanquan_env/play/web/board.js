// The board of Ô Ăn Quan in a browser: an ES module without a build step, for the page and for the notebook's widget.
//
// It decides no rule and knows no geometry: it draws positions, and plays the steps of moves, that it is given as JSON
// (`oanquan_env.play.picture`). `BoardView` is the board alone, `GameView` adds a row of buttons and follows a game, and
// the default export is the widget of anywidget.

export const WORDS = {
  en: {
    board: "Board of Ô Ăn Quan", seed: "seed", seeds: "seeds", stone: "a mandarin stone", empty: "empty",
    choose: "Enter chooses it", anticlockwise: "anticlockwise", clockwise: "clockwise", sow: "Sow",
    undo: "Undo", redo: "Redo", hint: "Hint", again: "Watch again", skip: "Skip", speed: "Speed",
    slow: "slow", normal: "normal", fast: "fast", none: "instant", worth: "worth",
    tap: "Tap one of your fields, then an arrow.", thinking: "is thinking…", looking: "Looking for the best move…", toMove: "to move", yourTurn: "Your turn.", you: "you",
    wins: "wins", draw: "A draw", share: "share the win", resigns: "resigns", over: "The game is over.",
  },
  vi: {
    board: "Bàn Ô Ăn Quan", seed: "dân", seeds: "dân", stone: "một quan", empty: "trống",
    choose: "Enter để chọn", anticlockwise: "ngược chiều kim đồng hồ", clockwise: "theo chiều kim đồng hồ", sow: "Rải",
    undo: "Đi lại", redo: "Làm lại", hint: "Gợi ý", again: "Xem lại", skip: "Bỏ qua", speed: "Tốc độ",
    slow: "chậm", normal: "vừa", fast: "nhanh", none: "tức thì", worth: "giá trị",
    tap: "Chạm vào một ô của bạn, rồi chọn mũi tên.", thinking: "đang nghĩ…", looking: "Đang tìm nước hay nhất…", toMove: "đến lượt", yourTurn: "Đến lượt bạn.", you: "bạn",
    wins: "thắng", draw: "Hòa", share: "cùng thắng", resigns: "xin thua", over: "Ván đã kết thúc.",
  },
};

const SVG = "http://www.w3.org/2000/svg";
const SPEEDS = { slow: 0.5, normal: 1, fast: 2.5, none: Infinity };
const SHORTEST = 0.5; // milliseconds: shorter motion is none
const MINUS = "\u2212";
const points = (scores) => scores.map((score) => String(score).replace("-", MINUS)).join(" : ");
const signed = (value) => (value < 0 ? MINUS : "+") + Math.abs(value);

function element(name, attributes = {}, parent = null, text = null) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== null) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

function html(name, properties = {}, parent = null) {
  const node = Object.assign(document.createElement(name), properties);
  if (parent) parent.append(node);
  return node;
}

const copyFrame = (frame) => ({
  seeds: [...frame.seeds], stones: [...frame.stones], scores: [...frame.scores],
});

const STYLE = `
:host { display: block; position: relative; color: var(--ink); font-family: system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
* { box-sizing: border-box; }
svg { display: block; width: 100%; height: auto; overflow: visible; touch-action: manipulation; user-select: none;
  -webkit-user-select: none; font-family: inherit; }
text { text-anchor: middle; dominant-baseline: central; pointer-events: none; }
.pieces, .marks, .counts, .hints, .plates { pointer-events: none; }
.hit { fill: transparent; stroke: transparent; stroke-width: 5; stroke-linejoin: round; outline: none; pointer-events: all;
  transition: stroke .15s, fill .15s; }
.hit.legal { cursor: pointer; }
@media (hover: hover) { .hit.legal:hover { fill: color-mix(in srgb, var(--shine) 22%, transparent); } }
.hit.legal { stroke: color-mix(in srgb, var(--stone) 55%, transparent); stroke-width: 3; }
.hit:focus-visible, .hit.chosen { stroke: var(--stone); stroke-width: 6; }
.hit.chosen { fill: color-mix(in srgb, var(--shine) 26%, transparent); }
.hit.lifted { stroke: var(--passed); stroke-width: 6; fill: color-mix(in srgb, var(--passed) 22%, transparent); }
.hit.last { stroke: var(--ink); stroke-width: 4; }
.hit.gap { stroke: var(--captured); stroke-dasharray: 9 8; stroke-width: 4; }
.hit.taken { stroke: var(--captured); stroke-width: 6; fill: color-mix(in srgb, var(--captured) 26%, transparent); }
.count { font-size: max(15px, calc(11.5px * var(--k))); font-weight: 600; fill: var(--count); paint-order: stroke;
  stroke: var(--field); stroke-width: 4px; stroke-linejoin: round; }
.badge rect { fill: var(--badge); opacity: .88; }
.badge text { fill: var(--badge_ink); font-weight: 700; font-size: max(21px, calc(12px * var(--k))); }
.left .piece { opacity: .55; }
.label { font-size: max(17px, calc(11px * var(--k))); fill: var(--faint); }
.label.legal { fill: var(--accent); font-weight: 700; }
.plate { font-size: max(21px, calc(13px * var(--k))); fill: var(--ink); }
.plate .points { font-size: 1.3em; font-weight: 700; }
.plate.first { text-anchor: start; }
.plate.turn { fill: var(--accent); font-weight: 700; }
.hint rect { fill: var(--card); stroke: var(--edge); stroke-width: 1.5; opacity: .94; }
.hint text { fill: var(--ink); font-weight: 600; font-size: max(15px, calc(10px * var(--k))); }
.hint.best rect { fill: var(--stone); stroke: var(--stone_rim); }
.hint.best text { fill: #fff; }
.way { cursor: pointer; outline: none; }
.way circle { fill: var(--stone); stroke: var(--card); stroke-width: 4; }
.way path { fill: #fff; pointer-events: none; }
.way:hover circle, .way:focus-visible circle { fill: var(--accent); }
.way:focus-visible circle { stroke: var(--ink); }
.way text { fill: #fff; font-weight: 700; font-size: calc(11px * var(--k)); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.tools { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 10px; align-items: center; justify-content: center; }
button, select { font: inherit; font-size: 15px; min-height: 44px; padding: 0 14px; border-radius: 10px; cursor: pointer;
  border: 1px solid color-mix(in srgb, var(--edge) 55%, transparent); color: var(--ink); background: var(--card); }
button:hover:enabled { border-color: var(--stone); }
button:focus-visible, select:focus-visible { outline: 3px solid var(--stone); outline-offset: 1px; }
button:disabled { opacity: .42; cursor: default; }
.say { text-align: center; margin: 10px 4px 0; min-height: 2.8em; font-size: 17px; line-height: 1.4; }
label { display: inline-flex; gap: 6px; align-items: center; font-size: 15px; color: var(--faint); }
@media (max-width: 480px) { .tools { gap: 6px; } button, select { padding: 0 10px; } }
`;

function sheet(colours) {
  const variables = (palette) => Object.entries(palette).map(([role, colour]) => `--${role}:${colour};`).join("");
  const roles = Object.keys(colours.light).map((role) => `.f-${role}{fill:var(--${role})}.s-${role}{stroke:var(--${role})}`);
  const made = new CSSStyleSheet();
  made.replaceSync(
    `:host{${variables(colours.light)}}@media(prefers-color-scheme:dark){:host{${variables(colours.dark)}}}${roles.join("")}${STYLE}`,
  );
  return made;
}

/** One board: it shows positions, plays moves, and tells (event "move", detail "3A") which move a person chose. */
export class BoardView extends EventTarget {
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
    this.legal = new Map();
    this.position = null;
    this.chosen = null;
    this.playing = null;
    this.byKeyboard = false;
    this.svg.addEventListener("keydown", (event) => this.onKey(event));
    this.svg.addEventListener("click", (event) => { if (event.target === this.svg) this.choose(null); });
    this.resized = new ResizeObserver(() => this.fit());
    this.resized.observe(host);
  }

  get words() { return WORDS[this.language]; }

  destroy() {
    this.skip();
    this.resized.disconnect();
  }

  // ---- the empty board ---------------------------------------------------------------------------------------------

  setDrawing(drawing) {
    this.skip();
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
    hit.addEventListener("click", () => { this.byKeyboard = false; this.choose(index); });
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
    if (this.chosen !== null) this.choose(this.chosen);
  }

  // ---- a position --------------------------------------------------------------------------------------------------

  /**
   * Show a position at once: `frame`, `mover`, `legal` (moves that a person may choose now), `under` and `over` (marks of
   * the last move), `tabs` (fields sold), `names` (words for the plates) and `winners` (once the game is over).
   */
  show(position) {
    this.skip();
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
    this.hints.replaceChildren();
    this.drawCounts();
    this.drawPlates();
    this.setLegal(position.legal || []);
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
    const can = this.legal.has(index) ? `. ${this.words.choose}` : "";
    square.hit.setAttribute("aria-label", `${place.name[this.language]}: ${holds}${can}`);
  }

  drawPlates() {
    const { names, winners, mover } = this.position, scores = this.frame.scores;
    this.plate.forEach((plate, player) => {
      plate.name.textContent = (names || this.drawing.seats[this.language])[player];
      plate.points.textContent = String(scores[player]).replace("-", MINUS);
      plate.group.classList.toggle("turn", winners ? winners.includes(player) : player === mover);
    });
  }

  setLegal(moves) {
    this.choose(null);
    this.legal = new Map();
    for (const move of moves) {
      const index = this.position.mover * (this.drawing.fields + 1) + Number(move[0]) - 1;
      this.legal.set(index, [...(this.legal.get(index) || []), move]);
    }
    const first = this.legal.keys().next().value;
    this.squares.forEach(({ hit, label }, index) => {
      const legal = this.legal.has(index);
      hit.classList.toggle("legal", legal);
      label?.classList.toggle("legal", legal);
      hit.setAttribute("role", legal ? "button" : "img");
      if (legal) hit.setAttribute("tabindex", index === (this.legal.has(this.lastChosen) ? this.lastChosen : first) ? 0 : -1);
      else hit.removeAttribute("tabindex");
      this.drawCount(index);
    });
    this.svg.setAttribute("aria-label", this.words.board);
    if (this.byKeyboard && this.legal.size) this.svg.querySelector('.hit[tabindex="0"]')?.focus();
  }

  /** What each move is worth, drawn on its field: `values` by move, and the best one. */
  setHints(values, best) {
    this.hints.replaceChildren();
    this.values = values;
    if (!values) return;
    for (const [index, moves] of this.legal) {
      const square = this.drawing.squares[index];
      const [cx, cy] = square.centre, out = [square.label[0] - cx, square.label[1] - cy];
      const length = Math.hypot(...out), font = Math.max(15, 10 * this.k);
      for (const move of moves) {
        if (!(move in values)) continue;
        const side = move.endsWith("A") ? 24.5 : -24.5;
        const x = cx + side * Math.cos(square.heading) - (out[0] / length) * (47 - 0.62 * font);
        const y = cy + side * Math.sin(square.heading) - (out[1] / length) * (47 - 0.62 * font);
        const group = element("g", { class: `hint${move === best ? " best" : ""}`, transform: `translate(${x} ${y})` }, this.hints);
        element("rect", { x: -23.5, y: -0.62 * font, width: 47, height: 1.24 * font, rx: 6 }, group);
        element("text", {}, group, signed(values[move]));
      }
    }
  }

  // ---- a person's move ---------------------------------------------------------------------------------------------

  choose(index) {
    this.ways.replaceChildren();
    if (this.chosen !== null) this.squares[this.chosen]?.hit.classList.remove("chosen");
    this.chosen = this.legal.has(index) ? index : null;
    if (this.chosen === null) {
      if (this.playing) this.skip();
      return;
    }
    this.lastChosen = index;
    this.squares[index].hit.classList.add("chosen");
    for (const move of this.legal.get(index)) this.makeWay(index, move);
    if (this.byKeyboard) this.ways.firstChild.focus();
  }

  makeWay(index, move) {
    const square = this.drawing.squares[index], anticlockwise = move.endsWith("A");
    const radius = Math.max(32, 23 * this.k), angle = square.heading + (anticlockwise ? 0 : Math.PI);
    const cos = Math.cos(angle), sin = Math.sin(angle), reach = 54 + radius;
    const words = `${this.words.sow} ${square.name[this.language]} ${anticlockwise ? this.words.anticlockwise : this.words.clockwise}`;
    const value = this.values && move in this.values ? `, ${this.words.worth} ${signed(this.values[move])}` : "";
    const way = element("g", {
      class: "way", role: "button", tabindex: 0, "aria-label": words + value, "data-move": move,
      transform: `translate(${square.centre[0] + reach * cos} ${square.centre[1] + reach * sin})`,
    }, this.ways);
    element("circle", { r: radius }, way);
    element("path", {
      d: "M0.62,0L0.02,0.52V0.2H-0.56V-0.2H0.02V-0.52Z",
      transform: `scale(${radius}) rotate(${(angle * 180) / Math.PI})`,
    }, way);
    element("title", {}, way, `${words} (${move})`);
    way.heading = [cos, sin];
    way.addEventListener("click", () => this.send(move));
  }

  send(move) {
    this.setLegal([]);
    this.dispatchEvent(new CustomEvent("move", { detail: move }));
  }

  onKey(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const at = event.target, way = at.closest?.(".way");
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in ways && this.legal.size) {
      this.byKeyboard = true;
      const next = way ? this.wayTowards(ways[event.key]) : this.fieldTowards(at, ways[event.key]);
      next?.focus();
    } else if (event.key === "Enter" || event.key === " ") {
      this.byKeyboard = true;
      if (way) this.send(way.dataset.move);
      else if (at.dataset.square !== undefined) this.choose(Number(at.dataset.square));
    } else if (event.key === "Escape" && this.chosen !== null) {
      const field = this.squares[this.chosen].hit;
      this.choose(null);
      field.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  wayTowards([dx, dy]) {
    const score = (way) => way.heading[0] * dx + way.heading[1] * dy;
    return [...this.ways.children].sort((a, b) => score(b) - score(a))[0];
  }

  /** The nearest field that can be played in that direction on the screen. */
  fieldTowards(at, [dx, dy]) {
    const from = this.drawing.squares[at.dataset.square ?? this.legal.keys().next().value].centre;
    let best = null, least = Infinity;
    for (const index of this.legal.keys()) {
      const to = this.drawing.squares[index].centre, ahead = (to[0] - from[0]) * dx + (to[1] - from[1]) * dy;
      const cost = ahead > 1 ? Math.hypot(to[0] - from[0], to[1] - from[1]) * 2 - ahead : Infinity;
      if (cost < least) { best = this.squares[index].hit; least = cost; }
    }
    return best;
  }

  say(text) { this.live.textContent = text; }

  // ---- motion ------------------------------------------------------------------------------------------------------

  /**
   * Play a move from the position before it and show `after`. Resolves with the board that the motion led to, or with
   * null if it was skipped or cancelled; `onStep` gets the words of each step.
   */
  async play(move, before, after, onStep = () => {}) {
    this.show({ ...before, legal: [], under: "", over: "" });
    const run = (this.playing = { skipped: this.speed === Infinity, timers: new Set(), animations: new Set() });
    const lines = move.lines[this.language];
    this.say(lines.join(" "));
    for (const [number, step] of move.steps.entries()) {
      if (run.skipped) break;
      onStep(lines[1 + number + (step.kind === "refilling")]); // the line before the refillings says why the turn ends
      await this[step.kind](step, run);
    }
    await this.wait(run, 350);
    const reached = run.skipped ? null : this.frame;
    if (this.playing === run) this.playing = null;
    if (!run.cancelled) this.show(after);
    return reached;
  }

  /** End the motion at once; what is shown next is up to who plays the move. */
  skip() {
    const run = this.playing;
    if (!run) return;
    this.playing = null;
    run.skipped = true;
    for (const animation of run.animations) animation.finish();
    for (const done of run.timers) done();
  }

  cancel() {
    if (this.playing) this.playing.cancelled = true;
    this.skip();
  }

  wait(run, ms) {
    if (run.skipped || ms / this.speed < SHORTEST) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => { clearTimeout(timer); run.timers.delete(done); resolve(); };
      const timer = setTimeout(done, ms / this.speed);
      run.timers.add(done);
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

  mark(index, name) {
    for (const { hit } of this.squares) hit.classList.remove(name);
    if (index !== null) this.squares[index].hit.classList.add(name);
  }

  above(index, number, count) {
    const [x, y] = this.drawing.squares[index].pile;
    const turn = (2 * Math.PI * number) / Math.max(count, 1), wide = count > 1 ? (count > 6 && number % 2 ? 9 : 17) : 0;
    return [x + wide * Math.cos(turn), y - 46 + wide * 0.7 * Math.sin(turn), 1.06];
  }

  async lap(step, run) {
    const held = [], heap = this.heaps[step.square], left = this.frame.seeds[step.square] - step.seeds;
    this.mark(step.square, "lifted");
    this.frame.seeds[step.square] = left;
    const lifted = heap.splice(Math.min(left, heap.length), heap.length);
    while (lifted.length > Math.min(step.seeds, this.drawing.most_pebbles)) lifted.pop().remove();
    held.push(...lifted);
    for (const node of held) this.hand.insertBefore(node, this.handBadge);
    held.forEach((node, number) => this.place(node, this.above(step.square, number, held.length), 260));
    this.drawCount(step.square);
    this.showHand(step.square, step.seeds);
    await this.wait(run, 360);
    let remaining = step.seeds;
    for (const target of step.squares) {
      if (run.skipped) return;
      remaining -= 1;
      const node = held.length > remaining ? held.pop() : this.makePebble(remaining % 5, this.above(target, 0, 1));
      held.forEach((kept, number) => this.place(kept, this.above(target, number, held.length), 130));
      this.pieces.append(node);
      this.frame.seeds[target] += 1;
      if (this.heaps[target].length < this.drawing.most_pebbles) this.heaps[target].push(node);
      else this.vanish(node, [...this.drawing.squares[target].pile, 0.9], 180);
      this.arrange(target, 165);
      this.drawCount(target);
      this.showHand(target, remaining);
      await this.wait(run, step.squares.length > 14 ? 110 : 165);
    }
    this.mark(step.squares.at(-1), "last");
    this.mark(null, "lifted");
    await this.wait(run, 240);
  }

  showHand(index, seeds) {
    const [x, y] = this.drawing.squares[index].pile;
    this.putBadge(this.handBadge, [x, y - 84], seeds > 1 ? seeds : 0);
  }

  vanish(node, to, ms) {
    const animation = this.place(node, to, ms);
    if (animation) animation.finished.then(() => node.remove(), () => node.remove());
    else node.remove();
  }

  async taking(step, run) {
    this.mark(step.gap, "gap");
    await this.wait(run, 320);
    this.squares[step.square].hit.classList.add("taken");
    await this.wait(run, 320);
    const to = [...this.plate[step.player].at, 0.7], side = Math.floor(step.square / (this.drawing.fields + 1));
    const heap = this.heaps[step.square], kept = this.frame.seeds[step.square] - step.seeds;
    const flying = heap.splice(Math.min(kept, heap.length), heap.length);
    if (step.stones) { flying.push(this.stones[side]); this.stones[side] = null; this.frame.stones[side] = 0; }
    for (const node of flying) this.hand.append(node);
    this.frame.seeds[step.square] = kept;
    this.drawCount(step.square);
    for (const [number, node] of flying.entries()) this.vanish(node, to, 420 + 26 * number);
    await this.wait(run, 460 + 26 * flying.length);
    this.frame.scores[step.player] += step.points;
    this.drawPlates();
    await this.wait(run, 200);
  }

  async refilling(step, run) {
    const left = step.player * (this.drawing.fields + 1), from = [...this.plate[step.player].at, 0.7];
    this.frame.scores[step.player] -= step.seeds;
    this.drawPlates();
    for (let index = left; index < left + step.seeds; index++) {
      if (run.skipped) return;
      this.frame.seeds[index] += 1;
      this.heaps[index].push(this.makePebble(index % 5, from));
      this.arrange(index, 380);
      this.drawCount(index);
      await this.wait(run, 130);
    }
    await this.wait(run, 300);
  }
}

/** Who sits on a seat: a person or a level. */
export const ROLES = {
  en: { human: "you", beginner: "beginner", easy: "easy", medium: "medium", hard: "hard", perfect: "perfect" },
  vi: { human: "bạn", beginner: "mới chơi", easy: "dễ", medium: "vừa", hard: "khó", perfect: "hoàn hảo" },
};

/**
 * A game: the board, what is said of it, and its buttons. It follows the states of `oanquan_env.play.session`, plays the
 * moves that are new, and hands requests to `send(name, arguments)`. Events: "shown" after every change of what is shown.
 */
export class GameView extends EventTarget {
  constructor(host, send, language = "en") {
    super();
    this.send = send;
    this.host = host;
    this.board = new BoardView(host, language);
    this.board.addEventListener("move", (event) => {
      this.send("move", { move: event.detail, ply: this.state.ply });
    });
    this.saying = html("p", { className: "say" }, this.board.root);
    this.tools = html("div", { className: "tools" }, this.board.root);
    this.tools.setAttribute("role", "toolbar");
    this.buttons = {};
    const press = { undo: () => this.send("undo", {}), redo: () => this.send("redo", {}), hint: () => this.askHint(),
      again: () => this.again(), skip: () => this.board.skip() };
    for (const [name, action] of Object.entries(press)) {
      this.buttons[name] = html("button", { type: "button", onclick: action }, this.tools);
      this.buttons[name].dataset.tool = name;
    }
    const label = html("label", {}, this.tools);
    this.speedWord = html("span", {}, label);
    this.speedChoice = html("select", { onchange: () => this.setSpeed(this.speedChoice.value) }, label);
    for (const speed of Object.keys(SPEEDS)) html("option", { value: speed }, this.speedChoice);
    this.setSpeed(this.board.speed === Infinity ? "none" : "normal");
    this.moves = {};
    this.shown = [];
    this.viewing = null;
    this.setLanguage(language);
  }

  get words() { return WORDS[this.board.language]; }

  destroy() { this.board.destroy(); }

  setSpeed(name) {
    this.speedChoice.value = name in SPEEDS ? name : "normal";
    this.board.speed = SPEEDS[this.speedChoice.value];
    if (this.board.speed === Infinity) this.board.skip();
    this.dispatchEvent(new Event("speed"));
  }

  setLanguage(language) {
    this.board.language = language;
    const keys = { undo: "U", redo: "R", hint: "H", again: "W", skip: "S" };
    for (const [name, button] of Object.entries(this.buttons)) {
      button.textContent = this.words[name];
      button.title = `${this.words[name]} (${keys[name]})`;
    }
    this.speedWord.textContent = this.words.speed;
    for (const option of this.speedChoice.options) option.textContent = this.words[option.value];
    if (this.state) this.refresh();
  }

  /** The keys of the buttons; true if the event was one of them. */
  key(event) {
    const tools = { u: "undo", r: "redo", h: "hint", w: "again", s: "skip" };
    const name = tools[event.key.toLowerCase()];
    if (!name || event.ctrlKey || event.altKey || event.metaKey) return false;
    if (/^(INPUT|SELECT)$/.test(event.composedPath()[0].tagName)) return false; // there they are letters
    this.board.byKeyboard = true;
    if (!this.buttons[name].disabled) this.buttons[name].click();
    return true;
  }

  // ---- following the game ------------------------------------------------------------------------------------------

  /** A new state; `drawing` comes with the first one and where the board is another. */
  update(state, drawing = null) {
    if (this.state && state.version < this.state.version) return;
    const other = !this.state || state.game !== this.state.game;
    if (other) {
      this.moves = {};
      this.shown = [...state.line];
      this.viewing = null;
      this.board.cancel();
    }
    Object.assign(this.moves, state.moves);
    if (drawing) this.board.setDrawing(drawing);
    this.state = state;
    this.hint = null;
    const coming = this.coming === undefined ? this.shown : [...this.shown, this.coming];
    if (!coming.every((serial, number) => state.line[number] === serial)) {
      this.board.cancel();
      this.shown = [...state.line];
      this.viewing = null;
    }
    this.follow();
  }

  async follow() {
    if (this.following) return;
    this.following = true;
    try {
      while (this.viewing === null && this.shown.length < this.state.line.length) {
        const game = this.state.game, number = this.shown.length, serial = this.state.line[number];
        this.coming = serial;
        this.setTools();
        await this.board.play(this.moves[serial], this.position(number), this.position(number + 1), (line) => this.tell(line));
        this.coming = undefined;
        if (this.state.game === game && this.state.line[number] === serial && this.shown.length === number) this.shown.push(serial);
        this.dispatchEvent(new Event("shown"));
      }
    } finally {
      this.following = false;
      this.coming = undefined;
    }
    this.refresh();
  }

  /** Whether all moves of the game have been shown. */
  get settled() { return this.shown.length === this.state.line.length && this.coming === undefined; }

  /** The position after so many moves of the game, as `BoardView.show` takes it. */
  position(number) {
    const { state } = this, move = number ? this.moves[state.line[number - 1]] : null;
    const position = {
      frame: move ? move.after : state.start, mover: move ? move.mover : state.starter, legal: [],
      under: move?.under, over: move?.over, tabs: state.match?.owners.tabs, names: this.names(), winners: null,
    };
    if (number < state.line.length) return position;
    if (state.outcome) {
      position.frame = { ...position.frame, scores: state.outcome.scores };
      position.winners = state.outcome.winners;
    } else if (state.resigned !== null) {
      position.winners = state.seats.map((_, seat) => seat).filter((seat) => seat !== state.resigned);
    } else if (state.turn === "person") position.legal = state.legal;
    return position;
  }

  /** Show what is to be shown, without motion. */
  refresh() {
    if (this.coming !== undefined) return;
    const number = this.viewing ?? this.shown.length;
    this.board.show(this.position(number));
    if (this.hint && this.viewing === null) this.board.setHints(this.hint.values, this.hint.best);
    else this.board.values = null;
    this.tell(this.hint ? this.hintWords(this.hint) : this.status());
    this.setTools();
    this.dispatchEvent(new Event("shown"));
  }

  setTools() {
    const { state, buttons } = this, moving = this.coming !== undefined || Boolean(this.board.playing);
    buttons.undo.disabled = !state.can_undo;
    buttons.redo.disabled = !state.can_redo;
    buttons.hint.disabled = moving || state.turn !== "person" || this.viewing !== null;
    buttons.again.disabled = moving || !(this.viewing ?? this.shown.length);
    buttons.skip.disabled = !moving;
  }

  tell(text) { this.saying.textContent = text; }

  /** The position after so many moves, or null for the game as it stands. */
  view(number) {
    this.board.cancel();
    this.viewing = number === null || number >= this.state.line.length ? null : number;
    this.shown = [...this.state.line];
    this.coming = undefined;
    this.refresh();
  }

  async again() {
    const number = this.viewing ?? this.shown.length;
    if (!number || this.coming !== undefined) return;
    const speed = this.board.speed, serial = this.state.line[number - 1];
    if (speed === Infinity) this.board.speed = 1; // it was asked for
    this.coming = serial;
    const before = this.shown;
    this.shown = this.shown.slice(0, number - 1);
    this.setTools();
    const playing = this.board.play(this.moves[serial], this.position(number - 1), { ...this.position(number), legal: [] }, (line) => this.tell(line));
    this.setTools();
    await playing;
    this.board.speed = speed;
    if (this.coming === serial) { this.coming = undefined; this.shown = before; }
    this.follow();
  }

  // ---- words -------------------------------------------------------------------------------------------------------

  seat(player) { return this.board.drawing.seats[this.board.language][player]; }

  names() {
    const persons = this.state.seats.filter((seat) => seat.person).length;
    return this.state.seats.map((seat, player) => {
      const role = ROLES[this.board.language][seat.name] ?? seat.name.split(":")[0];
      return seat.person && persons !== 1 ? this.seat(player) : `${this.seat(player)} · ${role}`;
    });
  }

  status() {
    const { state, words } = this, names = this.names();
    if (this.viewing !== null) {
      return this.viewing ? this.moves[state.line[this.viewing - 1]].lines[this.board.language].join(" ") : "";
    }
    if (state.resigned !== null) {
      const shared = state.match ? ` ${points(state.match.rounds.at(-1).scores)}.` : "";
      return `${this.seat(state.resigned)} ${words.resigns}.${shared}`;
    }
    if (state.outcome) {
      const { winners, scores } = state.outcome;
      if (winners.length === state.seats.length) return `${words.over} ${words.draw}, ${points(scores)}.`;
      return `${words.over} ${winners.map((seat) => names[seat]).join(", ")} ${winners.length > 1 ? words.share : words.wins}, ${points(scores)}.`;
    }
    if (state.trouble) return state.trouble;
    if (state.turn === "player") return `${names[state.mover]} ${words.thinking}`;
    const alone = state.seats.filter((seat) => seat.person).length === 1;
    const turn = alone ? words.yourTurn : this.board.language === "vi" ? `Đến lượt ${names[state.mover]}.` : `${names[state.mover]} ${words.toMove}.`;
    return state.line.length < 2 ? `${turn} ${words.tap}` : turn;
  }

  // ---- hints -------------------------------------------------------------------------------------------------------

  async askHint() {
    this.tell(this.words.looking);
    this.setHint(await this.send("hint", {}));
  }

  /** A hint; dropped if it is for another position than the one shown. */
  setHint(hint) {
    if (hint && hint.ply === this.state.ply && this.viewing === null && this.coming === undefined
        && (hint.serial[0] ?? 0) === (this.state.line.at(-1) ?? 0)) {
      this.hint = hint;
      this.board.say(this.hintWords(hint));
    }
    if (this.coming === undefined) this.refresh();
  }

  hintWords({ best, values, search }) {
    const points = signed(values[best]), field = best[0], a = best.endsWith("A"), { words } = this;
    const way = a ? words.anticlockwise : words.clockwise;
    if (this.board.language === "vi") {
      const tried = `Thử ô ${field}, ${way} (${best})`;
      if (!search) return `${tried}: được ${points} điểm ngay, chưa tính nước đáp.`;
      const how = search.proved ? "đã chứng minh" : `nhìn trước ${search.depth} nước`;
      return `${tried}: ${points} điểm từ đây đến cuối ván nếu hai bên đều đi tốt nhất (${how}).`;
    }
    const tried = `Try field ${field}, ${way} (${best})`;
    if (!search) return `${tried}: it wins ${points} points at once, answers not counted.`;
    const how = search.proved ? "proved" : `seen ${search.depth} moves ahead`;
    return `${tried}: ${points} points from here to the end, if both play their best (${how}).`;
  }
}

/** The widget of anywidget: its model has `state`, `drawing`, `hint` and `language`. */
function render({ model, el }) {
  const host = html("div", { className: "oanquan-board" }, el);
  host.style.maxWidth = "820px";
  const send = (name, args) => { model.send({ request: name, arguments: args }); return null; };
  const view = new GameView(host, send, model.get("language"));
  const update = () => view.update(model.get("state"), view.drawn === model.get("drawing") ? null : (view.drawn = model.get("drawing")));
  const hint = () => model.get("hint") && view.setHint(model.get("hint"));
  const speak = () => view.setLanguage(model.get("language"));
  model.on("change:state", update);
  model.on("change:hint", hint);
  const trouble = (message) => { view.refresh(); view.tell(message.trouble); };
  model.on("change:language", speak);
  model.on("msg:custom", trouble);
  host.addEventListener("keydown", (event) => { if (view.key(event)) { event.preventDefault(); event.stopPropagation(); } });
  update();
  return () => {
    model.off("change:state", update);
    model.off("change:hint", hint);
    model.off("change:language", speak);
    model.off("msg:custom", trouble);
    view.destroy();
  };
}

export default { render };
