// The page's own players: levels for people, names as in oanquan_env/players/names.py, and the best moves of each
// player.

import { Refused } from "../model/refused.js";
import { quoted, rulesText } from "../model/rules.js";

/**
 * The moves that a search plays per millisecond of its limit, with and without a net, so that games repeat on any
 * device.
 */
const NODES_PER_MS = { net: 1000, plain: 10000 };
const searchers = (ms) =>
  ["minimax", "maxn"].flatMap((kind) => [
    `${kind}:nodes=${ms * NODES_PER_MS.net},net=pretrained`,
    `${kind}:nodes=${ms * NODES_PER_MS.plain}`,
  ]);

/** Players for the values of moves; the first that supports the rules is used. */
export const ADVISERS = [...searchers(1000), "maxn:depth=6"].map((name) => `book:${name}`);

/**
 * The levels of oanquan_env/play/levels.py: players, of which the first that supports the rules is used; the
 * probability of a random move; and `goesOn`: whether it ends a game only if it has no other move.
 */
export const LEVELS = {
  beginner: { players: ["greedy"], epsilon: 0.7, goesOn: true },
  easy: { players: ["greedy"], epsilon: 0.3 },
  medium: { players: ["saver"], epsilon: 0 },
  hard: { players: ["minimax:depth=6,net=pretrained", "minimax:depth=7", "maxn:depth=5"], epsilon: 0 },
  perfect: { players: ADVISERS, epsilon: 0 },
};

/** The name of the net for any rules. */
export const ANY = "any";
const LIMITS = ["depth", "nodes", "ms"],
  SEARCH = { depth: "whole", nodes: "whole", ms: "number", net: "text" };
const KINDS = { random: {}, greedy: {}, saver: {}, minimax: SEARCH, maxn: SEARCH, book: null };
const FORMS = { whole: /^-?[0-9]{1,15}$/, number: /^-?([0-9]{1,12}(\.[0-9]{0,15})?|\.[0-9]{1,15})$/, text: /^.*$/ };
const WANTED = { whole: ["a whole number", "số nguyên"], number: ["a number", "số"] };
const DEEPEST = { minimax: 127, maxn: 20 };
const KNOWN = [
  ...Object.keys(LEVELS),
  "random",
  "greedy",
  "saver",
  "minimax:depth=6",
  "minimax:nodes=20000,net=pretrained",
  "maxn:depth=4",
  "book:greedy",
].join(", ");

// ---- names ----------------------------------------------------------------------------------------------------------

/** Refuse a name; `python`: whether Python may have a player with this name. */
function refuse(en, vi, python = false) {
  throw Object.assign(new Refused("player", en, vi), { python });
}

/**
 * Parse a player's name; return {kind, options, epsilon, fallback}. Throws Refused if `names.parse` raises an error.
 */
function parse(name) {
  const [, kind, detail] = /^([^:]*):?([^]*)$/.exec(name);
  if (!Object.hasOwn(KINDS, kind)) {
    refuse(
      `unknown player ${quoted(name)}; the page plays ${KNOWN}`,
      `không có máy chơi ${quoted(name)}; trang này có ${KNOWN}`,
      true,
    );
  }
  if (kind === "book") {
    if (!detail)
      refuse(
        "book needs a player for positions that it does not know, as in book:greedy",
        "book cần một máy chơi khác, như book:greedy",
      );
    return { kind, fallback: parse(detail) };
  }
  const { epsilon = 0, ...options } = optionsOf(kind, detail);
  if (!(epsilon >= 0 && epsilon <= 1)) {
    refuse(
      `epsilon must be a probability, 0 to 1; got ${epsilon}`,
      `epsilon là xác suất, từ 0 đến 1, không phải ${epsilon}`,
    );
  }
  return { kind, options, epsilon };
}

/** Parse options such as `depth=6,nodes=1000`. */
function optionsOf(kind, detail) {
  const types = { ...KINDS[kind], epsilon: "number" },
    known = Object.keys(types)
      .map((key) => `${key}=…`)
      .join(", "),
    options = {};
  for (const part of detail ? detail.split(",") : []) {
    const [, key, sign, text] = /^([^=]*)(=?)([^]*)$/.exec(part);
    if (!Object.hasOwn(types, key) || !sign)
      refuse(`${kind} has the options ${known}; got ${quoted(part)}`, `${kind} có ${known}; không có ${quoted(part)}`);
    if (Object.hasOwn(options, key))
      refuse(
        `${kind} has the option ${key} twice in ${quoted(detail)}`,
        `${kind} có hai lần ${key} trong ${quoted(detail)}`,
      );
    if (!FORMS[types[key]].test(text)) {
      const [en, vi] = WANTED[types[key]];
      refuse(
        `${key} of ${kind} must be ${en}; got ${quoted(text)}`,
        `${key} của ${kind} phải là ${vi}, không phải ${quoted(text)}`,
      );
    }
    options[key] = types[key] === "text" ? text : Number(text);
  }
  return options;
}

/** Return the preset that equals the rules, or null. */
export function presetOf(rules, catalogue) {
  const text = rulesText(rules, catalogue);
  return Object.hasOwn(catalogue.presets, text) ? text : null;
}

/**
 * Return the player of a level or a name for some rules: {name, kind, epsilon, goesOn}. The kind `book` has `fallback`,
 * the player for other positions; `search` has {depth, nodes, net}, with the preset of the net or ANY; `full` searches
 * all lines to `depth`. Throws Refused if the page has no such player, or if it does not support the rules.
 */
export function playerOf(name, rules, catalogue) {
  if (!Object.hasOwn(LEVELS, name)) return { name, ...made(parse(name), rules, catalogue) };
  const { players, ...plays } = LEVELS[name];
  return { ...firstPlaying(players, rules, catalogue), ...plays };
}

/** Return the first of the named players that supports the rules; the last one must. */
export function firstPlaying(names, rules, catalogue) {
  for (const name of names.slice(0, -1)) {
    try {
      return playerOf(name, rules, catalogue);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  }
  return playerOf(names.at(-1), rules, catalogue);
}

function made({ kind, options, epsilon, fallback }, rules, catalogue) {
  if (kind === "book") return { kind, fallback: made(fallback, rules, catalogue) };
  if (kind === "random" || kind === "saver") return { kind, epsilon };
  if (kind === "greedy") return { kind: "full", depth: 1, epsilon };
  const limits = LIMITS.filter((limit) => limit in options),
    { depth, nodes = Infinity, ms = Infinity } = options;
  const net = netOf(options.net, rules, catalogue),
    two = rules.players === 2,
    full = rules.refill === "forfeit";
  checkLimits(kind, limits, options);
  const better = `maxn:depth=${depth ?? 4}`,
    other = two && !full ? `minimax:depth=${depth ?? 4}` : better;
  if (kind === "minimax" && (!two || full)) {
    refuse(
      `minimax is for two players and refill=borrow; write ${better}`,
      `minimax chỉ dùng cho hai người và refill=borrow; hãy viết ${better}`,
    );
  }
  if (kind === "maxn" && (two || full) && (net || limits.length > 1 || depth === undefined)) {
    const limited = "net, nodes, ms";
    refuse(
      `maxn with ${limited} is for three and four players and refill=borrow; write ${other}`,
      `maxn với ${limited} chỉ dùng cho ba, bốn người và refill=borrow; hãy viết ${other}`,
    );
  }
  const most = Math.min(nodes, Math.round(ms * NODES_PER_MS[net ? "net" : "plain"]));
  return { kind: full ? "full" : "search", epsilon, depth, nodes: most === Infinity ? undefined : most, net };
}

function checkLimits(kind, limits, options) {
  const examples = `${kind}:depth=4, ${kind}:nodes=20000`;
  if (!limits.length) refuse(`${kind} needs a limit, as in ${examples}`, `${kind} cần một giới hạn, như ${examples}`);
  for (const limit of limits) {
    const [value, most] = [options[limit], limit === "depth" ? DEEPEST[kind] : Infinity];
    if (!(value >= 1))
      refuse(`${limit} must be 1 or more; got ${value}`, `${limit} phải từ 1 trở lên, không phải ${value}`);
    if (value > most)
      refuse(`${limit} must be 1 to ${most}; got ${value}`, `${limit} phải từ 1 đến ${most}, không phải ${value}`);
  }
}

/**
 * Return the net for these rules with any ply limit: a preset's name or ANY; null without a net. As in `read_net` of
 * any_rules_net.py, `pretrained` falls back to the net for any rules with some numbers of fields.
 */
function netOf(net, rules, catalogue) {
  if (net === undefined) return null;
  if (net !== "pretrained" && net !== ANY)
    refuse(
      `the page has no net ${quoted(net)}; write net=pretrained or net=any`,
      `trang này không có mạng ${quoted(net)}; hãy viết net=pretrained hoặc net=any`,
      true,
    );
  const preset = presetOf({ ...rules, max_plies: catalogue.max_plies[rules.players] }, catalogue);
  if (preset && net !== ANY) return preset;
  const { players, refill, fields } = rules;
  if (players !== 2 || refill !== "borrow")
    refuse("no net comes for these rules; write the name without net=", "không có mạng cho luật này; hãy bỏ net=");
  if (net !== ANY && !catalogue.any_rules.fallback_fields.includes(fields))
    refuse(
      `with ${fields} fields, a search is better without a net; write the name without net=, or with net=any`,
      `với ${fields} ô mỗi bên, không dùng mạng thì hơn; hãy bỏ net=, hoặc viết net=any`,
    );
  return ANY;
}

// ---- moves ----------------------------------------------------------------------------------------------------------

/** Return a seeded generator of numbers from 0 to 1 (mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Return a player's lead over the mean of the others, multiplied by the number of others to get a whole number. */
const worth = (points, seat) => points.length * points[seat] - points.reduce((sum, more) => sum + more, 0);

/** Search all lines to `depth` plies by max^n; returns the same as `engine.search`, for all rules. */
export function searchAll(engine, rules, position, depth) {
  let nodes = 0;
  const look = (at, left) => {
    let best = null;
    const found = engine.legal(rules, at).map((action) => {
      const child = engine.play(rules, at, action).position,
        ends = child.ended || left === 1;
      const { points } = ends
        ? { points: child.ended ? engine.standings(rules, child) : child.scores }
        : look(child, left - 1);
      nodes += 1;
      const move = { action, points, worth: worth(points, at.mover) };
      if (!best || move.worth > best.worth) best = move; // the first of equal moves
      return move;
    });
    return { ...best, found };
  };
  const { found, worth: highest } = look(position, depth),
    begin = worth(position.scores, position.mover);
  const value = (move) => (move.worth - begin) / (rules.players - 1);
  const values = Object.fromEntries(found.map((move) => [move.action, value(move)]));
  const actions = found.filter((move) => move.worth === highest).map(({ action }) => action);
  return { action: actions[0], actions, value: values[actions[0]], values, depth, proved: false, nodes };
}

/**
 * Return the moves after which the next player can win the fewest points at once, and of these the ones that win the
 * most, as in `SaverPolicy` of oanquan_env/players/basic.py.
 */
export function searchSaving(engine, rules, position) {
  const moves = Object.entries(searchAll(engine, rules, position, 1).values).map(([action, won]) => {
    const child = engine.play(rules, position, Number(action)).position;
    return {
      action: Number(action),
      won,
      cost: child.ended ? Math.max(0, -won) : searchAll(engine, rules, child, 1).value,
    };
  });
  const least = Math.min(...moves.map(({ cost }) => cost)),
    cheapest = moves.filter(({ cost }) => cost === least);
  const most = Math.max(...cheapest.map(({ won }) => won));
  return { actions: cheapest.filter(({ won }) => won === most).map(({ action }) => action) };
}
