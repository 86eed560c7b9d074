// The board in a notebook, an anywidget. It is bundled with its imports into one module (`oanquan_env.play.widget`).
//
// Traits: `files`, all files that the page would load; `begin`, the game that Python started; `game`, its present
// state, from which a notebook without a kernel continues; `language`.

import { Engine } from "./model/engine.js";
import { GameView } from "./board/game-view.js";
import { html } from "./dom.js";
import { Refused } from "./model/refused.js";
import { Session } from "./model/session.js";
import { Thinker } from "./players/thinker.js";
import { Thinking } from "./players/thinking.js";

/** Request the moves of Python players from the kernel. */
function asking(model) {
  const waiting = new Map();
  model.on("msg:custom", ({ number, move, error }) => {
    if (error) waiting.get(number)?.reject(new Refused(error.code, error.detail));
    else waiting.get(number)?.resolve(move);
    waiting.delete(number);
  });
  return (player, position, rules) =>
    new Promise((resolve, reject) => {
      const number = Math.random();
      waiting.set(number, { resolve, reject });
      model.send({ number, choose: { player, rules, position } });
    });
}

/** Make a widget's session, which continues the game that Python started, or the state that a page has saved. */
async function sessionOf(model) {
  const data = async (name) => {
    const file = model.get("files")[name];
    if (!file) throw new Error(`${name} is not in this widget`);
    return file instanceof DataView ? file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength) : file;
  };
  const [bytes, layout, catalogue] = await Promise.all(["engine.wasm", "engine.json", "catalogue.json"].map(data));
  const module = await WebAssembly.compile(bytes),
    engine = await Engine.load(module, layout);
  const session = new Session({
    engine,
    data,
    catalogue,
    thinker: new Thinker({
      engine: module,
      layout,
      data,
      catalogue,
      think: async (made) => new Thinking(made),
      ask: asking(model),
    }),
  });
  const begin = async () => {
    const { number, rewind, ...begun } = model.get("begin"),
      game = model.get("game"),
      same = game.number === number;
    await session.restore(same ? game : begun);
    while (rewind && !same && session.state().can_undo) await session.request("undo");
  };
  await begin();
  model.on("change:begin", begin);
  return session;
}

/** A widget: one session, and a board for each place where it is displayed. */
export default function widget() {
  let session = null;

  async function initialize({ model }) {
    session = await sessionOf(model);
    session.addEventListener("changed", () => {
      model.set("game", { number: model.get("begin").number, ...session.snapshot(), record: session.saved() });
      model.save_changes();
    });
  }

  function render({ model, el }) {
    const host = html("div", { className: "oanquan-board" }, el);
    host.style.maxWidth = "820px";
    const send = async (name, asked) => {
      try {
        if (name === "hint") return await session.hint();
        await session.request(name, asked);
      } catch (error) {
        view.refresh();
        view.tell(error.detail?.[model.get("language")] || error.message);
      }
      return null;
    };
    const view = new GameView(host, send, model.get("language"));
    const follow = () => view.update(session.state(), session.drawing()),
      speak = () => view.setLanguage(model.get("language"));
    session.addEventListener("changed", follow);
    model.on("change:language", speak);
    host.addEventListener("keydown", (event) => {
      if (view.key(event)) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
    follow();
    return () => {
      session.removeEventListener("changed", follow);
      model.off("change:language", speak);
      view.destroy();
    };
  }

  return { initialize, render };
}
