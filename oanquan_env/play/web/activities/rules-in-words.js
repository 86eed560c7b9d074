// The rules in words, in a disclosure: those of the game on the board, and those chosen for a new game.

import { make } from "../dom.js";
import { explain, page } from "../page-state.js";
import { parseRules } from "../model/rules.js";
import { ruleWords, view } from "../current-game.js";
import { rulesInWords } from "../words/rule-words.js";

/** Show rules, given as text, below the summary of a disclosure; if they are impossible, show why. */
export async function tell(disclosure, text) {
  const { board } = view,
    shown = `${page.language} ${board.upright} ${text}`;
  if (disclosure.dataset.shown === shown) return;
  disclosure.dataset.asked = shown;
  let nodes;
  try {
    const rules = parseRules(text, page.catalogue),
      sections = rulesInWords(rules, page.language, await ruleWords());
    if (disclosure.dataset.asked !== shown) return; // other rules were chosen while the words loaded
    nodes = sections.flatMap(([title, said]) => [
      make("h3", { textContent: title, style: "margin: 0; font-size: inherit" }),
      make("p", {
        textContent: rules.players > 2 ? said : board.named(said),
        style: "margin: 0 0 12px; white-space: pre-line",
      }),
    ]);
    disclosure.dataset.shown = shown;
  } catch (error) {
    nodes = [make("p", { className: "error", textContent: explain(error) })];
    delete disclosure.dataset.shown; // try again
  }
  disclosure.replaceChildren(disclosure.firstElementChild, ...nodes);
}
