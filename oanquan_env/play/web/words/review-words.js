// The words of the review, in both languages: the lead, the points that a move gave away, and the better move.

const margin = (points, ahead, behind, level) => (points > 0 ? ahead(points) : points < 0 ? behind(-points) : level);
const of = (number, one, more) => (number === 1 ? one : more);

export const REVIEW = {
  en: {
    ahead: (name, points, how) => `${name} +${points}${how}`,
    even: (how) => `Even${how}`,
    graph: "Graph of who was ahead after each move; the list of moves shows the same positions",
    looking: "Analysing…",
    closer: (share) => `Analysing… ${share}%`,
    mistakes: (count, own) =>
      count
        ? `${count > 1 ? `${count} moves` : "One move"}${own && own < count ? ` (yours: ${own})` : ""} gave away three points or more, or changed who wins.`
        : "No move gave away three points or more, or changed who wins.",
    played: (name, move) => `${name} played ${move}`,
    which: ", which ",
    and: " and ",
    you: "You",
    best: (move) => `Best was ${move}`,
    ends: (points, how) =>
      `${margin(
        points,
        (ahead) => `${ahead} ${of(ahead, "point", "points")} ahead at the end`,
        (behind) => `${behind} ${of(behind, "point", "points")} behind at the end`,
        "level at the end",
      )}${how}`,
    dashed: "dashed red arrow",
    solid: "solid green arrow",
    price: (points) => `gives away ${points} ${of(points, "point", "points")}`,
    lost: "turns a win into a loss",
    drawn: "turns a win into a draw",
    undrawn: "turns a draw into a loss",
    takesStones: (name, count, move) =>
      `lets ${name} capture ${count > 1 ? "both mandarins" : "a mandarin"} with ${move}`,
    takesSeeds: (name, points, move) => `lets ${name} capture ${points} points with ${move}`,
    missedStone: (move) => `misses a mandarin that ${move} captures`,
    missed: (move, points) => `misses ${points} points that ${move} captures`,
    showIt: "Show the best line",
    stop: "Stop",
    practise: "Practise your mistakes",
    line: (move, number, count) => `Best line, ${number} of ${count}: ${move}.`,
  },
  vi: {
    ahead: (name, points, how) => `${name} +${points}${how}`,
    even: (how) => `Ngang nhau${how}`,
    graph: "Đồ thị: ai dẫn sau mỗi nước; danh sách các nước cũng dẫn đến đó",
    looking: "Đang xem lại ván…",
    closer: (share) => `Đang xem kỹ hơn… ${share}%`,
    mistakes: (count, own) =>
      count
        ? `${count > 1 ? count : "Một"} nước${own && own < count ? ` (của bạn: ${own})` : ""} mất từ ba điểm trở lên hoặc làm đổi người thắng.`
        : "Không nước nào mất từ ba điểm trở lên hay làm đổi người thắng.",
    played: (name, move) => `${name} đi ${move}`,
    which: ": ",
    and: ", ",
    you: "Bạn",
    best: (move) => `Hay nhất là ${move}`,
    ends: (points, how) =>
      `cuối ván ${margin(
        points,
        (ahead) => `hơn ${ahead} điểm`,
        (behind) => `kém ${behind} điểm`,
        "hòa",
      )}${how}`,
    dashed: "mũi tên đỏ nét đứt",
    solid: "mũi tên xanh nét liền",
    price: (points) => `mất ${points} điểm`,
    lost: "đang thắng thành thua",
    drawn: "đang thắng thành hòa",
    undrawn: "đang hòa thành thua",
    takesStones: (name, count, move) => `để ${name} ăn ${count > 1 ? "cả hai quan" : "một quan"} bằng ${move}`,
    takesSeeds: (name, points, move) => `để ${name} ăn ${points} điểm bằng ${move}`,
    missedStone: (move) => `bỏ qua một quan mà ${move} ăn được`,
    missed: (move, points) => `bỏ qua ${points} điểm mà ${move} ăn được`,
    showIt: "Xem cách đi hay nhất",
    stop: "Dừng",
    practise: "Luyện lại các lỗi của bạn",
    line: (move, number, count) => `Cách hay nhất, nước ${number}/${count}: ${move}.`,
  },
};
