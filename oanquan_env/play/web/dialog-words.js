// The words of rules and lessons, which only dialogs need: they join those of the page when the first dialog loads.

import { WORDS } from "./words.js";

const ADDED = {
  en: {
    firstGame: "Your first game", well: "Well done!",
    task: (field, way) => `Your move: tap field ${field}, then the arrow that goes ${way}.`,
    other: (field, way) => `That is a move, too, but not this one: try field ${field}, ${way}.`,
    ways: {
      beginner: "plays for fun", easy: "grabs what it sees", medium: "saves, leaves you little", hard: "looks far ahead", perfect: "follows the proof",
    },
    presetWords: {
      vietnamese: "The rules that people in Vietnam play, after Vietnamese Wikipedia: the game goes on until both mandarin squares are empty, and one may capture over an empty one.",
      "mancala-world": "As Mancala World tells it: the game ends as soon as both mandarins are captured, and may be over after two moves.",
      tonkin: "As children of Tonkin played it, after Ngô Quý Sơn: only anticlockwise, ten small stones for a mandarin.",
      ludii: "As the Ludii portal tells it: a short game in which an empty row is refilled at once.",
      app: "After a mobile game: a short game in which a move captures only once.",
      "three-player": "The short game on a triangle.",
      "four-player": "The short game on a square.",
    },
    fields: {
      players: "Players", fields: "Fields a side", seeds: "Seeds a field", stones: "Mandarin stones", stone_value: "Points of a stone",
      mandarin_seeds: "Seeds on a mandarin square", sowing: "Direction of sowing", mandarin_ahead: "Full mandarin square ahead",
      empty_mandarin: "Empty mandarin square ahead", capture: "Captures in a turn", quan_non: "A stone with fewer seeds is safe",
      mandarin_seeds_capturable: "A mandarin’s seeds can be captured", refill: "Refilling without points", refill_when: "An empty row is refilled",
      end: "The game ends when", leftovers: "Seeds left on fields go to", mandarin_leftovers: "Seeds left with mandarins go to", max_plies: "Moves at most",
    },
    values: {
      True: "yes", False: "no", either: "both", counterclockwise: "anticlockwise", clockwise: "clockwise", "mandarin_ahead.stop": "ends the turn",
      take_one: "gives one seed, and the turn goes on", "empty_mandarin.stop": "ends the turn", gap: "is a gap to capture over", chain: "many", single: "one",
      borrow: "the player borrows", forfeit: "the game ends", turn: "at its owner’s turn", at_once: "at once", stones_captured: "all stones are captured",
      squares_empty: "all mandarin squares are empty", owner: "their owners", "leftovers.split": "all alike", nobody: "nobody", "mandarin_leftovers.split": "all alike",
    },
    lessons: {
      board: ["The board", "Each player owns a row of five fields (ô dân). At the ends lie two mandarin squares (ô quan), which belong to nobody. A seed is worth one point, a mandarin stone ten. Who captures more points wins."],
      sow: ["A move", "Choose one of your fields, and a direction. All its seeds are lifted and sown one by one into the next squares. If a mandarin square with something on it comes next, your turn ends."],
      relay: ["Sowing on", "If the square after your last seed is a field with seeds, they are lifted too, and you sow on in the same direction."],
      capture: ["Capturing", "If the square after your last seed is empty, you capture everything in the square behind it. If there is nothing in it either, your turn ends."],
      chain: ["Captures in a row", "Is the next square empty again, and something behind it? You capture that too; a mandarin stone counts ten points. Then your turn ends."],
      refill: ["An empty row", "A player who has no seeds left to play puts one of those captured into each field, and borrows if there are too few."],
      end: ["The end", "The game ends when both mandarin squares are empty. Seeds left in your row are yours. The most points win. Now play a game yourself; the button Hint helps you."],
    },
  },
  vi: {
    firstGame: "Chơi ván đầu", well: "Đúng rồi!",
    task: (field, way) => `Mời bạn đi: chạm ô ${field}, rồi chọn mũi tên ${way}.`,
    other: (field, way) => `Nước ấy cũng đi được, nhưng hãy thử ô ${field}, ${way}.`,
    ways: {
      beginner: "chơi cho vui", easy: "thấy quân là ăn", medium: "giữ quân, ít cho ăn", hard: "nhìn xa", perfect: "đi theo chứng minh",
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
      capture: "Số lần ăn mỗi lượt", quan_non: "Quan non nếu ít dân hơn", mandarin_seeds_capturable: "Được ăn dân trong ô quan",
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
      capture: ["Ăn quân", "Nếu ô sau dân cuối là ô trống thì được ăn hết quân ở ô kế sau ô trống. Nếu ô ấy cũng trống thì hết lượt."],
      chain: ["Ăn liên tiếp", "Sau ô vừa ăn lại là ô trống, rồi đến ô có quân? Được ăn tiếp; quan được mười điểm. Rồi hết lượt."],
      refill: ["Hàng trống", "Đến lượt mà cả hàng không còn dân thì lấy dân đã ăn rải vào mỗi ô một dân; thiếu thì vay."],
      end: ["Hết ván", "Hết ván khi cả hai ô quan trống. Dân còn trong hàng ai là của người ấy. Nhiều điểm hơn thì thắng. Bây giờ mời bạn chơi một ván; nút Gợi ý sẽ giúp bạn."],
    },
  },
};

for (const [language, words] of Object.entries(ADDED)) Object.assign(WORDS[language], words);
