// The dialog of a new game: rules, players, who begins.

import { ROLES } from "./board-words.js";
import { $, explain, make, page, words } from "./common.js";
import { play } from "./table.js";

function option(value, text, selected = false) { return make("option", { value, textContent: text, selected }); }

export function openNew() {
  const preset = page.state.rules.split(" ")[0];
  $("preset").replaceChildren(...Object.keys(page.catalogue.presets).map((name) => option(name, words().presets[name]?.[0] ?? name, name === preset)));
  $("players").replaceChildren(...page.catalogue.players.map((name) => option(name, name)));
  $("new-error").hidden = true;
  fillFields(Object.fromEntries(page.state.rules.split(" ").slice(1).map((word) => word.split("="))));
  $("position").value = "";
  $("new-dialog").showModal();
}

/** The fields of the rules: those of the preset, with changes. */
function fillFields(changes = {}) {
  const preset = page.catalogue.presets[$("preset").value].values;
  $("preset-words").textContent = words().presets[$("preset").value]?.[1] ?? page.catalogue.presets[$("preset").value].source;
  $("fields").replaceChildren(...page.catalogue.fields.map(({ name, choices, range }) => {
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
  const names = page.catalogue.seats[players]?.[page.language] ?? [];
  const before = [...$("seats").querySelectorAll(".seat")].map(seatName);
  const sitting = before.length === players ? before : page.state.seats.length === players ? page.state.seats.map((seat) => seat.name)
    : names.map((_, seat) => (seat ? "easy" : page.catalogue.person));
  $("seats").replaceChildren(...names.map((direction, seat) => {
    const name = sitting[seat], level = page.catalogue.levels.includes(name), person = name === page.catalogue.person;
    const select = make("select", {}, option(page.catalogue.person, words().person, person),
      ...page.catalogue.levels.map((one) => option(one, ROLES[page.language][one], one === name)), option("", words().named, !level && !person));
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
  const preset = page.catalogue.presets[$("preset").value].values, changes = [];
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
  for (const input of $("fields").querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
  try {
    await play("new", asked);
    $("new-dialog").close();
  } catch (error) {
    $("new-error").textContent = explain(error, position);
    $("new-error").hidden = false;
    if (error.field) $("fields").querySelector(`[data-field="${CSS.escape(error.field)}"]`)?.setAttribute("aria-invalid", "true");
    $("new-error").scrollIntoView({ block: "nearest" });
  } finally { $("begin").disabled = false; }
};
