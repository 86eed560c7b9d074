// The words of the board and of the comments on a game, in both languages; words.js has the words of the page around it.

const margin = (points, ahead, behind, level) => (points > 0 ? ahead(points) : points < 0 ? behind(-points) : level);

export const WORDS = {
  en: {
    board: "Board of Ô Ăn Quan", seed: "seed", seeds: "seeds", stone: "a mandarin stone", empty: "empty", points: "points",
    choose: "Press Enter to choose it", anticlockwise: "anticlockwise", clockwise: "clockwise", sow: "Sow", captures: "captures",
    undo: "Undo", redo: "Redo", hint: "Hint", again: "Watch again", skip: "Skip", first: "Start", previous: "Back", tour: "Play all",
    pause: "Stop", next: "Forward", last: "Last move", before: "Previous mistake", after: "Next mistake", options: "Options", speed: "Speed",
    preview: "Preview moves", loud: "Sound", slow: "slow", normal: "normal", fast: "fast", none: "instant", worth: "final lead",
    strike: "One strike, one mandarin!", verse: ["The mandarins are gone,", "the seeds are few;", "gather the pieces", "and sell the fields!"],
    tap: "Tap one of your squares, then choose a direction.", thinking: (name) => `${name} is thinking…`, waiting: (name) => `Send the link to ${name}, then open the link that comes back.`, looking: "Looking for the best move…",
    canTake: (field, points, stone) => `You can capture ${stone ? "a mandarin" : points === 1 ? "1 point" : `${points} points`} with square ${field}.`,
    bare: "Your row is nearly empty. If it’s empty on your turn, five of your points go back into it.",
    noCapture: "You can’t capture anything this turn. Tap your squares to see where their seeds would go.",
    goal: (name) => `Vietnam’s mancala: capture more than ${name}.`, turn: (name) => `${name} to move.`, yourTurn: "Your turn.", viewing: (move, all) => (move ? `Move ${move} of ${all}` : "Start"),
    wins: (names) => `${names.join(", ")} ${names.length > 1 ? "share the win" : "wins"}`, youWin: "You win", youLose: "You lose",
    trouble: "This player can’t move:", offline: "you’re offline.", draw: "A draw", over: "The game is over.", won: "won",
    resigned: (loser, winners) => `${loser} ${loser === "you" ? "resign" : "resigns"}${winners ? `: ${winners} wins` : ""}.`,
    hinted: (field, way, move) => `Try square ${field}, ${way} (${move})`,
    ends: (points, how) => `with best play you end ${margin(points, (ahead) => `${ahead} ${ahead > 1 ? "points" : "point"} ahead`, (behind) => `${behind} ${behind > 1 ? "points" : "point"} behind`, "level")}${how}.`,
    proved: "proved", seen: (depth) => `searched ${depth} moves ahead`,
    puzzles: { mandarin: "Capture a mandarin in one move.", refute: "South captured eleven points with 5A. Why does that lose? Find North’s reply.",
      win: "Capture the last mandarin and win.", own: "This is from your game. Find a better move than the one you played.", "": "Only one move wins by force. Find it." },
    further: (step, steps) => `Keep winning: your move ${step} of ${steps}.`,
    right: (move, proved) => `Correct – ${move}!${proved ? " This wins by force." : ""}`,
    wrong: (move, proved, reply) => (proved ? `${move} gives away the win (proved)${reply ? `: ${reply} answers it` : ""}. Try again or see the answer.` : `${move} isn’t good enough${reply ? `: ${reply} answers it` : ""}. Undo and try again.`),
    answer: (line) => `The answer: ${line}.`,
    noMove: "No moves yet.",
    matchWon: (name) => `${name} wins the match.`, matchDrawn: "The match is a draw.",
  },
  vi: {
    board: "Bàn Ô Ăn Quan", seed: "dân", seeds: "dân", stone: "một quan", empty: "trống", points: "điểm",
    choose: "Enter để chọn", anticlockwise: "ngược chiều kim đồng hồ", clockwise: "theo chiều kim đồng hồ", sow: "Rải", captures: "ăn",
    undo: "Đi lại", redo: "Làm lại", hint: "Gợi ý", again: "Xem lại", skip: "Bỏ qua", first: "Đầu ván", previous: "Lùi", tour: "Xem cả ván",
    pause: "Dừng", next: "Tiến", last: "Nước cuối", before: "Lỗi trước", after: "Lỗi kế tiếp", options: "Tùy chọn", speed: "Tốc độ",
    preview: "Xem trước nước đi", loud: "Âm thanh", slow: "chậm", normal: "vừa", fast: "nhanh", none: "tức thì", worth: "kết quả",
    strike: "Một đập ăn quan!", verse: ["Hết quan,", "tàn dân,", "thu quân,", "bán ruộng!"],
    tap: "Chạm vào một ô của bạn, rồi chọn mũi tên.", thinking: (name) => `${name} đang nghĩ…`, waiting: (name) => `Hãy gửi liên kết cho ${name}, rồi mở liên kết được gửi lại.`, looking: "Đang tìm nước hay nhất…",
    canTake: (field, points, stone) => `Bạn có thể ăn ${stone ? "quan" : `${points} điểm`} từ ô ${field}.`,
    bare: "Hàng của bạn sắp trống: đến lượt mà hết dân thì phải lấy năm điểm rải lại.",
    noCapture: "Chưa nước nào ăn được: hãy chạm vào từng ô để xem dân sẽ đi đâu.",
    goal: (name) => `Bạn đi trước: hãy ăn nhiều điểm hơn ${name}.`, turn: (name) => `Đến lượt ${name}.`, yourTurn: "Đến lượt bạn.", viewing: (move, all) => (move ? `Nước ${move}/${all}` : "Đầu ván"),
    wins: (names) => `${names.join(", ")} ${names.length > 1 ? "cùng thắng" : "thắng"}`, youWin: "Bạn thắng", youLose: "Bạn thua",
    trouble: "Máy này không đi được:", offline: "hiện không có mạng.", draw: "Hòa", over: "Ván đã kết thúc.", won: "thắng",
    resigned: (loser, winners) => `${loser} xin thua${winners ? `: ${winners} thắng` : ""}.`,
    hinted: (field, way, move) => `Thử ô ${field}, ${way} (${move})`,
    ends: (points, how, players) => `nếu ${players > 2 ? "mọi người" : "hai bên"} cùng đi hay nhất, cuối ván bạn ${margin(points, (ahead) => `hơn ${ahead} điểm`, (behind) => `kém ${behind} điểm`, "hòa")}${how}.`,
    proved: "đã chứng minh", seen: (depth) => `nhìn trước ${depth} nước`,
    puzzles: { mandarin: "Hãy ăn quan trong một nước.", refute: "Đối phương vừa ăn mười một điểm bằng 5↺. Vì sao nước ấy thua? Hãy tìm nước đáp.",
      win: "Hãy ăn quan cuối cùng và thắng.", own: "Đây là thế cờ trong ván của bạn. Hãy tìm nước hay hơn nước đã đi.", "": "Có đúng một nước thắng, dù đối thủ đáp thế nào. Hãy tìm nước ấy." },
    further: (step, steps) => `Hãy giữ thế thắng: nước ${step}/${steps} của bạn.`,
    right: (move, proved) => `Đúng rồi: ${move}.${proved ? " Thắng, dù đối thủ đáp thế nào: đã chứng minh." : ""}`,
    wrong: (move, proved, reply) => (proved ? `${move} bỏ lỡ ván thắng (đã chứng minh)${reply ? `: đối thủ đáp ${reply}` : ""}. Hãy thử lại, hoặc xem lời giải.` : `${move} chưa được${reply ? `: đối thủ đáp ${reply}` : ""}. Bấm Đi lại để thử nữa.`),
    answer: (line) => `Lời giải: ${line}.`,
    noMove: "Chưa có nước nào.",
    matchWon: (name) => `${name} thắng cả trận.`, matchDrawn: "Trận đấu hòa.",
  },
};

/** The names of the levels, and what players are called in sentences: a person, a friend, or a level. */
const NAMES = { beginner: "Bống", easy: "Tí", medium: "Mai", hard: "Lan", perfect: "Trạng" };
export const ROLES = { en: { human: "you", friend: "your friend", ...NAMES }, vi: { human: "bạn", friend: "người bạn", ...NAMES } };

/** What each level says at the start of a game. */
export const GREETINGS = {
  en: {
    beginner: "Let’s play! I never want the game to end!", easy: "I grab whatever I see!", medium: "I leave you as little as I can.",
    hard: "I look many moves ahead.", perfect: "Where there’s a proof, I follow it.",
  },
  vi: {
    beginner: "Chơi nhé! Mình chẳng muốn hết ván đâu.", easy: "Thấy quân là mình ăn!", medium: "Mình hay để dành, chỉ cho bạn ăn ít thôi.",
    hard: "Mình nhìn trước nhiều nước đấy.", perfect: "Nơi nào đã có chứng minh, ta cứ theo.",
  },
};

/** A move as shown to people: the direction is a letter, or in Vietnamese an arrow. */
export const moveName = (move, language) => (language === "vi" ? move.replace("A", "↺").replace("C", "↻") : move);
