// The words of the page in both languages; those of the board are in board-words.js, those of rules and lessons in
// dialog-words.js.

export const WORDS = {
  en: {
    other: "Tiếng Việt", newGame: "New game", puzzles: "Puzzles", learn: "Learn", openings: "Openings", about: "About the game", fromHere: "Continue from here",
    start: "Start", nextRound: "Next round", nextPuzzle: "Next puzzle", retry: "Try again", rematch: "Rematch", swap: "Change sides", review: "Review the game", card: "Share a picture",
    evaluate: "Show who is ahead", live: "Show the value of each move", story: "This move", moves: "All moves",
    resign: "Resign", share: "Share & save", send: "Send your move", save: "Save the game", load: "Choose a file", link: "Link to the game", gif: "Animation (GIF)",
    resume: "Back to the game", unfinished: "Unfinished games", players: "Players",
    open: "Open", pasteHere: "To open a game, paste a record or a link:", cancel: "Cancel", begin: "Start", back: "Back", next: "Next", close: "Close",
    rules: "Rules", starter: "Who starts", asMatch: "Play a match: the loser of each round sells squares", more: "For experts: every rule, any position",
    position: "Start from a position",
    copy: "Copy this:", offline: "You’re offline, and this part hasn’t been downloaded.", missing: (file) => `A part of the page couldn’t be loaded: ${file}. Check your connection, then try again.`,
    confirmResign: "Press Resign again to confirm.",
    confirmRound: "Press Resign again to give up this round. The seeds left on the board go to the other player.",
    errors: {
      rules: "These rules can’t be used.", position: "This isn’t a valid position.", player: "There’s no such player here.",
      record: "This isn’t a game record.", move: "That move isn’t possible now.", request: "That isn’t possible now.", link: "This link can’t be opened.", start: "The game can’t start.",
    },
    at: (column) => `The error is at the marked character (position ${column}):`,
    presets: {
      vietnamese: "Traditional (village rules)", "mancala-world": "Short game", app: "Short game, one capture per move", ludii: "Short game, instant refill", tonkin: "Old Tonkin rules (1944)", "three-player": "Three players", "four-player": "Four players",
    },
  },
  vi: {
    other: "English", newGame: "Ván mới", puzzles: "Câu đố", learn: "Cách chơi", openings: "Khai cuộc", about: "Về trò chơi", fromHere: "Chơi tiếp từ đây",
    start: "Đầu ván", nextRound: "Ván tiếp theo", nextPuzzle: "Câu tiếp theo", retry: "Thử lại", rematch: "Chơi lại", swap: "Đổi bên", review: "Xem lại cả ván", card: "Ảnh để chia sẻ",
    evaluate: "Hiện ai đang dẫn", live: "Hiện giá trị từng nước đi", story: "Nước đi", moves: "Các nước đi",
    resign: "Xin thua", share: "Lưu, chia sẻ, mở", send: "Gửi nước đi", save: "Lưu biên bản", load: "Chọn tệp", link: "Liên kết đến ván", gif: "Ảnh động (GIF)",
    resume: "Trở lại ván đang chơi", unfinished: "Các ván chưa xong", players: "Người chơi",
    open: "Mở", pasteHere: "Dán biên bản hoặc liên kết vào đây để mở:", cancel: "Hủy", begin: "Bắt đầu", back: "Trước", next: "Sau", close: "Đóng",
    rules: "Luật", starter: "Ai đi trước", asMatch: "Cả trận: người thua ván phải bán ruộng", more: "Cho người rành: từng luật và thế cờ",
    position: "Bắt đầu từ thế cờ",
    copy: "Hãy sao chép:", offline: "Hiện không có mạng, mà phần này chưa được lưu sẵn.", missing: (file) => `Không tải được một phần của trang: ${file}. Hãy kiểm tra mạng rồi thử lại.`,
    confirmResign: "Bấm Xin thua lần nữa để chịu thua.",
    confirmRound: "Bấm Xin thua lần nữa để chịu thua ván này: quân còn trên bàn thuộc về người kia.",
    errors: {
      rules: "Không chơi được theo luật này.", position: "Không đọc được thế cờ này.", player: "Ở đây không có máy này.",
      record: "Không mở được: đây không phải biên bản ván cờ.", move: "Lúc này không đi được nước đó.", request: "Không làm được lúc này.", link: "Không mở được liên kết này.", start: "Không bắt đầu được.",
    },
    at: (column) => `Chỗ sai là ký tự được đánh dấu (thứ ${column}):`,
    presets: {
      vietnamese: "Như ở quê", "mancala-world": "Ván ngắn", app: "Ván ngắn, mỗi lượt ăn một lần", ludii: "Ván ngắn, rải lại ngay", tonkin: "Lối xưa (1944)", "three-player": "Ba người", "four-player": "Bốn người",
    },
  },
};
