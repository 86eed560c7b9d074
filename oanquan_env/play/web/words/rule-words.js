// Rules in words. `oanquan_env/text/words.py` chooses and fills in the same sentences, those of data/rule-words.json.

import { filled } from "./move-words.js";

/** Return the fields of the rules, and further facts that follow from several fields. */
const factsOf = (rules) => ({
  ...rules,
  start: !rules.stones ? "seeds" : rules.mandarin_seeds ? "both" : "stone",
  mandarins_shared:
    rules.mandarin_leftovers === "split" && (rules.end === "stones_captured" || rules.refill === "forfeit"),
});

/** Return the texts that replace the names in braces. */
function valuesOf(rules, language, parts, units) {
  const { players, fields } = rules,
    names = parts.seats[players],
    counted = (thing, n) => filled(parts[thing][n === 1 ? 0 : 1], { n: n.toLocaleString(language) }),
    numbered = (thing) => filled(parts[thing][fields > 2 ? 1 : 0], { fields }),
    rows = names.flatMap((name) => [filled(parts.row, { squares: numbered("squares"), name }), parts.mandarin]);
  const numeric = Object.entries(rules).filter(([, value]) => typeof value === "number");
  return {
    ...Object.fromEntries(numeric.map(([name, value]) => [name, counted(units[name] ?? "seeds", value)])),
    players,
    fields,
    numbers: numbered("numbers"),
    seats: names.join(", "),
    ring: [...rows, filled(parts.again, { name: names[0] })].join(", "),
    both: parts.both[players > 2 ? 1 : 0],
    example: `${fields}${rules.sowing === "clockwise" ? "C" : "A"}`,
    cost: counted("points", fields),
  };
}

/** Return the title and the text of each section of the rules; `texts` is the content of rule-words.json. */
export function rulesInWords(rules, language, { titles, units, sentences, parts }) {
  const facts = factsOf(rules),
    values = valuesOf(rules, language, parts[language], units);
  const applies = ([name, wanted]) =>
    wanted.least === undefined ? [wanted].flat().includes(facts[name]) : facts[name] >= wanted.least;
  return Object.entries(titles[language]).map(([section, title]) => {
    const said = sentences.filter(
      (sentence) => sentence.section === section && Object.entries(sentence.when ?? {}).every(applies),
    );
    const text = said.map((sentence) => filled(sentence[language], values)).join(" ");
    return [title, text.replaceAll(" \n", "\n")];
  });
}
