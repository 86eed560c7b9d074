// The words of the board in both languages; those of the page around it are in words.js.

export const WORDS = {
  en: {
    board: "Board of Ô Ăn Quan", seed: "seed", seeds: "seeds", stone: "a mandarin stone", empty: "empty", points: "points",
    choose: "Enter chooses it", anticlockwise: "anticlockwise", clockwise: "clockwise", sow: "Sow", captures: "captures",
    undo: "Undo", redo: "Redo", hint: "Hint", again: "Watch again", skip: "Skip", first: "Start", previous: "Back", tour: "Play all",
    pause: "Stop", next: "Forward", last: "Last move", options: "Options", speed: "Speed", preview: "Preview of moves", loud: "Sound",
    slow: "slow", normal: "normal", fast: "fast", none: "instant", worth: "ends",
    tap: "Tap one of your fields, then an arrow.", thinking: (name) => `${name} is thinking…`, looking: "Looking for the best move…",
    turn: (name) => `${name} to move.`, yourTurn: "Your turn.", viewing: (move, all) => (move ? `Move ${move} of ${all}` : "Start"),
    wins: (names) => `${names} ${names.includes(",") ? "share the win" : "wins"}`, youWin: "You win", youLose: "You lose",
    trouble: "This player cannot move:", draw: "A draw", over: "The game is over.",
    resigned: (loser, winners) => `${loser} resigns${winners ? `: ${winners} wins` : ""}.`,
    hinted: (field, way, move) => `Try field ${field}, ${way} (${move})`,
    ends: (margin, how) => `with best play you end ${margin > 0 ? `${margin} points ahead` : margin < 0 ? `${-margin} points behind` : "level"} (${how}).`,
    proved: "proved", seen: (depth) => `seen ${depth} moves deep`, number: (value) => String(value),
    puzzles: { mandarin: "Capture a mandarin in one move.", refute: "South took eleven points with 5A. Why does that lose? Find North’s answer.",
      win: "Capture the last mandarin, and win.", "": "Find the best move: there is only one." },
    right: (move) => `Right: ${move} it is.`, ending: (margin) => ` You end ${margin > 0 ? `${margin} points ahead` : margin < 0 ? `${-margin} points behind, and with any other move further` : "level"}: proved.`,
    wrong: (move) => `${move} does not do it. Undo, and try again.`, losing: (move, lost) => `${move} gives away ${lost} points. Undo, and try again.`,
  },
  vi: {
    board: "Bàn Ô Ăn Quan", seed: "dân", seeds: "dân", stone: "một quan", empty: "trống", points: "điểm",
    choose: "Enter để chọn", anticlockwise: "ngược chiều kim đồng hồ", clockwise: "theo chiều kim đồng hồ", sow: "Rải", captures: "ăn",
    undo: "Đi lại", redo: "Làm lại", hint: "Gợi ý", again: "Xem lại", skip: "Bỏ qua", first: "Đầu ván", previous: "Lùi", tour: "Xem cả ván",
    pause: "Dừng", next: "Tiến", last: "Nước cuối", options: "Tùy chọn", speed: "Tốc độ", preview: "Xem trước nước đi", loud: "Âm thanh",
    slow: "chậm", normal: "vừa", fast: "nhanh", none: "tức thì", worth: "kết quả",
    tap: "Chạm vào một ô của bạn, rồi chọn mũi tên.", thinking: (name) => `${name} đang nghĩ…`, looking: "Đang tìm nước hay nhất…",
    turn: (name) => `Đến lượt ${name}.`, yourTurn: "Đến lượt bạn.", viewing: (move, all) => (move ? `Nước ${move} trên ${all}` : "Đầu ván"),
    wins: (names) => `${names} ${names.includes(",") ? "cùng thắng" : "thắng"}`, youWin: "Bạn thắng", youLose: "Bạn thua",
    trouble: "Máy này không đi được:", draw: "Hòa", over: "Ván đã kết thúc.",
    resigned: (loser, winners) => `${loser} xin thua${winners ? `: ${winners} thắng` : ""}.`,
    hinted: (field, way, move) => `Thử ô ${field}, ${way} (${move})`,
    ends: (margin, how) => `nếu cùng đi tốt nhất, cuối ván bạn ${margin > 0 ? `hơn ${WORDS.vi.number(margin)} điểm` : margin < 0 ? `kém ${WORDS.vi.number(-margin)} điểm` : "hòa"} (${how}).`,
    proved: "đã chứng minh", seen: (depth) => `nhìn trước ${depth} nước`, number: (value) => String(value).replace(".", ","),
    puzzles: { mandarin: "Hãy ăn quan trong một nước.", refute: "Nam vừa ăn mười một điểm với 5↺. Vì sao nước ấy thua? Hãy tìm nước đáp của Bắc.",
      win: "Hãy ăn quan cuối cùng và thắng.", "": "Hãy tìm nước hay nhất: chỉ có một." },
    right: (move) => `Đúng rồi: ${move}.`, ending: (margin) => ` Cuối ván bạn ${margin > 0 ? `hơn ${margin} điểm` : margin < 0 ? `kém ${-margin} điểm, đi nước khác còn kém hơn` : "hòa"}: đã chứng minh.`,
    wrong: (move) => `${move} chưa được. Bấm Đi lại để thử nữa.`, losing: (move, lost) => `${move} mất ${lost} điểm. Bấm Đi lại để thử nữa.`,
  },
};

/** Who sits on a seat: a person or a level. */
export const ROLES = {
  en: { human: "you", beginner: "beginner", easy: "easy", medium: "medium", hard: "hard", perfect: "perfect" },
  vi: { human: "bạn", beginner: "mức mới chơi", easy: "mức dễ", medium: "mức vừa", hard: "mức khó", perfect: "mức hoàn hảo" },
};

/** A move as it is read: a letter for its direction, or in Vietnamese an arrow. */
export const moveName = (move, language) => (language === "vi" ? move.replace("A", "↺").replace("C", "↻") : move);
