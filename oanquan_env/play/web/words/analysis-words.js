// The words of the analysis board, in both languages.

const lead = (points, ahead, behind, level) => (points > 0 ? ahead(points) : points < 0 ? behind(-points) : level);

export const ANALYSIS = {
  en: {
    title: "Analysis",
    saved: "Saved analyses",
    values: "Values",
    start: "Start",
    back: "Back",
    forward: "Forward",
    last: "End",
    moves: "Moves",
    variation: "Variation",
    comment: "Comment",
    main: "Make main line",
    remove: "Delete from here",
    link: "Copy link",
    record: "Copy record",
    linkCopied: "Link copied. It holds the moves, not the comments.",
    recordCopied: "Record copied, with variations and comments.",
    turn: (name) => `${name} to move.`,
    wins: (name, points, how) => `With best play ${points ? `${name} wins by ${points}` : "it is a draw"}${how}.`,
    best: (name, points, how) =>
      `With best play ${name} ends ${lead(
        points,
        (ahead) => `${ahead} ahead`,
        (behind) => `${behind} behind`,
        "level",
      )}${how}.`,
    over: (standing) => `The game is over: ${standing}.`,
    hidden: (count) =>
      count
        ? `These rules don’t allow ${count === 1 ? "1 branch: it is" : `${count} branches: they are`} hidden and not copied.`
        : "",
    length: (moves) => (moves === 1 ? "1 move" : `${moves} moves`),
  },
  vi: {
    title: "Phân tích",
    saved: "Các bản đã lưu",
    values: "Giá trị",
    start: "Đầu ván",
    back: "Lùi",
    forward: "Tiến",
    last: "Cuối ván",
    moves: "Các nước đi",
    variation: "Nhánh phụ",
    comment: "Ghi chú",
    main: "Đưa lên nhánh chính",
    remove: "Xóa từ đây",
    link: "Sao chép liên kết",
    record: "Sao chép biên bản",
    linkCopied: "Đã sao chép liên kết. Liên kết có các nước đi, không có ghi chú.",
    recordCopied: "Đã sao chép biên bản, cả nhánh phụ và ghi chú.",
    turn: (name) => `Đến lượt ${name}.`,
    wins: (name, points, how) => `Cùng đi hay nhất thì ${points ? `${name} thắng ${points} điểm` : "hòa"}${how}.`,
    best: (name, points, how) =>
      `Cùng đi hay nhất thì cuối ván ${name} ${lead(
        points,
        (ahead) => `hơn ${ahead} điểm`,
        (behind) => `kém ${behind} điểm`,
        "hòa",
      )}${how}.`,
    over: (standing) => `Hết ván: ${standing}.`,
    hidden: (count) => (count ? `${count} nhánh không hợp luật này nên được ẩn và không sao chép theo.` : ""),
    length: (moves) => `${moves} nước`,
  },
};
