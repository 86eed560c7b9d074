// The page around the board: what is shown beside it, who is ahead, the language, and the start.

import { $, ask, complain, make, notice, page, store, words } from "./common.js";
import { openLink } from "./files.js";
import "./lessons.js";
import { openNew } from "./new-game.js";
import { play, take, view } from "./table.js";

let resigning = null, valued = null;

// ---- what is shown ---------------------------------------------------------------------------------------------------

view.addEventListener("shown", show);
view.addEventListener("speed", () => store.set("speed", view.speedChoice.value));

function show() {
  if (!page.state) return;
  const number = view.viewing ?? view.shown.length, over = page.state.turn === "over" && view.settled;
  $("viewing").hidden = view.viewing === null;
  $("viewing").firstChild.textContent = number ? words().viewing(number, page.state.line.length) : words().start;
  $("about-game").textContent = `${presetName(page.state.rules)} · ${view.names().map((name) => name.replace(/ · (.*)/, " ($1)")).join(" – ")}`;
  const lines = number ? view.moves[page.state.line[number - 1]].lines[page.language] : [words().noMove];
  $("story").replaceChildren(...lines.map((line) => make("li", { textContent: line })));
  showMoves(number);
  showMatch();
  $("resign").disabled = page.state.turn !== "person";
  $("next").hidden = !over || view.viewing !== null;
  $("next-round").hidden = !page.state.match || page.state.match.over;
  $("rematch").hidden = !$("next-round").hidden;
  $("next").firstElementChild.textContent = over ? ending() : "";
  showValue();
}

/** What is said beside the button after a match; the board itself tells how a game ended. */
function ending() {
  const { match } = page.state;
  if (!match || !match.over) return "";
  return match.winner === null ? words().matchDrawn : words().matchWon(view.names()[match.winner]);
}

function presetName(rules) {
  const [name, ...changes] = rules.split(" ");
  return [words().presets[name]?.[0] ?? name, ...changes].join(" ");
}

function showMoves(number) {
  const list = $("moves"), shown = page.state.line.slice(0, view.shown.length);
  const entries = [[0, words().start], ...shown.map((serial, index) => [index + 1, `${index + 1}. ${view.moves[serial].move}`])];
  list.replaceChildren(...entries.map(([ply, text]) => {
    const button = make("button", { textContent: text, onclick: () => view.view(ply) });
    if (ply === number) button.setAttribute("aria-current", "step");
    if (ply) button.title = view.moves[page.state.line[ply - 1]].lines[page.language].join(" ");
    return make("li", {}, button);
  }));
  const current = list.querySelector("[aria-current]");
  if (current) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight + 44;
}

function showMatch() {
  const { match } = page.state;
  $("match").hidden = !match;
  if (!match) return;
  const names = view.names(), row = (kind, cells) => make("tr", {}, ...cells.map((cell) => make(kind, { textContent: cell })));
  const sold = (player) => `${match.sold[player]}${match.pawned[player] ? ` + ${match.pawned[player]} ${words().pawned}` : ""}`;
  const rounds = match.rounds.map((round, index) => row("td", [`${words().round} ${index + 1}`, ...round.scores]));
  if (!match.settled) rounds.push(row("td", [`${words().round} ${match.number}`, "…", "…"]));
  $("match").replaceChildren(
    make("table", {}, row("th", ["", ...names]), ...rounds, row("th", [words().sold, sold(0), sold(1)])),
    make("p", { className: "soft", textContent: words().toLose(match.fields_to_lose) }),
    make("p", { className: "soft", textContent: match.owners.tabs ? words().corners : "" }),
  );
}

// ---- who is ahead ----------------------------------------------------------------------------------------------------

async function showValue() {
  const bar = $("bar"), two = page.state.seats.length === 2;
  $("values").hidden = !two;
  bar.hidden = !$("evaluate").checked || !two;
  if (bar.hidden || view.viewing !== null) return;
  if (!view.settled) return;
  if (page.state.turn === "over") { drawValue(...view.position(page.state.line.length).frame.scores, ""); return; }
  const key = `${page.state.game} ${page.state.line.at(-1)}`;
  if (valued === key || page.state.turn !== "person") return;
  valued = key;
  bar.lastElementChild.textContent ||= "…";
  try {
    const { hint } = await ask("hint", { tab: page.tab });
    if (key !== `${page.state.game} ${page.state.line.at(-1)}`) return;
    const scores = view.position(page.state.line.length).frame.scores, sign = hint.mover ? -1 : 1;
    const how = hint.search.proved ? words().proved : words().seen(hint.search.depth);
    drawValue(scores[0] - scores[1] + sign * hint.search.value, 0, how);
  } catch (error) { valued = null; complain(error); }
}

function drawValue(south, north, how) {
  const margin = Math.round(10 * (south - north)) / 10, bar = $("bar"), names = view.names();
  bar.firstElementChild.style.width = `${50 + 50 * Math.tanh(margin / 25)}%`;
  const text = margin ? words().ahead(names[margin > 0 ? 0 : 1], Math.abs(margin), how) : words().even(how);
  bar.lastElementChild.textContent = text;
  bar.setAttribute("aria-valuenow", margin);
  bar.setAttribute("aria-valuetext", text);
}

$("evaluate").onchange = () => { valued = null; showValue(); };

// ---- the rest --------------------------------------------------------------------------------------------------------

$("new").onclick = openNew;
$("rematch").onclick = openNew;
$("next-round").onclick = () => play("next_round").catch(complain);
$("return").onclick = () => view.view(null);
$("from-here").onclick = () => play("back", { moves: view.viewing }).catch(complain);
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
  else if (event.key.startsWith("Arrow") && ["BODY", "BUTTON"].includes(event.composedPath()[0].tagName)) {
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
  $("language").textContent = words().other;
  $("language").lang = chosen === "en" ? "vi" : "en";
  valued = null;
  view.setLanguage(chosen);
}

/** Keep a game for this tab as long as it is open; false if another tab, of which this one is a copy, has it. */
function own(name) {
  return new Promise((resolve) => {
    const kept = () => { resolve(true); return new Promise(() => {}); };
    navigator.locks.request(`oanquan-${name}`, { signal: AbortSignal.timeout(1000) }, kept).catch(() => resolve(false));
  });
}

/** The game that this tab had before it was loaded again, if it is kept. */
async function known() {
  page.tab = sessionStorage.getItem("oanquan-tab");
  if (!page.tab || !(await own(page.tab))) return null;
  try {
    return await ask("wait", { tab: page.tab, version: -1 });
  } catch (error) {
    if (error.code !== "gone") throw error;
    notice(words().gone);
    return null;
  }
}

async function start() {
  setLanguage(page.language);
  if (store.get("speed")) view.setSpeed(store.get("speed"));
  try {
    const asked = ask("catalogue");
    asked.catch(() => {}); // told below
    let answer = await known();
    if (!answer) {
      answer = await ask("begin");
      page.tab = answer.tab;
      own(page.tab);
      sessionStorage.setItem("oanquan-tab", page.tab);
    }
    page.catalogue = await asked;
    take(answer);
    await openLink();
    document.body.dataset.ready = "yes";
  } catch (error) { complain(error); }
}

start();
