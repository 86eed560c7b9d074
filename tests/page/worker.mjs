// Runs the page's worker.js in a thread of Node.js.

import { parentPort } from "node:worker_threads";

globalThis.self = parentPort;
await import(new URL("../../oanquan_env/play/web/worker.js", import.meta.url));
