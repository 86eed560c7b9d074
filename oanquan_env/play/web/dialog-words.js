// The words of rules and lessons, which only dialogs use; the first dialog that loads adds them to the page's words.

import { WORDS } from "./words.js";

const ADDED = {
  en: {
    byLot: "Rock, paper, scissors (oẳn tù tì)", person: "A person at this device", named: "Another player…", name: "Player’s name",
    firstGame: "Your first game", well: "Well done!",
    whichGame: "Which game?", game: (number) => `Game ${number}`, copied: "Link copied.", opened: "Game opened.",
    length: (moves) => (moves === 1 ? "1 move" : `${moves} moves`), judged: (blunders, share) => `${blunders === 1 ? "1 blunder" : `${blunders} blunders`} · ${share}% of the points possible`,
    saved: (name) => `Saved as ${name}.`, filming: (share) => `Making the animation… ${Math.round(100 * share)}%`, tooLarge: "The file is too large.",
    beat: (winner, loser, scores) => `${winner} beat ${loser} ${scores}`, drew: (one, other, scores) => `${one} and ${other} drew ${scores}`,
    friend: "A friend elsewhere: you exchange links", elsewhere: "This game has continued elsewhere. Which version do you want to play?",
    here: (length) => `The one here (${length})`, there: (length) => `The one in the link (${length})`,
    task: (field, way) => `Your move: tap square ${field}, then the ${way} arrow.`,
    other: (field, way) => `That’s a legal move, but not the one we’re after. Try square ${field}, ${way}.`,
    ways: {
      beginner: "plays for fun", easy: "grabs what it sees", medium: "gives little away", hard: "looks far ahead", perfect: "follows the proof",
    },
    presetWords: {
      vietnamese: "The rules played in Vietnam, from Vietnamese Wikipedia: the game goes on until both mandarin squares are empty, and you may capture across an empty mandarin square.",
      "mancala-world": "From Mancala World: the game ends as soon as both mandarins are captured, which can happen after only two moves.",
      tonkin: "As children in Tonkin played it, according to Ngô Quý Sơn: anticlockwise only, with ten small stones in place of a mandarin.",
      ludii: "From the Ludii portal: a short game in which an empty row is refilled at once.",
      app: "From a mobile game: a short game in which each move captures only once.",
      "three-player": "The short game on a triangular board.",
      "four-player": "The short game on a square board.",
    },
    fields: {
      players: "Players", fields: "Squares per side", seeds: "Seeds per square", stones: "Mandarin stones", stone_value: "Points per stone",
      mandarin_seeds: "Seeds on a mandarin square", sowing: "Direction of sowing", mandarin_ahead: "Meeting an occupied mandarin square",
      empty_mandarin: "Meeting an empty mandarin square", capture: "Captures per turn", quan_non: "Quan non: a stone with fewer seeds beside it is safe (Quan non 5: enter 5)",
      first_move_captures_mandarin: "A first move can capture a mandarin",
      mandarin_seeds_capturable: "A mandarin’s seeds can be captured", refill: "Too few points to refill a row", refill_when: "An empty row is refilled",
      end: "The game ends when", leftovers: "Seeds left in squares go to", mandarin_leftovers: "Seeds left on mandarin squares go to", max_plies: "Move limit",
    },
    values: {
      True: "yes", False: "no", either: "both", counterclockwise: "anticlockwise", clockwise: "clockwise", "mandarin_ahead.stop": "ends the turn",
      take_one: "you take one seed and go on", "empty_mandarin.stop": "ends the turn", gap: "can be captured across", chain: "many", single: "one",
      borrow: "the player borrows", forfeit: "the game ends", turn: "on its owner’s turn", at_once: "at once", stones_captured: "all stones are captured",
      squares_empty: "all mandarin squares are empty", owner: "their owners", "leftovers.split": "everyone, equally", nobody: "nobody", "mandarin_leftovers.split": "everyone, equally",
    },
    lessons: {
      board: ["The board", "Each player owns a row of five squares (ô dân). The two mandarin squares (ô quan) at the ends belong to nobody. A seed is worth one point, and a mandarin stone is worth ten. The player with more points wins."],
      sow: ["A move", "Choose one of your squares and a direction. All its seeds are picked up and sown one by one into the squares that follow. If the next square after the last seed is a mandarin square that isn’t empty, your turn ends."],
      relay: ["Sowing again", "If the square after your last seed has seeds in it, you pick those up too and keep sowing in the same direction."],
      capture: ["Capturing", "If the square after your last seed is empty, you capture everything in the square beyond it. Here that’s a rich house (nhà giàu), as players call a square with many seeds. If the square beyond is empty too, your turn ends."],
      chain: ["Captures in a row", "If the next square is empty again and the square beyond it isn’t, you capture that too. A mandarin stone counts ten points. Then your turn ends."],
      refill: ["An empty row", "If your whole row is empty on your turn, put one captured seed into each of your squares. If you have too few, you borrow the rest."],
      end: ["The end", "The game ends when both mandarin squares are empty. Seeds left in your row are yours. The player with more points wins. Now play a game yourself; the Hint button helps you."],
    },
  },
  vi: {
    byLot: "Oẳn tù tì", person: "Người chơi", named: "Máy khác…", name: "Tên của máy",
    firstGame: "Chơi ván đầu", well: "Đúng rồi!",
    whichGame: "Mở ván nào trong tệp?", game: (number) => `Ván ${number}`, copied: "Đã sao chép liên kết đến ván này.", opened: "Đã mở ván.",
    length: (moves) => `${moves} nước`, judged: (blunders, share) => `${blunders} nước lỗi · đạt ${share}% số điểm có thể đạt`,
    saved: (name) => `Đã lưu ván vào ${name}.`, filming: (share) => `Đang tạo ảnh động… ${Math.round(100 * share)}%`, tooLarge: "Tệp quá lớn.",
    beat: (winner, loser, scores) => `${winner} thắng ${loser} ${scores}`, drew: (one, other, scores) => `${one} và ${other} hòa ${scores}`,
    friend: "Một người bạn ở xa: gửi liên kết cho nhau", elsewhere: "Ván này đã được đi tiếp ở nơi khác. Bạn muốn chơi bản nào?",
    here: (length) => `Bản ở đây (${length})`, there: (length) => `Bản trong liên kết (${length})`,
    task: (field, way) => `Mời bạn đi: chạm ô ${field}, rồi chọn mũi tên ${way}.`,
    other: (field, way) => `Nước ấy cũng đi được, nhưng hãy thử ô ${field}, ${way}.`,
    ways: {
      beginner: "chơi cho vui", easy: "thấy quân là ăn", medium: "giữ quân, cho ăn ít", hard: "nhìn xa", perfect: "đi theo chứng minh",
    },
    presetWords: {
      vietnamese: "Luật quen thuộc ở Việt Nam, theo Wikipedia tiếng Việt: chơi đến khi cả hai ô quan trống, được ăn qua ô quan trống. Hết quan, tàn dân, thu quân, bán ruộng.",
      "mancala-world": "Theo Mancala World: hết ván ngay khi cả hai quan bị ăn, có khi chỉ sau hai nước.",
      tonkin: "Như trẻ em Bắc Kỳ chơi, theo Ngô Quý Sơn: chỉ rải ngược chiều kim đồng hồ, mười dân thay một quan.",
      ludii: "Theo trang Ludii: ván ngắn, hàng trống được rải lại ngay.",
      app: "Theo một trò chơi điện thoại: ván ngắn, mỗi lượt chỉ ăn một lần.",
      "three-player": "Ván ngắn trên bàn tam giác.",
      "four-player": "Ván ngắn trên bàn vuông.",
    },
    fields: {
      players: "Số người", fields: "Số ô mỗi bên", seeds: "Số dân mỗi ô", stones: "Có quan", stone_value: "Điểm của quan",
      mandarin_seeds: "Số dân trong ô quan", sowing: "Chiều rải", mandarin_ahead: "Gặp ô quan còn quân", empty_mandarin: "Gặp ô quan trống",
      capture: "Số lần ăn mỗi lượt", quan_non: "Quan non: chưa ăn được nếu ít dân hơn (Quan non 5: nhập 5)",
      first_move_captures_mandarin: "Nước đầu được ăn quan", mandarin_seeds_capturable: "Được ăn dân trong ô quan",
      refill: "Khi không đủ dân để rải", refill_when: "Hàng trống được rải lại", end: "Hết ván khi", leftovers: "Dân còn trên ô thuộc về",
      mandarin_leftovers: "Dân còn ở ô quan thuộc về", max_plies: "Số nước tối đa",
    },
    values: {
      True: "có", False: "không", either: "hai chiều", counterclockwise: "ngược kim đồng hồ", clockwise: "theo kim đồng hồ", "mandarin_ahead.stop": "hết lượt",
      take_one: "lấy một dân rồi đi tiếp", "empty_mandarin.stop": "hết lượt", gap: "là khoảng trống để ăn qua", chain: "nhiều", single: "một",
      borrow: "được vay", forfeit: "hết ván", turn: "khi đến lượt chủ", at_once: "ngay lập tức", stones_captured: "mọi quan bị ăn",
      squares_empty: "mọi ô quan trống", owner: "chủ ô", "leftovers.split": "chia đều", nobody: "không ai", "mandarin_leftovers.split": "chia đều",
    },
    lessons: {
      board: ["Bàn chơi", "Mỗi người có một hàng năm ô dân. Hai đầu là hai ô quan, không thuộc về ai. Mỗi dân một điểm, mỗi quan mười điểm. Ai ăn được nhiều điểm hơn thì thắng."],
      sow: ["Một nước đi", "Chọn một ô của mình và một chiều. Bốc hết dân trong ô, rải từng dân vào các ô tiếp theo. Nếu ngay sau đó là ô quan còn quân thì hết lượt."],
      relay: ["Rải tiếp", "Nếu ô sau dân cuối là ô dân còn quân thì bốc tiếp ô ấy và rải theo chiều cũ."],
      capture: ["Ăn quân", "Nếu ô sau dân cuối là ô trống thì được ăn hết quân ở ô kế sau ô trống: ở đây là một nhà giàu, ô có nhiều dân. Nếu ô ấy cũng trống thì hết lượt."],
      chain: ["Ăn liên tiếp", "Sau ô vừa ăn lại là ô trống, rồi đến ô có quân? Được ăn tiếp; quan được mười điểm. Sau đó hết lượt."],
      refill: ["Hàng trống", "Đến lượt mà cả hàng không còn dân thì lấy dân đã ăn rải vào mỗi ô một dân; thiếu thì vay."],
      end: ["Hết ván", "Hết ván khi cả hai ô quan trống. Dân còn trong hàng ai là của người ấy. Nhiều điểm hơn thì thắng. Bây giờ mời bạn chơi một ván; nút Gợi ý sẽ giúp bạn."],
    },
  },
};

for (const [language, words] of Object.entries(ADDED)) Object.assign(WORDS[language], words);
