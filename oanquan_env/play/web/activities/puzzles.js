// Puzzles: their dialog, the choice of the next one, their log, and the buttons beside the board. It loads with the
// first puzzle; the words below the board are in words/puzzle-tasks.js.

import { $, addStyle, make } from "../dom.js";
import { complain, copy, page, presetName, words } from "../page-state.js";
import { areTexts, store } from "../storage.js";
import {
  dailyOf,
  dateOf,
  dayOf,
  finish,
  finishDay,
  isNew,
  marksOf,
  miss,
  nextOf,
  rate,
  readLog,
  solvedOf,
  streakOn,
  today,
} from "./puzzle-log.js";
import "../words/puzzle-words.js";
import { gain } from "./mistake.js";
import { playPar, shortOf } from "./par.js";
import { hint, play, services, view } from "../current-game.js";

addStyle(`
.kinds { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.75rem, 1fr)); gap: 8px; }
.kinds button { display: flex; flex-direction: column; justify-content: center; text-align: left; padding: 6px 12px; }
:is(#daily, #par) { display: flex; justify-content: space-between; align-items: center; }
#puzzle-list :is(h3, p) { margin: 4px 0 0; font-size: 1rem; }
@media (min-width: 700px) and (max-height: 520px) {
  #puzzle-dialog { width: 820px; }
  #puzzle-dialog form { display: grid; grid-template-columns: 1fr auto; }
  #puzzle-dialog .end { grid-area: 1 / 2; margin: 0; padding: 0; position: static; }
  #puzzle-list { grid-area: 2 / 1 / 3 / 3; grid-template-columns: 1fr 2fr; gap: 16px; align-items: start; }
  .kinds { grid-template-columns: repeat(4, 1fr); gap: 5px; }
  .kinds button { padding: 2px 8px; line-height: 1.15; min-height: 40px; }
}`);
const LEVELS = ["first", "easy", "medium", "hard", "own"],
  KEPT = "puzzles",
  OWN = "own",
  MOST = 60; // maximum number of puzzles from own games
let choice = null; // the chosen level or theme, with its rules: { level } or { theme }
let attempt = { game: null, missed: false, over: false };

function log() {
  const text = store.get(KEPT),
    kept = readLog(text);
  if (text && JSON.stringify(kept) !== text) store.keepUnread(KEPT, text);
  return kept;
}
const change = (act) => {
  const kept = log();
  act(kept);
  store.set(KEPT, JSON.stringify(kept));
};
const setName = (level, rules) => (level === "first" || level === "own" ? level : rules);

/** Return the preset whose puzzles are shown: the game's, if it has puzzles. */
function presetOf() {
  const { presets, default: usual } = page.catalogue,
    rules = page.state.puzzle?.rules ?? page.state.rules;
  return presets[rules]?.players === 2 ? rules : usual;
}

/** Return the puzzles from mistakes in a person's own games, { id, rules, puzzle: { position, line } }. */
const ownPuzzles = () =>
  store.list(OWN, ({ id, rules, puzzle }) => areTexts([id, rules, puzzle.position]) && areTexts(puzzle.line));

export function keepOwn(mistakes) {
  const kept = ownPuzzles(),
    added = mistakes.filter(({ id }) => !kept.some((one) => one.id === id));
  if (added.length) store.set(OWN, JSON.stringify([...kept, ...added].slice(-MOST)));
}

/** Start the puzzles from own games with `mistake`. */
export function practise(mistake) {
  choice = { level: "own" };
  return begin(mistake);
}

/** Show a puzzle; if it is the puzzle of the day, it counts for this day even if it is solved later. */
async function begin({ rules, level, number, id, puzzle }) {
  const day = dayOf(new Date()),
    isDaily = !puzzle && id === (await dailyPuzzle(day)).id;
  await play(
    "puzzle",
    puzzle ? { rules, puzzle: { ...puzzle, id } } : { rules, level, number, day: isDaily ? day : null },
  );
}

/** Return all puzzles of a preset in one list, with those of own games, [{ id, level, number, themes, steps }]. */
async function puzzlesOf(rules) {
  const { data } = services(),
    [first, others] = await Promise.all([data("puzzles-first.json"), data(`puzzles-${rules}.json`)]);
  const packaged = Object.entries({ first, ...others }).flatMap(([level, all]) =>
    all.map(({ id, name, themes = [], line }, number) => ({
      id: id ?? name,
      rules,
      level,
      number,
      themes,
      steps: (line.length + 1) / 2,
    })),
  );
  return [...packaged, ...ownPuzzles().map((one) => ({ ...one, level: "own", themes: [] }))];
}

const chosen = (puzzles, { level, theme }) =>
  puzzles.filter((one) => (theme ? one.themes.includes(theme) : one.level === level));

/** Return the puzzle of a day; it has the page's initial rules, and is the same for everybody. */
async function dailyPuzzle(day) {
  const rules = page.catalogue.begin,
    all = (await puzzlesOf(rules)).filter(({ level }) => level !== "first" && level !== "own");
  return { ...all[dailyOf(day, all.length)] };
}

/**
 * Return the next puzzle of a set after `from`, {id, name}. If all are solved, return null, or with `wanted.again`
 * simply the next one.
 */
async function following(wanted, from) {
  const rules = presetOf(),
    puzzles = chosen(await puzzlesOf(rules), wanted),
    here = puzzles.findIndex(({ id }) => from && id === (from.id || from.name));
  return (
    puzzles[nextOf(log(), setName(wanted.level, rules), puzzles, here + 1) ?? (wanted.again ? here + 1 : -1)] ?? null
  );
}

async function openNext(wanted, from = null) {
  choice = wanted;
  wanted.again ||= !from && !(await following(wanted, from));
  await begin(await following(wanted, from));
}

// ---- the dialog -----------------------------------------------------------------------------------------------------

export async function open() {
  const rules = presetOf(),
    day = dayOf(new Date()),
    [puzzles, daily] = await Promise.all([puzzlesOf(rules), dailyPuzzle(day)]),
    kept = log();
  const go = (act) => () => {
    $("puzzle-dialog").close();
    act().catch(complain);
  };
  const button = (text, detail, act, properties = {}) =>
    make(
      "button",
      { type: "button", onclick: go(act), ...properties },
      make("span", { textContent: text }),
      make("small", { textContent: detail }),
    );
  const kind = (wanted, text) => {
    const members = chosen(puzzles, wanted);
    return members.length
      ? [
          button(
            text,
            (wanted.level === "first" ? `${presetName(page.catalogue.default)}: ` : "") +
              words().solvedOf(solvedOf(kept, setName(wanted.level, rules), members), members.length),
            () => openNext(wanted),
          ),
        ]
      : [];
  };
  const { over } = today(kept, day, daily.steps),
    days = streakOn(kept, day),
    row = (buttons) => make("div", { className: "kinds" }, ...buttons);
  const own = puzzles.filter(({ level }) => level !== "first" && level !== "own");
  const half = (...parts) => make("div", { className: "column" }, ...parts);
  $("puzzle-list").replaceChildren(
    half(
      make("p", { className: "soft", textContent: words().aboutPuzzles }),
      button(
        words().daily,
        [over ? marksOf(kept.daily) : "", days ? words().streak(days) : ""].filter(Boolean).join(" · "),
        () => dailyPuzzle(dayOf(new Date())).then(begin),
        { id: "daily", className: over ? "" : "main" },
      ),
      button(words().par, shortOf(day) === null ? "" : words().offPar(shortOf(day)), playPar, { id: "par" }),
      make("p", {
        id: "puzzle-rules",
        textContent:
          `${words().presets[rules]}: ${words().solvedOf(solvedOf(kept, rules, own), own.length)}` +
          (kept.rating ? ` · ${words().rating(Math.round(kept.rating.points))}` : ""),
      }),
    ),
    half(
      make("h3", { textContent: words().byLevel }),
      row(LEVELS.flatMap((level) => kind({ level }, words().levels[level]))),
      make("h3", { textContent: words().byTheme }),
      row(Object.keys(words().themes).flatMap((theme) => kind({ theme }, words().themes[theme]))),
    ),
  );
  if (!$("puzzle-dialog").open) $("puzzle-dialog").showModal();
}

/** Copy a day's result, without spoilers. */
function share(day, steps) {
  const kept = log(),
    text =
      words().shared(dateOf(day), marksOf(today(kept, day, steps)), streakOn(kept, day)) +
      `\n${location.href.split("#")[0]}`;
  $("puzzle-dialog").close();
  copy(text, `${words().resultCopied}\n${text}`);
}

// ---- beside the board -----------------------------------------------------------------------------------------------

/** Log what happened, and show the puzzle's buttons. */
export async function show() {
  const { puzzle, game } = page.state ?? {};
  if (!puzzle) return;
  const { day, level, answer, revealed, step, steps, themes, number, counts } = puzzle,
    packaged = level !== "own",
    isKept = packaged || puzzle.id !== "";
  const isDaily = day !== null;
  if (attempt.game !== game) attempt = { game, missed: false, over: false };
  if (answer && isKept && !attempt.over) {
    const clean = answer.right && !revealed && !attempt.missed,
      name = setName(level, puzzle.rules),
      id = puzzle.id || puzzle.name;
    if (isDaily && !answer.right) change((kept) => miss(kept, day, steps, step));
    if (isDaily && answer.right) change((kept) => finishDay(kept, day, steps, !revealed));
    if (clean || (!answer.right && !attempt.missed))
      change((kept) => {
        if (puzzle.found !== null && isNew(kept, name, id)) rate(kept, puzzle.found, clean);
        finish(kept, name, id, clean);
      });
    Object.assign(attempt, { missed: !clean, over: answer.right });
  }
  const more = isKept && (await following(choice ?? { level }, puzzle)),
    solved = Boolean(answer?.right),
    parts = [];
  if (page.state.puzzle !== puzzle) return;
  if (packaged) parts.push(isDaily ? words().daily : words().place(number + 1, counts[level]), words().levels[level]);
  if (packaged && page.state.rules !== page.catalogue.begin) parts.push(presetName(page.state.rules));
  const last = page.state.line.length - 1,
    wrong = answer && !answer.right,
    [won, got] = wrong ? [answer.line[last].split(" ")[0], answer.move].map((move) => gain(last, move)) : [[0], [0]],
    missed = won[0] > got[0] ? [won[0], won[1] - got[1]] : null;
  const reply = wrong && !page.state.outcome ? (await hint(page.state.line.length).catch(() => null))?.best : null;
  if (page.state.puzzle !== puzzle) return;
  view.setPuzzle({ puzzle, title: parts.join(" · "), reply, taken: reply && gain(last + 1, reply), missed });
  const about = [
    solved && themes.length && words().themed(themes.map((theme) => words().themes[theme]).join(", ")),
    answer && isKept && attempt.missed && words().returns,
    solved && isKept && !more && words().allSolved,
  ];
  $("puzzle-about").textContent = about.filter(Boolean).join(" ");
  $("puzzle-about").hidden = !$("puzzle-about").textContent;
  const texts = { "show-answer": words().showAnswer, "share-day": words().copyResult };
  for (const [id, text] of Object.entries(texts)) $(id).textContent = text;
  $("retry").hidden = solved && !revealed && Boolean(more); // otherwise there would be no button
  $("next-puzzle").classList.toggle("main", solved);
  $("show-answer").hidden = solved;
  $("share-day").hidden = !isDaily || !today(log(), day, steps).over;
  $("next-puzzle").hidden = !more;
  $("share-day").onclick = () => share(day, steps);
}

$("retry").onclick = () =>
  play(...(page.state.puzzle.answer?.right ? ["back", { moves: 0 }] : ["undo"])).catch(complain);
$("show-answer").onclick = async () => {
  const { puzzle } = page.state,
    { day } = puzzle;
  try {
    if (day !== null)
      change((kept) => {
        for (let step = puzzle.step; step <= puzzle.steps; step++) miss(kept, day, puzzle.steps, step);
      });
    await play("undo");
    await play("show_answer");
  } catch (error) {
    complain(error);
  }
};
$("next-puzzle").onclick = () =>
  openNext(choice ?? { level: page.state.puzzle.level }, page.state.puzzle).catch(complain);
