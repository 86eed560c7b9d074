// The page around the board: language, keys, resignation, and the start. Everything that a move does not need loads
// later. README.md is a map of the scripts.

import { show } from "./side-panel.js";
import { $ } from "./dom.js";
import { complain, explain, notice, page, words } from "./page-state.js";
import { store, tab } from "./storage.js";
import { begin, play, view } from "./current-game.js";
import { SPEEDS, isHeld } from "./buttons.js";

const OPTIONS = { speed: Object.keys(SPEEDS), preview: ["true", "false"], loud: ["true", "false"] };
const dialogs = {
  new: () => import("./activities/new-game.js"),
  puzzles: () => import("./activities/puzzles.js"),
  learn: () => import("./activities/learn.js"),
  openings: () => import("./activities/explorer.js"),
  share: () => import("./activities/files.js"),
};
let resigning = null,
  failure = null; // why the page is not complete

view.addEventListener("render", show);
view.addEventListener("option", ({ detail: [name, value] }) => store.set(name, value));

for (const [id, load] of Object.entries(dialogs))
  $(id).onclick = () =>
    load(notice("")) // a message would cover the dialog
      .then((dialog) => dialog.open())
      .catch(complain);
if (!store.get("learned", ["yes"])) $("learn").classList.add("main"); // shows newcomers where to begin
$("resign").onclick = () => {
  clearTimeout(resigning);
  if (resigning !== null) {
    notice("");
    play("resign").catch(complain);
  } else notice(page.state.match ? words().confirmRound : words().confirmResign);
  resigning =
    resigning === null
      ? setTimeout(() => {
          resigning = null;
        }, 6000)
      : null;
};
$("language").onclick = () => setLanguage(page.language === "en" ? "vi" : "en");

document.addEventListener("keydown", (event) => {
  if (isHeld(event)) event.preventDefault();
  if (!page.state || document.querySelector("dialog[open]")) return;
  if (view.key(event)) event.preventDefault();
  else if (event.key?.startsWith("Arrow") && ["BODY", "BUTTON", "H2"].includes(event.composedPath()[0].tagName)) {
    view.board.byKeyboard = true;
    view.board.svg.querySelector('.hit[tabindex="0"]')?.focus();
    event.preventDefault();
  }
});
window.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  complain(event.reason);
});

function setLanguage(chosen) {
  page.language = chosen;
  store.set("language", chosen);
  document.documentElement.lang = chosen;
  for (const node of document.querySelectorAll("[data-word]")) node.textContent = words()[node.dataset.word];
  $("about").href = `data/about.${chosen}.html`;
  $("language").textContent = words().other;
  $("language").lang = chosen === "en" ? "vi" : "en";
  view.setLanguage(chosen);
  if (failure) fail(failure);
}

/** Say what is missing, and offer to load the page again; without a game, hide the rest. */
function fail(error) {
  failure = error;
  $("failed").hidden = false;
  $("failed").querySelector("p").textContent = explain(error);
  if (page.state) return;
  document.querySelector("main").hidden = true;
  for (const button of document.querySelectorAll("nav button:not(#language)")) button.disabled = true;
}
$("reload").onclick = () => location.reload();

/** Open the game in the page's address, if there is one. */
const openLink = async () => {
  if (/=|%(25)*3D/i.test(location.hash)) await (await dialogs.share()).openLink();
};

/** Cache the page for offline use; a version that arrived since the last visit takes over. */
async function keep() {
  if (location.protocol !== "https:" || !navigator.serviceWorker) return;
  const kept = await navigator.serviceWorker.register("service-worker.js");
  kept.waiting?.postMessage("take over");
  if (matchMedia("(display-mode: standalone)").matches) kept.active?.postMessage("keep all");
}

async function start() {
  const { serviceWorker } = navigator;
  // a new version may take over even while this page loads files of the previous one
  if (serviceWorker?.controller) serviceWorker.addEventListener("controllerchange", () => location.reload());
  setLanguage(page.language);
  for (const [name, valid] of Object.entries(OPTIONS)) {
    const kept = store.get(name, valid) ?? (name === "loud" ? "true" : null); // sound is on by default
    if (kept) view.option(name, name === "speed" ? kept : kept === "true");
  }
  try {
    await begin();
    window.addEventListener("hashchange", () => openLink().catch(fail));
    await openLink();
    if (tab.get("analysing") && !$("analysis"))
      await import("./activities/analysis.js").then(({ resume }) => resume()).catch(complain);
    if (page.aim?.bound !== undefined) await dialogs.openings().then(() => view.refresh());
    if (page.aim?.par !== undefined) await import("./activities/par.js").then(() => view.refresh());
  } catch (error) {
    fail(error);
  }
  if (page.state) document.body.dataset.ready = "yes";
  keep().catch(() => {}); // the page also works without a cache
}

start();
