// Games in files, and links that hold a position.

import { $, Refused, ask, complain, explain, make, notice, page, words } from "./common.js";
import { play } from "./table.js";

async function open(text, number = null) {
  try {
    await play("load", number === null ? { text } : { text, number });
    notice(words().opened);
  } catch (error) {
    if (error.code !== "games") { complain(error); return; }
    $("games").replaceChildren(...Array.from({ length: error.games }, (_, index) => make("button", {
      textContent: words().game(index + 1), onclick: () => open(text, index + 1),
    })));
    $("games-dialog").showModal();
  }
}

/** Open a file that a person chose or dropped, if there is one. */
async function openFile(file) {
  if (file?.size > page.catalogue.largest_file) complain(new Refused({ code: "record", detail: words().tooLarge }));
  else if (file) await open(await file.text());
}

$("save").onclick = async () => {
  try {
    const { text } = await ask("save", { tab: page.tab }), url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    make("a", { href: url, download: "oanquan.txt" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
    notice(words().saved);
  } catch (error) { complain(error); }
};
$("load").onclick = () => $("file").click();
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
$("link").onclick = async () => {
  const url = `${location.href.split("#")[0]}#${new URLSearchParams({ rules: page.state.rules, position: page.state.position })}`;
  try {
    await navigator.clipboard.writeText(url);
    notice(words().copied);
  } catch { notice(`${words().copy}\n${url}`, 30); }
};

/** Begin the game that the address holds, if it holds one. */
export async function openLink() {
  const held = new URLSearchParams(location.hash.slice(1)), position = held.get("position"), rules = held.get("rules");
  if (!position && !rules) return;
  history.replaceState(null, "", location.href.split("#")[0]);
  try {
    await play("new", { rules: rules ?? page.catalogue.default, ...(position ? { position } : {}) });
  } catch (error) {
    const code = { position: "linkPosition", rules: "linkRules" }[error.code];
    notice(explain(error, error.code === "position" ? position : "", code), 30);
  }
}

window.addEventListener("hashchange", openLink);
