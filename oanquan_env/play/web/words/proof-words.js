// The words of the openings dialog and of the proof, in both languages. Leads are South's, in points.

import { signed } from "./format.js";

const whole = (number, language) => number.toLocaleString(language);
const sum = ({ lower, upper }, part) => (lower?.[part] ?? 0) + (upper?.[part] ?? 0);
const followed = ({ lower, upper }, language) =>
  [lower, upper]
    .filter(Boolean)
    .map(({ positions }) => whole(positions, language))
    .join(" + ");
const longest = ({ lower, upper }) => Math.max(lower?.plies ?? 0, upper?.plies ?? 0);
const seconds = (ms, language) =>
  (ms / 1000).toLocaleString(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const limit = (bound, least) => (bound === least ? "do better" : `hold it below ${signed(least)}`);
const gioiHan = (bound, least) => (bound === least ? "làm tốt hơn" : `ép Trạng xuống dưới ${least} điểm`);

export const PROOF = {
  en: {
    names: ["South", "North"],
    plates: ["South", "North"],
    help: "What the numbers mean",
    first: "South moves first.",
    about:
      "2C means square 2, clockwise; 4A means square 4, anticlockwise. Each number is the final lead (+) or deficit (−) of the side to move, in points, if both sides play their best from there. A proved value (✓) is certain. A searched one (≈) comes from looking some moves ahead and may be wrong: point at the move or play it to see what is proved.",
    refuted: (move, points, lost, exact, reply, ends) =>
      `${move} captures ${points} points at once, and no first move captures more, but it loses by ${lost}${exact ? "" : " or more"}${reply ? `: North answers ${reply}${ends ? ", and the game is over" : ""}` : ""}.`,
    showIt: "Show me",
    turn: (seat) => `${["South", "North"][seat]} to move`,
    over: (result, scores) => `The game is over: ${result}, ${scores}, including the seeds left in the squares.`,
    result: (lead) => (lead > 0 ? `South wins by ${lead}` : lead < 0 ? `North wins by ${-lead}` : "it is a draw"),
    ahead: (lower, upper) => `South ends between ${signed(lower)} and ${signed(upper)}`,
    best: (result) => `with best play ${result}`,
    certain: (range) => `Proved for South: ${range}.`,
    proved: "proved",
    searched: "searched",
    anyRules: "with the net for any rules",
    looking: "analysing…",
    range: (lower, upper) =>
      upper === Infinity
        ? `${signed(lower)} or more`
        : lower === -Infinity
          ? `${signed(upper)} or less`
          : `${signed(lower)} to ${signed(upper)}`,
    proof: "The proof",
    claim: (lower, upper) =>
      `With best play ${lower === upper ? PROOF.en.result(upper) : `${PROOF.en.ahead(lower, upper)}; the exact value is still open`}. A proof file holds an answer to every reply; your browser can check them all.`,
    unclaimed: (range) =>
      `Nobody knows exactly how the game ends with best play (proved for South: ${range}), and these rules have no proof file.`,
    check: "Check the proof",
    following: (done, all) => `${whole(done, "en")} of ${whole(all, "en")} positions checked`,
    holds: (what, found, ms) =>
      `Proved: ${what}. ${followed(found, "en")} positions checked, ${whole(sum(found, "replies"), "en")} replies, longest game: ${longest(found)} moves, ${seconds(ms, "en")} s.`,
    fails: (fault) => `Not proved. ${fault}`,
    beat: "Play against the proof",
    goal: ({ bound, least }) =>
      `Trạng follows the proof. Your goal: hold its lead to ${signed(bound)}. Nobody can ${limit(bound, least)}.`,
    held: (lead, { bound, least }) => `You held Trạng to ${signed(lead)}: nobody can ${limit(bound, least)}.`,
    missed: (lead, { bound }) => `Trạng won by ${lead}; perfect play would have held it to ${signed(bound)}.`,
  },
  vi: {
    names: ["bên đi trước", "bên đi sau"],
    plates: ["Đi trước", "Đi sau"],
    help: "Các con số nghĩa là gì",
    first: "",
    about:
      "2C là ô 2, theo chiều kim đồng hồ; 4A là ô 4, ngược chiều kim đồng hồ. Các con số tính cho bên đến lượt: cuối ván bên ấy hơn (+) hay kém (−) bao nhiêu điểm, nếu từ đó hai bên đều đi hay nhất. ✓ là đã chứng minh, chắc chắn đúng; ≈ là máy đoán sau khi nhìn trước vài nước, có thể sai: đi thử nước ấy sẽ thấy khoảng chắc chắn.",
    refuted: (move, points, lost, exact, reply, ends) =>
      `Nước ${move} ăn ngay ${points} điểm, không nước đầu nào ăn nhiều hơn. Vậy mà thua ${exact ? "" : "ít nhất "}${lost} điểm${reply ? `: bên đi sau đáp ${reply}${ends ? " là hết ván" : ""}` : ""}.`,
    showIt: "Xem thử",
    turn: (seat) => `Đến lượt ${["bên đi trước", "bên đi sau"][seat]}`,
    over: (result, scores) => `Hết ván: ${result}, ${scores}, kể cả dân còn trên các ô.`,
    result: (lead) =>
      lead > 0 ? `bên đi trước thắng ${lead} điểm` : lead < 0 ? `bên đi sau thắng ${-lead} điểm` : "hòa",
    ahead: (lower, upper) => `bên đi trước hơn từ ${signed(lower)} đến ${signed(upper)} điểm`,
    best: (result) => `hai bên cùng đi hay nhất thì ${result}`,
    certain: (range) => `Chắc chắn cho bên đi trước: ${range}.`,
    proved: "đã chứng minh",
    searched: "máy đoán",
    anyRules: "bằng mạng nơ-ron cho mọi luật",
    looking: "máy đang tính…",
    range: (lower, upper) =>
      upper === Infinity
        ? `ít nhất ${signed(lower)}`
        : lower === -Infinity
          ? `nhiều nhất ${signed(upper)}`
          : `${signed(lower)} đến ${signed(upper)}`,
    proof: "Chứng minh",
    claim: (lower, upper) =>
      `Hai bên cùng đi hay nhất thì kết quả ${lower === upper ? `là ${signed(upper)}` : `từ ${signed(lower)} đến ${signed(upper)}; chính xác là bao nhiêu thì chưa ai biết`}. Tệp chứng minh ghi sẵn nước đáp cho mọi nước của đối thủ; trình duyệt của bạn kiểm tra được tất cả.`,
    unclaimed: (range) =>
      `Nếu hai bên cùng đi hay nhất thì kết quả chính xác là bao nhiêu thì chưa ai biết (chắc chắn cho bên đi trước: ${range}); luật này chưa có tệp chứng minh.`,
    check: "Kiểm tra chứng minh",
    following: (done, all) => `Đã xem ${whole(done, "vi")}/${whole(all, "vi")} thế cờ`,
    holds: (what, found, ms) =>
      `Đã chứng minh: ${what}. Đã xem ${followed(found, "vi")} thế cờ, ${whole(sum(found, "replies"), "vi")} nước đáp, ván dài nhất ${longest(found)} nước, hết ${seconds(ms, "vi")} giây.`,
    fails: (fault) => `Không chứng minh được. ${fault}`,
    beat: "Đấu với Trạng",
    goal: ({ bound, least }) =>
      `Bạn đi sau; Trạng đi trước và theo chứng minh. Mục tiêu: chỉ để Trạng hơn bạn ${bound} điểm. Không ai ${gioiHan(bound, least)} được.`,
    held: (lead, { bound, least }) => `Bạn chỉ để Trạng hơn ${lead} điểm: không ai ${gioiHan(bound, least)} được.`,
    missed: (lead, { bound }) => `Trạng hơn ${lead} điểm; đi hay nhất thì chỉ để Trạng hơn ${bound} điểm.`,
  },
};
