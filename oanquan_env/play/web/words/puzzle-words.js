// The words of puzzles next to the board; the first puzzle or the dialog adds them to the page's words.

import { addWords } from "./words.js";

/** Say by how much a result is short of par; "resigned" is one of the results. */
const offPar = (short, resigned, level, words) => (short === "resigned" ? resigned : short ? words(short) : level);
const date = ({ year, month, day }, language) =>
  new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone: "UTC" }).format(Date.UTC(year, month - 1, day));

const ADDED = {
  en: {
    aboutPuzzles:
      "Easy, medium and hard puzzles have exactly one winning move (proved). Your opponent defends as well as it can, and there are no previews.",
    levels: { first: "First steps", easy: "Easy", medium: "Medium", hard: "Hard", own: "From your games" },
    byLevel: "By level",
    byTheme: "By theme",
    themes: {
      mandarin: "Win a mandarin",
      ends: "End the game",
      starve: "Starve your opponent",
      quiet: "Quiet move",
      deny: "Stop a big capture",
      double: "Double threat",
    },
    solvedOf: (solved, count) => `${solved} of ${count} solved`,
    rating: (points) => `your rating: ${points}`,
    place: (number, count) => `Puzzle ${number} of ${count}`,
    daily: "Puzzle of the day",
    streak: (days) => `${days}-day streak`,
    showAnswer: "Show the answer",
    copyResult: "Copy the result",
    resultCopied: "Result copied.",
    returns: "You’ll see it again later.",
    allSolved: "You’ve solved all of these.",
    themed: (themes) => `${themes.includes(",") ? "Themes" : "Theme"}: ${themes}.`,
    shared: (day, marks, days) => `Ô Ăn Quan · ${date(day, "en-GB")} · ${marks} · ${days}-day streak`,
    par: "Par of the day",
    offPar: (short) => offPar(short, "resigned", "par", (points) => `${points} short of par`),
    sharedPar: (day, short) => `Ô Ăn Quan · ${date(day, "en-GB")} · ${ADDED.en.offPar(short)}`,
    parGoal: (par) =>
      `Your goal is par: ${par > 0 ? `win by ${par}` : par < 0 ? `lose by no more than ${-par}` : "a draw"}. Against perfect play nobody can do better (proved).`,
    parEnd: (short) =>
      offPar(
        short,
        "This is your result of the day.",
        "Par! Nobody can do better.",
        (points) => `${points} ${points > 1 ? "points" : "point"} short of par.`,
      ),
  },
  vi: {
    aboutPuzzles:
      "Câu đố dễ, vừa và khó có đúng một nước thắng: đã chứng minh các nước khác không thắng. Đối thủ chống đỡ hết sức; bàn không báo trước mỗi nước ăn được gì.",
    levels: { first: "Bước đầu", easy: "Dễ", medium: "Vừa", hard: "Khó", own: "Từ các ván của bạn" },
    byLevel: "Theo mức",
    byTheme: "Theo chủ đề",
    themes: {
      mandarin: "Ăn quan",
      ends: "Kết thúc ván",
      starve: "Vét sạch hàng",
      quiet: "Nước đi êm",
      deny: "Chặn nước ăn lớn",
      double: "Dọa hai nơi",
    },
    solvedOf: (solved, count) => `đã giải ${solved}/${count}`,
    rating: (points) => `trình độ của bạn: ${points}`,
    place: (number, count) => `Câu ${number}/${count}`,
    daily: "Câu đố hôm nay",
    streak: (days) => `${days} ngày liền`,
    showAnswer: "Xem lời giải",
    copyResult: "Sao chép kết quả",
    resultCopied: "Đã sao chép kết quả.",
    returns: "Bạn sẽ gặp lại câu này sau.",
    allSolved: "Bạn đã giải hết các câu này.",
    themed: (themes) => `Chủ đề: ${themes}.`,
    shared: (day, marks, days) => `Ô Ăn Quan · ${date(day, "vi")} · ${marks} · ${days} ngày liền`,
    par: "Điểm chuẩn hôm nay",
    offPar: (short) => offPar(short, "xin thua", "đạt chuẩn", (points) => `kém chuẩn ${points} điểm`),
    sharedPar: (day, short) => `Ô Ăn Quan · ${date(day, "vi")} · ${ADDED.vi.offPar(short)}`,
    parGoal: (par) =>
      `Mục tiêu của bạn là điểm chuẩn: ${par > 0 ? `thắng ${par} điểm` : par < 0 ? `chỉ thua ${-par} điểm` : "hòa"}. Đối thủ luôn đi nước hay nhất, nên không ai làm hơn được (đã chứng minh).`,
    parEnd: (short) =>
      offPar(
        short,
        "Đây là kết quả hôm nay của bạn.",
        "Đạt điểm chuẩn! Không ai làm hơn được.",
        (points) => `Kém điểm chuẩn ${points} điểm.`,
      ),
  },
};

addWords(ADDED);
