// The log of puzzles: which are solved, which return after a failure, and the daily puzzle with its streak; plain data in one text.
//
// { sets: { name: { solved: [id], failed: { id: turn }, turn } }, daily: { day, missed: [step], steps, over }, streak: { day, days } }
// A set is a preset, or "first". `turn` counts the finished puzzles; a failed puzzle is due again at its turn. Days are
// counted from 1970.

const RETURN = 4; // turns until a failed puzzle returns, with three others in between
const DAY = 86_400_000;

const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
const object = (value) => (value !== null && typeof value === "object" && !Array.isArray(value) ? value : {});

/** Read a log from a text, dropping everything unreadable. */
export function readLog(text) {
  let kept = {};
  try { kept = object(JSON.parse(text)); } catch { /* nothing was kept, or it is damaged */ }
  const sets = Object.entries(object(kept.sets)).map(([name, set]) => [name, readSet(object(set))]);
  const { day, missed, steps, over } = object(kept.daily), streak = object(kept.streak);
  return {
    sets: Object.fromEntries(sets),
    daily: isCount(day) && isCount(steps) ? { day, steps, missed: Array.isArray(missed) ? missed.filter(isCount) : [], over: over === true } : null,
    streak: isCount(streak.day) && isCount(streak.days) ? { day: streak.day, days: streak.days } : { day: 0, days: 0 },
  };
}

function readSet({ solved, failed, turn }) {
  const due = Object.entries(object(failed)).filter(([, at]) => isCount(at));
  return { solved: Array.isArray(solved) ? solved.filter((id) => typeof id === "string") : [], failed: Object.fromEntries(due), turn: isCount(turn) ? turn : 0 };
}

const setOf = (log, name) => (Object.hasOwn(log.sets, name) ? log.sets[name] : (log.sets[name] = readSet({})));

/** Count the solved ones among these puzzles, [{ id }]. */
export const solvedOf = (log, name, puzzles) => puzzles.filter(({ id }) => setOf(log, name).solved.includes(id)).length;

/** Record the end of a puzzle: without a mistake it is solved, otherwise it will return. */
export function finish(log, name, id, solved) {
  const set = setOf(log, name);
  set.turn += 1;
  delete set.failed[id];
  if (!solved) set.failed[id] = set.turn + RETURN - 1;
  else if (!set.solved.includes(id)) set.solved.push(id);
}

/**
 * Choose the next of N puzzles [{ id }], starting at number `from`: a failed one that is due; else one neither solved nor
 * failed; else a failed one. -> its number in the list, or null if all are solved
 */
export function nextOf(log, name, puzzles, from) {
  const { solved, failed, turn } = setOf(log, name), order = puzzles.map((_, step) => (from + step) % puzzles.length);
  const at = (number) => failed[puzzles[number].id], first = order.filter((number) => at(number) !== undefined).sort((one, other) => at(one) - at(other))[0];
  if (first !== undefined && at(first) <= turn) return first;
  return order.find((number) => at(number) === undefined && !solved.includes(puzzles[number].id)) ?? first ?? null;
}

// ---- the daily puzzle ------------------------------------------------------------------------------------------------

/** Return the number of a date's day in the person's time zone. */
export const dayOf = (date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY;

/** Return the date of a day as numbers. */
export function dateOf(day) {
  const date = new Date(day * DAY);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** Choose a day's puzzle out of `count`: a stride near the golden section meets each once, and alternates between distant levels. */
export function dailyOf(day, count) {
  const common = (one, other) => (other ? common(other, one % other) : one);
  let stride = Math.floor(0.618 * count) || 1;
  while (common(stride, count) > 1) stride -= 1;
  return (day * stride) % count;
}

/** Return the state of a day's puzzle; `steps` are the moves of its solver. */
export function today(log, day, steps) {
  if (log.daily?.day !== day || log.daily.steps !== steps) log.daily = { day, steps, missed: [], over: false };
  return log.daily;
}

/** Record a wrong move at a step, from 1; ignored once the puzzle is over. */
export function miss(log, day, steps, step) {
  const { missed, over } = today(log, day, steps);
  if (!over && !missed.includes(step)) missed.push(step);
}

/** Record that the daily puzzle is over; it counts for the streak if it was eventually solved. */
export function finishDay(log, day, steps, solved) {
  const daily = today(log, day, steps);
  if (daily.over) return;
  daily.over = true;
  if (solved && log.streak.day !== day) log.streak = { day, days: streakOn(log, day) + 1 };
}

/** Return the number of consecutive days, up to this one or the day before, on which the daily puzzle was solved. */
export const streakOn = ({ streak }, day) => (streak.day === day || streak.day === day - 1 ? streak.days : 0);

/** Return a mark for each step of a daily puzzle. */
export const marksOf = ({ steps, missed }) => Array.from({ length: steps }, (_, step) => (missed.includes(step + 1) ? "○" : "●")).join("");
