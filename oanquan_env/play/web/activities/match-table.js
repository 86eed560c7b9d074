// The rounds of a match, shown beside the board; it loads with the first match.

import { LISTS, capital, does } from "../words/format.js";
import { seatName, sentenceName } from "../words/narration.js";

const inWords = (fields) => `${fields.length > 1 ? "squares" : "square"} ${LISTS.en.format(fields)}`;

const WORDS = {
  en: {
    round: "Round",
    sold: "Squares sold",
    pawned: "pawned",
    toLose: (fields) => `The first to sell ${fields} squares loses the match.`,
    about: "What is bán ruộng (selling squares)?",
    place: "data/about.en.html#the-end-of-the-game",
    prices:
      "The loser owes the points it is short of half of all points or, if that is less, the winner’s points above half. Every 10 points cost a square, and 5 to 9 left over pawn one: after 46–24, the loser owes 11 and sells one.",
    redeeming: "First, the winner gets a square back for every 10 points of its lead.",
    owes: (name, points, given) =>
      points ? `${name} ${does(name, "owe")} ${points} points and ${given}.` : `${name} ${given}.`,
    keeps: "no square changes hands",
    sells: (fields, name) => `${does(name, "sell")} ${inWords(fields)}`,
    pawns: (fields, name) => `${does(name, "pawn")} ${inWords(fields)}`,
    redeems: (fields, name, lead) =>
      `${does(name, "lead")} by ${lead} and ${does(name, "get")} back ${inWords(fields)}`,
    and: ", and ",
    corners:
      "A red corner marks a sold square: after a round its seeds go to the other player, or half of them if it’s only pawned (a hollow corner).",
  },
  vi: {
    round: "Ván",
    sold: "Ruộng đã bán",
    pawned: "cầm",
    toLose: (count) => `Ai bán ${count} ruộng thì thua trận.`,
    about: "Bán ruộng là gì?",
    place: "data/about.vi.html#het-van",
    prices:
      "Hết ván, người thua thiếu bao nhiêu so với nửa tổng số điểm thì nợ bấy nhiêu, nhưng không quá số điểm người thắng có trên nửa. Cứ nợ mười điểm thì bán một ruộng; lẻ từ năm điểm thì cầm một ruộng: 46–24 thì nợ 11 điểm, bán một ruộng.",
    redeeming: "Trước đó, người thắng cứ dẫn mười điểm thì được chuộc lại một ruộng.",
    owes: (name, points, given) => (points ? `${name} nợ ${points} điểm: ${given}.` : `${name} ${given}.`),
    keeps: "không ai phải bán ruộng",
    sells: (fields) => `bán ruộng ${fields.join(", ")}`,
    pawns: (fields) => `cầm ruộng ${fields.join(", ")}`,
    redeems: (fields, name, lead) => `dẫn ${lead} điểm: chuộc lại ruộng ${fields.join(", ")}`,
    and: " và ",
    corners: "Góc đỏ là ruộng đã bán: cuối ván dân ở đó thuộc về người kia; ruộng cầm (góc rỗng) thì một nửa.",
  },
};

/**
 * Show the table of a match, made by dom.js's `make`, with sentences below it; nothing if another game was opened
 * meanwhile.
 */
export function roundsOf(view, make) {
  const { match, seats } = view.state,
    words = WORDS[view.board.language];
  if (!match) return [];
  const row = (cells, kind = "td") =>
    make(
      "tr",
      {},
      make(cells[0] ? "th" : "td", { textContent: cells[0] }),
      ...cells.slice(1).map((textContent) => make(kind, { textContent })),
    );
  const sold = (player) =>
    [match.sold[player], match.pawned[player] && `${match.pawned[player]} ${words.pawned}`]
      .filter(Boolean)
      .join(" + ") || 0;
  const rounds = match.rounds.map((round, index) => row([`${words.round} ${index + 1}`, ...round.scores]));
  if (!match.settled) rounds.push(row([`${words.round} ${match.number}`, "…", "…"]));
  const last = match.rounds.at(-1),
    soft = (text) => make("p", { className: "soft", textContent: text });
  return [
    make(
      "table",
      {},
      row(["", ...seats.map((_, seat) => capital(sentenceName(view, seat)))], "th"),
      ...rounds,
      row([words.sold, sold(0), sold(1)]),
    ),
    ...[
      last && settlement(view, last),
      words.toLose(match.fields_to_lose),
      words.prices,
      ...(match.owners.tabs ? [words.redeeming, words.corners] : []),
    ]
      .filter(Boolean)
      .flatMap((text) => text.split("\n").map(soft)),
    make("a", { href: words.place, textContent: words.about }),
  ];
}

/** Return the goal when a round of a match begins, what changed when it has ended, or null. */
export function goal(view) {
  const { match, turn, line } = view.state;
  if (match && turn === "over") return `\n${settlement(view, match.rounds.at(-1))}`;
  return match && line.length < 2 ? WORDS[view.board.language].toLose(match.fields_to_lose) : null;
}

/**
 * Explain in lines why fields changed hands after a round, from its `scores`: the fields `returned`, the `owed` points,
 * and the fields `sold` and `pawned`, such as "S1".
 */
export function settlement(view, { scores, winner, owed, sold, pawned, returned }) {
  const words = WORDS[view.board.language],
    name = (player) => capital(seatName(view, player)),
    loser = name(1 - winner),
    numbers = (fields) => fields.map((field) => field[1]);
  const changes = [
    [sold, "sells"],
    [pawned, "pawns"],
  ]
    .flatMap(([fields, verb]) => (fields.length ? [words[verb](numbers(fields), loser)] : []))
    .join(words.and);
  const sentences = [
    returned.length &&
      `${name(winner)} ${words.redeems(numbers(returned), name(winner), scores[winner] - scores[1 - winner])}.`,
    changes && words.owes(loser, owed, changes),
  ];
  return sentences.filter(Boolean).join("\n") || `${capital(words.keeps)}.`;
}
