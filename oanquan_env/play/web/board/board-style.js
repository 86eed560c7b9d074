// The look of the board: a style sheet that uses the colours that come with a drawing.

const STYLE = `
:host { display: block; position: relative; color: var(--ink); background: var(--ground, var(--card));
  border-radius: 12px; font-family: system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
* { box-sizing: border-box; }
svg { display: block; width: 100%; height: auto; max-height: calc(100dvh - var(--rest, 12rem)); min-height: 180px;
  overflow: visible; touch-action: manipulation; -webkit-tap-highlight-color: transparent; user-select: none;
  -webkit-user-select: none; font-family: inherit; }
svg.upright { max-height: calc(100dvh - var(--rest, 205px)); }
.drop { fill: var(--drop); stroke: var(--drop); stroke-width: 12; transform: translateY(5px); }
.drop, .rim, .floor { stroke-linejoin: round; }
.rim { fill: none; stroke: var(--edge); stroke-width: 9; }
.floor { fill: var(--field); stroke: var(--edge); stroke-width: 2.5; }
.floor.round { fill: var(--mandarin); }
text { text-anchor: middle; dominant-baseline: central; pointer-events: none; }
.pieces, .marks, .counts, .hints, .plates, .back { pointer-events: none; }
.hit { fill: transparent; stroke: transparent; stroke-width: 5; stroke-linejoin: round; outline: none;
  pointer-events: all; transition: stroke .15s, fill .15s; }
.hit.legal { cursor: pointer; }
@media (hover: hover) { .hit.legal:hover { fill: color-mix(in srgb, var(--shine) 22%, transparent); } }
.hit.legal { stroke: color-mix(in srgb, var(--stone) 55%, transparent); stroke-width: 3; }
.hit:focus-visible, .hit.chosen { stroke: var(--stone); stroke-width: 6; }
.hit.chosen { fill: color-mix(in srgb, var(--shine) 26%, transparent); }
.hit.lifted { stroke: var(--passed); stroke-width: 6; fill: color-mix(in srgb, var(--passed) 22%, transparent); }
.hit.last { stroke: var(--ink); stroke-width: 4; }
.hit.gap { stroke: var(--captured); stroke-dasharray: 9 8; stroke-width: 4; }
.hit:is(.taken, .way-taken) { stroke: var(--captured); stroke-width: 6;
  fill: color-mix(in srgb, var(--captured) 28%, transparent); }
.cheer { fill: none; stroke: var(--captured); stroke-width: 6; animation: cheer 1.1s ease-out forwards; }
@keyframes cheer { to { r: 120px; opacity: 0; stroke-width: 1; } }
.glad text { animation: glad .55s ease-in-out 2 alternate; }
.verse text { fill: var(--captured); font-weight: 700; paint-order: stroke; stroke: var(--card); stroke-width: .25em;
  stroke-linejoin: round; opacity: 0; animation: verse .4s ease-out forwards; }
.verse .meaning { fill: var(--ink); }
@keyframes verse { to { opacity: 1; } }
@keyframes glad { to { fill: var(--captured); letter-spacing: .06em; } }
@media (prefers-reduced-motion: reduce) {
  .cheer, .glad text { animation: none; opacity: 0; }
  .glad text { opacity: 1; }
}
.count { font-size: max(15px, 11.5px * var(--k)); font-weight: 600; fill: var(--count); paint-order: stroke;
  stroke: var(--field); stroke-width: max(4px, 1.8px * var(--k)); stroke-linejoin: round; }
.badge rect { fill: var(--badge); opacity: .88; }
.badge text { fill: var(--badge_ink); font-weight: 700; font-size: 21px; } /* the badge itself grows */
.badge.gain rect { fill: var(--captured); opacity: 1; x: -25px; width: 50px; }
.badge.gain text { fill: var(--card); }
.left .piece { opacity: .55; }
.label { font-size: max(17px, 11px * var(--k)); fill: var(--faint); }
.label.legal { fill: var(--stone); font-weight: 700; }
.plate text { font-size: max(21px, 13px * var(--k)); fill: var(--ink); }
.plate .points { font-size: 1.3em; font-weight: 700; }
.plate .first { text-anchor: start; }
.plate .end { text-anchor: end; }
.plate:is(.turn, .won) text { fill: var(--stone); font-weight: 700; }
.plate.covered > :not(.bowl) { visibility: hidden; }
.plate .role { font-size: .8em; } .plate .gap { font-size: 0; }
.bowl circle { stroke: var(--shade); stroke-width: .8; }
.hint rect { fill: var(--card); stroke: var(--edge); stroke-width: 1.5; opacity: .94; }
.hint { font-size: max(15px, 10px * var(--k)); }
.hint text { fill: var(--ink); font-weight: 600; }
.hint.best rect { fill: var(--stone); stroke: var(--stone_rim); }
.hint.best text { fill: var(--card); }
.way { cursor: pointer; outline: none; }
.way circle { fill: var(--stone); stroke: var(--card); stroke-width: 4; }
.way path { fill: var(--card); pointer-events: none; }
.way.other > circle { fill: var(--ink); }
.paths circle { fill: var(--stone); stroke: var(--card); stroke-width: 2.5; }
.paths .other circle { fill: var(--card); stroke: var(--ink); stroke-width: 3.5; }
.paths .last { fill: var(--card); stroke: var(--stone); stroke-width: 3.5; }
.paths .other .last + circle { fill: var(--ink); stroke: var(--card); }
.paths .aside { opacity: .15; }
svg:has(.paths > g) .marks:not(:has(rect)) { opacity: .4; } /* not the arrows of a hint */
.way:hover circle, .way:focus-visible circle { fill: var(--accent); }
.way:focus-visible circle { stroke: var(--ink); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.tools { display: flex; flex-wrap: wrap; gap: 6px; padding: 6px 0; align-items: center; justify-content: center;
  position: sticky; bottom: 0; background: var(--ground, var(--card)); z-index: 1; }
button, select { font: inherit; font-size: 0.9375rem; min-height: 2.75rem; min-width: 2.75rem; padding: 0 0.625rem;
  border-radius: 10px; cursor: pointer; border: 1px solid color-mix(in srgb, var(--edge) 55%, transparent);
  color: var(--ink); background: var(--card); }
button { display: inline-flex; gap: 6px; align-items: center; justify-content: center; }
[hidden] { display: none !important; }
.sign span { display: none; }
.options { position: fixed; margin: 0; gap: 14px; padding: 3px 10px; border-radius: 12px; white-space: nowrap;
  background: var(--card); border: 1px solid color-mix(in srgb, var(--edge) 55%, transparent);
  box-shadow: 0 6px 24px #0003; }
.options:popover-open { display: flex; }
.options label { display: flex; align-items: center; gap: 8px; min-height: 44px;
  font-size: 0.9375rem; color: var(--ink); }
.options input { width: 22px; height: 22px; accent-color: var(--stone); }
.icon { width: 1.375rem; height: 1.375rem; min-height: 0; fill: none; stroke: currentColor; stroke-width: 2;
  stroke-linecap: round; stroke-linejoin: round; flex: none; }
@media (hover: hover) { button:hover:enabled { border-color: var(--stone); } }
:is(button, select, input):focus-visible { outline: 3px solid var(--stone); outline-offset: 1px; }
button:disabled { opacity: .42; cursor: default; }
.say { text-align: center; white-space: pre-line; margin: 6px 4px 0; min-height: 2.8em; font-size: 1.0625rem; line-height: 1.4; }
.say.over { font-weight: 700; }
@media (max-width: 640px), (max-height: 520px) {
  .tools { display: grid; gap: 4px; grid-template-columns: repeat(4, minmax(0, 1fr)); }
  .tools > button { flex-direction: column; gap: 0; min-width: 0; padding: 0; font-size: .6875rem; line-height: 1.1; }
  .sign span { display: inline; }
  .say { font-size: 0.875rem; line-height: 1.3; }
}
@media (max-width: 640px) and (min-height: 521px) {
  svg, svg.upright { max-height: calc(100dvh - var(--rest, 232px)); }
  .say { min-height: 3.9em; }
  .tools > button { min-height: 50px; }
}
@media (max-height: 520px) {
  svg { max-height: calc(100dvh - var(--rest, 152px)); }
  .say { min-height: 2.6em; margin: 2px; white-space: normal; font-size: .8125rem; }
  .tools { grid-template-columns: repeat(8, minmax(0, 1fr)); padding: 2px 0; }
}
@media (max-height: 330px) { .tools { position: static; } }
`;

const variables = (palette) =>
  Object.entries(palette)
    .map(([role, colour]) => `--${role}:${colour};`)
    .join("");
const roles = (palette) =>
  Object.keys(palette)
    .map((role) => `.f-${role}{fill:var(--${role})}.s-${role}{stroke:var(--${role})}`)
    .join("");

/** The style of a board in a picture with one palette. */
export const styleOf = (palette) => `svg{${variables(palette)}}${roles(palette)}${STYLE}`;

export function sheet({ light, dark }) {
  const made = new CSSStyleSheet();
  made.replaceSync(
    `:host{${variables(light)}}@media(prefers-color-scheme:dark){:host{${variables(dark)}}}${roles(light)}${STYLE}`,
  );
  return made;
}
