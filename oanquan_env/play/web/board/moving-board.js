// The motion of a move on the board: the laps, captures and refills in the move's trace.

import { DrawnBoard, SHORTEST } from "./drawn-board.js";
import { element, html } from "../dom.js";
import { VERSE as SPOKEN } from "../words/board-words.js";

const VERSE = 3200; // minimum milliseconds for the verse at the end
const CUT = new Error("the motion was cut short"); // ends a step that is waiting

/**
 * Return the end of a game as a step of motion: the seeds left in `frame` go to the players whose final points,
 * `standings`, exceed their scores. A field's seeds go first to its owner: the player of the row, or the buyer if
 * `codes` marks the field as sold. Only numbers are compared here; the engine has the rules for leftovers.
 */
export function sweeping(drawing, frame, standings, codes) {
  const due = standings.map((points, player) => points - frame.scores[player]),
    seeds = [...frame.seeds],
    taken = [];
  const take = (square, player) => {
    const count = Math.min(seeds[square], due[player]);
    if (count <= 0) return;
    seeds[square] -= count;
    due[player] -= count;
    taken.push({ square, player, seeds: count });
  };
  drawing.squares.forEach(
    ({ player, field }, square) =>
      field < drawing.fields && take(square, codes?.[player][field] === 2 ? 1 - player : player),
  );
  drawing.squares.forEach((_, square) => standings.forEach((_, player) => take(square, player)));
  return { kind: "sweep", taken, after: { seeds, stones: frame.stones, scores: standings } };
}

/** Return a frame, the sweep and the winners for `show`; if there is an outcome, the frame is swept. */
export function ended(drawing, frame, outcome, codes) {
  const sweep = outcome && sweeping(drawing, frame, outcome.scores, codes);
  return { frame: sweep?.after ?? frame, sweep, winners: outcome?.winners ?? null };
}

/** Return the number of mandarin stones that each player captured; `before` counts earlier ones. */
export function stonesWon(moves, players, before = Array(players).fill(0)) {
  const won = [...before];
  for (const { steps } of moves) for (const { player, stones } of steps) if (stones) won[player] += stones;
  return won;
}

/** A board that plays moves. */
export class MovingBoard extends DrawnBoard {
  destroy() {
    this.skip();
    super.destroy();
  }

  draw() {
    this.skip();
    super.draw();
  }

  show(position) {
    this.skip();
    super.show(position);
  }

  /** Add a text for screen readers. */
  say(text) {
    if (text === this.live.lastChild?.textContent) return;
    html("p", { textContent: text }, this.live);
    if (this.live.children.length > 4) this.live.firstChild.remove();
  }

  /** Remove the texts for screen readers. */
  hush() {
    this.live.replaceChildren();
  }

  /**
   * Show the motion of a move from the position before it, then `after`. Resolves with the board after the motion, or
   * null if it was skipped or cancelled. `onStep` gets the sentence of each step.
   */
  async play(move, before, after, onStep = () => {}) {
    this.show({ ...before, legal: [], under: "", over: "" });
    const run = (this.playing = { skipped: this.speed === Infinity, timers: new Set(), animations: new Set() });
    const lines = move.lines[this.language];
    this.say(lines.join(" "));
    try {
      for (const [number, step] of [...move.steps, ...(after.sweep?.taken.length ? [after.sweep] : [])].entries()) {
        if (run.skipped) break;
        const ended = step.kind === "refilling" || step.kind === "sweep"; // a line before these says why the turn ends
        onStep(lines[1 + number + ended]);
        await this[step.kind](step, run);
      }
      await this.wait(run, 350);
    } catch (error) {
      if (error !== CUT) throw error;
    }
    const reached = run.skipped ? null : this.frame;
    if (this.playing === run) this.playing = null;
    if (!run.cancelled) this.show(after);
    return reached;
  }

  /** End the motion at once; the caller of `play` decides what is shown next. */
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

  /** Wait; throw CUT if the motion was skipped, because the board may show another game. */
  async wait(run, ms) {
    if (!run.skipped && ms / this.speed >= SHORTEST) {
      await new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          run.timers.delete(done);
          resolve();
        };
        const timer = setTimeout(done, ms / this.speed);
        run.timers.add(done);
      });
    }
    if (run.skipped) throw CUT;
  }

  mark(index, name) {
    for (const { hit } of this.squares) hit.classList.remove(name);
    if (index !== null) this.squares[index].hit.classList.add(name);
  }

  above(index, number, count) {
    const [x, y] = this.drawing.squares[index].pile;
    const turn = (2 * Math.PI * number) / Math.max(count, 1),
      wide = count > 1 ? (count > 6 && number % 2 ? 9 : 17) : 0;
    return [x + wide * Math.cos(turn), y - 46 + wide * 0.7 * Math.sin(turn), 1.06];
  }

  async lap(step, run) {
    const held = [],
      heap = this.heaps[step.square],
      left = this.frame.seeds[step.square] - step.seeds;
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
      this.sound("seed");
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
    if (animation)
      animation.finished.then(
        () => node.remove(),
        () => node.remove(),
      );
    else node.remove();
  }

  async taking(step, run) {
    this.mark(step.gap, "gap");
    await this.wait(run, 320);
    this.squares[step.square].hit.classList.add("taken");
    await this.wait(run, 320);
    this.sound(step.stones ? "stone" : "take");
    if (step.stones) this.cheer(step.square, step.player);
    await this.wait(run, this.carry(step));
    this.frame.scores[step.player] += step.points;
    this.won[step.player] += step.stones;
    this.drawPlates();
    await this.wait(run, 200);
  }

  /** Move seeds and a stone from a square to a player's plate; return the milliseconds. */
  carry({ square, player, seeds, stones }) {
    const to = [...this.plate[player].inBowl(0), 0.5],
      { player: side } = this.drawing.squares[square];
    const heap = this.heaps[square],
      kept = this.frame.seeds[square] - seeds,
      flying = heap.splice(Math.min(kept, heap.length), heap.length);
    if (stones) {
      flying.push(this.stones[side]);
      this.stones[side] = null;
      this.frame.stones[side] = 0;
    }
    for (const node of flying) this.hand.append(node);
    this.frame.seeds[square] = kept;
    this.drawCount(square);
    for (const [number, node] of flying.entries()) this.vanish(node, to, 420 + 26 * number);
    return 460 + 26 * flying.length;
  }

  /** Move the seeds left at the end to their owners, square by square; show the verse if no mandarin is left. */
  async sweep({ taken, after }, run) {
    for (const name of ["last", "gap", "taken"]) this.mark(null, name);
    const verse = after.stones.some(Boolean) ? null : this.recite();
    let longest = 0;
    try {
      for (const step of taken) {
        if (!verse) this.sound("take");
        longest = this.carry(step);
        this.frame.scores[step.player] += step.seeds;
        this.drawPlates();
        await this.wait(run, 260);
      }
      await this.wait(run, longest);
      this.frame.scores = [...after.scores];
      this.drawPlates();
      await this.wait(run, verse ? Math.max(300, VERSE - 260 * taken.length - longest) : 300);
    } finally {
      verse?.remove();
    }
  }

  /** Show the verse for the end of a game over the board, line by line. */
  recite() {
    const [x, y] = this.drawing.middle,
      verse = element("g", { class: "verse" }, this.hand),
      size = Math.max(30, 17 * this.k);
    this.sound("verse");
    this.cry?.remove();
    const { verse: meanings } = this.words,
      step = meanings.length ? 2.2 : 1.5;
    SPOKEN.forEach((line, number) => {
      const top = y + size * step * (number - 1.5),
        texts = [element("text", { x, y: top, "font-size": size }, verse, line)];
      if (meanings.length)
        texts.push(
          element(
            "text",
            { x, y: top + 0.95 * size, "font-size": 0.6 * size, class: "meaning" },
            verse,
            meanings[number],
          ),
        );
      for (const text of texts) text.style.animationDelay = `${(number * VERSE) / (5 * this.speed)}ms`;
    });
    return verse;
  }

  /** Mark a captured mandarin by a ring and the children's call, and enlarge the capturer's name for a moment. */
  cheer(square, player) {
    const [middle, height] = this.drawing.middle,
      size = Math.max(30, 17 * this.k);
    this.cry?.remove();
    const cry = (this.cry = element("g", { class: "verse" }, this.hand));
    element("text", { x: middle, y: height, "font-size": size }, cry, this.words.strike);
    const [x, y] = this.drawing.squares[square].stone,
      ring = element("circle", { class: "cheer", cx: x, cy: y, r: 30 }, this.hand);
    setTimeout(() => {
      ring.remove();
      cry.remove();
    }, 1200);
    this.plate[player].group.classList.add("glad");
    setTimeout(() => this.plate[player]?.group.classList.remove("glad"), 1200);
  }

  /** Play a sound if sound is on and allowed. */
  sound(kind) {
    if (this.loud && !this.playing?.skipped) this.sounds?.sound(kind);
  }

  /** Allow sounds, after a tap or a key; errors are ignored. */
  wake() {
    import("./sound.js")
      .then((sounds) => {
        this.sounds = sounds;
        sounds.wake();
      })
      .catch(() => {});
  }

  async refilling(step, run) {
    const left = step.player * (this.drawing.fields + 1),
      from = [...this.plate[step.player].inBowl(0), 0.5];
    this.frame.scores[step.player] -= step.seeds;
    this.drawPlates();
    for (let index = left; index < left + step.seeds; index++) {
      this.frame.seeds[index] += 1;
      this.heaps[index].push(this.makePebble(index % 5, from));
      this.arrange(index, 380);
      this.drawCount(index);
      await this.wait(run, 130);
    }
    await this.wait(run, 300);
  }
}
