// The buttons below the board: undo, hints, stepping through the game, options.

import { WORDS } from "./words/board-words.js";
import { element, html } from "./dom.js";

export const SPEEDS = { slow: 0.5, normal: 1, fast: 2.5, none: Infinity };
const ICONS = {
  undo: "M9 6L4 11l5 5M4 11h10a5 5 0 0 1 0 10h-3",
  redo: "M15 6l5 5-5 5M20 11H10a5 5 0 0 0 0 10h3",
  hint: "M9.5 17.5h5M10.5 21h3M12 3a6 6 0 0 0-4 10.5c1 1 1.5 2 1.5 4h5c0-2 .5-3 1.5-4A6 6 0 0 0 12 3z",
  before: "M11 5l-7 7 7 7M18 5v9M18 18.5v.5",
  after: "M13 5l7 7-7 7M6 5v9M6 18.5v.5",
  previous: "M16 5L6 12l10 7z",
  next: "M8 5l10 7-10 7z",
  tour: "M3 6l7 6-7 6zM12 6l7 6-7 6z",
  pause: "M8 5v14M16 5v14",
  skip: "M5 5l7 7-7 7M13 5l7 7-7 7",
  options: "M4 7h9M18 7h2M4 17h3M12 17h8M15 4v6M9 14v6",
  loud: "M4 9v6h4l5 4V5L8 9zM16.5 9a4 4 0 0 1 0 6M19 6.5a8 8 0 0 1 0 11",
  quiet: "M4 9v6h4l5 4V5L8 9zM17 9.5l5 5M22 9.5l-5 5",
};
const KEYS = {
  undo: "U",
  redo: "R",
  hint: "H",
  before: "B",
  after: "N",
  loud: "M",
  options: "O",
  first: "Home",
  previous: ",",
  tour: "P",
  next: ".",
  skip: "S",
  last: "End",
  again: "W",
};
const PRESSED = Object.fromEntries(Object.entries(KEYS).map(([name, key]) => [key.toLowerCase(), name]));
const WORDED = /undo|redo|hint|before|after/;

const isField = (event) => /^(INPUT|SELECT|TEXTAREA)$/.test(event.composedPath()[0].tagName);

/** Return whether Enter is held down, which would press a button again and again. */
export const isHeld = (event) => event.repeat && event.key === "Enter" && !isField(event);

/**
 * A row of buttons; `actions` has a function for each, and `onoption(name, value)` is called when an option changes.
 */
export class ButtonBar {
  constructor(root, actions, onoption) {
    this.bar = html("div", { className: "tools" }, root);
    this.bar.setAttribute("role", "toolbar");
    this.buttons = {};
    this.words = {};
    for (const [name, action] of Object.entries(actions)) {
      const button = (this.buttons[name] = html("button", { type: "button", onclick: action }));
      if (name in ICONS) this.bar.append(button); // others have a key only
      button.dataset.tool = name;
      this.icon(button, name);
      this.words[name] = html("span", {}, button);
      if (!WORDED.test(name)) button.className = "sign"; // no word on large screens
    }
    const { options } = this.buttons,
      panel = html("div", { className: "options", popover: "auto" }, this.bar);
    options.popoverTargetElement = panel;
    panel.onbeforetoggle = () => {
      // open below the button, where neither a square nor the text is covered, or to its right if there is no room below
      const { bottom, right } = options.getBoundingClientRect(),
        beside = document.documentElement.clientWidth - right,
        across = bottom > innerHeight - 62 && beside > 360 ? `auto auto ${right + 6}px` : `${beside}px auto auto`;
      panel.style.inset = `min(${bottom + 6}px, calc(100dvh - 56px)) ${across}`;
    };
    const option = (name, input) => {
      const label = html("label", {}, panel);
      this.words[name] = html("span", {}, label);
      label.append(input);
      return input;
    };
    this.speed = option("speed", html("select", { onchange: () => onoption("speed", this.speed.value) }));
    for (const speed of Object.keys(SPEEDS)) html("option", { value: speed }, this.speed);
    this.preview = option(
      "preview",
      html("input", { type: "checkbox", checked: true, onchange: () => onoption("preview", this.preview.checked) }),
    );
  }

  icon(button, name) {
    button.querySelector("svg")?.remove();
    const icon = element("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": true });
    element("path", { d: ICONS[name] ?? "" }, icon);
    button.prepend(icon);
  }

  /** Show whether sound is on. */
  setLoud(loud) {
    this.buttons.loud.setAttribute("aria-pressed", loud);
    this.icon(this.buttons.loud, loud ? "loud" : "quiet");
  }

  label(name, text) {
    this.buttons[name].title = `${text} (${KEYS[name]})`;
    this.buttons[name].setAttribute("aria-label", text);
    this.words[name].textContent = text;
  }

  setLanguage(language) {
    const words = (this.texts = WORDS[language]);
    for (const [name, span] of Object.entries(this.words)) span.textContent = words[name];
    for (const name of Object.keys(this.buttons)) this.label(name, words[name]);
    for (const option of this.speed.options) option.textContent = words[option.value];
  }

  /**
   * Enable and show the buttons, always the same number. With `noted`, the buttons for notes replace redo and hints.
   * During a motion, skip replaces next; during a tour, the button `tour` stops it.
   */
  set(enabled, { moving, touring, noted }) {
    const { buttons } = this;
    for (const [name, able] of Object.entries(enabled)) buttons[name].disabled = !able;
    buttons.before.hidden = buttons.after.hidden = !noted;
    buttons.redo.hidden = buttons.hint.hidden = noted;
    buttons.next.hidden = moving;
    buttons.skip.hidden = !moving;
    if (this.touring === touring) return;
    this.touring = touring;
    this.icon(this.buttons.tour, touring ? "pause" : "tour");
    this.label("tour", touring ? this.texts.pause : this.texts.tour);
  }

  /**
   * Press the button for a key if it is enabled; return whether a key has a button. Arrow keys have one only if
   * `stepping`.
   */
  key(event, stepping) {
    const arrows = stepping ? { ArrowLeft: "previous", ArrowRight: "next" } : {};
    // browsers that fill in a form send keys without a name
    const name = arrows[event.key] ?? PRESSED[event.key?.toLowerCase()];
    if (isHeld(event)) return true;
    if (!name || event.ctrlKey || event.altKey || event.metaKey || isField(event)) return false;
    const button = this.buttons[name];
    if (!event.repeat && !button.disabled && !button.hidden) button.click();
    if (name === "options") this.speed.focus();
    return true;
  }
}
