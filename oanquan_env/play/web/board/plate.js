// The plate of a player beside the board: its name and points, its face, and for two players the bowl with its captures.

import { element } from "../dom.js";
import { MINUS, capital } from "../words/format.js";
import { PORTRAITS } from "./portraits.js";

export class Plate {
  /** Make an empty plate on a drawn board. */
  constructor(board, player) {
    const { drawing, seat, upright, two, plain } = board,
      group = element("g", { class: "plate", role: "img" }, board.plates),
      text = element("text", {}, group);
    const part = (kind) => element("tspan", { class: kind }, text),
      gap = () => {
        part("gap").textContent = " ";
      }; // spaces in the plain text
    const name = part("name"),
      role = (gap(), part("role")),
      points = (gap(), part("points"));
    let [x, y] = drawing.plates[player],
      at = [x, y + 10];
    const near = player === seat,
      [left, , width] = board.view;
    if (upright) {
      [x, y] = [drawing.middle[0] + (near ? 218 : -218), drawing.middle[1] - 50 * drawing.fields - 55];
      at = [x + (near ? -36 : 6), y + 90];
      text.setAttribute("class", near ? "end" : "first");
    } else if (two) {
      [x, y] = [left + 42, near ? plain.size[1] - 42 : 42];
      at = [left + width - 362, y];
      text.setAttribute("class", "first");
    }
    const bowl = two ? element("g", { class: "bowl" }, group) : null,
      face = element("g", {}, group);
    Object.assign(this, { board, group, name, role, points, bowl, face, at, x, y, player });
  }

  /** Show the player's name and points in the board's position. */
  draw() {
    const { board, player } = this,
      { names, winners, mover } = board.position,
      { scores } = board.frame;
    const best = Boolean(winners && winners.length < scores.length && winners.includes(player)),
      [name, role, level] = names ? names[player] : [capital(board.called[player].replace(/^your /, "")), ""];
    const star = best ? "★ " : "",
      narrow = board.drawing.players === 3; // a name and a star would cross the rows
    this.name.textContent = (narrow ? "" : star) + name;
    this.role.textContent = role;
    this.points.textContent = (narrow ? star : "") + String(scores[player]).replace("-", MINUS);
    this.group.classList.toggle("turn", !winners && player === mover);
    this.group.classList.toggle("won", best);
    const words = [name, role, best ? board.words.won : ""].filter(Boolean).join(", ");
    this.group.setAttribute("aria-label", `${words}: ${scores[player]} ${board.words.points}`);
    this.face.innerHTML = PORTRAITS[level] ?? "";
    if (this.bowl) this.#drawBowl();
    if (board.k) this.lay();
  }

  /** Return the position of a captured seed or stone in the bowl. */
  inBowl(number, stone = false) {
    const {
        at: [x, y],
        board: { upright },
      } = this,
      five = Math.floor(number / 5),
      column = number % 5;
    if (stone) return upright ? [x + 4 + 36 * number, y - 24] : [x - 20 - 36 * number, y];
    return upright
      ? [x + 12 * column, y + 14 * five + 4 * Math.floor(five / 2)]
      : [x + 8 + 62 * Math.floor(five / 2) + 11.5 * column, y + (five % 2 ? 7 : -7)];
  }

  #drawBowl() {
    const { board, player, bowl } = this,
      won = board.won[player],
      seeds = board.frame.scores[player] - won * board.drawing.stone_value;
    bowl.replaceChildren();
    for (let number = 0; number < won; number++) {
      const [x, y] = this.inBowl(number, true);
      element("g", { transform: `translate(${x} ${y}) scale(.56)` }, bowl).innerHTML = board.drawing.stone;
    }
    for (let number = 0; number < Math.min(seeds, 60); number++) {
      const [x, y] = this.inBowl(number);
      element("circle", { class: `f-pebble${(3 * number + player) % 5}`, cx: x, cy: y, r: 5 }, bowl);
    }
  }

  /** Lay out the words: on one line for two rows, else below one another. */
  lay() {
    const { two, upright, k, drawing, seat } = this.board,
      { name, role, points, player } = this,
      size = Math.max(21, 13 * k),
      line = two && !upright,
      outwards = upright ? 4 * (size - 21) * Math.sign(this.x - drawing.middle[0]) : 0, // larger words leave the board free
      [x, y] = two ? [this.x + outwards, this.y] : this.#insideRing(size);
    const lines = line ? [name] : upright && role.textContent ? [name, role, points] : [name, points];
    lines.forEach((part, number) => {
      part.setAttribute("x", x);
      part.setAttribute("y", y + (number - (lines.length - 1) / 2) * 1.2 * size);
    });
    for (const part of line ? [role, points] : upright ? [] : [role]) part.setAttribute("dx", 10);
    const scale = size / 21,
      at = line ? [x - 22 * scale, y] : [x + (x < drawing.middle[0] ? 17 : -17) * scale, y - 1.8 * size - 17 * scale];
    // above the name for three or four players, below it where a slanting row is above
    const below = drawing.players === 3 && player !== seat,
      place = two ? at : [x, y + (below ? 1 : -1) * (1.9 * size + 4)];
    this.face.setAttribute("display", drawing.players === 3 && size > 30 ? "none" : "inline"); // no room
    this.face.setAttribute("transform", `translate(${place}) scale(${Math.min(scale, line ? 1.2 : two ? 2 : 1.3)})`);
  }

  /** Return where the plate stands inside a ring of rows: away from its row, and if there is room, beyond its arrows. */
  #insideRing(size) {
    const { x, y, player } = this,
      { drawing, seat, wayRadius } = this.board,
      { middle, fields, players, squares } = drawing;
    const [first, last] = [0, fields - 1].map((field) => squares[player * (fields + 1) + field].centre),
      row = first.map((place, axis) => (place + last[axis]) / 2),
      inwards = middle.map((place, axis) => place - row[axis]),
      all = Math.hypot(...inwards);
    const arrows = players === 4 || player === seat ? 60 + 2 * wayRadius + 1.7 * size : 50 + 1.6 * size,
      [room, near] = (players === 4 ? [-2.3, -2.3] : [0.3, -1.6]).map((letters) => all + letters * size),
      part = Math.max(Math.hypot(x - row[0], y - row[1]), arrows < room ? arrows : near) / all;
    return row.map((place, axis) => place + inwards[axis] * part);
  }
}
