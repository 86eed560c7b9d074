// The dialog of the analysis board (analysis.js), which fills the window.

import { addStyle, make } from "../dom.js";
import { complain } from "../page-state.js";
import { legend, studyDialog } from "./study.js";

addStyle(`
#analysis-tree { flex: 1 1 6em; min-height: 5em; overflow: auto; margin: 0; padding: 8px; line-height: 1.9;
  background: var(--panel); border: 1px solid var(--line); border-radius: 12px; position: relative; }
#analysis-hidden { margin: 0; }
#analysis-hidden:empty { display: none; }
@media (max-width: 900px) and (min-height: 521px) {
  #analysis-tree { flex: none; max-height: 11em; }
}
@media (max-width: 560px) {
  #analysis-tools, #analysis-tools label { gap: 4px; }
  #analysis-tools button { padding: 0 6px; font-size: 0.875rem; }
}`);

/**
 * Return the dialog's elements by name. `texts` are its words, and `acts` has a function for each button and each
 * field, which gets the field's value.
 */
export function makeDialog(texts, acts) {
  const nodes = {};
  const attempt = (name, ...args) => Promise.resolve(acts[name](...args)).catch(complain);
  const part = (kind, name, more = {}, ...children) =>
    (nodes[name] = make(kind, { id: `analysis-${name}`, ...more }, ...children));
  const button = (name) =>
    part("button", name, { type: "button", textContent: texts[name], onclick: () => attempt(name) });
  const field = (kind, name, ariaLabel, more = {}) =>
    part(kind, name, { ariaLabel, onchange: ({ target }) => attempt(name, target.value), ...more });
  const values = part("input", "valued", { type: "checkbox", onchange: () => attempt("valued", values.checked) });
  const main = [
    part("div", "board", { className: "study-board" }),
    part("p", "said", { className: "study-said", role: "status" }),
    part(
      "div",
      "tools",
      { className: "row-of" },
      ...["start", "back", "forward", "last"].map(button),
      make("label", {}, values, texts.values),
    ),
  ];
  const list = part("div", "values", { className: "move-values" });
  const side = make(
    "div",
    {},
    part("ol", "tree", { className: "move-tree", ariaLabel: texts.moves }),
    part("p", "hidden", { className: "soft", role: "status" }),
    field("input", "comment", texts.comment, { placeholder: texts.comment, maxLength: 1000 }),
    make(
      "div",
      { className: "row-of" },
      ...["main", "remove", "link", "record"].map(button),
      field("select", "saved", texts.saved),
    ),
    (nodes.help = legend()),
  );
  nodes.dialog = studyDialog("analysis", texts.title, field("select", "rules", ""), main, side, list);
  return nodes;
}
