// How the board looks: a style sheet for the colours that a drawing brings along.

const STYLE = `
:host { display: block; position: relative; color: var(--ink); font-family: system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
* { box-sizing: border-box; }
svg { display: block; width: 100%; height: auto; overflow: visible; touch-action: manipulation; user-select: none;
  -webkit-user-select: none; font-family: inherit; }
text { text-anchor: middle; dominant-baseline: central; pointer-events: none; }
.pieces, .marks, .counts, .hints, .plates { pointer-events: none; }
.hit { fill: transparent; stroke: transparent; stroke-width: 5; stroke-linejoin: round; outline: none; pointer-events: all;
  transition: stroke .15s, fill .15s; }
.hit.legal { cursor: pointer; }
@media (hover: hover) { .hit.legal:hover { fill: color-mix(in srgb, var(--shine) 22%, transparent); } }
.hit.legal { stroke: color-mix(in srgb, var(--stone) 55%, transparent); stroke-width: 3; }
.hit:focus-visible, .hit.chosen { stroke: var(--stone); stroke-width: 6; }
.hit.chosen { fill: color-mix(in srgb, var(--shine) 26%, transparent); }
.hit.lifted { stroke: var(--passed); stroke-width: 6; fill: color-mix(in srgb, var(--passed) 22%, transparent); }
.hit.last { stroke: var(--ink); stroke-width: 4; }
.hit.gap { stroke: var(--captured); stroke-dasharray: 9 8; stroke-width: 4; }
.hit.taken { stroke: var(--captured); stroke-width: 6; fill: color-mix(in srgb, var(--captured) 26%, transparent); }
.count { font-size: max(15px, calc(11.5px * var(--k))); font-weight: 600; fill: var(--count); paint-order: stroke;
  stroke: var(--field); stroke-width: 4px; stroke-linejoin: round; }
.badge rect { fill: var(--badge); opacity: .88; }
.badge text { fill: var(--badge_ink); font-weight: 700; font-size: max(21px, calc(12px * var(--k))); }
.left .piece { opacity: .55; }
.label { font-size: max(17px, calc(11px * var(--k))); fill: var(--faint); }
.label.legal { fill: var(--accent); font-weight: 700; }
.plate { font-size: max(21px, calc(13px * var(--k))); fill: var(--ink); }
.plate .points { font-size: 1.3em; font-weight: 700; }
.plate.first { text-anchor: start; }
.plate.turn { fill: var(--accent); font-weight: 700; }
.hint rect { fill: var(--card); stroke: var(--edge); stroke-width: 1.5; opacity: .94; }
.hint text { fill: var(--ink); font-weight: 600; font-size: max(15px, calc(10px * var(--k))); }
.hint.best rect { fill: var(--stone); stroke: var(--stone_rim); }
.hint.best text { fill: #fff; }
.way { cursor: pointer; outline: none; }
.way circle { fill: var(--stone); stroke: var(--card); stroke-width: 4; }
.way path { fill: #fff; pointer-events: none; }
.way:hover circle, .way:focus-visible circle { fill: var(--accent); }
.way:focus-visible circle { stroke: var(--ink); }
.way text { fill: #fff; font-weight: 700; font-size: calc(11px * var(--k)); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.tools { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 10px; align-items: center; justify-content: center; }
button, select { font: inherit; font-size: 15px; min-height: 44px; padding: 0 14px; border-radius: 10px; cursor: pointer;
  border: 1px solid color-mix(in srgb, var(--edge) 55%, transparent); color: var(--ink); background: var(--card); }
button:hover:enabled { border-color: var(--stone); }
button:focus-visible, select:focus-visible { outline: 3px solid var(--stone); outline-offset: 1px; }
button:disabled { opacity: .42; cursor: default; }
.say { text-align: center; margin: 10px 4px 0; min-height: 2.8em; font-size: 17px; line-height: 1.4; }
label { display: inline-flex; gap: 6px; align-items: center; font-size: 15px; color: var(--faint); }
@media (max-width: 480px) { .tools { gap: 6px; } button, select { padding: 0 10px; } }
`;

export function sheet(colours) {
  const variables = (palette) => Object.entries(palette).map(([role, colour]) => `--${role}:${colour};`).join("");
  const roles = Object.keys(colours.light).map((role) => `.f-${role}{fill:var(--${role})}.s-${role}{stroke:var(--${role})}`);
  const made = new CSSStyleSheet();
  made.replaceSync(
    `:host{${variables(colours.light)}}@media(prefers-color-scheme:dark){:host{${variables(colours.dark)}}}${roles.join("")}${STYLE}`,
  );
  return made;
}
