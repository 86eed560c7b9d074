// Moves of players and values for hints, computed by the engine in a worker or in the page's own thread.

import { fold } from "./any-rules-net.js";
import { Book, Openings } from "./book.js";
import { Engine, CAPTURE } from "../model/engine.js";
import { moveText } from "../model/notation.js";
import { ADVISERS, ANY, firstPlaying, playerOf, presetOf, searchAll, searchSaving, seeded } from "./players.js";
import { Refused } from "../model/refused.js";

// points: a proved move is the hint unless the search values another move higher by more than this
const PREFERENCE = 3;

/**
 * Return the moves from the best on: the mover's `final` lead, which lies between the move's `bounds` and is at most
 * `most`, and whether it is `exact`. `values` are future margins; with `proved`, all of them are exact.
 */
function ranked({ scores, mover }, values, proved, bounds, most) {
  const lead = scores[mover] - (scores.reduce((sum, score) => sum + score, 0) - scores[mover]) / (scores.length - 1);
  const moves = Object.entries(values).map(([action, value]) => {
    const { lower, upper } = bounds[action] ?? { lower: -Infinity, upper: Infinity };
    const final = lead + Math.min(Math.max(value, lower), upper, most);
    return { action: Number(action), final, exact: lower === upper || proved };
  });
  return moves.sort((one, other) => other.final - one.final);
}

/** A source of moves and hints. It takes rules as fields or as a handle of any engine, and keeps all loaded files. */
export class Thinking {
  #data;
  #engine;
  #kept = new Map();

  /** `engine` and `layout` are as in `Engine.load`; `data(name)` resolves with a file's content. */
  constructor({ engine, layout, data }) {
    this.#data = data;
    this.#engine = () => this.#once("engine", () => Engine.load(engine, layout));
  }

  /** Resolve with the action of a level or a player, which draws random numbers from `seed`. */
  async choose(name, fields, position, seed) {
    const { actions, legal, epsilon, goesOn } = await this.best(name, fields, position),
      random = seeded(seed);
    if (!legal.length) throw new Refused("request", "the game is over", "ván đã hết");
    const drawn = (from) => from[Math.floor(random() * from.length)],
      best = drawn(actions),
      choice = random() < epsilon ? drawn(legal) : best;
    const engine = await this.#engine(),
      goingOn = goesOn
        ? legal.filter((action) => !engine.play(engine.rules(fields), position, action).position.ended)
        : [];
    return goingOn.length && !goingOn.includes(choice) ? drawn(goingOn) : choice;
  }

  /**
   * Resolve with the actions from which a player draws its move, and with its settings: with probability `epsilon`, it
   * draws from all legal actions instead; with `goesOn`, it ends the game only if it has no other move.
   */
  async best(name, fields, position) {
    const engine = await this.#engine(),
      rules = engine.rules(fields),
      legal = engine.legal(rules, position);
    let player = playerOf(name, rules, await this.#catalogue());
    if (player.kind === "book") {
      const action = (await this.#proofs(Book, engine, rules))?.provedMove(position) ?? null;
      if (action !== null) return { actions: [action], legal, epsilon: 0 };
      player = player.fallback;
    }
    const { epsilon, goesOn } = player;
    if (player.kind === "random" || legal.length < 2) return { actions: legal, legal, epsilon };
    return { actions: (await this.#search(player, engine, rules, position, false)).actions, legal, epsilon, goesOn };
  }

  /** Load what a player needs for its move after `ply` plies. */
  async prepare(name, fields, ply) {
    const engine = await this.#engine(),
      rules = engine.rules(fields),
      { kind, fallback, net } = playerOf(name, rules, await this.#catalogue());
    if (kind === "book") (await this.#proofs(Book, engine, rules))?.prepare(ply);
    await this.#loaded(engine, rules, fallback?.net ?? net);
  }

  /**
   * Resolve with the best move, and the value of each move: the mover's final lead. `exact` lists the moves with proved
   * values, `search.net` is as in `playerOf`. If all moves have proved values, nothing is searched. Pass `proved: false`
   * if fields changed hands: no value is then proved. `nodes` limits the search.
   */
  async hint(fields, position, { proved = true, nodes = null } = {}) {
    const engine = await this.#engine(),
      rules = engine.rules(fields),
      catalogue = await this.#catalogue();
    const player = firstPlaying(ADVISERS, rules, catalogue),
      adviser = player.fallback;
    const openings =
        proved && rules.players === 2 ? ((await this.#proofs(Openings, engine, rules)) ?? Openings.none(engine)) : null,
      bounds = openings?.moveValues(rules, position) ?? {},
      most = openings?.value(rules, position)?.upper ?? Infinity,
      known = engine.legal(rules, position).map((action) => [action, bounds[action]?.lower, bounds[action]?.upper]);
    const found = known.every(([, lower, upper]) => Number.isFinite(lower) && lower === upper)
      ? { values: Object.fromEntries(known), proved: true, depth: 0, nodes: 0 }
      : await this.#search(nodes ? { ...adviser, nodes } : adviser, engine, rules, position, true);
    const moves = ranked(position, found.values, proved && found.proved, bounds, most),
      best = await this.#advised(engine, rules, position, openings, moves);
    const taken = engine.play(rules, position, best.action).steps.filter(([kind]) => kind === CAPTURE);
    const total = (place) => taken.reduce((sum, step) => sum + step[place], 0);
    return {
      player: player.name,
      best: moveText(best.action),
      values: Object.fromEntries(moves.map((move) => [moveText(move.action), Math.round(move.final) + 0])),
      exact: moves.filter((move) => move.exact).map((move) => moveText(move.action)),
      captured: [total(2) + rules.stone_value * total(3), total(3)],
      search: {
        proved: moves.every((move) => move.exact),
        depth: found.depth,
        net: adviser.net ?? null,
        nodes: adviser.kind === "search" ? found.nodes : 0,
      }, // 0: a longer search would give the same result
    };
  }

  /** Resolve with the first of the `ranked` moves, or with the book's move if it is not much worse. */
  async #advised(engine, rules, position, openings, moves) {
    const begin = openings?.value(rules, engine.start(rules)),
      // without an exact value, book moves need not be best
      book = begin && begin.lower === begin.upper ? await this.#proofs(Book, engine, rules) : null;
    const action = book?.provedMove(position) ?? null,
      advised = moves.find((move) => move.action === action);
    const near = advised && advised.final >= moves[0].final - (advised.exact && moves[0].exact ? 0 : PREFERENCE);
    return near ? advised : moves[0];
  }

  async #search({ kind, depth, nodes, net }, engine, rules, position, everyMove) {
    if (kind === "full") return searchAll(engine, rules, position, depth);
    if (kind === "saver") return searchSaving(engine, rules, position);
    return engine.search(rules, position, { depth, nodes, everyMove, net: await this.#loaded(engine, rules, net) });
  }

  #loaded(engine, rules, net) {
    return net && this.#once(`net ${net} ${rules.key}`, () => this.#net(net, engine, rules));
  }

  async #net(name, engine, rules) {
    const bytes = await this.#data(`net-${name}.bin`);
    return engine.net(rules, name === ANY ? fold(bytes, rules, await this.#catalogue()) : bytes);
  }

  #catalogue() {
    return this.#once("catalogue", () => this.#data("catalogue.json"));
  }

  /** Resolve with the `Book` or the `Openings` of a preset; null for other rules. */
  async #proofs(kind, engine, rules) {
    const catalogue = await this.#catalogue(),
      preset = presetOf(rules, catalogue);
    if (!catalogue[kind.list].includes(preset)) return null;
    const file = kind.file(preset);
    return this.#once(file, async () => kind.read(engine, rules, preset, await this.#data(file)));
  }

  /** Call `make` once for each name, and again after a failure; resolve with its result. */
  #once(name, make) {
    if (!this.#kept.has(name)) {
      const made = Promise.resolve().then(make);
      made.catch(() => this.#kept.delete(name));
      this.#kept.set(name, made);
    }
    return this.#kept.get(name);
  }
}

/** Answer the messages of a page (`Remote` in thinker.js), as worker.js does. */
export function serve(port) {
  const asked = new Map();
  let thinking;
  const data = (name) =>
    new Promise((resolve, reject) => {
      asked.set(name, { resolve, reject });
      port.postMessage({ need: name });
    });
  port.onmessage = async ({ data: { begin, method, args, name, content, message } }) => {
    if (begin) thinking = new Thinking({ ...begin, data });
    else if (name !== undefined)
      message === undefined ? asked.get(name).resolve(content) : asked.get(name).reject(new Error(message));
    else {
      try {
        port.postMessage({ result: await thinking[method](...args) });
      } catch (error) {
        port.postMessage(error instanceof Refused ? { refused: { ...error } } : { message: error.message });
      }
    }
  };
}
