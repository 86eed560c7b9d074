// The dialog of the analysis board (analysis.js), which fills the window.

import { make } from "../dom.js";
import { complain, words } from "../page-state.js";
import { addStyle } from "./study.js";

addStyle(`
#analysis { width: 100vw; max-width: none; height: 100dvh; max-height: none; border-radius: 0; padding: 6px 24px;
  overflow: auto; }
#analysis[open] { display: grid; gap: 6px 28px;
  grid-template: auto minmax(0, 1fr) / minmax(0, 1fr) clamp(340px, 27vw, 720px); }
#analysis header { grid-column: 1 / -1; flex-wrap: nowrap; padding: 0; margin: 0; width: 100%; gap: 12px; }
#analysis h2 { margin: 0 auto 0 0; }
#analysis select { min-width: 0; max-width: 16em; }
#analysis > div { min-width: 0; min-height: 0; }
#analysis-board { --rest: 200px; }
#analysis-said { min-height: 2.8em; margin: 6px 0; text-align: center; line-height: 1.4; }
#analysis-tools { justify-content: center; }
#analysis-side { display: flex; flex-direction: column; gap: 8px; }
#analysis-values { grid-template-columns: repeat(auto-fill, minmax(9.375rem, 1fr)); }
#analysis-tree { flex: 1 1 6em; min-height: 5em; overflow: auto; margin: 0; padding: 8px; line-height: 1.9;
  background: var(--panel); border: 1px solid var(--line); border-radius: 12px; position: relative; }
@media (max-width: 900px), (max-height: 520px) {
  #analysis { padding: 4px 12px; }
  #analysis[open] { gap: 4px 14px; }
  #analysis h2 { font-size: 1.0625rem; }
  #analysis-values { order: 1; }
}
@media (max-width: 900px) and (min-height: 521px) {
  #analysis[open] { grid-template: none / minmax(0, 1fr); align-content: start; }
  #analysis > div { min-height: auto; }
  #analysis-board { --rest: 310px; }
  #analysis-tree { flex: none; max-height: 11em; }
}
@media (max-height: 520px) {
  #analysis[open] { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
  #analysis-board { --rest: 150px; }
  #analysis-said { min-height: 1.4em; margin: 2px; font-size: 0.875rem; }
  #analysis-side { overflow: auto; }
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
  const header = make(
    "header",
    {},
    make("h2", { id: "analysis-title", textContent: texts.title }),
    field("select", "rules", words().rules),
    make("button", { type: "button", textContent: words().close, onclick: () => nodes.dialog.close() }),
  );
  const table = make(
    "div",
    {},
    part("div", "board"),
    part("p", "said", { role: "status" }),
    part(
      "div",
      "tools",
      { className: "row-of" },
      button("back"),
      button("forward"),
      make("label", {}, values, texts.values),
    ),
  );
  const side = part(
    "div",
    "side",
    {},
    part("div", "values", { className: "move-values" }),
    part("ol", "tree", { className: "move-tree", ariaLabel: texts.moves }),
    field("input", "comment", texts.comment, { placeholder: texts.comment, maxLength: 1000 }),
    make(
      "div",
      { className: "row-of" },
      ...["main", "remove", "link", "record"].map(button),
      field("select", "saved", texts.saved),
    ),
  );
  nodes.dialog = make("dialog", { id: "analysis" }, header, table, side);
  nodes.dialog.setAttribute("aria-labelledby", "analysis-title");
  return nodes;
}
