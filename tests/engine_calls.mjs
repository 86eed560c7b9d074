// Calls of engine.js by the cases on standard input, and what they return. Arguments: the folder of engine.wasm.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { Engine } = await import(pathToFileURL(`${folder}/engine.js`));
const engine = await Engine.load(readFileSync(`${folder}/engine.wasm`), JSON.parse(readFileSync(`${folder}/engine.json`)));

function call(rules, net, name, ...given) {
  if (name === "search" && net) given.at(-1).net = net;
  try {
    return engine[name](rules, ...given);
  } catch (error) {
    return `${error.constructor.name}: ${error.message}`;
  }
}

const answers = JSON.parse(readFileSync(0)).map(({ fields, net, calls }) => {
  const rules = engine.rules(fields);
  const held = net && engine.net(rules, Buffer.from(net, "base64"));
  return [rules, ...calls.map((one) => call(rules, held, ...one))];
});
process.stdout.write(JSON.stringify(answers));
