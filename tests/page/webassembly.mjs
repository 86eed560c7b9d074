// Makes the calls to engine.js that standard input lists, and prints their answers. Argument: the folder of the page.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { Engine } = await import(pathToFileURL(`${folder}/model/engine.js`));
const engine = await Engine.load(
  readFileSync(`${folder}/engine.wasm`),
  JSON.parse(readFileSync(`${folder}/engine.json`)),
);

function answer(rules, [name, ...given]) {
  if (name === "rules") return { ...rules, key: undefined }; // JSON leaves it out
  const last = given.at(-1);
  if (name === "search" && last.net) last.net = engine.net(rules, Buffer.from(last.net, "base64"));
  try {
    return engine[name](rules, ...given);
  } catch (error) {
    return `${error.constructor.name}: ${error.message}`;
  }
}

const answers = JSON.parse(readFileSync(0)).map(({ fields, calls }) => {
  const rules = engine.rules(fields);
  return calls.map((call) => answer(rules, call));
});
process.stdout.write(JSON.stringify(answers));
