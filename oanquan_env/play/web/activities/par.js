// The daily position, played out against the perfect player. Its par, a proved value, is the margin that nobody can
// exceed.

import { $ } from "../dom.js";
import { complain, copy, page, presetName, words } from "../page-state.js";
import { store } from "../storage.js";
import { dailyOf, dateOf, dayOf } from "./puzzle-log.js";
import "../words/puzzle-words.js";
import { playFor, services, view } from "../current-game.js";

const KEPT = "par",
  MOST = 7, // results kept, in case that the clock goes back
  RESIGNED = "resigned";

const results = () => store.list(KEPT, ({ day, short }) => Number.isInteger(day) && (short >= 0 || short === RESIGNED));

/**
 * Return the points by which the person missed a day's par, or RESIGNED; null before the first game and while it goes on.
 * A first game that was left counts as resigned.
 */
export function shortOf(day) {
  const one = results().find((result) => result.day === day),
    goesOn = one?.open && page.aim?.first && page.aim.day === day;
  return one && !goesOn ? one.short : null;
}

function keep(result) {
  const others = results().filter(({ day }) => day !== result.day);
  store.set(KEPT, JSON.stringify([...others, result].slice(-MOST)));
}

export async function playPar() {
  const day = dayOf(new Date()),
    all = await services().data("par.json"),
    { rules, position, par } = all[dailyOf(day, all.length)],
    first = !results().some((one) => one.day === day);
  const seats = [0, 1].map((seat) => (seat === Number(position.split(" ")[2]) ? page.catalogue.person : "perfect"));
  await playFor({ par, day, first }, { rules, position, seats });
  if (first) keep({ day, short: RESIGNED, open: true });
}

/** Return how far off par the game ended, or RESIGNED; null while it goes on, undefined if it is no daily position. */
function missedBy() {
  const {
    aim,
    state: { game, outcome, resigned, seats },
  } = page;
  if (aim?.game !== game || aim.par === undefined) return undefined;
  if (!view.settled || (!outcome && resigned === null)) return null;
  const seat = seats.findIndex(({ person }) => person);
  return outcome ? aim.par - outcome.scores[seat] + outcome.scores[1 - seat] : RESIGNED;
}

view.unaided = () => missedBy() === null;
view.goals.push(() => {
  const short = missedBy();
  return short === undefined
    ? null
    : short === null
      ? `${presetName(page.state.rules)}. ${words().parGoal(page.aim.par)}`
      : words().parEnd(short);
});

/** Keep the result, and offer to share it; only the first end of the first game of a day counts. */
function tell() {
  const { aim } = page,
    short = missedBy(),
    over = (short ?? null) !== null;
  if (short === undefined) return;
  view.setButtons();
  if (over && shortOf(aim.day) === null) keep({ day: aim.day, short });
  $("share-day").hidden = !over;
  $("share-day").textContent = words().copyResult;
  $("share-day").onclick = () => {
    const text = `${words().sharedPar(dateOf(aim.day), shortOf(aim.day) ?? short)}\n${location.href.split("#")[0]}`;
    copy(text, `${words().resultCopied}\n${text}`).catch(complain);
  };
}
view.addEventListener("render", tell); // page.js loads this module if such a game was saved
