// Requests moves and hints from thinking.js in a worker, or in the same thread without one. It uses no document.

import { parseMove, positionText } from "../model/notation.js";
import { playerOf } from "./players.js";
import { Refused } from "../model/refused.js";
import { rulesText } from "../model/rules.js";

/**
 * A queue of requests, answered one after the other. `data(name)` resolves with a file of the folder `data`: JSON as an
 * object, others as an ArrayBuffer. `worker()` makes a Worker of worker.js; without it, `think(made)` resolves with a
 * `Thinking` in this thread. `ask(name, position, rules)`, all texts, resolves with the move of a Python player;
 * `askable(name)` returns whether it may be called with this name.
 *
 * If the `signal` of a request aborts, the request is rejected and removed, and a worker that is busy with it is
 * replaced.
 */
export class Thinker {
  #made;
  #think;
  #worker;
  #ask;
  #askable;
  #mind = null;
  #jobs = [];
  #current = null;
  #hints = new Map();

  constructor({ engine, layout, data, catalogue, think = null, worker = null, ask = null, askable = () => true }) {
    this.#made = { engine, layout, data };
    this.#think = think;
    this.catalogue = catalogue;
    this.#worker = worker;
    this.#ask = ask;
    this.#askable = askable;
  }

  /** Resolve with the action of a level or a player. */
  async choose(name, rules, position, seed, { signal } = {}) {
    if (!this.needsPython(name, rules)) return this.#request("choose", [name, rules, position, seed], signal);
    return parseMove(await this.#ask(name, positionText(rules, position), rulesText(rules, this.catalogue)));
  }

  /** Load what a player needs for its move after `ply` plies, unless Python plays. */
  async prepare(name, rules, ply) {
    if (!this.needsPython(name, rules)) await this.#request("prepare", [name, rules, ply]);
  }

  /** Resolve with the values of all moves (`Thinking.hint`). The same question gets the same answer without a search. */
  hint(rules, position, { signal, proved = true, nodes = null } = {}) {
    const key = [rulesText(rules, this.catalogue), positionText(rules, position), proved, nodes].join(" ");
    const asked = this.#hints.get(key);
    if (asked)
      return asked.catch((error) => {
        if (error.name !== "AbortError" || signal?.aborted) throw error;
        return this.hint(rules, position, { signal, proved, nodes }); // only the first asker lost interest
      });
    const answer = this.#request("hint", [rules, position, { proved, nodes }], signal);
    this.#hints.set(key, answer);
    answer.catch(() => this.#hints.delete(key));
    return answer;
  }

  /**
   * Return whether Python has to choose the moves of a player. Throws Refused if no player has this name, or if the
   * player does not support the rules.
   */
  needsPython(name, rules) {
    try {
      playerOf(name, rules, this.catalogue);
    } catch (error) {
      if (!error.python || !this.#ask || !this.#askable(name)) throw error;
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
    if (this.#current !== job || !this.#mind?.end) return; // this thread cannot be interrupted
    this.#mind.end();
    this.#mind = null;
  }

  /** Answer the waiting requests one at a time. */
  async #work() {
    if (this.#current) return;
    while (this.#jobs.length) {
      this.#current = this.#jobs.shift();
      if (!this.#worker)
        await new Promise((resolve) => {
          setTimeout(resolve);
        }); // lets the page draw before this thread searches
      if (!this.#current.dropped) await this.#answer(this.#current);
      this.#current = null;
    }
  }

  async #answer(job) {
    try {
      this.#mind ??= this.#worker ? new Remote(this.#worker(), this.#made) : await this.#think(this.#made);
      job.resolve(await this.#mind[job.method](...job.args));
    } catch (error) {
      if (this.#mind?.failed) this.#mind = null; // the next request tries another worker
      job.reject(error);
    }
  }
}

/**
 * A `Thinking` in a worker. It gets the messages {begin}, {method, args} and {name, content}, and sends {need} and
 * {result}.
 */
class Remote {
  #port;
  #settle = null;
  failed = false;

  constructor(port, { engine, layout, data }) {
    this.#port = port;
    port.onmessage = async ({ data: { need, result, refused, message } }) => {
      if (need !== undefined) {
        const content = await data(need).then(
          (found) => ({ content: found }),
          (error) => ({ message: error.message }),
        );
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

  choose(...args) {
    return this.#call("choose", args);
  }
  hint(...args) {
    return this.#call("hint", args);
  }
  prepare(...args) {
    return this.#call("prepare", args);
  }

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
