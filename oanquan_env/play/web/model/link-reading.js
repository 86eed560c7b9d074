// Reads links to games, which links.js writes. A link may come from anybody, so it has few keys, each once, and no text
// longer than necessary.

import { sides } from "./links.js";
import { Refused } from "./refused.js";
import { parseRules, quoted } from "./rules.js";

const LONGEST = {
  rules: 1000,
  from: 1000,
  match: 1000,
  moves: 50_000,
  south: 100,
  east: 100,
  north: 100,
  west: 100,
  game: 20,
  tree: 50_000,
  at: 6,
};
const LONGEST_LINK = 100_000;
const LINK = /(?:#|%(?:25)*23)([a-z_]+(?:=|%(?:25)*3D)\S*)/i; // in any text
// messengers encode = and &, even twice; links.js does not
const ENCODED = new RegExp(`%(?:25)*(?:3D|26(?:${Object.keys(LONGEST).join("|")})=)`, "i");

const refuse = (en, vi) => {
  throw new Refused("link", en, vi);
};

/** Return the fragment of the first link to a game in a text, without #; null if there is none. Throws Refused. */
export function findLink(text) {
  let found = LINK.exec(text)?.[1];
  if (!found) return null;
  try {
    while (ENCODED.test(found)) found = decodeURIComponent(found);
  } catch {
    refuse(
      "the link is damaged: a % in it is not followed by the code of a character",
      "liên kết bị hỏng: sau dấu % không phải mã của ký tự",
    );
  }
  return found.replaceAll("&amp;", "&").replace(/[.,;:!?*)\]}>"'…”’»]+$/, "");
}

/** Return the game in a fragment, as the request "new" takes it, or the { rules, position, tree, at } of an analysis. Throws Refused. */
export function readLink(text, catalogue) {
  const held = new Map();
  if (text.length > LONGEST_LINK)
    refuse(`a link has at most ${LONGEST_LINK} characters`, `liên kết dài nhất là ${LONGEST_LINK} ký tự`);
  for (const [key, value] of new URLSearchParams(text)) {
    const known = Object.keys(LONGEST).join(", ");
    if (!Object.hasOwn(LONGEST, key))
      refuse(
        `the link has an unknown part ${quoted(key)}; known: ${known}`,
        `liên kết có phần lạ ${quoted(key)}; chỉ có: ${known}`,
      );
    if (held.has(key)) refuse(`the link has ${key} twice`, `liên kết có ${key} hai lần`);
    if (value.length > LONGEST[key])
      refuse(
        `${key} in a link has at most ${LONGEST[key]} characters`,
        `${key} trong liên kết dài nhất là ${LONGEST[key]} ký tự`,
      );
    held.set(key, value);
  }
  const rules = held.get("rules") ?? catalogue.default,
    seats = sides(parseRules(rules, catalogue).players);
  const stranger = sides(4).find((side) => held.has(side) && !seats.includes(side));
  if (stranger)
    refuse(`nobody sits ${stranger} by the rules of the link`, `theo luật của liên kết, không có ai ở ${stranger}`);
  if (held.has("match") && held.has("from"))
    refuse(
      "a match begins at the set-up: a link has from or match",
      "cả trận bắt đầu từ đầu: liên kết chỉ có from hoặc match",
    );
  const position = held.get("from") ?? null,
    other = ["match", "moves", "game", ...sides(4)].find((key) => held.has(key));
  if (held.has("tree") && other)
    refuse(`a link to an analysis has no ${other}`, `liên kết đến bản phân tích không có phần ${other}`);
  if (held.has("tree")) return { rules, position, tree: held.get("tree"), at: Number(held.get("at") ?? 0) };
  return {
    rules,
    position,
    match: held.get("match") ?? null,
    moves: held.get("moves") ?? "",
    id: held.get("game") ?? null,
    seats: seats.map((side) => held.get(side) ?? catalogue.person),
  };
}
