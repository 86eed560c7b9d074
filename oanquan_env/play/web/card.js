// A picture of a finished game to share: the final board, who played, and how well.

import { $, page, words } from "./common.js";
import { FACES } from "./faces.js";
import { download, filmed } from "./files.js";
import { FONTS, Scene, escaped, pictures, recoloured } from "./film.js";

const HEAD = 64, ROW = 56; // heights above the board and of a judged player's row below it, in units of the drawing
const SCALE = 2; // pixels in a unit

/** Give the picture away; `judged` says of each player its blunders and its share of the best points, or is null. */
export async function share(judged) {
  const picture = new Image();
  picture.src = `data:image/svg+xml,${encodeURIComponent(card(filmed(), judged, matchMedia("(prefers-color-scheme: dark)").matches))}`;
  await picture.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: SCALE * picture.width, height: SCALE * picture.height });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  const content = await new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
  await download(content, "image/png", "oanquan.png");
}

/** The picture as SVG: a title, the last picture of the film with the faces of two players, and a row for each player that is judged. */
function card(game, judged, dark) {
  const { drawing, names } = game, [width, board] = drawing.size, scene = new Scene(drawing, game), { played, line } = page.state;
  const height = Math.round(HEAD + board + (judged ? ROW * names.length + 16 : 0));
  const row = ({ blunders, share }, seat) => {
    const y = HEAD + board + ROW * (seat + 0.5);
    return scene.words(names[seat], [50, y], 21, "ink", { anchor: "start" }) + scene.words(words().judged(blunders, share), [width - 50, y], 21, "ink", { anchor: "end" });
  };
  const title = scene.words("Ô Ăn Quan", [24, HEAD / 2], 30, "ink", { anchor: "start", bold: true })
    + scene.words(`${$("about-game").textContent.split(" · ")[0]} · ${words().length(line.length)}`, [width - 24, HEAD / 2], 19, "faint", { anchor: "end" });
  const faces = drawing.plates.map(([x, y], seat) => (names.length === 2 ? `<g transform="translate(${x - 26} ${y})">${FACES[played[seat]] ?? ""}</g>` : ""));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="${escaped(FONTS)}">`
    + `<style>${dark ? recoloured(drawing) : ""}</style>${scene.definitions()}<rect width="${width}" height="${height}"${scene.fill("card")}/>${title}`
    + `<g transform="translate(0 ${HEAD})">${scene.backdrop()}${scene.layers(pictures(game).at(-1)).flat().join("")}${faces.join("")}</g>${(judged ?? []).map(row).join("")}</svg>`;
}
