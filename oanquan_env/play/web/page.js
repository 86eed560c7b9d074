// The page around the board: new games, levels, files, links, the list of moves, the lessons. The server knows the game.

import { GameView, ROLES } from "./board.js";
import { WORDS } from "./words.js";

const $ = (id) => document.getElementById(id);
const make = (name, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
};
const store = {
  get: (name) => { try { return localStorage.getItem(`oanquan-${name}`); } catch { return null; } },
  set: (name, value) => { try { localStorage.setItem(`oanquan-${name}`, value); } catch { /* private windows */ } },
};

let language = store.get("language") || ((navigator.language || "").startsWith("vi") ? "vi" : "en");
let tab = null, state = null, catalogue = null, resigning = null, highest = 0, valued = null;
const words = () => WORDS[language];

// ---- the server ------------------------------------------------------------------------------------------------------

class Refused extends Error {
  constructor(error) { super(error.detail); Object.assign(this, error); }
}

async function ask(request, asked = {}) {
  let reply;
  try {
    reply = await fetch(request, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked) });
  } catch {
    throw new Refused({ code: "lost", detail: words().lost });
  }
  const answer = await reply.json();
  if (answer.error) throw new Refused(answer.error);
  return answer;
}

/** A request about the game of this tab; the page follows. */
async function play(request, asked = {}) {
  const answer = await ask(request, { ...asked, tab, game: state?.game, known: highest, drawn: state?.rules });
  take(answer);
  return answer;
}

function take(answer) {
  if (state && answer.state.version < state.version) return; // an answer that comes late
  if (answer.state.game !== state?.game) highest = 0;
  state = answer.state;
  highest = Math.max(highest, ...Object.keys(state.moves).map(Number));
  $("board").classList.toggle("round", state.seats.length > 2);
  view.update(state, answer.drawing);
  if (state.turn === "player" && !state.trouble) follow();
}

/** Ask for news while players think; one request at a time. */
async function follow() {
  if (follow.busy) return;
  follow.busy = true;
  try {
    while (state.turn === "player" && !state.trouble) await play("wait", { version: state.version });
  } catch (error) {
    complain(error);
    if (error.code === "lost") setTimeout(follow, 3000); // a machine that slept, or changed its network, goes on
  } finally { follow.busy = false; }
}

const view = new GameView($("board"), async (request, asked) => {
  try {
    if (request === "hint") return (await ask("hint", { tab })).hint;
    await play(request, asked);
  } catch (error) {
    complain(error);
    if (request === "move") play("wait", { version: -1 }).catch(complain);
  }
  return null;
}, language);

function notice(text, seconds = 6) {
  clearTimeout(notice.timer);
  $("notice").textContent = text;
  $("notice").hidden = !text;
  notice.timer = setTimeout(() => { $("notice").hidden = true; }, seconds * 1000);
}

function explain(error, text = "", code = error.code) {
  const about = words().errors[code] ?? (code === "lost" ? "" : words().errors.request);
  const place = error.column && text ? `\n${words().at(error.column)}\n${text.slice(0, error.column - 1)}▸${text.slice(error.column - 1)}` : "";
  return `${about} ${error.detail}${place}`.trim();
}

function complain(error) { notice(error instanceof Refused ? explain(error) : String(error), 10); }

// ---- what is shown ---------------------------------------------------------------------------------------------------

view.addEventListener("shown", show);
view.addEventListener("speed", () => store.set("speed", view.speedChoice.value));

function show() {
  if (!state) return;
  const number = view.viewing ?? view.shown.length, over = state.turn === "over" && view.settled;
  $("viewing").hidden = view.viewing === null;
  $("viewing").firstChild.textContent = number ? words().viewing(number, state.line.length) : words().start;
  $("about-game").textContent = `${presetName(state.rules)} · ${view.names().join(" – ")}`;
  const lines = number ? view.moves[state.line[number - 1]].lines[language] : [words().noMove];
  $("story").replaceChildren(...lines.map((line) => make("li", { textContent: line })));
  showMoves(number);
  showMatch();
  $("resign").disabled = state.turn !== "person";
  $("next").hidden = !over || view.viewing !== null;
  $("next-round").hidden = !state.match || state.match.over;
  $("rematch").hidden = !$("next-round").hidden;
  $("next").firstElementChild.textContent = over ? ending() : "";
  showValue();
}

/** What is said beside the button after a match; the board itself tells how a game ended. */
function ending() {
  const { match } = state;
  if (!match || !match.over) return "";
  return match.winner === null ? words().matchDrawn : words().matchWon(view.names()[match.winner]);
}

function presetName(rules) {
  const [name, ...changes] = rules.split(" ");
  return [words().presets[name]?.[0] ?? name, ...changes].join(" ");
}

function showMoves(number) {
  const list = $("moves"), shown = state.line.slice(0, view.shown.length);
  const entries = [[0, words().start], ...shown.map((serial, index) => [index + 1, `${index + 1}. ${view.moves[serial].move}`])];
  list.replaceChildren(...entries.map(([ply, text]) => {
    const button = make("button", { textContent: text, onclick: () => view.view(ply) });
    if (ply === number) button.setAttribute("aria-current", "step");
    if (ply) button.title = view.moves[state.line[ply - 1]].lines[language].join(" ");
    return make("li", {}, button);
  }));
  const current = list.querySelector("[aria-current]");
  if (current) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight + 44;
}

function showMatch() {
  const { match } = state;
  $("match").hidden = !match;
  if (!match) return;
  const names = view.names(), row = (kind, cells) => make("tr", {}, ...cells.map((cell) => make(kind, { textContent: cell })));
  const sold = (player) => `${match.sold[player]}${match.pawned[player] ? ` + ${match.pawned[player]} ${words().pawned}` : ""}`;
  const rounds = match.rounds.map((round, index) => row("td", [`${words().round} ${index + 1}`, ...round.scores]));
  if (!match.settled) rounds.push(row("td", [`${words().round} ${match.number}`, "…", "…"]));
  $("match").replaceChildren(
    make("table", {}, row("th", ["", ...names]), ...rounds, row("th", [words().sold, sold(0), sold(1)])),
    make("p", { className: "soft", textContent: words().toLose(match.fields_to_lose) }),
  );
}

// ---- who is ahead ----------------------------------------------------------------------------------------------------

async function showValue() {
  const bar = $("bar"), two = state.seats.length === 2;
  $("values").hidden = !two;
  bar.hidden = !$("evaluate").checked || !two;
  if (bar.hidden || view.viewing !== null) return;
  if (!view.settled) return;
  if (state.turn === "over") { drawValue(...view.position(state.line.length).frame.scores, ""); return; }
  const key = `${state.game} ${state.line.at(-1)}`;
  if (valued === key || state.turn !== "person") return;
  valued = key;
  bar.lastElementChild.textContent ||= "…";
  try {
    const { hint } = await ask("hint", { tab });
    if (key !== `${state.game} ${state.line.at(-1)}`) return;
    const scores = view.position(state.line.length).frame.scores, sign = hint.mover ? -1 : 1;
    const how = hint.search.proved ? words().proved : words().seen(hint.search.depth);
    drawValue(scores[0] - scores[1] + sign * hint.search.value, 0, how);
  } catch (error) { valued = null; complain(error); }
}

function drawValue(south, north, how) {
  const margin = south - north, bar = $("bar"), names = view.names();
  bar.firstElementChild.style.width = `${50 + 50 * Math.tanh(margin / 25)}%`;
  const text = margin ? words().ahead(names[margin > 0 ? 0 : 1], Math.abs(margin), how) : words().even(how);
  bar.lastElementChild.textContent = text;
  bar.setAttribute("aria-valuenow", margin);
  bar.setAttribute("aria-valuetext", text);
}

$("evaluate").onchange = () => { valued = null; showValue(); };

// ---- a new game ------------------------------------------------------------------------------------------------------

function option(value, text, selected = false) { return make("option", { value, textContent: text, selected }); }

function openNew() {
  const preset = state.rules.split(" ")[0];
  $("preset").replaceChildren(...Object.keys(catalogue.presets).map((name) => option(name, words().presets[name]?.[0] ?? name, name === preset)));
  $("players").replaceChildren(...catalogue.players.map((name) => option(name, name)));
  $("new-error").hidden = true;
  fillFields(Object.fromEntries(state.rules.split(" ").slice(1).map((word) => word.split("="))));
  $("position").value = "";
  $("new-dialog").showModal();
}

/** The fields of the rules: those of the preset, with changes. */
function fillFields(changes = {}) {
  const preset = catalogue.presets[$("preset").value].values;
  $("preset-words").textContent = words().presets[$("preset").value]?.[1] ?? catalogue.presets[$("preset").value].source;
  $("fields").replaceChildren(...catalogue.fields.map(({ name, choices, range }) => {
    const value = String(changes[name] ?? (typeof preset[name] === "boolean" ? (preset[name] ? "True" : "False") : preset[name]));
    let input;
    if (range) input = make("input", { type: "number", min: range[0], max: range[1], value });
    else {
      const said = (choice) => words().values[`${name}.${choice}`] ?? words().values[choice] ?? { True: words().yes, False: words().no }[choice] ?? choice;
      input = make("select", {}, ...(choices.length ? choices : ["True", "False"]).map((choice) => option(choice, said(choice), choice === value)));
    }
    input.dataset.field = name;
    if (name === "players") input.onchange = fillSeats;
    return make("label", { className: "row" }, make("span", { textContent: words().fields[name] ?? name }), input);
  }));
  fillSeats();
}

function fillSeats() {
  const players = Number($("fields").querySelector("[data-field=players]").value) || 2;
  const names = catalogue.seats[players]?.[language] ?? [];
  const before = [...$("seats").querySelectorAll(".seat")].map(seatName);
  const sitting = before.length === players ? before : state.seats.length === players ? state.seats.map((seat) => seat.name)
    : names.map((_, seat) => (seat ? "easy" : catalogue.person));
  $("seats").replaceChildren(...names.map((direction, seat) => {
    const name = sitting[seat], level = catalogue.levels.includes(name), person = name === catalogue.person;
    const select = make("select", {}, option(catalogue.person, words().person, person),
      ...catalogue.levels.map((one) => option(one, ROLES[language][one], one === name)), option("", words().named, !level && !person));
    const input = make("input", { value: level || person ? "" : name, hidden: level || person, placeholder: words().name });
    input.setAttribute("list", "players");
    input.setAttribute("aria-label", words().name);
    select.onchange = () => { input.hidden = select.value !== ""; };
    return make("label", { className: "row seat" }, make("span", { textContent: direction }), make("div", {}, select, input));
  }));
  const starter = $("starter").value || "0";
  $("starter").replaceChildren(...names.map((direction, seat) => option(seat, direction, String(seat) === starter)), option("lot", words().byLot, starter === "lot"));
  $("match-row").hidden = players !== 2;
  setStarter();
}

const seatName = (seat) => seat.querySelector("select").value || seat.querySelector("input").value.trim();

/** In a match South begins, and a position says itself who is to move. */
function setStarter() {
  $("starter").disabled = ($("as-match").checked && !$("match-row").hidden) || $("position").value.trim() !== "";
}

$("preset").onchange = () => fillFields();
$("as-match").onchange = setStarter;
$("position").oninput = setStarter;
$("begin").onclick = async (event) => {
  event.preventDefault();
  const preset = catalogue.presets[$("preset").value].values, changes = [];
  for (const input of $("fields").querySelectorAll("[data-field]")) {
    const usual = preset[input.dataset.field], plain = typeof usual === "boolean" ? (usual ? "True" : "False") : String(usual);
    if (input.value !== plain) changes.push(`${input.dataset.field}=${input.value}`);
  }
  const players = $("seats").children.length, position = $("position").value.trim();
  const asked = { rules: [$("preset").value, ...changes].join(" "), seats: [...$("seats").children].map(seatName) };
  if ($("as-match").checked && players === 2) asked.match = "";
  else if (position) asked.position = position;
  else asked.starter = $("starter").value === "lot" ? Math.floor(Math.random() * players) : Number($("starter").value);
  $("begin").disabled = true;
  try {
    await play("new", asked);
    $("new-dialog").close();
  } catch (error) {
    $("new-error").textContent = explain(error, position);
    $("new-error").hidden = false;
  } finally { $("begin").disabled = false; }
};

// ---- lessons ---------------------------------------------------------------------------------------------------------

const learn = { at: 0, lessons: null, view: null };

async function openLessons() {
  try { learn.lessons ??= (await ask("lessons")).lessons; } catch (error) { complain(error); return; }
  $("learn-dialog").showModal();
  const { BoardView } = await import("./board.js");
  learn.view ??= new BoardView($("learn-board"), language);
  learn.view.language = language;
  showLesson(0);
}

async function showLesson(at) {
  learn.at = at;
  const lesson = learn.lessons[at], [title, text] = words().lessons[lesson.name], turn = learn.turn = {};
  $("learn-title").textContent = title;
  $("learn-words").textContent = text;
  $("learn-page").textContent = `${at + 1} / ${learn.lessons.length}`;
  $("learn-back").disabled = at === 0;
  $("learn-next").textContent = at + 1 < learn.lessons.length ? words().next : words().play;
  learn.view.cancel();
  if (learn.drawn !== lesson.drawing.box.join()) { learn.view.setDrawing(lesson.drawing); learn.drawn = lesson.drawing.box.join(); }
  const before = { frame: lesson.start, mover: 0, winners: null }, move = lesson.move;
  learn.view.speed = matchMedia("(prefers-reduced-motion: reduce)").matches ? Infinity : 0.8;
  learn.view.show(before);
  const after = move && { frame: move.after, mover: move.mover, under: move.under, over: move.over, winners: null };
  while (move && learn.turn === turn && $("learn-dialog").open) {
    await new Promise((resolve) => setTimeout(resolve, 1200));
    if (learn.turn !== turn || !$("learn-dialog").open) return;
    const reached = await learn.view.play(move, before, after);
    if (!reached && learn.view.speed === Infinity) return;
    await new Promise((resolve) => setTimeout(resolve, 2600));
  }
}

$("learn").onclick = openLessons;
$("learn-back").onclick = () => showLesson(learn.at - 1);
$("learn-next").onclick = () => (learn.at + 1 < learn.lessons.length ? showLesson(learn.at + 1) : $("learn-dialog").close());
$("learn-dialog").onclose = () => { learn.turn = null; learn.view?.cancel(); };

// ---- files and links -------------------------------------------------------------------------------------------------

async function open(text, number = null) {
  try {
    await play("load", number === null ? { text } : { text, number });
    notice(words().opened);
  } catch (error) {
    if (error.code !== "games") { complain(error); return; }
    $("games").replaceChildren(...Array.from({ length: error.games }, (_, index) => make("button", {
      textContent: words().game(index + 1), onclick: () => open(text, index + 1),
    })));
    $("games-dialog").showModal();
  }
}

/** Open a file that a person chose or dropped, if there is one. */
async function openFile(file) {
  if (file?.size > catalogue.largest_file) complain(new Refused({ code: "record", detail: words().tooLarge }));
  else if (file) await open(await file.text());
}

$("save").onclick = async () => {
  try {
    const { text } = await ask("save", { tab }), url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    make("a", { href: url, download: "oanquan.txt" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
    notice(words().saved);
  } catch (error) { complain(error); }
};
$("load").onclick = () => $("file").click();
$("file").onchange = async () => {
  await openFile($("file").files[0]);
  $("file").value = "";
};
document.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("drop"); });
document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("drop"); });
document.addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("drop");
  openFile(event.dataTransfer.files[0]);
});
$("link").onclick = async () => {
  const url = `${location.href.split("#")[0]}#${new URLSearchParams({ rules: state.rules, position: state.position })}`;
  try {
    await navigator.clipboard.writeText(url);
    notice(words().copied);
  } catch { notice(`${words().copy}\n${url}`, 30); }
};

/** Begin the game that the address holds, if it holds one. */
async function openLink() {
  const held = new URLSearchParams(location.hash.slice(1)), position = held.get("position"), rules = held.get("rules");
  if (!position && !rules) return;
  history.replaceState(null, "", location.href.split("#")[0]);
  try {
    await play("new", { rules: rules ?? catalogue.default, ...(position ? { position } : {}) });
  } catch (error) {
    const code = { position: "linkPosition", rules: "linkRules" }[error.code];
    notice(explain(error, error.code === "position" ? position : "", code), 30);
  }
}

window.addEventListener("hashchange", openLink);

// ---- the rest --------------------------------------------------------------------------------------------------------

$("new").onclick = openNew;
$("rematch").onclick = openNew;
$("next-round").onclick = () => play("next_round").catch(complain);
$("return").onclick = () => view.view(null);
$("from-here").onclick = () => play("back", { moves: view.viewing }).catch(complain);
$("resign").onclick = () => {
  clearTimeout(resigning);
  if (resigning !== null) play("resign").catch(complain);
  else notice(state.match ? words().confirmRound : words().confirmResign);
  resigning = resigning === null ? setTimeout(() => { resigning = null; }, 6000) : null;
};
$("language").onclick = () => setLanguage(language === "en" ? "vi" : "en");

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
  language = chosen;
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
  tab = sessionStorage.getItem("oanquan-tab");
  if (!tab || !(await own(tab))) return null;
  try {
    return await ask("wait", { tab, version: -1 });
  } catch (error) {
    if (error.code !== "gone") throw error;
    notice(words().gone);
    return null;
  }
}

async function start() {
  setLanguage(language);
  if (store.get("speed")) view.setSpeed(store.get("speed"));
  try {
    const asked = ask("catalogue");
    asked.catch(() => {}); // told below
    let answer = await known();
    if (!answer) {
      answer = await ask("begin");
      tab = answer.tab;
      own(tab);
      sessionStorage.setItem("oanquan-tab", tab);
    }
    catalogue = await asked;
    take(answer);
    await openLink();
    document.body.dataset.ready = "yes";
  } catch (error) { complain(error); }
}

start();
