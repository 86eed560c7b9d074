// The engine: rules, moves, search and matches, by engine.wasm. It uses no document, so it runs in pages, workers and
// Node. A position is { seeds, stones, scores, mover, ply, ended }, in ring order as in docs/RULES.md; `ended` is 0
// for a running game. Positions never change. An action is 2 * field + direction (0: anticlockwise).

// kinds of steps
export const LAP = 0;
export const CAPTURE = 1;
export const STOP = 2;

const PAGE = 65536;

export class Engine {
  // `source` is the address of engine.wasm, its bytes, or a WebAssembly.Module; `layout` the object of engine.json.
  static async load(source, layout) {
    let module = source;
    if (typeof source === "string" || source instanceof URL) {
      const answer = await fetch(source);
      if (!answer.ok) throw new Error(`${source}: ${answer.status} ${answer.statusText}`);
      module = await answer.arrayBuffer();
    }
    const made = await WebAssembly.instantiate(module, {});
    return new Engine(made.instance ?? made, layout);
  }

  #wasm;
  #layout;
  #end;
  #ints;
  #places = {};
  #filled = {};
  #nets = {};
  #handles = new Map();

  constructor(instance, layout) {
    this.#wasm = instance.exports;
    this.#layout = layout;
    this.turnEnds = layout.turn_ends; // by the number of a step of kind STOP
    this.#end = this.#wasm.__heap_base.value;
    this.#ints = new Int32Array(this.#wasm.memory.buffer);
    this.#places.returned = this.#allocate(16);
  }

  // ---- memory: one record of each kind, allocated when it is first used ---------------------------------------------

  #allocate(size) {
    const begin = Math.ceil(this.#end / 64) * 64; // the beginning of a cache line
    this.#end = begin + size;
    const missing = this.#end - this.#wasm.memory.buffer.byteLength;
    if (missing > 0) {
      this.#wasm.memory.grow(Math.ceil(missing / PAGE));
      this.#ints = new Int32Array(this.#wasm.memory.buffer); // the old view is detached
    }
    return begin;
  }

  #record(kind) {
    return (this.#places[kind] ??= this.#allocate(this.#layout.records[kind].size));
  }

  // Return the offset of a field in 32-bit words.
  #at(kind, field) {
    return (this.#record(kind) + this.#layout.records[kind][field]) >> 2;
  }

  #get(kind, field) {
    const at = this.#at(kind, field); // first, because it may replace the view
    return this.#ints[at];
  }

  #set(kind, field, number) {
    const at = this.#at(kind, field);
    this.#ints[at] = number;
  }

  #read(kind, field, count) {
    const begin = this.#at(kind, field);
    return Array.from(this.#ints.subarray(begin, begin + count));
  }

  #call(name, ...kinds) {
    const { returned } = this.#places;
    const places = kinds.map((kind) => this.#record(kind));
    if (this.#wasm[name](returned, returned + 8, ...places) !== 0) throw new Error(`engine.wasm: ${name} failed`);
  }

  // ---- rules --------------------------------------------------------------------------------------------------------

  // Return the handle of rules, given their fields as checked by rules.js.
  rules(fields) {
    const key = numbersOf(this.#layout.rules, fields).join();
    if (!this.#handles.has(key)) {
      const handle = { ...fields, squares: fields.players * (fields.fields + 1), actions: 2 * fields.fields, key };
      this.#use("rules", handle);
      handle.total = this.#get("rules", "total");
      this.#handles.set(key, Object.freeze(handle));
    }
    return this.#handles.get(key);
  }

  // Fill a record of rules, unless it already holds them.
  #use(kind, rules) {
    if (this.#filled[kind] === rules.key) return;
    const begin = this.#at(kind, "players"); // the first field of the rules
    numbersOf(this.#layout.rules, rules).forEach((number, place) => {
      this.#ints[begin + 2 * place] = number;
      this.#ints[begin + 2 * place + 1] = 0; // the upper half of 64 bits
    });
    this.#call(`fill_${kind}`, kind);
    this.#filled[kind] = rules.key;
  }

  // ---- a game -------------------------------------------------------------------------------------------------------

  #write(rules, position) {
    this.#use("rules", rules);
    for (const name of ["mover", "ply", "ended"]) this.#set("game", name, position[name]);
    for (const name of ["seeds", "stones", "scores"]) this.#ints.set(position[name], this.#at("game", name));
  }

  #position(rules) {
    const [mover, ply, ended] = ["mover", "ply", "ended"].map((name) => this.#get("game", name));
    const seeds = this.#read("game", "seeds", rules.squares);
    const stones = this.#read("game", "stones", rules.players),
      scores = this.#read("game", "scores", rules.players);
    return { seeds, stones, scores, mover, ply, ended };
  }

  // Return the set-up.
  start(rules, starter = 0) {
    this.#use("rules", rules);
    this.#set("game", "mover", starter);
    this.#call("start", "rules", "game");
    return this.#position(rules);
  }

  // Return a given position, with `ended` according to the rules.
  setUp(rules, position) {
    this.#write(rules, { ...position, ended: 0 });
    this.#call("set_up", "rules", "game");
    return this.#position(rules);
  }

  // Return the legal actions; none if the game is over.
  legal(rules, position) {
    this.#write(rules, position);
    this.#call("find_legal", "rules", "game");
    const legal = this.#get("game", "legal"),
      actions = [];
    for (let action = 0; action < rules.actions; action += 1) if ((legal >> action) & 1) actions.push(action);
    return actions;
  }

  // Play a legal action; return { position, steps: [[kind, code, number, stone], ...], points, laps }. Steps are as in
  // move.py; there are none if the move cannot be completed.
  play(rules, position, action) {
    this.#write(rules, position);
    this.#set("game", "action", action);
    this.#call("play", "rules", "game");
    const [points, laps, count] = ["captured", "laps", "step_count"].map((name) => this.#get("game", name));
    if (laps === 0) throw new RangeError(`action ${action} is not legal`);
    const after = this.#position(rules),
      begin = this.#at("game", "steps"),
      buffer = this.#ints.slice(begin, begin + 4 * count);
    return {
      position: after,
      points,
      laps,
      get steps() {
        return Array.from({ length: count }, (_, step) => Array.from(buffer.subarray(4 * step, 4 * step + 4)));
      }, // rarely used
    };
  }

  // Return the points of each player, including leftovers of a finished game.
  standings(rules, position) {
    this.#write(rules, position);
    this.#call("find_standings", "rules", "game");
    return this.#read("game", "points", rules.players);
  }

  // ---- a match (docs/RULES.md 6) ------------------------------------------------------------------------------------

  // Settle a round: `position` is finished, or `ended` is 4 if its mover resigned; `round` counts from 1; `ownership`
  // is { sold: [[...], [...]], pawned: [[...], [...]] }, with fields in the order of sale. Return { scores, winner,
  // ownership, over, matchWinner, starter }: a winner may be null, and `starter` begins the next round.
  settle(rules, matchRules, { ownership, starter, round, position }) {
    this.#write(rules, position);
    const begin = this.#at("match", "marks"),
      row = this.#layout.row;
    this.#ints.fill(0, begin, begin + 2 * row);
    for (const player of [0, 1]) {
      ownership.sold[player].forEach((field, number) => {
        this.#ints[begin + row * player + field] = number + 1;
      });
      ownership.pawned[player].forEach((field, number) => {
        this.#ints[begin + row * player + field] = -number - 1;
      });
    }
    const settings = numbersOf(this.#layout.match, matchRules);
    Object.keys(this.#layout.match).forEach((name, place) => this.#set("match", name, settings[place]));
    this.#set("match", "round", round);
    this.#set("match", "starter", starter);
    this.#call("settle", "rules", "game", "match");
    const rows = [0, 1].map((player) =>
      Array.from(this.#ints.subarray(begin + row * player, begin + row * (player + 1))),
    );
    const marked = (sign) =>
      rows.map((marks) =>
        [...marks.keys()]
          .filter((field) => marks[field] * sign > 0)
          .sort((one, other) => (marks[one] - marks[other]) * sign),
      );
    const [winner, matchWinner] = ["winner", "match_winner"].map((name) => this.#get("match", name));
    return {
      scores: this.#read("game", "points", 2),
      winner: winner < 0 ? null : winner,
      owed: this.#get("match", "owed"),
      ownership: { sold: marked(1), pawned: marked(-1) },
      over: this.#get("match", "match_end") !== 0,
      matchWinner: matchWinner < 0 ? null : matchWinner,
      starter: this.#get("match", "starter"),
    };
  }

  // ---- search -------------------------------------------------------------------------------------------------------

  // Return the value net in the bytes of net-PRESET.bin.
  net(rules, bytes) {
    const size = this.#layout.nets[searchRecord(rules)];
    if (bytes.byteLength !== size) throw new RangeError(`the net has ${bytes.byteLength} bytes, not ${size}`);
    return new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, size);
  }

  // Search a running position to a depth or for a number of nodes: alpha-beta for two players, max^n for more. Return
  // { action, actions, value, values: { action: value }, depth, proved, nodes }, as in search/limits.py without the
  // line.
  search(rules, position, { depth = 0, nodes = 0, everyMove = false, net = null }) {
    if (!(depth >= 1 || nodes >= 1)) throw new RangeError("a search needs a depth or a number of nodes");
    if (rules.refill === "forfeit") throw new RangeError("a search needs refill=borrow");
    if (position.ended) throw new RangeError("the game is over; there is no move to search");
    const kind = searchRecord(rules);
    this.#use(kind, rules);
    if (net !== null) this.#useNet(kind, net);
    this.#write(rules, position);
    const query = { depth, nodes: Math.min(nodes, 2 ** 31 - 1), every_move: everyMove, has_net: net !== null };
    for (const [name, value] of Object.entries(query)) this.#set("query", name, Number(value));
    if (rules.players === 2) this.#call("search_two", kind, "game", "query", "two", "table");
    else this.#call("search_many", kind, "game", "query", "many");
    return this.#found(rules);
  }

  #useNet(kind, net) {
    if (this.#nets[kind] === net) return;
    const begin = this.#record(kind) + this.#layout.records[kind].net;
    new Uint8Array(this.#wasm.memory.buffer).set(net, begin);
    this.#nets[kind] = net;
  }

  #found(rules) {
    const [valued, depth, proved, nodes] = ["valued", "reached", "proved", "played"].map((name) =>
      this.#get("query", name),
    );
    const { buffer } = this.#wasm.memory;
    const begin = (name) => this.#record("query") + this.#layout.records.query[name];
    const all = new Float64Array(buffer, begin("values"), rules.actions);
    const [value] = new Float64Array(buffer, begin("value"), 1);
    const values = {},
      actions = [];
    all.forEach((one, action) => {
      if (!((valued >> action) & 1)) return;
      values[action] = one;
      if (one === value) actions.push(action);
    });
    return { action: actions[0], actions, value, values, depth, proved: proved === 1, nodes };
  }
}

// Encode fields as numbers: a choice is encoded by its index.
function numbersOf(choices, fields) {
  return Object.entries(choices).map(([name, names]) =>
    names.length ? names.indexOf(fields[name]) : Number(fields[name]),
  );
}

function searchRecord(rules) {
  return rules.players === 2 ? "two_rules" : "many_rules";
}
