// Calls functions of the page's modules for test_page_texts.py: a list of [module, function, ...arguments] in, results out.

import { readFileSync } from "node:fs";

const calls = JSON.parse(readFileSync(0, "utf8"));
const results = [];
for (const [module, name, ...given] of calls) {
  const { [name]: called } = await import(new URL(`../../oanquan_env/play/web/${module}.js`, import.meta.url));
  try {
    results.push({ value: called(...given) });
  } catch (error) {
    if (error.name !== "Refused") throw error;
    results.push({ refused: { ...error.json(), line: error.line } });
  }
}
process.stdout.write(JSON.stringify(results));
