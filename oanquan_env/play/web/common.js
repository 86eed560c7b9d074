// What all parts of the page share: its state and language, requests to the server, and what is told.

import { capital } from "./nodes.js";
import { WORDS } from "./words.js";

export const $ = (id) => document.getElementById(id);
export const make = (name, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
};
export const store = {
  get: (name) => { try { return localStorage.getItem(`oanquan-${name}`); } catch { return null; } },
  set: (name, value) => { try { localStorage.setItem(`oanquan-${name}`, value); } catch { /* private windows */ } },
};

/** The name of this tab's game, its last state, what new games can be made of, and the language. */
export const page = {
  tab: null,
  state: null,
  catalogue: null,
  language: store.get("language") || ((navigator.language || "").startsWith("vi") ? "vi" : "en"),
};
export const words = () => WORDS[page.language];

export class Refused extends Error {
  constructor(error) { super(error.detail); Object.assign(this, error); }
}

export async function ask(request, asked = {}) {
  let reply;
  try {
    reply = await fetch(request, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked) });
  } catch {
    throw new Refused({ code: "lost", detail: words().lost });
  }
  if (!reply.headers.get("Content-Type")?.includes("json")) throw new Refused({ code: "moved", detail: words().moved });
  const answer = await reply.json();
  if (answer.error) throw new Refused(answer.error);
  return answer;
}

export function notice(text, seconds = 6) {
  clearTimeout(notice.timer);
  $("notice").textContent = text;
  $("notice").hidden = !text;
  notice.timer = setTimeout(() => { $("notice").hidden = true; }, seconds * 1000);
}

export function explain(error, text = "", code = error.code) {
  const about = words().errors[code] ?? (code === "lost" || code === "moved" ? "" : words().errors.request);
  const place = error.column && text ? `\n${words().at(error.column)}\n${text.slice(0, error.column - 1)}▸${text.slice(error.column - 1)}` : "";
  const detail = (error.detail[page.language] ?? error.detail).replace(/^\w+/, (name) => (words().fields[name] ? `“${words().fields[name]}”` : name));
  return `${about} ${capital(detail)}${place}`.trim();
}

export function complain(error) { notice(error instanceof Refused ? explain(error) : String(error), 10); }
