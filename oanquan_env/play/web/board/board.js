// The interactive board, for mouse, finger or keyboard.

import { moveArrow } from "./move-markers.js";
import { MovingBoard } from "./moving-board.js";
import { element } from "../dom.js";
import { signed } from "../words/format.js";

const HOLD = 450; // milliseconds: a longer press only previews the move

/**
 * A board that fires the event "move" (detail "3A") when a person chooses a move, and "choose" when `chosen` changes, the
 * index of the square with open arrows or null.
 */
export class BoardView extends MovingBoard {
  constructor(host, language = "en") {
    super(host, language);
    this.legal = new Map();
    this.chosen = null;
    this.byKeyboard = false;
    this.preview = true;
    this.svg.addEventListener("keydown", (event) => this.onKey(event));
    this.svg.addEventListener("click", (event) => {
      if (event.target === this.svg) this.choose(null);
    });
  }

  makeSquare(square, index) {
    const made = super.makeSquare(square, index);
    made.hit.addEventListener("click", () => {
      this.byKeyboard = false;
      this.choose(index);
      if (this.legal.size && !this.legal.has(index)) this.dispatchEvent(new Event("refuse"));
    });
    made.hit.addEventListener("focus", () => {
      if (this.chosen === null && made.hit.matches(":focus-visible")) this.drawPaths(index);
    });
    made.hit.addEventListener("blur", () => this.drawPaths(this.chosen));
    return made;
  }

  draw() {
    this.legalOf = null;
    super.draw();
  }

  fit() {
    super.fit();
    if (this.position && this.chosen !== null) this.choose(this.chosen);
  }

  /**
   * Show a position (see `DrawnBoard`); `legal` has the moves that a person may choose, `previews` their effects,
   * `hint` the values of all moves (thinking.js).
   */
  show(position) {
    super.show(position);
    this.setHints(position.hint);
    this.setLegal(position.legal || []);
  }

  canChoose(index) {
    return this.legal.has(index);
  }

  /** Return the mover's moves by the index of their square. */
  byField(moves) {
    const found = new Map();
    for (const move of moves) {
      const index = this.position.mover * (this.drawing.fields + 1) + Number(move[0]) - 1;
      found.set(index, [...(found.get(index) || []), move]);
    }
    return found;
  }

  /** Keep the arrows of a chosen square open if the same position is shown again. */
  setLegal(moves) {
    const key = JSON.stringify([this.position.frame.seeds, this.position.mover, moves, this.language]);
    if (key === this.legalOf) return;
    this.legalOf = key;
    this.choose(null);
    this.legal = this.byField(moves);
    const first = this.legal.keys().next().value;
    this.squares.forEach(({ hit, label }, index) => {
      const legal = this.legal.has(index);
      hit.classList.toggle("legal", legal);
      label?.classList.toggle("legal", legal);
      hit.setAttribute("role", legal ? "button" : "img");
      if (legal)
        hit.setAttribute("tabindex", index === (this.legal.has(this.lastChosen) ? this.lastChosen : first) ? 0 : -1);
      else hit.setAttribute("tabindex", -1); // else browsers stop here, as it listens to focus
      this.drawCount(index);
    });
    this.svg.setAttribute("aria-label", this.words.board);
    const { activeElement } = document,
      free =
        activeElement === document.body || (activeElement === this.host && !this.root.querySelector("button:focus"));
    if (this.byKeyboard && this.legal.size && free) this.svg.querySelector('.hit[tabindex="0"]')?.focus();
  }

  /**
   * Draw the value of each move beside its square, in green for the best moves; with `arrows`, also draw an arrow for
   * each best move.
   */
  setHints(hint, arrows = false) {
    this.hints.replaceChildren();
    this.values = hint?.values;
    if (!hint) return;
    const { values, best } = hint,
      equals = Object.keys(values).filter((move) => values[move] === values[best]),
      { mover } = this.position;
    if (arrows) {
      this.under.innerHTML = "";
      this.over.innerHTML = equals.map((move) => moveArrow(this.plain, "best", mover, move)).join("");
    }
    const font = Math.max(15, 10 * this.k),
      number = Math.max(17, 11 * this.k),
      height = 1.24 * font;
    for (const [index, moves] of this.byField(Object.keys(values))) {
      const square = this.drawing.squares[index],
        { centre, heading } = square,
        cos = Math.cos(heading),
        sin = Math.sin(heading),
        [outX, outY] = outwards(square),
        along = Math.abs(cos) > 0.6,
        width = Math.max(37, (along ? 2.15 : 2.6) * font);
      // outside the row, so that seeds and numbers stay visible
      const out = 57 + (width * Math.abs(sin) + height * Math.abs(cos)) / 2;
      const crowded = along && width > 39,
        // beside the square's number
        aside = ((width + 0.7 * number) * Math.abs(cos) + (height + 1.1 * number) * Math.abs(sin)) / 2 + 2;
      // if there is no room for two, show the best moves alone
      for (const move of crowded ? moves.filter((one) => equals.includes(one)) : moves) {
        const side = move.endsWith("A") ? aside : -aside,
          x = centre[0] + side * cos + out * outX,
          y = centre[1] + side * sin + out * outY;
        const group = element(
          "g",
          { class: `hint${equals.includes(move) ? " best" : ""}`, transform: `translate(${x} ${y})` },
          this.hints,
        );
        element("rect", { x: -width / 2, y: -height / 2, width, height, rx: 6 }, group);
        const text = signed(Math.round(values[move]));
        element("text", { "font-size": along && text.length > 2 ? ".86em" : "1em" }, group, text);
      }
    }
  }

  // ---- a person's move ---------------------------------------------------------------------------------------------

  choose(index) {
    const before = this.chosen;
    this.ways.replaceChildren();
    this.foresee(null);
    this.squares[before]?.hit.classList.remove("chosen");
    this.chosen = this.legal.has(index) ? index : null;
    if (this.chosen !== before) this.dispatchEvent(new Event("choose"));
    this.drawPaths(this.chosen);
    this.hints.setAttribute("display", this.chosen === null ? "inline" : "none"); // covered
    if (this.chosen === null) {
      this.hideCoveredNames();
      if (this.playing) this.skip();
      return;
    }
    this.lastChosen = index;
    this.squares[index].hit.classList.add("chosen");
    for (const move of this.legal.get(index)) this.makeWay(index, move);
    this.hideCoveredNames();
    if (this.byKeyboard) this.ways.firstChild.focus();
  }

  /**
   * Make the arrow for a move, where it covers no other square: outside the rows if there are two, otherwise inside the
   * ring of rows.
   */
  makeWay(index, move) {
    const square = this.drawing.squares[index],
      { centre, heading } = square,
      { players, fields, middle } = this.drawing,
      anticlockwise = move.endsWith("A");
    const radius = this.wayRadius,
      angle = heading + (anticlockwise ? 0 : Math.PI),
      cos = Math.cos(angle),
      sin = Math.sin(angle);
    const out = this.two ? Math.min(80 + radius, (this.upright ? 174 : 150) - radius) : -56 - radius,
      [outX, outY] = outwards(square);
    const along = (centre[0] - middle[0]) * cos + (centre[1] - middle[1]) * sin,
      most = this.two ? Infinity : Math.max(0, 50 * fields - (players === 3 ? 3.2 : 2) * radius);
    // inside the ring, arrows keep away from its corners
    const side = Math.max(-most, Math.min(along, most)) - along + radius + 2;
    const [gain] = (this.preview && this.position.previews?.[move]?.captured) || [0];
    const words =
      `${this.words.sow} ${square.name[this.language]} ` +
      `${anticlockwise ? this.words.anticlockwise : this.words.clockwise}` +
      ` (${move})` +
      (gain ? `, ${this.words.captures} +${gain}` : "");
    const at = [centre[0] + side * cos + out * outX, centre[1] + side * sin + out * outY];
    const value =
      this.values && move in this.values ? `, ${this.words.worth} ${signed(Math.round(this.values[move]))}` : "";
    const way = element(
      "g",
      {
        class: "way",
        role: "button",
        tabindex: 0,
        "aria-label": words + value,
        "data-move": move,
        transform: `translate(${at})`,
      },
      this.ways,
    );
    element("circle", { r: radius }, way);
    element(
      "path",
      {
        d: "M0.62,0L0.02,0.52V0.2H-0.56V-0.2H0.02V-0.52Z",
        transform: `scale(${radius}) rotate(${(angle * 180) / Math.PI})`,
      },
      way,
    );
    if (this.preview) {
      way.classList.add(anticlockwise ? "one" : "other"); // as its path
      // away from the other arrow and from this one's head
      const beside = this.two
        ? [0.85 * cos + 0.6 * outX, 0.85 * sin + 0.6 * outY]
        : [0.7 * (cos - outX), 0.7 * (sin - outY)];
      this.makeGain(
        way,
        beside.map((part) => part * radius),
        gain,
      );
    }
    Object.assign(way, { at, heading: [cos, sin] });
    let pressed = Infinity;
    for (const name of ["pointerenter", "focus"]) way.addEventListener(name, () => this.foresee(move));
    for (const name of ["pointerleave", "blur"]) way.addEventListener(name, () => this.foresee(null));
    way.addEventListener("pointerdown", (event) => {
      pressed = event.pointerType === "mouse" ? Infinity : event.timeStamp;
      this.foresee(move);
    });
    way.addEventListener("contextmenu", (event) => event.preventDefault());
    way.addEventListener("click", (event) => {
      if (event.timeStamp - pressed < HOLD || pressed === Infinity) this.send(move);
    });
  }

  makeGain(parent, at, gain) {
    const badge = this.makeBadge(parent);
    badge.classList.add("gain");
    this.putBadge(badge, at, gain && `+${gain}`);
  }

  /** Hide the names and points that the arrows cover. */
  hideCoveredNames() {
    for (const { group, name } of this.plate) {
      const covers = ({ at }) => {
        const { x, y, width, height } = name.parentNode.getBBox(),
          beside = Math.max(x - at[0], 0, at[0] - x - width),
          above = Math.max(y - at[1], 0, at[1] - y - height);
        return Math.hypot(beside, above) < this.wayRadius;
      };
      group.classList.toggle("covered", [...this.ways.children].some(covers));
    }
  }

  /** Draw both ways of a square's seeds: a dot for each square, a ring for the last; for a focused one also gains. */
  drawPaths(index) {
    this.paths.replaceChildren();
    if (index === null || !this.preview) return;
    for (const move of this.legal.get(index) ?? []) {
      const path = this.position.previews?.[move]?.path ?? [],
        [kind, side] = move.endsWith("A") ? ["one", 1] : ["other", -1],
        group = element("g", { class: kind, "data-move": move }, this.paths);
      for (const square of new Set(path)) {
        const place = this.drawing.squares[square],
          [outX, outY] = outwards(place),
          out = place.field < this.drawing.fields ? 30 : 0, // inside the rings of the last move
          along = out ? 11 * side + 9 : 16 * side, // beside the number of seeds
          inwards = out ? -26 : 26 * side; // two on a mandarin square stand apart
        const cx = place.centre[0] + along * Math.cos(place.heading) + out * outX,
          cy = place.centre[1] + along * Math.sin(place.heading) + out * outY;
        if (square === path.at(-1)) {
          element("circle", { class: "last", cx, cy, r: 10.5 }, group);
          const [gain] = this.position.previews[move].captured;
          if (gain && this.chosen === null) this.makeGain(group, [cx + inwards * outX, cy + inwards * outY], gain);
        }
        element("circle", { cx, cy, r: 5.5 }, group);
      }
    }
  }

  /** Preview one move: its path without the other one, and the squares that it captures; null shows both paths. */
  foresee(move) {
    const taken = (this.preview && this.position?.previews?.[move]?.taken) || [];
    this.squares.forEach(({ hit }, index) => hit.classList.toggle("way-taken", taken.includes(index)));
    for (const { classList, dataset } of this.paths.children)
      classList.toggle("aside", move !== null && dataset.move !== move);
  }

  send(move) {
    this.setLegal([]);
    this.dispatchEvent(new CustomEvent("move", { detail: move }));
  }

  onKey(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const at = event.target,
      way = at.closest?.(".way");
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in ways && this.legal.size) {
      this.byKeyboard = true;
      const next = way ? this.wayTowards(ways[event.key]) : this.fieldTowards(at, ways[event.key]);
      next?.focus();
    } else if (event.key === "Enter" || event.key === " ") {
      this.byKeyboard = true;
      if (event.repeat); // a key that is held down plays no move
      else if (way) this.send(way.dataset.move);
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

  /** Return the playable square nearest to the element `at` in the direction [dx, dy] on the screen. */
  fieldTowards(at, [dx, dy]) {
    const from = this.drawing.squares[at.dataset.square ?? this.legal.keys().next().value].centre;
    let best = null,
      least = Infinity;
    for (const index of this.legal.keys()) {
      const to = this.drawing.squares[index].centre,
        ahead = (to[0] - from[0]) * dx + (to[1] - from[1]) * dy;
      const cost = ahead > 1 ? Math.hypot(to[0] - from[0], to[1] - from[1]) * 2 - ahead : Infinity;
      if (cost < least) {
        best = this.squares[index].hit;
        least = cost;
      }
    }
    return best;
  }
}

/** Return the direction from a square, out of its row, towards its label. */
function outwards({ centre: [x, y], label, heading }) {
  const sin = Math.sin(heading),
    cos = Math.cos(heading),
    beyond = Math.sign((label[0] - x) * -sin + (label[1] - y) * cos);
  return [-beyond * sin, beyond * cos];
}
