// The page's worker.js as a thread of Node.

import { parentPort } from "node:worker_threads";

globalThis.self = parentPort;
await import(new URL("../../oanquan_env/play/web/worker.js", import.meta.url));
