// The log of solved puzzles, failed puzzles that come back, and the daily puzzle with its streak: plain data, stored as
// one text.
//
// { rating: { points, puzzles }, sets: { name: { solved: [id], failed: { id: turn }, turn } },
//   daily: { day, missed: [step], steps, over }, days: [day] }
//
// `rating` is the person's Elo rating, and the number of puzzles that it counts. A set is a preset, or "first". A `turn`
// counts the puzzles that are over; a failed puzzle is due again at its turn.
// Days are counted from 1970; `days` are those whose puzzle was solved.

const RETURN = 4; // turns until a failed puzzle comes back: three others lie between
const DAY = 86_400_000;
const BEGIN = 1000; // the rating of a person who has solved no puzzle

const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
const object = (value) => (value !== null && typeof value === "object" && !Array.isArray(value) ? value : {});

/** Read the log from a text, omitting invalid parts. */
export function readLog(text) {
  let kept = {};
  try {
    kept = object(JSON.parse(text));
  } catch {
    /* no log, or a damaged one */
  }
  const sets = Object.entries(object(kept.sets)).map(([name, set]) => [name, readSet(object(set))]);
  const { day, missed, steps, over } = object(kept.daily),
    { points, puzzles } = object(kept.rating);
  return {
    sets: Object.fromEntries(sets),
    daily:
      isCount(day) && isCount(steps)
        ? { day, steps, missed: Array.isArray(missed) ? missed.filter(isCount) : [], over: over === true }
        : null,
    days: readDays(kept),
    ...(Number.isFinite(points) && isCount(puzzles) && { rating: { points, puzzles } }),
  };
}

/** Read the days; older logs have only the last day and the length of a streak. */
function readDays({ days, streak }) {
  const { day, days: length } = object(streak);
  return Array.isArray(days)
    ? days.filter(isCount)
    : isCount(day) && isCount(length)
      ? Array.from({ length: Math.min(length, day, 4000) }, (_, before) => day - before)
      : [];
}

function readSet({ solved, failed, turn }) {
  const due = Object.entries(object(failed)).filter(([, at]) => isCount(at));
  return {
    solved: Array.isArray(solved) ? solved.filter((id) => typeof id === "string") : [],
    failed: Object.fromEntries(due),
    turn: isCount(turn) ? turn : 0,
  };
}

const setOf = (log, name) => (Object.hasOwn(log.sets, name) ? log.sets[name] : (log.sets[name] = readSet({})));

/** Return how many of the puzzles [{ id }] are solved. */
export const solvedOf = (log, name, puzzles) => puzzles.filter(({ id }) => setOf(log, name).solved.includes(id)).length;

/** Log a finished puzzle: it is solved if there was no mistake, otherwise it comes back. */
export function finish(log, name, id, solved) {
  const set = setOf(log, name);
  set.turn += 1;
  delete set.failed[id];
  if (!solved) set.failed[id] = set.turn + RETURN - 1;
  else if (!set.solved.includes(id)) set.solved.push(id);
}

/**
 * Return the number of the next of the `puzzles` [{ id }]: a failed one that is due, else the first, beginning at
 * `from`, that is neither solved nor failed, else the failed one that is due first; null if all are solved.
 */
export function nextOf(log, name, puzzles, from) {
  const { solved, failed, turn } = setOf(log, name),
    order = puzzles.map((_, step) => (from + step) % puzzles.length);
  const at = (number) => failed[puzzles[number].id],
    first = order.filter((number) => at(number) !== undefined).sort((one, other) => at(one) - at(other))[0];
  if (first !== undefined && at(first) <= turn) return first;
  return order.find((number) => at(number) === undefined && !solved.includes(puzzles[number].id)) ?? first ?? null;
}

/** Whether a puzzle has not been tried before. */
export const isNew = (log, name, id) => {
  const { solved, failed } = setOf(log, name);
  return !solved.includes(id) && !(id in failed);
};

/**
 * Rate a first try by Elo. A puzzle's own rating comes from the share of trials in which the three weakest levels solve
 * it: `BEGIN` if they solve half of them.
 */
export function rate(log, share, solved) {
  const { points, puzzles } = (log.rating ??= { points: BEGIN, puzzles: 0 }),
    odds = Math.max(0.001, Math.min(share, 0.999)),
    against = BEGIN + 400 * Math.log10((1 - odds) / odds),
    expected = 1 / (1 + 10 ** ((against - points) / 400));
  log.rating = { points: points + (puzzles < 20 ? 40 : 20) * (solved - expected), puzzles: puzzles + 1 };
}

// ---- the daily puzzle -----------------------------------------------------------------------------------------------

/** Return the day of a date in the person's time zone. */
export const dayOf = (date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY;

/** Return the date of a day as numbers. */
export function dateOf(day) {
  const date = new Date(day * DAY);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/**
 * Return which of `count` puzzles is the puzzle of a day. Steps of about the golden section reach each puzzle once and
 * vary the level.
 */
export function dailyOf(day, count) {
  const common = (one, other) => (other ? common(other, one % other) : one);
  let stride = Math.floor(0.618 * count) || 1;
  while (common(stride, count) > 1) stride -= 1;
  return (day * stride) % count;
}

/** Return the log of a day's puzzle, in which the solver has `steps` moves. */
export function today(log, day, steps) {
  if (log.daily?.day !== day || log.daily.steps !== steps) log.daily = { day, steps, missed: [], over: false };
  return log.daily;
}

/** Log a wrong move at a step, from 1, unless the puzzle is over. */
export function miss(log, day, steps, step) {
  const { missed, over } = today(log, day, steps);
  if (!over && !missed.includes(step)) missed.push(step);
}

/** Log the end of the daily puzzle, which counts for the streak if it was solved in the end. */
export function finishDay(log, day, steps, solved) {
  const daily = today(log, day, steps);
  if (daily.over) return;
  daily.over = true;
  if (solved && !log.days.includes(day)) log.days.push(day);
}

/**
 * Return on how many days in a row the daily puzzle was solved, including this day or one near it: a clock or a journey
 * may set the date back.
 */
export function streakOn({ days }, day) {
  const end = (from, by) => {
    while (days.includes(from)) from += by;
    return from;
  };
  return Math.max(0, ...[-1, 0, 1, 2].map((step) => end(day + step, 1) - end(day + step, -1) - 1));
}

/** Return a mark for each step of a daily puzzle. */
export const marksOf = ({ steps, missed }) =>
  Array.from({ length: steps }, (_, step) => (missed.includes(step + 1) ? "○" : "●")).join("");
