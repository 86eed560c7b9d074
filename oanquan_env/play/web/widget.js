// The widget of anywidget. What it imports is joined with it to one module (`oanquan_env.play.widget`).

import { GameView } from "./game.js";
import { html } from "./nodes.js";

/** The widget of anywidget: its model has `state`, `drawing`, `hint` and `language`. */
function render({ model, el }) {
  const host = html("div", { className: "oanquan-board" }, el);
  host.style.maxWidth = "820px";
  const send = (name, args) => { model.send({ request: name, arguments: args }); return null; };
  const view = new GameView(host, send, model.get("language"));
  const update = () => view.update(model.get("state"), view.drawn === model.get("drawing") ? null : (view.drawn = model.get("drawing")));
  const hint = () => model.get("hint") && view.setHint(model.get("hint"));
  const speak = () => view.setLanguage(model.get("language"));
  model.on("change:state", update);
  model.on("change:hint", hint);
  const trouble = (message) => { view.refresh(); view.tell(message.trouble); };
  model.on("change:language", speak);
  model.on("msg:custom", trouble);
  host.addEventListener("keydown", (event) => { if (view.key(event)) { event.preventDefault(); event.stopPropagation(); } });
  update();
  return () => {
    model.off("change:state", update);
    model.off("change:hint", hint);
    model.off("change:language", speak);
    model.off("msg:custom", trouble);
    view.destroy();
  };
}

export default { render };
