// ESLint's recommended rules for the page's scripts, and for the programs of its tests, which run in Node.js.

import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  { files: ["oanquan_env/play/web/**/*.js"], languageOptions: { globals: globals.browser } },
  { files: ["oanquan_env/play/web/service-worker.js"], languageOptions: { globals: globals.serviceworker } },
  { files: ["tests/page/*.mjs"], languageOptions: { globals: globals.node } },
];
