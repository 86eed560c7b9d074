// Shared by all parts of the page: its state and language, and messages to the user.

import { $ } from "./dom.js";
import { Refused } from "./model/refused.js";
import { store } from "./storage.js";
import { capital } from "./words/format.js";
import { WORDS } from "./words/words.js";

/**
 * The last state of the game, the choices for new games, and the language. `aim` is the purpose of a game: {game,
 * helped} for a first game with help before each move, {game, bound} against the proof, {game, par, day} for a daily
 * position (par.js).
 */
export const page = {
  state: null,
  aim: null,
  catalogue: null,
  language: store.get("language", Object.keys(WORDS)) ?? ((navigator.language || "").startsWith("vi") ? "vi" : "en"),
};
export const words = () => WORDS[page.language];

/** Return the text of rules with the preset's name in the page's language, as in "Tonkin seeds=6". */
export function presetName(rules) {
  const [name, ...changes] = rules.split(" ");
  return [words().presets[name] ?? name, ...changes].join(" ");
}

/**
 * Show a message above open dialogs for a few seconds; taps go through it, unless it stays so that it can be copied.
 */
export function notice(text, seconds = 6) {
  const box = $("notice");
  clearTimeout(notice.timer);
  box.hidePopover();
  box.textContent = text;
  box.style.pointerEvents = seconds < 30 ? "none" : "";
  if (text) box.showPopover();
  notice.timer = setTimeout(() => box.hidePopover(), seconds * 1000);
}

/** Copy a text and confirm it; if copying is not allowed, show the text. */
export async function copy(text, confirmation) {
  try {
    await navigator.clipboard.writeText(text);
    notice(confirmation);
  } catch {
    notice(`${words().copy}\n${text}`, 30);
  }
}

/** Return an error in words; `text` is the text in which it was found. */
export function explain(error, text = "") {
  if (!(error instanceof Refused)) {
    // as browsers say it of an import
    const script = /module/i.test(error?.message) && (/[\w-]+\.js\b/.exec(error.message)?.[0] ?? "JavaScript");
    return !navigator.onLine
      ? words().offline
      : error?.file || script
        ? words().missing(error.file || script)
        : String(error);
  }
  const place =
    error.column && text
      ? `\n${words().at(error.column)}\n${text.slice(0, error.column - 1)}▸${text.slice(error.column - 1)}`
      : "";
  const detail = (error.detail[page.language] || error.detail.en).replace(/^\w+/, (name) =>
    name === error.field && words().fields?.[name] ? `“${words().fields[name]}”` : name,
  );
  // the reason comes first, unless it is empty
  const reason = detail && `${capital(detail)}${/[.!?:]$/.test(detail) ? "" : "."} `;
  return `${reason}${words().errors[error.code] ?? words().errors.request}${place}`;
}

export function complain(error) {
  notice(explain(error), 10);
}
