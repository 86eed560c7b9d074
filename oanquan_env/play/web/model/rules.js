// Rules of games and of matches as texts and as checked fields, read and written as in Python. Names, values, presets
// and impossible combinations come from catalogue.json, which is made from the fields of Rules in Python.

import { Refused } from "./refused.js";

/** Characters that are blank in Python, for regular expressions (JavaScript has others), and the pattern of a word. */
export const BLANKS = "\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
export const WORD = new RegExp(`[^${BLANKS}]+`, "gu");

/** Return a text in quotes for an error, shortened. */
export function quoted(text) {
  const letters = [...text];
  return `'${letters.length > 40 ? `${letters.slice(0, 40).join("")}…` : text}'`;
}

/** Write the value of a field as Python does. */
export const written = (value) => (typeof value === "boolean" ? (value ? "True" : "False") : String(value));
const refused = (field, en, vi) => new Refused("rules", en, vi, { field });

function words(text, catalogue) {
  const most = catalogue.max_text,
    { length } = [...text],
    [en, vi] = ["en", "vi"].map((language) => [most, length].map((number) => number.toLocaleString(language)));
  if (length > most)
    throw refused(
      "",
      `a text of rules must have at most ${en[0]} characters; got ${en[1]}`,
      `luật dài nhất là ${vi[0]} ký tự, không phải ${vi[1]}`,
    );
  return text.match(WORD) ?? [];
}

function unknown([en, vi], name, known) {
  return refused(
    "",
    `unknown ${en} ${quoted(name)}; known: ${known.join(", ")}`,
    `không có ${vi} ${quoted(name)}; chỉ có: ${known.join(", ")}`,
  );
}

/** Parse the value of a field {name, choices, range}. */
function parsed(field, text) {
  let value = text;
  if (field.range) value = /^-?[0-9]+$/.test(text) ? Number(text) : text;
  else if (!field.choices.length) value = text === "True" || (text === "False" ? false : text);
  else if (field.name === "sowing" && text === "anticlockwise") value = "counterclockwise";
  check(field, value);
  return value;
}

function check({ name, choices, range }, value) {
  const good = range
    ? Number.isInteger(value) && range[0] <= value && value <= range[1]
    : choices.length
      ? choices.includes(value)
      : typeof value === "boolean";
  if (good) return;
  const between = (language) => range.map((limit) => limit.toLocaleString(language));
  const en = range
    ? `a whole number from ${between("en").join(" to ")}`
    : choices.length
      ? `one of ${choices.join(", ")}`
      : "True or False";
  const vi = range
    ? `số nguyên từ ${between("vi").join(" đến ")}`
    : choices.length
      ? `một trong ${choices.join(", ")}`
      : "True hoặc False";
  const got = typeof value === "string" ? quoted(value) : written(value);
  throw refused(name, `${name} must be ${en}; got ${got}`, `${name} phải là ${vi}, không phải ${got}`);
}

/** Parse words such as seeds=4; return values by field. */
function changes(words, fields, kind) {
  const texts = new Map();
  for (const word of words) {
    const [, name, sign, text] = /^([^=]*)(=?)(.*)$/su.exec(word);
    if (!sign)
      throw refused(
        "",
        `cannot read ${quoted(word)}: expected field=value`,
        `không đọc được ${quoted(word)}: cần viết tên=giá_trị`,
      );
    if (!fields.some((field) => field.name === name))
      throw unknown(
        kind,
        name,
        fields.map((field) => field.name),
      );
    if (texts.has(name)) throw refused(name, `the field ${name} is given twice`, `${name} được viết hai lần`);
    texts.set(name, text);
  }
  return Object.fromEntries(
    fields.filter(({ name }) => texts.has(name)).map((field) => [field.name, parsed(field, texts.get(field.name))]),
  );
}

/** Check the fields, add the default ply limit, and return all in order. Throws Refused. */
function checkRules(fields, catalogue) {
  for (const field of catalogue.fields)
    if (field.name !== "max_plies" || fields.max_plies) check(field, fields[field.name]);
  const complete = Object.fromEntries(catalogue.fields.map(({ name }) => [name, fields[name]]));
  complete.max_plies ||= catalogue.max_plies[fields.players];
  const seeds = complete.players * (complete.fields * complete.seeds + complete.mandarin_seeds),
    most = catalogue.max_seeds;
  if (seeds > most) {
    throw refused(
      "seeds",
      `players * (fields * seeds + mandarin_seeds) must be at most ${most} seeds; got ${seeds}`,
      `tổng cộng có ${seeds} dân; nhiều nhất là ${most}`,
    );
  }
  for (const [name, value, other, needed, reason] of catalogue.needs) {
    if (complete[name] !== value || complete[other] === needed) continue;
    const texts = [written(value), written(needed)];
    throw refused(
      name,
      `${name}=${texts[0]} needs ${other}=${texts[1]}: ${reason}`,
      `${name}=${texts[0]} cần ${other}=${texts[1]}`,
    );
  }
  return Object.freeze(complete);
}

/** Read `[preset] [field=value ...]`; the inverse of rulesText. */
export function parseRules(text, catalogue) {
  const all = words(text, catalogue),
    name = all.length && !all[0].includes("=") ? all.shift() : catalogue.default;
  if (!Object.hasOwn(catalogue.presets, name)) throw unknown(["preset", "luật"], name, Object.keys(catalogue.presets));
  const base = catalogue.presets[name],
    changed = changes(all, catalogue.fields, ["rules field", "mục luật"]);
  const usual = base.max_plies === catalogue.max_plies[base.players] ? 0 : base.max_plies;
  return checkRules({ ...base, max_plies: usual, ...changed }, catalogue);
}

/** Return the shortest text: a preset, and the fields that differ from it. */
export function rulesText(rules, catalogue) {
  let shortest;
  for (const [name, values] of Object.entries(catalogue.presets)) {
    const usual =
      values.max_plies === catalogue.max_plies[values.players] ? catalogue.max_plies[rules.players] : values.max_plies;
    const base = { ...values, max_plies: usual };
    const differing = catalogue.fields.map((field) => field.name).filter((field) => rules[field] !== base[field]);
    const text = [name, ...differing.map((field) => `${field}=${written(rules[field])}`)];
    if (!shortest || text.length < shortest.length) shortest = text;
  }
  return shortest.join(" ");
}

/** Read the rules of a match such as `fields_to_lose=4`, to be played by `rules`; the inverse of matchRulesText. */
export function parseMatchRules(text, rules, catalogue) {
  const changed = changes(words(text, catalogue), catalogue.match, ["match rule", "mục luật trận"]);
  const match = Object.fromEntries(catalogue.match.map((field) => [field.name, changed[field.name] ?? field.default]));
  if (rules.players !== 2)
    throw refused("players", `match play needs players=2, not ${rules.players}`, "players phải là 2 để đấu cả trận");
  if (match.fields_to_lose > rules.fields) {
    throw refused(
      "fields_to_lose",
      `fields_to_lose must be at most fields=${rules.fields}; got ${match.fields_to_lose}`,
      `fields_to_lose nhiều nhất là ${rules.fields}`,
    );
  }
  return Object.freeze(match);
}

export const matchRulesText = (match) =>
  Object.entries(match)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
