// Runs the service worker for test_hosting.py: reads { source, scope, caches, later } with caches as { name: { file: text
// } }. It is installed with a network, where each file is "new"; then `later` is cached, and it is activated without a
// network. Prints all caches as [name, { file: text }].

import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
const { source, scope, caches: given, later } = JSON.parse(readFileSync(0, "utf8")),
  listeners = {},
  stores = new Map();
const reply = (text) => ({ ok: true, text, clone: () => reply(text) });
const open = async (name) => {
  const files = stores.get(name) ?? stores.set(name, new Map()).get(name);
  return {
    match: async (file) => files.get(file),
    put: async (file, answer) => {
      files.set(file, answer);
    },
    addAll: async (requests) => {
      for (const one of requests) files.set(one.name, await fetch(one));
    },
  };
};
let online = true;
const fetch = async () => {
  if (!online) throw new TypeError("no network");
  return reply("new");
};
const put = async (stored) => {
  for (const [name, files] of Object.entries(stored)) {
    for (const [file, text] of Object.entries(files)) await (await open(name)).put(file, reply(text));
  }
};
await put(given);
runInNewContext(source, {
  fetch,
  registration: { scope },
  clients: { claim() {} },
  addEventListener: (name, act) => {
    listeners[name] = act;
  },
  Request: class {
    constructor(name) {
      this.name = name;
    }
  },
  caches: { open, keys: async () => [...stores.keys()], delete: async (name) => stores.delete(name) },
});
const fire = (name) =>
  new Promise((done, fail) => {
    listeners[name]({ waitUntil: (all) => all.then(done, fail) });
  });
await fire("install");
online = false;
await put(later);
await fire("activate");
const texts = (files) => Object.fromEntries([...files].map(([file, { text }]) => [file, text]));
console.log(JSON.stringify([...stores].map(([name, files]) => [name, texts(files)])));
