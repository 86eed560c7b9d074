// What all parts of the page share: its state and language, and the place where it tells of faults and news.

import { capital } from "./nodes.js";
import { Refused } from "./refused.js";
import { WORDS } from "./words.js";

export const $ = (id) => document.getElementById(id);
export const make = (name, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
};
/** Texts that this browser keeps. Other pages of the host may have written them: `get` has only those of `valid`. */
export const store = {
  get(name, valid = null) {
    try {
      const kept = localStorage.getItem(`oanquan-${name}`);
      return !valid || valid.includes(kept) ? kept : null;
    } catch { return null; }
  },
  set: (name, value) => { try { localStorage.setItem(`oanquan-${name}`, value); } catch { /* private windows */ } },
};

/**
 * The last state of the game, what new games can be made of, and the language. `aim` is what a game is for: {game, helped} a
 * first game with help before each move, {game, bound} one against the proof, {game, par, day} one from the position of a day (par.js).
 */
export const page = {
  state: null,
  aim: null,
  catalogue: null,
  language: store.get("language", Object.keys(WORDS)) ?? ((navigator.language || "").startsWith("vi") ? "vi" : "en"),
};
export const words = () => WORDS[page.language];

/** Tell a person something, above open dialogs, for some seconds; taps go through it, except where it lasts to be copied. */
export function notice(text, seconds = 6) {
  const box = $("notice");
  clearTimeout(notice.timer);
  box.hidePopover();
  box.textContent = text;
  box.style.pointerEvents = seconds < 30 ? "none" : "";
  if (text) box.showPopover();
  notice.timer = setTimeout(() => box.hidePopover(), seconds * 1000);
}

/** Copy a text, and say so; where that is not allowed, show it. */
export async function copy(text, told) {
  try {
    await navigator.clipboard.writeText(text);
    notice(told);
  } catch { notice(`${words().copy}\n${text}`, 30); }
}

/** An error in words; `text` is that in which it was found. */
export function explain(error, text = "") {
  if (!(error instanceof Refused)) return navigator.onLine ? String(error) : words().offline;
  const place = error.column && text ? `\n${words().at(error.column)}\n${text.slice(0, error.column - 1)}▸${text.slice(error.column - 1)}` : "";
  const detail = (error.detail[page.language] || error.detail.en).replace(/^\w+/, (name) => (name === error.field && words().fields?.[name] ? `“${words().fields[name]}”` : name));
  return `${words().errors[error.code] ?? words().errors.request} ${capital(detail)}${place}`.trim();
}

export function complain(error) { notice(explain(error), 10); }
