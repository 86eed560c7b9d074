// The new-game dialog: rules, players and who begins; for experts, each field of the rules and a position.

import { ROLES, STRENGTHS } from "../words/board-words.js";
import { $, addStyle, make } from "../dom.js";
import { explain, notice, page, words } from "../page-state.js";
import "../words/dialog-words.js";
import { PORTRAITS } from "../board/portraits.js";
import { FRIEND } from "../model/game.js";
import { drawLots } from "../model/lot.js";
import { SEATS } from "../model/notation.js";
import { parseRules, written } from "../model/rules.js";
import { play, view } from "../current-game.js";
import { tell } from "./rules-in-words.js";
import { results } from "./progress.js";
import { playerName } from "../words/narration.js";

addStyle(`
fieldset { border: 0; margin: 8px 0; padding: 0; }
legend { padding: 0; font-weight: 600; }
.row { display: grid; grid-template-columns: 9.5rem minmax(0, 1fr); margin: 8px 0; }
.row > :last-child { width: 100%; }
.row small { color: var(--soft); font-size: 0.875rem; }
.row.check { display: flex; min-height: 44px; }
.row.check > :last-child { width: auto; }
@media (max-width: 560px) { .row { grid-template-columns: minmax(0, 1fr); gap: 2px; } }
#new-rules { margin-top: 8px; }
#begin { order: 1; } /* first in the form for Enter, shown last */
[aria-invalid] { border-color: var(--red) !important; outline: 1px solid var(--red); }
.seat div { display: grid; grid-template-columns: minmax(0, 1fr) 2.5rem; gap: 0 8px; }
.seat svg { width: 2.5rem; height: 2.75rem; }
.seat small:empty { display: none; }
.seat input { margin-top: 6px; grid-column: 1 / -1; }`);
const choice = (value, text, selected = false) => make("option", { value, textContent: text, selected });
const VARIANTS = ["app", "ludii"];
const LARGEST = { seeds: 20, mandarin_seeds: 30, stone_value: 30, quan_non: 30, max_plies: 1000 }; // shown as limits
const showRules = () => $("new-rules").open && tell($("new-rules"), chosenRules());
const presetValues = () => page.catalogue.presets[$("preset").value];

export function open() {
  fillPresets(page.state.rules.split(" ")[0]);
  $("names").replaceChildren(...page.catalogue.players.map((name) => choice(name, name)));
  $("new-error").hidden = true;
  $("position").value = "";
  $("seats").replaceChildren(); // else the players chosen in an earlier dialog stay
  fillFields(parseRules(page.state.rules, page.catalogue));
  $("new-dialog").showModal();
}

/** List the presets; variants of the short game that differ in details are for experts. */
function fillPresets(preset = $("preset").value) {
  const shown = (name) => name === preset || $("more").open || !VARIANTS.includes(name);
  $("preset").replaceChildren(
    ...Object.keys(words().presets)
      .filter(shown)
      .map((name) => choice(name, words().presets[name], name === preset)),
  );
}

/** Show the fields of some rules, by default the preset's. */
function fillFields(values = presetValues()) {
  $("preset-words").textContent = words().presetWords[$("preset").value] ?? "";
  $("fields").replaceChildren(
    ...page.catalogue.fields.map((given) => {
      const [least, most] = given.range ?? [],
        field = { ...given, range: given.range && [least, Math.min(most, LARGEST[given.name] ?? most)] };
      const input = fieldInput(field, written(values[field.name]));
      input.dataset.field = field.name;
      if (field.name === "players") input.onchange = fillSeats;
      const range = field.range
        ? make("small", {
            textContent: ` ${field.range.map((limit) => limit.toLocaleString(page.language)).join("–")}`,
          })
        : "";
      return make(
        "label",
        { className: "row" },
        make("span", {}, words().fields[field.name] ?? field.name, range),
        input,
      );
    }),
  );
  fillSeats();
  showRules();
}

/** Return the chosen rules as text. */
function chosenRules() {
  const preset = presetValues();
  const changes = [...$("fields").querySelectorAll("[data-field]")]
    .filter(({ value, dataset }) => value !== written(preset[dataset.field]))
    .map(({ value, dataset }) => `${dataset.field}=${value}`);
  return [$("preset").value, ...changes].join(" ");
}

function fieldInput({ name, choices, range }, value) {
  if (range) return make("input", { type: "number", min: range[0], max: range[1], value });
  const said = (one) => words().values[`${name}.${one}`] ?? words().values[one];
  return make(
    "select",
    {},
    ...(choices.length ? choices : ["True", "False"]).filter(said).map((one) => choice(one, said(one), one === value)),
  );
}

/** Say how many of the games against a level were won. */
function wins(level) {
  const played = results()[level];
  return played ? words().won(played.replace(/[^W]/g, "").length, played.length) : "";
}

function fillSeats() {
  const players = Number($("fields").querySelector("[data-field=players]").value),
    { person, levels } = page.catalogue;
  const before = [...$("seats").querySelectorAll(".seat")].map(seatName);
  const sitting =
    before.length === players
      ? before
      : page.state.seats.length === players && !page.state.puzzle
        ? page.state.seats.map((seat) => seat.name)
        : (SEATS.en[players] ?? []).map((_, seat) => (seat ? "easy" : person));
  $("seats").replaceChildren(
    ...sitting.map((name) => {
      const named = ![person, FRIEND, ...levels].includes(name);
      const select = make(
        "select",
        {},
        choice(person, words().person, name === person),
        choice(FRIEND, words().friend, name === FRIEND),
        ...levels.map((level) =>
          choice(
            level,
            `${ROLES[page.language][level]} · ${STRENGTHS[page.language][level]} (${words().ways[level]})`,
            level === name,
          ),
        ),
        choice("", words().named, named),
      );
      const input = make("input", { value: named ? name : "", hidden: !named, placeholder: words().name });
      input.setAttribute("list", "names");
      input.setAttribute("aria-label", words().name);
      const face = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      face.setAttribute("viewBox", "-18 -20 36 40");
      const won = make("small", {});
      select.onchange = () => {
        input.hidden = select.value !== "";
        face.innerHTML = PORTRAITS[select.value] ?? "";
        won.textContent = wins(select.value);
      };
      select.onchange();
      return make("label", { className: "row seat" }, make("span", {}), make("div", {}, select, face, won, input));
    }),
  );
  nameSides();
  $("match-row").hidden = players !== 2;
  setStarter();
}

/** Name each seat, with its place on the board, which turns to the only person. */
function nameSides() {
  const seats = [...$("seats").children],
    persons = seats.map((seat) => seatName(seat) === page.catalogue.person),
    alone = persons.filter(Boolean).length === 1,
    bottom = alone ? persons.indexOf(true) : 0,
    places = seats.map((_, seat) => (seat - bottom + seats.length) % seats.length),
    names = words().sides(places, view.board.upright, alone),
    starter = $("starter").value || "0";
  seats.forEach((seat, number) => {
    seat.querySelector("span").textContent = names[number];
  });
  $("starter").replaceChildren(
    ...names.map((name, seat) => choice(seat, name, String(seat) === starter)),
    choice("lot", words().byLot, starter === "lot"),
  );
}

const seatName = (seat) => seat.querySelector("select").value || seat.querySelector("input").value.trim();

/**
 * Explain drawing lots. Disable the choice of who begins in a match, where the first seat does, and for a position, which
 * has its mover.
 */
function setStarter() {
  const place = { en: "who-begins", vi: "ai-i-truoc" }[page.language],
    link = $("lot-about").firstChild;
  Object.assign(link, { href: `data/about.${page.language}.html#${place}`, textContent: words().lotAbout });
  $("lot-about").hidden = $("starter").value !== "lot";
  $("starter").disabled = ($("as-match").checked && !$("match-row").hidden) || $("position").value.trim() !== "";
}

/** Return the arguments of the session's request `new`; `lot` is the result of `drawLots`, or null. */
function asked(lot) {
  const players = $("seats").children.length,
    position = $("position").value.trim();
  const game = { rules: chosenRules(), seats: [...$("seats").children].map(seatName) };
  if ($("as-match").checked && players === 2) return { ...game, match: "", position: position || null };
  if (position) return { ...game, position };
  return {
    ...game,
    starter: lot ? lot.starter : Number($("starter").value),
  };
}

$("preset").onchange = () => fillFields();
$("fields").onchange = $("new-rules").ontoggle = showRules;
$("more").ontoggle = () => fillPresets();
$("seats").onchange = nameSides;
$("as-match").onchange = $("starter").onchange = setStarter;
$("position").oninput = setStarter;
$("begin").onclick = async (event) => {
  event.preventDefault();
  $("begin").disabled = true;
  for (const input of $("fields").querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
  try {
    const lot = $("starter").value === "lot" && !$("starter").disabled ? drawLots($("seats").children.length) : null;
    await play("new", asked(lot));
    $("new-dialog").close();
    if (lot)
      notice(
        words().drawn(
          lot.hands.flatMap((hand, seat) => (hand === null ? [] : [[playerName(view, seat), hand]])),
          playerName(view, lot.starter),
        ),
        10,
      );
  } catch (error) {
    $("new-error").textContent = explain(error, $("position").value.trim());
    $("new-error").hidden = false;
    if (error.field) {
      $("more").open = true;
      $("fields")
        .querySelector(`[data-field="${CSS.escape(error.field)}"]`)
        ?.setAttribute("aria-invalid", "true");
    }
    $("new-error").scrollIntoView({ block: "nearest" });
  } finally {
    $("begin").disabled = false;
  }
};
