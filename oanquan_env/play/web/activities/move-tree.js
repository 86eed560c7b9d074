// A tree of moves as a list, as in records: 1. 5A 3A (3C 2A) 2. ... Each variation is a list after the move that it
// replaces.

import { addStyle, make } from "../dom.js";
import { numbered } from "../model/notation.js";

addStyle(`
.move-tree :is(ol, li) { display: inline; margin: 0; font-size: inherit; }
.move-tree ol { color: var(--soft); }
.move-tree ol::before { content: "("; }
.move-tree ol::after { content: ") "; }
.move-tree button { min-height: 2.125rem; min-width: 2.375rem; padding: 0 4px; border-color: transparent; background: none;
  color: inherit; font-weight: 600; font-variant-numeric: tabular-nums; }
.move-tree ol button { font-weight: 400; min-width: 1.5rem; }
.move-tree ol > li:first-child button { padding-left: 1px; text-align: left; }
.move-tree button[aria-current] { background: var(--warm); color: var(--ink); font-weight: 700; }
.move-tree i { color: var(--soft); font-size: 0.875rem; padding-right: 4px; }`);

/**
 * Write a tree into a list whose node at `path` is the current one; `go(path)` is called for a chosen node. `start` and
 * `variation` are words.
 */
export function drawTree(list, root, path, { players, start, variation, go }) {
  const here = `${path}`,
    isFocused = list.contains(document.activeElement);
  const item = (node, at) => {
    const chosen = make("button", {
      type: "button",
      textContent: node.move ? `${numbered(at.length, players)}${node.move}` : start,
      tabIndex: -1,
      onclick: () => go(at),
    });
    if (`${at}` === here) Object.assign(chosen, { tabIndex: 0, ariaCurrent: "step" });
    return make("li", {}, chosen, ...(node.comment ? [" ", make("i", { textContent: node.comment })] : []));
  };
  const line = (node, at) => {
    const items = [];
    for (; node.children.length; [node] = node.children) {
      const [main, ...others] = node.children;
      const variations = others.map((other, index) => {
        const begun = [...at, index + 1];
        return make("ol", { ariaLabel: variation }, item(other, begun), ...line(other, begun));
      });
      at = [...at, 0];
      items.push(item(main, at));
      items.at(-1).append(" ", ...variations);
    }
    return items;
  };
  list.replaceChildren(item(root, []), ...line(root, []));
  const current = list.querySelector("[aria-current]");
  list.scrollTop = current.offsetTop - list.clientHeight / 2;
  if (isFocused) current.focus({ preventScroll: true });
}
