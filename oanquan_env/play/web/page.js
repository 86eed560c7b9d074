// The page around the board: the language, keys, giving up, and the start.

import { show } from "./beside.js";
import { $, ask, complain, notice, page, store, words } from "./common.js";
import { openLink } from "./files.js";
import "./lessons.js";
import { openNew } from "./new-game.js";
import { begin, play, view } from "./table.js";

const OPTIONS = ["speed", "preview", "loud"];
let resigning = null;

view.addEventListener("shown", show);
view.addEventListener("option", ({ detail: [name, value] }) => store.set(name, value));

$("new").onclick = openNew;
$("resign").onclick = () => {
  clearTimeout(resigning);
  if (resigning !== null) { notice(""); play("resign").catch(complain); }
  else notice(page.state.match ? words().confirmRound : words().confirmResign);
  resigning = resigning === null ? setTimeout(() => { resigning = null; }, 6000) : null;
};
$("language").onclick = () => setLanguage(page.language === "en" ? "vi" : "en");

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  if (view.key(event)) event.preventDefault();
  else if (event.key.startsWith("Arrow") && ["BODY", "BUTTON", "H2"].includes(event.composedPath()[0].tagName)) {
    view.board.byKeyboard = true;
    view.board.svg.querySelector('.hit[tabindex="0"]')?.focus();
    event.preventDefault();
  }
});

function setLanguage(chosen) {
  page.language = chosen;
  store.set("language", chosen);
  document.documentElement.lang = chosen;
  for (const node of document.querySelectorAll("[data-word]")) node.textContent = words()[node.dataset.word];
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", words()[node.dataset.label]);
  $("language").textContent = words().other;
  $("language").lang = chosen === "en" ? "vi" : "en";
  view.setLanguage(chosen);
}

async function start() {
  setLanguage(page.language);
  for (const name of OPTIONS) {
    const kept = store.get(name);
    if (kept) view.option(name, name === "speed" ? kept : kept === "true");
  }
  try {
    const asked = ask("catalogue");
    asked.catch(() => {}); // told below
    await begin();
    page.catalogue = await asked;
    await openLink();
    document.body.dataset.ready = "yes";
  } catch (error) { complain(error); }
}

start();
