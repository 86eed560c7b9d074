// The story of a move in both languages, and the names of the seats in it.

import { ROLES } from "./board-words.js";
import { capital } from "./format.js";
import { TERMINATIONS, moveText } from "../model/notation.js";

const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);

// By language, the words from engine/words.json; `python -m tools.write_page` writes this line.
// prettier-ignore
const STORY = {"en":{"seats":{"2":["South","North"],"3":["South","East","West"],"4":["South","East","North","West"]},"to_move":"{name} to move","to_move_you":"your turn","wins":"{name} wins","wins_you":"you win","share":"{names} share the win","draw":"A draw","ply":"ply {ply}","played":"{name} played {move}","field":"square {field} of {owner}","mandarin":"the mandarin square after square {field} of {owner}","field_you":"your square {field}","mandarin_you":"the mandarin square after your square {field}","seeds":["{n} seed","{n} seeds"],"stones":["{n} stone","{n} stones"],"points":["{n} point","{n} points"],"one":"one seed","stone":"the stone","and":" and ","plays":"{name} plays {move}.","plays_you":"you play {move}.","lift":"Pick up {pieces} from {square}; the last seed lands in {last}.","take":"Capture {pieces} from {square}, behind the gap at {gap}: {points}.","turn":"The turn ends: {why}.","refill":"{name} refills its row with {seeds}.","refill_you":"you refill your row with {seeds}.","borrow":"{name} refills its row with {seeds}, {borrowed} of them borrowed.","borrow_you":"you refill your row with {seeds}, {borrowed} of them borrowed.","over":"The game is over: {why}.","leftover":"{name} gets {points} for seeds left on the board.","leftover_you":"you get {points} for seeds left on the board.","nobody":"Nobody gets {pieces}.","finals":"Final points: {all}.","turn_ends":{"mandarin_ahead":"the next square is a mandarin square that is not empty","empty_mandarin_ahead":"the next square is an empty mandarin square, which is no gap","nothing_behind":"the square behind the gap is empty","no_further_gap":"the square after the capture is not empty","unripe_mandarin":"the mandarin behind the gap cannot be captured yet","seeds_stay":"the seeds of the mandarin square behind the gap cannot be captured","one_capture":"only one capture is allowed per turn","not_completed":"the move cannot be completed"},"endings":{"stones_captured":"all mandarin stones have been captured","squares_empty":"all mandarin squares are empty","forfeit":"a player has too few points to refill its row","max_plies":"the move limit has been reached","endless_relay":"a relay would never end","too_many_seeds":"refills on credit would bring more than 255 seeds into play"}},"vi":{"seats":{"2":["bên dưới","bên trên"],"3":["bên dưới","bên phải","bên trái"],"4":["bên dưới","bên phải","bên trên","bên trái"]},"to_move":"đến lượt {name}","wins":"{name} thắng","share":"{names} cùng thắng","draw":"hòa","ply":"{ply} nước","played":"{name} vừa đi {move}","field":"ô {field} của {owner}","mandarin":"ô quan cạnh ô {field} của {owner}","seeds":["{n} dân","{n} dân"],"stones":["{n} quan","{n} quan"],"points":["{n} điểm","{n} điểm"],"one":"một dân","stone":"quan","and":" và ","plays":"{name} đi {move}.","lift":"Bốc {pieces} ở {square}; dân cuối rơi vào {last}.","take":"Qua khoảng trống ở {gap}, ăn {pieces} ở {square}: {points}.","turn":"Hết lượt: {why}.","refill":"{name} rải {seeds} vào hàng trống của mình.","borrow":"{name} rải {seeds} vào hàng trống của mình, trong đó vay {borrowed}.","over":"Hết ván: {why}.","leftover":"{name} thu dân còn trên bàn: {points}.","nobody":"Không thuộc về ai: {pieces}.","finals":"Điểm cuối cùng: {all}.","turn_ends":{"mandarin_ahead":"phía trước là ô quan còn quân","empty_mandarin_ahead":"phía trước là ô quan trống, không tính là khoảng trống","nothing_behind":"sau ô trống lại là ô trống","no_further_gap":"sau ô vừa ăn là ô còn quân","unripe_mandarin":"quan sau ô trống còn non, chưa ăn được","seeds_stay":"không được ăn dân trong ô quan sau ô trống","one_capture":"mỗi lượt chỉ ăn một lần","not_completed":"nước này không thể đi trọn"},"endings":{"stones_captured":"các quan đã bị ăn hết","squares_empty":"các ô quan đã trống","forfeit":"một người không còn quân để rải","max_plies":"đã đủ số nước đi","endless_relay":"lượt rải sẽ không bao giờ dừng","too_many_seeds":"vay thêm thì trên bàn có quá 255 dân"}}};

/** Fill in the placeholders of a sentence. */
export const filled = (text, parts) => text.replace(/\{(\w+)\}/g, (_, name) => parts[name]);
/** Return the words `key` about a player; English has other words if the player is "you". */
const about = (name, words, key) => (name === "you" && words[`${key}_you`]) || words[key];
const counted = (words, thing, n) => filled(words[thing][n === 1 ? 0 : 1], { n });

/** Return a square of the ring as sentences name it. */
export function squareWords(language, names, fields, index) {
  const player = Math.floor(index / (fields + 1)),
    field = index % (fields + 1),
    kind = field === fields ? "mandarin" : "field",
    owner = names[player];
  return filled(about(owner, STORY[language], kind), { field: Math.min(field + 1, fields), owner });
}

/**
 * Return the trace of a move, one sentence per step; if it ended the game, also the reason, the leftovers and the
 * points.
 */
export function moveLines(trace, language, names) {
  const words = STORY[language],
    { rules, player, laps, takings, refillings, ended } = trace;
  const square = (index) => squareWords(language, names, rules.fields, index);
  return [
    filled(about(names[player], words, "plays"), { name: names[player], move: moveText(trace.action) }),
    ...laps.map((lap) =>
      filled(words.lift, {
        pieces: lap.one ? words.one : counted(words, "seeds", lap.seeds),
        square: square(lap.square),
        last: square(lap.squares.at(-1)),
      }),
    ),
    ...takings.map(({ seeds, stones, gap, square: taken, points }) => {
      const pieces = [...(seeds ? [counted(words, "seeds", seeds)] : []), ...(stones ? [words.stone] : [])].join(
        words.and,
      );
      return filled(words.take, {
        pieces,
        gap: square(gap),
        square: square(taken),
        points: counted(words, "points", points),
      });
    }),
    filled(words.turn, { why: words.turn_ends[trace.turnEnd] }),
    ...refillings.map(({ player: seat, seeds, borrowed }) =>
      filled(about(names[seat], words, borrowed ? "borrow" : "refill"), {
        name: names[seat],
        seeds: counted(words, "seeds", seeds),
        borrowed,
      }),
    ),
    ...(ended ? ending(trace, words, names) : []),
  ].map(capital);
}

function ending({ after, standings, ended }, words, names) {
  const leftovers = standings.map((final, player) => final - after.scores[player]);
  const left = { seeds: sum(after.seeds) - sum(leftovers), stones: sum(after.stones) };
  const pieces = Object.entries(left)
    .filter(([, number]) => number)
    .map(([thing, number]) => counted(words, thing, number));
  return [
    filled(words.over, { why: words.endings[TERMINATIONS[ended]] }),
    ...names.flatMap((name, player) =>
      leftovers[player]
        ? [filled(about(name, words, "leftover"), { name, points: counted(words, "points", leftovers[player]) })]
        : [],
    ),
    ...(pieces.length ? [filled(words.nobody, { pieces: pieces.join(words.and) })] : []),
    filled(words.finals, { all: names.map((name, player) => `${name} ${standings[player]}`).join(", ") }),
  ];
}

/**
 * Return the names of the seats in sentences. If one person plays, it is "you", and the other player of two has its own
 * name; other seats are named by their places on the board, in English as points of the compass.
 *
 * `others` has the player of each seat, null for a person; `solver` is the seat of the person solving a puzzle, or null.
 */
export function seatNames(others, solver = null) {
  const players = others.length,
    alone = others.filter((name) => name === null).length === 1 ? others.indexOf(null) : solver,
    { en, vi } = STORY;
  const called = (seat, language, unknown) => ROLES[language][others[seat]] ?? unknown,
    place = (seat) => (seat - (alone ?? 0) + players) % players; // on the board, which turns to the only person
  const inVietnamese = (seat) => {
    const side = vi.seats[players][place(seat)];
    if (alone === null || seat === alone) return alone === null ? side : "bạn";
    return called(seat, "vi", solver === null ? "máy" : "đối thủ") + (players > 2 ? ` ${side}` : "");
  };
  const inEnglish = (seat) => {
    if (alone === null || (players > 2 && seat !== alone)) return en.seats[players][place(seat)];
    return seat === alone ? "you" : called(seat, "en", "your opponent");
  };
  const names = (of) => others.map((_, seat) => of(seat));
  return { en: names(inEnglish), vi: names(inVietnamese) };
}
