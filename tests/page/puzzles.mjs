// Calls the puzzle log for test_puzzles.py: reads [log, [[function, ...arguments], ...]], and prints the answers and
// the final log. "next" and "solved" take a list of puzzle ids.

import { readFileSync } from "node:fs";

const log = await import(new URL("../../oanquan_env/play/web/activities/puzzle-log.js", import.meta.url));
const [text, calls] = JSON.parse(readFileSync(0, "utf8")),
  kept = log.readLog(text);
const named = (ids) => ids.map((id) => ({ id }));
const asked = {
  next: (name, ids, from) => ids[log.nextOf(kept, name, named(ids), from) ?? -1] ?? null,
  solved: (name, ids) => log.solvedOf(kept, name, named(ids)),
  marks: () => log.marksOf(kept.daily),
  day: (year, month, day) => log.dayOf(new Date(year, month - 1, day, 23, 30)),
  date: (day) => log.dateOf(day),
  daily: (day, count) => log.dailyOf(day, count),
};
const answers = calls.map(([name, ...given]) => asked[name]?.(...given) ?? log[name]?.(kept, ...given) ?? null);
const written = JSON.stringify(kept),
  read = log.readLog(written);
if (JSON.stringify(read) !== written) throw new Error("a log that is read differs from what was written");
process.stdout.write(JSON.stringify({ answers, kept: read }));
