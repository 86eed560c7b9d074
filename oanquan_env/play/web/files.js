// Games in files and on the clipboard, links that hold a game, and films of it.

import { $, Refused, complain, explain, make, notice, page, words } from "./common.js";
import { play, request, view } from "./table.js";

async function open(text, number = null) {
  const held = text.trim();
  try {
    if (/^https?:\S+#\S+$/.test(held)) await openHeld(held.slice(held.indexOf("#") + 1));
    else await play("load", number === null ? { text } : { text, number });
    $("share-dialog").close();
    $("games-dialog").close();
    notice(words().opened);
  } catch (error) {
    if (error.code !== "games") {
      if ($("share-dialog").open) { $("share-error").textContent = explain(error); $("share-error").hidden = false; } else complain(error);
      return;
    }
    $("games").replaceChildren(...Array.from({ length: error.games }, (_, index) => make("button", {
      type: "button", textContent: words().game(index + 1), onclick: () => open(text, index + 1),
    })));
    $("games-dialog").showModal();
  }
}

/** Open a file that a person chose or dropped, if there is one. */
async function openFile(file) {
  if (file?.size > page.catalogue.largest_file) complain(new Refused({ code: "record", detail: words().tooLarge }));
  else if (file) await open(await file.text());
}

function download(content, type, name) {
  $("share-dialog").close();
  const url = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
  notice(words().saved(name));
}

async function copy(text, told) {
  $("share-dialog").close();
  try {
    await navigator.clipboard.writeText(text);
    notice(told);
  } catch { notice(`${words().copy}\n${text}`, 30); }
}

async function film(kind, type) {
  $("share-dialog").close();
  notice(words().filming, 60);
  try {
    const { base64 } = await request("picture", { kind });
    download(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)), type, `oanquan.${kind}`);
  } catch (error) { complain(error); }
}

/** The address of this game: its rules, where it began, and its moves. */
function link() {
  const { rules, record, line } = page.state, begun = /^\[Position "(.*)"\]$/m.exec(record);
  const held = { rules, ...(begun ? { position: begun[1] } : {}), moves: line.map((serial) => view.moves[serial].move).join("") };
  return `${location.href.split("#")[0]}#${new URLSearchParams(held)}`;
}

$("share").onclick = () => {
  $("pasted").value = "";
  $("share-error").hidden = true;
  $("share-dialog").showModal();
};
$("save").onclick = () => download(page.state.record, "text/plain", "oanquan.txt");
$("copy").onclick = () => copy(page.state.record, words().recordCopied);
$("link").onclick = () => copy(link(), words().copied);
$("svg").onclick = () => film("svg", "image/svg+xml");
$("gif").onclick = () => film("gif", "image/gif");
$("load").onclick = () => $("file").click();
$("paste").onclick = () => open($("pasted").value);
$("file").onchange = async () => {
  await openFile($("file").files[0]);
  $("file").value = "";
};
document.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("drop"); });
document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("drop"); });
document.addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("drop");
  openFile(event.dataTransfer.files[0]);
});

/** Begin the game that a link holds: who sits here stays, unless others are needed. */
async function openHeld(text) {
  const held = new URLSearchParams(text), asked = { rules: page.catalogue.default };
  for (const name of ["rules", "position", "moves"]) if (held.get(name)) asked[name] = held.get(name);
  await play("new", asked);
}

/** Begin the game that the address holds, if it holds one. */
export async function openLink() {
  const text = location.hash.slice(1), held = new URLSearchParams(text);
  if (!["rules", "position", "moves"].some((name) => held.get(name))) return;
  history.replaceState(null, "", location.href.split("#")[0]);
  try {
    await openHeld(text);
  } catch (error) {
    const code = { position: "linkPosition", rules: "linkRules", move: "linkMoves" }[error.code];
    notice(explain(error, error.code === "position" ? held.get("position") : "", code), 30);
  }
}

window.addEventListener("hashchange", openLink);
