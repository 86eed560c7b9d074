// The words below the board for puzzles; the first puzzle adds them to those of the board.

import { WORDS } from "./board-words.js";

const counted = (points) => (points === 1 ? "1 point" : `${points} points`);

export const TASKS = {
  en: {
    puzzles: {
      mandarin: "Capture a mandarin in one move.",
      refute: "Your opponent captured eleven points with 5A. Why does that lose? Find the reply.",
      win: "Capture the last mandarin and win.",
      own: "This is from your game. Find the best move.",
      "": "Only one move wins by force. Find it.",
    },
    further: (step, steps) => `Keep winning: your move ${step} of ${steps}.`,
    right: (move, proved) => `Correct – ${move}!${proved ? " This wins by force." : ""}`,
    wrong: (move, proved) => `${move} ${proved ? "gives away the win (proved)" : "isn’t good enough"}.`,
    missed: (points, stones) => `It misses ${stones > 0 ? "a mandarin" : `a capture of ${counted(points)}`}.`,
    replied: (move, points, stones) =>
      `Your opponent answers ${move}${points ? `, capturing ${stones ? "a mandarin" : counted(points)}` : ""}.`,
    again: "Try again or see the answer.",
    answer: (line) => `The answer${line.includes(" ") ? ", with the replies" : ""}: ${line}.`,
  },
  vi: {
    puzzles: {
      mandarin: "Hãy ăn quan trong một nước.",
      refute: "Đối thủ vừa ăn mười một điểm bằng 5A. Vì sao nước ấy thua? Hãy tìm nước đáp.",
      win: "Hãy ăn quan cuối cùng và thắng.",
      own: "Đây là thế cờ trong ván của bạn. Hãy tìm nước hay nhất.",
      "": "Có đúng một nước thắng, dù đối thủ đáp thế nào. Hãy tìm nước ấy.",
    },
    further: (step, steps) => `Hãy giữ thế thắng: nước ${step}/${steps} của bạn.`,
    right: (move, proved) => `Đúng rồi: ${move}.${proved ? " Thắng, dù đối thủ đáp thế nào: đã chứng minh." : ""}`,
    wrong: (move, proved) => `${move} ${proved ? "bỏ lỡ ván thắng (đã chứng minh)" : "chưa được"}.`,
    missed: (points, stones) => `Nước này bỏ qua ${stones > 0 ? "một quan" : `${points} điểm`}.`,
    replied: (move, points, stones) =>
      `Đối thủ đáp ${move}${points ? `, ăn ${stones ? "quan" : `${points} điểm`}` : ""}.`,
    again: "Hãy thử lại, hoặc xem lời giải.",
    answer: (line) => `Lời giải${line.includes(" ") ? ", kể cả nước đáp" : ""}: ${line}.`,
  },
};

/**
 * Return the text below the board. `view.puzzled` is what the page has found out about the puzzle: its `title`, the best
 * `reply` to a wrong move or null, what this reply captures (`taken`), and what the move has `missed` or null, both as
 * [points, stones].
 */
function tell({ state: { puzzle }, puzzled }, words, yourTurn) {
  const { name, step, steps, revealed, answer } = puzzle,
    { title = "", reply = null, taken, missed = null } = puzzled?.puzzle === puzzle ? puzzled : {};
  if (!answer) {
    const task = step > 1 ? words.further(step, steps) : (words.puzzles[name] ?? words.puzzles[""]);
    return `${title ? `${title}.` : yourTurn} ${task}`;
  }
  if (revealed) return words.answer(answer.line.map((moves) => moves.replaceAll(" ", "/")).join(" "));
  if (answer.right) return words.right(answer.move, !name);
  const parts = [missed && words.missed(...missed), reply && words.replied(reply, ...taken)];
  return [words.wrong(answer.move, !name), ...parts.filter(Boolean), words.again].join(" ");
}

for (const [language, words] of Object.entries(TASKS))
  WORDS[language].ofPuzzle = (view) => tell(view, words, WORDS[language].yourTurn);
