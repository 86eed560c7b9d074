// The words of the board in both languages; those of the page around it are in words.js.

export const WORDS = {
  en: {
    board: "Board of Ô Ăn Quan", seed: "seed", seeds: "seeds", stone: "a mandarin stone", empty: "empty",
    choose: "Enter chooses it", anticlockwise: "anticlockwise", clockwise: "clockwise", sow: "Sow",
    undo: "Undo", redo: "Redo", hint: "Hint", again: "Watch again", skip: "Skip", speed: "Speed",
    slow: "slow", normal: "normal", fast: "fast", none: "instant", worth: "worth",
    tap: "Tap one of your fields, then an arrow.", thinking: "is thinking…", looking: "Looking for the best move…", toMove: "to move", yourTurn: "Your turn.", you: "you",
    wins: "wins", youWin: "You win", youLose: "You lose", trouble: "This player cannot move:", draw: "A draw", share: "share the win", resigns: "resigns", over: "The game is over.",
  },
  vi: {
    board: "Bàn Ô Ăn Quan", seed: "dân", seeds: "dân", stone: "một quan", empty: "trống",
    choose: "Enter để chọn", anticlockwise: "ngược chiều kim đồng hồ", clockwise: "theo chiều kim đồng hồ", sow: "Rải",
    undo: "Đi lại", redo: "Làm lại", hint: "Gợi ý", again: "Xem lại", skip: "Bỏ qua", speed: "Tốc độ",
    slow: "chậm", normal: "vừa", fast: "nhanh", none: "tức thì", worth: "giá trị",
    tap: "Chạm vào một ô của bạn, rồi chọn mũi tên.", thinking: "đang nghĩ…", looking: "Đang tìm nước hay nhất…", toMove: "đến lượt", yourTurn: "Đến lượt bạn.", you: "bạn",
    wins: "thắng", youWin: "Bạn thắng", youLose: "Bạn thua", trouble: "Máy này không đi được:", draw: "Hòa", share: "cùng thắng", resigns: "xin thua", over: "Ván đã kết thúc.",
  },
};

/** Who sits on a seat: a person or a level. */
export const ROLES = {
  en: { human: "you", beginner: "beginner", easy: "easy", medium: "medium", hard: "hard", perfect: "perfect" },
  vi: { human: "bạn", beginner: "mới chơi", easy: "dễ", medium: "vừa", hard: "khó", perfect: "hoàn hảo" },
};
