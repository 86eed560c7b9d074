// Games in files and on the clipboard, links that hold a game, and animations of it.

import { ROLES } from "../words/board-words.js";
import { $, addStyle, make } from "../dom.js";
import { complain, copy, explain, notice, page, presetName, words } from "../page-state.js";
import { isText } from "../storage.js";
import "../words/dialog-words.js";
import { findLink, readLink } from "../model/link-reading.js";
import { PERSON } from "../model/game.js";
import { capital } from "../words/format.js";
import { OWNERSHIP_HEADERS } from "../model/records.js";
import { Refused } from "../model/refused.js";
import { friendGames, unfinishedGames, goBack, play, services, view } from "../current-game.js";
import { plateNames, playerName } from "../words/narration.js";
import { roundOf } from "../model/notation.js";

addStyle(`
#pasted { font: 0.875rem/1.4 ui-monospace, monospace; width: 100%; color: var(--ink); background: var(--page);
  border: 1px solid var(--line); border-radius: 10px; padding: 10px; }`);
const OWN = "oanquan-"; // beginning of the names of stored texts

export function open() {
  $("pasted").value = "";
  $("share-error").hidden = true;
  $("share-dialog").showModal();
}

// ---- opening --------------------------------------------------------------------------------------------------------

const POSITION = /^\s*[\d,*]+\/[\d,*/]+(\s+[-\d,]+){3}\s*$/;

/**
 * Open the game in `text`, or its game `number` if it has several; `text` is null if it was too long. With `analysed`,
 * open it on the analysis board, where it may be a position; a match in which squares are sold opens as a match.
 */
async function openText(text, number = null, analysed = false) {
  try {
    if (text === null) throw new Refused("record", words().tooLarge);
    if (!text.trim()) {
      $("share-error").textContent = words().empty;
      $("share-error").hidden = false;
      return;
    }
    const link = /\[Rules\s/.test(text) ? null : findLink(text), // a record may also hold an address
      isPosition = analysed && POSITION.test(text);
    if (isPosition) await analyse({ rules: page.state.rules, position: text.trim() });
    else if (link !== null) {
      if (!(await openHeld(link, analysed))) return;
    } else if (/^\s*https?:\S+\s*$/.test(text))
      throw new Refused("link", "the link holds no game", "liên kết không có ván nào");
    else if (analysed) await analyseRecord(text, number);
    else await play("load", number === null ? { text } : { text, number });
    $("share-dialog").close();
    $("games-dialog").close();
    if (!$("analysis")) notice(analysed ? words().openedMatch : words().opened);
  } catch (error) {
    if (error.code !== "games") {
      if ($("share-dialog").open) {
        $("share-error").textContent = explain(error, error.code === "position" ? text.trim() : "");
        $("share-error").hidden = false;
      } else complain(error);
      return;
    }
    chooseGame(
      words().whichGame,
      Array.from({ length: error.games }, (_, index) => [
        words().game(index + 1),
        () => openText(text, index + 1, analysed),
      ]),
    );
  }
}

const analyse = async (asked) => (await import("./analysis.js")).open(asked);

async function analyseRecord(text, number) {
  const { parseRecords } = await import("../model/record-reading.js"),
    records = parseRecords(text, page.catalogue, services().engine),
    games = records.length;
  if (records.some(({ headers }) => OWNERSHIP_HEADERS.some((name) => name in headers))) return play("load", { text });
  if (games > 1 && number === null) throw new Refused("games", "", "", { games });
  if (!games) throw new Refused("record", "the file is empty", "tệp trống");
  return (await import("./analysis.js")).openRecord(records[(number ?? 1) - 1]);
}

/** Let a person choose one of several games, given their names and functions that open them. */
function chooseGame(title, games) {
  notice(""); // it would cover the dialog
  $("games-title").textContent = title;
  $("games").replaceChildren(
    ...games.map(([textContent, onclick]) => make("button", { type: "button", textContent, onclick })),
  );
  $("games-dialog").showModal();
}

/** Return to the unfinished game; if there are several, let a person choose one. */
export function resume() {
  const games = unfinishedGames(),
    time = new Intl.DateTimeFormat(page.language, { dateStyle: "medium", timeStyle: "short" });
  const open = (game) => goBack(game).then(() => $("games-dialog").close(), complain);
  const name = ({ rules, seats, moves, at }) =>
    [
      presetName(rules),
      ...seats.map((one) => ROLES[page.language][one] ?? one),
      words().length(moves),
      time.format(at),
    ].join(" · ");
  if (games.length === 1) open(games[0]);
  else
    chooseGame(
      words().unfinished,
      games.map((game) => [name(game), () => open(game)]),
    );
}

/** Open the file that a person chose, if any. */
async function openFile(file) {
  if (!file) return;
  const text = file.size > page.catalogue.largest_file ? null : await file.text();
  if (/^\s*\{"/.test(text)) importAll(text);
  else await openText(text);
}

/** Replace everything that this browser stores for the page by the content of a saved file, and load the page again. */
function importAll(text) {
  let entries = [];
  try {
    entries = Object.entries(JSON.parse(text));
  } catch {
    /* no data */
  }
  if (!entries.length || !entries.every(([name, value]) => name.startsWith(OWN) && isText(value))) {
    notice(words().noData, 10);
    return;
  }
  for (const name of stored()) localStorage.removeItem(name);
  for (const [name, value] of entries) localStorage.setItem(name, value);
  sessionStorage.clear(); // the game of this tab would hide the stored one
  location.reload();
}

/** Return the names of all texts that this browser stores for the page. */
const stored = () => Object.keys(localStorage).filter((name) => name.startsWith(OWN));

/**
 * Open the analysis that a link holds, or start its game, with `analysed` on the analysis board. If a game has no moves
 * and names no players, the present players stay. If a game with a friend does not continue the moves played here, ask
 * which version to play, and return false.
 */
async function openHeld(text, analysed = false) {
  const asked = readLink(text, page.catalogue),
    { rules, position, tree = null, match, moves: there } = asked;
  if (tree !== null || (analysed && match === null)) {
    const [{ parseTree }, { open: openBoard }] = await Promise.all([
      import("../model/tree.js"),
      import("./analysis.js"),
    ]);
    await openBoard({
      rules,
      position: position ?? "",
      root: parseTree(tree ?? there.replace(/-$/, "")), // a friend's link may end with a resignation
      at: tree === null ? -1 : asked.at,
    });
    return true;
  }
  const here = friendGames().get(asked.id) ?? "";
  const begin = (moves) =>
    play("new", { ...asked, moves, seats: /(^|&)(moves|south|east|north|west)=/.test(text) ? asked.seats : null });
  if (there.startsWith(here)) return begin(there).then(() => true);
  const version = (name, moves) => [
    name(words().length(moves.replace(/\D/g, "").length)),
    () => begin(moves).then(() => $("games-dialog").close(), complain),
  ];
  $("share-dialog").close();
  chooseGame(words().elsewhere, [version(words().here, here), version(words().there, there)]);
  return false;
}

/** Start the game in the page's address. */
export async function openLink() {
  let text = "";
  try {
    text = findLink(location.hash) ?? location.hash.slice(1);
    await openHeld(text);
  } catch (error) {
    if (!(error instanceof Refused)) throw error; // the address keeps the link, so that the page can be loaded again
    notice(explain(error, error.code === "position" ? new URLSearchParams(text).get("from") : ""), 30);
  }
  history.replaceState(null, "", location.href.split("#")[0]);
}

// ---- sharing --------------------------------------------------------------------------------------------------------

/** Whether this device has its own sharing dialog, as phones do. */
const shares = (thing) => matchMedia("(hover: none)").matches && navigator.canShare?.(thing);

async function download(content, type, name) {
  const file = new File([content], name, { type });
  $("share-dialog").close();
  if (shares({ files: [file] })) {
    try {
      await navigator.share({ files: [file] });
      return;
    } catch (error) {
      if (error.name === "AbortError") return;
    }
  }
  const url = URL.createObjectURL(file);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
  notice(words().saved(name));
}

/** Share or copy the link with this fragment. */
export function shareLink(fragment) {
  const shared = { title: "Ô Ăn Quan", url: `${location.href.split("#")[0]}#${fragment}` };
  $("share-dialog").close();
  if (!shares(shared)) return copy(shared.url, words().copied);
  return navigator.share(shared).catch(() => {}); // sharing was cancelled
}

/** Return the game for its pictures, which show the first seat at the bottom and the names of the players. */
function pictured() {
  const { start, starter, line, outcome, match, played, seats: sitting } = page.state,
    { board } = view,
    drawing = board.plain,
    called = drawing.seats[page.language];
  const seats = sitting.map((_, seat) => ({ name: played[seat] ?? "", person: played[seat] === PERSON })),
    stub = { board: { language: board.language, two: board.two, called }, state: { seats } };
  const moves = line.map((serial) => view.moves[serial]),
    labels = moves.map(({ move }, index) => `${roundOf(index + 1, sitting.length)}. ${move}`);
  const verdict = outcome ? result(outcome, (seat) => playerName(stub, seat)) : "";
  return {
    drawing,
    start,
    starter,
    moves,
    scores: outcome?.scores,
    winners: outcome?.winners,
    tabs: match?.owners.tabs,
    codes: match?.owners.codes,
    names: plateNames(stub),
    labels,
    verdict,
  };
}

/** Return who beat whom and by how much, as in "You beat Bống 42–28"; for three or four players, who won. */
function result({ scores, winners }, name) {
  const { draw, wins } = view.words,
    [one, other] = scores[1] > scores[0] ? [1, 0] : [0, 1];
  if (scores.length > 2)
    return winners.length === scores.length ? draw : wins(winners.map((seat) => capital(name(seat))));
  return capital(
    words()[winners.length > 1 ? "drew" : "beat"](name(one), name(other), `${scores[one]}–${scores[other]}`),
  );
}

async function animation() {
  $("share-dialog").close();
  notice(words().filming(0), 60);
  try {
    const { gif } = await import("../board/picture.js");
    await download(
      await gif(pictured(), page.language, (share) => notice(words().filming(share), 60)),
      "image/gif",
      "oanquan.gif",
    );
  } catch (error) {
    complain(error);
  }
}

/** Share a picture of the final board, on which each player has its summary (losses.js) if there is one. */
export async function shareCard(summaries) {
  const game = pictured(),
    { card } = await import("../board/picture.js"),
    dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const about = `${presetName(page.state.rules)} · ${words().length(page.state.line.length)}`;
  const rows = (summaries ?? []).map(({ blunders, share }, seat) => [
    game.names[seat][0],
    words().judged(blunders, share),
  ]);
  await download(await card(game, page.language, [[about, ""], ...rows], dark), "image/png", "oanquan.png");
}

$("export").onclick = () =>
  download(
    JSON.stringify(Object.fromEntries(stored().map((name) => [name, localStorage.getItem(name)]))),
    "application/json",
    "oanquan-data.json",
  );
$("save").onclick = () => download(page.state.record, "text/plain", "oanquan.txt");
$("link").onclick = () => shareLink(page.state.link);
$("gif").onclick = animation;
$("load").onclick = () => $("file").click();
$("paste").onclick = () => openText($("pasted").value);
$("analyse-pasted").onclick = () => openText($("pasted").value, null, true);
$("file").onchange = async () => {
  await openFile($("file").files[0]);
  $("file").value = "";
};
