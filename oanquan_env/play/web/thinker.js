// What players choose and what hints say: `Thinking` finds it, and `Thinker` asks a worker for it, or the same thread
// where there is none. Nothing of the page is here.

import { Book, Openings } from "./book.js";
import { Engine, CAPTURE } from "./engine.js";
import { moveText, parseMove, positionText } from "./notation.js";
import { ADVISERS, REVIEWERS, firstPlaying, playerOf, presetOf, searchAll, seeded } from "./players.js";
import { Refused } from "./refused.js";
import { rulesText } from "./rules.js";

const PREFERENCE = 3; // a proved move is the hint unless the search sees another that wins more than so many points more

// ---- thinking --------------------------------------------------------------------------------------------------------

/** Rules are their fields here, or a handle of any engine. Whatever is loaded is kept. */
export class Thinking {
  #data;
  #engine;
  #kept = new Map();

  /** `engine` and `layout` as `Engine.load` takes them; `data(name)` resolves with a file's content. */
  constructor({ engine, layout, data }) {
    this.#data = data;
    this.#engine = () => this.#once("engine", () => Engine.load(engine, layout));
  }

  /** The action of a level or of a player; chance comes from the seed. */
  async choose(name, fields, position, seed) {
    const { actions, legal, epsilon } = await this.best(name, fields, position), random = seeded(seed);
    if (!legal.length) throw new Refused("request", "the game is over", "ván đã hết");
    const drawn = (from) => from[Math.floor(random() * from.length)], choice = drawn(actions);
    return random() < epsilon ? drawn(legal) : choice;
  }

  /** The actions that a player thinks best, of which it plays any, but with probability `epsilon` any legal one. */
  async best(name, fields, position) {
    const engine = await this.#engine(), rules = engine.rules(fields), legal = engine.legal(rules, position);
    let player = playerOf(name, rules, await this.#catalogue());
    if (player.kind === "book") {
      const action = (await this.#proofs(Book, engine, rules))?.known(position) ?? null;
      if (action !== null) return { actions: [action], legal, epsilon: 0 };
      player = player.beyond;
    }
    const { epsilon } = player;
    if (player.kind === "random" || legal.length < 2) return { actions: legal, legal, epsilon };
    return { actions: (await this.#search(player, engine, rules, position, false)).actions, legal, epsilon };
  }

  /** Whether a certificate's bound holds for a seat of a game that a book plays: the actions `history` from `start` on. */
  async proved(fields, start, history, seat) {
    const engine = await this.#engine(), rules = engine.rules(fields), book = await this.#proofs(Book, engine, rules);
    return book !== null && book.follows(start, history, seat);
  }

  /** The JSON of a hint, as `state.hint_json`, and `exact`: the moves whose value is proved. `proved` is false where fields
   * changed hands: then nothing is. */
  async hint(fields, position, { review = false, proved = true } = {}) {
    const engine = await this.#engine(), rules = engine.rules(fields), catalogue = await this.#catalogue();
    const player = firstPlaying(review ? REVIEWERS : ADVISERS, rules, catalogue);
    const found = await this.#search(player.beyond ?? player, engine, rules, position, true);
    const bounds = (proved && (await this.#proofs(Openings, engine, rules))?.moveValues(rules, position)) || {};
    const { scores, mover } = position, lead = scores[mover] - (scores.reduce((sum, score) => sum + score, 0) - scores[mover]) / (rules.players - 1);
    const moves = Object.entries(found.values).map(([action, value]) => {
      const { lower, upper } = bounds[action] ?? { lower: -Infinity, upper: Infinity }, exact = lower === upper || (proved && found.proved);
      const final = lead + Math.min(Math.max(value, lower), upper);
      return { action: Number(action), final, exact };
    });
    moves.sort((one, other) => other.final - one.final);
    const action = proved ? (await this.#proofs(Book, engine, rules))?.known(position) : null, known = moves.find((move) => move.action === action);
    const near = known && known.final >= moves[0].final - (known.exact && moves[0].exact ? 0 : PREFERENCE), best = near ? known : moves[0];
    const taken = engine.play(rules, position, best.action).steps.filter(([kind]) => kind === CAPTURE);
    const total = (place) => taken.reduce((sum, step) => sum + step[place], 0);
    return {
      player: player.name,
      best: moveText(best.action),
      values: Object.fromEntries(moves.map((move) => [moveText(move.action), Math.round(move.final) + 0])),
      exact: moves.filter((move) => move.exact).map((move) => moveText(move.action)),
      captured: [total(2) + rules.stone_value * total(3), total(3)],
      search: { proved: moves.every((move) => move.exact), depth: found.depth },
    };
  }

  async #search({ kind, depth, nodes, net }, engine, rules, position, everyMove) {
    if (kind === "full") return searchAll(engine, rules, position, depth);
    const loaded = net && (await this.#once(rules, async () => engine.net(rules, await this.#data(`net-${net}.bin`))));
    return engine.search(rules, position, { depth, nodes, everyMove, net: loaded });
  }

  #catalogue() {
    return this.#once("catalogue", () => this.#data("catalogue.json"));
  }

  /** The certificate, a `Book`, or the table of `Openings` of the preset that the rules are; null for others. */
  async #proofs(kind, engine, rules) {
    const catalogue = await this.#catalogue(), preset = presetOf(rules, catalogue);
    if (!catalogue.proved.includes(preset)) return null;
    const file = kind.file(preset);
    return this.#once(file, async () => kind.read(engine, rules, preset, await this.#data(file)));
  }

  /** What `make` resolves with, made once; again after a failure. */
  #once(name, make) {
    if (!this.#kept.has(name)) {
      const made = Promise.resolve().then(make);
      made.catch(() => this.#kept.delete(name));
      this.#kept.set(name, made);
    }
    return this.#kept.get(name);
  }
}

// ---- asking ----------------------------------------------------------------------------------------------------------

/**
 * Answers one request after another. `data(name)` resolves with a file of the folder `data`: JSON as an object, others as
 * an ArrayBuffer. `worker()` makes a Worker of worker.js; without it the same thread thinks. `ask(name, position, rules)`,
 * all texts, resolves with the move of a player that a program with Python knows.
 *
 * A request with a `signal` that aborts is rejected and leaves its place; a worker that is thinking about it is replaced.
 */
export class Thinker {
  #made;
  #worker;
  #ask;
  #mind = null;
  #jobs = [];
  #current = null;

  constructor({ engine, layout, data, catalogue, worker = null, ask = null }) {
    this.#made = { engine, layout, data };
    this.catalogue = catalogue;
    this.#worker = worker;
    this.#ask = ask;
  }

  /** Throws Refused for a name that nobody has, and for rules that the player does not play. */
  known(name, rules) {
    this.#isElsewhere(name, rules);
  }

  /** The action of a level or a player. */
  async choose(name, rules, position, seed, { signal } = {}) {
    if (!this.#isElsewhere(name, rules)) return this.#request("choose", [name, rules, position, seed], signal);
    return parseMove(await this.#ask(name, positionText(rules, position), rulesText(rules, this.catalogue)));
  }

  hint(rules, position, { signal, ...options } = {}) {
    return this.#request("hint", [rules, position, options], signal);
  }

  /** Whether the bound of a certificate holds for a seat, whatever the others play: the actions `history` from `start` on. */
  async proved(name, rules, start, history, seat) {
    if (this.#isElsewhere(name, rules) || playerOf(name, rules, this.catalogue).kind !== "book") return false;
    return this.#request("proved", [rules, start, history, seat]);
  }

  /** Whether only a program with Python may have a player of that name. */
  #isElsewhere(name, rules) {
    try {
      playerOf(name, rules, this.catalogue);
    } catch (error) {
      if (!error.python || !this.#ask) throw error;
      return true;
    }
    return false;
  }

  #request(method, args, signal) {
    return new Promise((resolve, reject) => {
      const job = { method, args, resolve, reject };
      const drop = () => this.#drop(job, signal.reason);
      this.#jobs.push(job);
      if (signal?.aborted) drop();
      else signal?.addEventListener("abort", drop, { once: true });
      this.#work();
    });
  }

  #drop(job, reason) {
    job.dropped = true;
    job.reject(reason);
    this.#jobs = this.#jobs.filter((other) => other !== job);
    if (this.#current !== job || !this.#mind?.end) return; // the same thread finishes what it has begun
    this.#mind.end();
    this.#mind = null;
  }

  /** Answer what was asked for, one request at a time. */
  async #work() {
    if (this.#current) return;
    while (this.#jobs.length) {
      this.#current = this.#jobs.shift();
      if (!this.#worker) await new Promise((resolve) => { setTimeout(resolve); }); // the page draws before this thread thinks
      if (!this.#current.dropped) await this.#answer(this.#current);
      this.#current = null;
    }
  }

  async #answer(job) {
    try {
      this.#mind ??= this.#worker ? new Remote(this.#worker(), this.#made) : new Thinking(this.#made);
      job.resolve(await this.#mind[job.method](...job.args));
    } catch (error) {
      if (!this.#worker || (this.#mind && !this.#mind.failed)) return job.reject(error);
      this.#worker = this.#mind = null; // no worker can be had here
      await this.#answer(job);
    }
  }
}

/** A `Thinking` in a worker: messages are {begin}, {method, args} and {name, content} to it; {need} and {result} back. */
class Remote {
  #port;
  #settle = null;
  failed = false; // whether the worker is none

  constructor(port, { engine, layout, data }) {
    this.#port = port;
    port.onmessage = async ({ data: { need, result, refused, message } }) => {
      if (need !== undefined) {
        const content = await data(need).then((found) => ({ content: found }), (error) => ({ message: error.message }));
        port.postMessage({ name: need, ...content });
      } else if (refused) this.#settle.reject(Object.assign(new Refused(), refused, { message: refused.detail.en }));
      else if (message !== undefined) this.#settle.reject(new Error(message));
      else this.#settle.resolve(result);
    };
    port.onerror = () => {
      this.failed = true;
      this.#settle?.reject(new Error("the worker failed"));
    };
    port.postMessage({ begin: { engine: engine instanceof URL ? engine.href : engine, layout } });
  }

  choose(...args) { return this.#call("choose", args); }
  hint(...args) { return this.#call("hint", args); }
  proved(...args) { return this.#call("proved", args); }

  end() {
    this.#port.terminate();
    this.#settle?.resolve();
  }

  #call(method, args) {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#port.postMessage({ method, args });
    });
  }
}

/** Answer the messages of a `Remote`: what worker.js does. */
export function serve(port) {
  const asked = new Map();
  let thinking;
  const data = (name) => new Promise((resolve, reject) => {
    asked.set(name, { resolve, reject });
    port.postMessage({ need: name });
  });
  port.onmessage = async ({ data: { begin, method, args, name, content, message } }) => {
    if (begin) thinking = new Thinking({ ...begin, data });
    else if (name !== undefined) message === undefined ? asked.get(name).resolve(content) : asked.get(name).reject(new Error(message));
    else {
      try {
        port.postMessage({ result: await thinking[method](...args) });
      } catch (error) {
        port.postMessage(error instanceof Refused ? { refused: error.json() } : { message: error.message });
      }
    }
  };
}
