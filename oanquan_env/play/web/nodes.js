// Small helpers of the board: elements of the page, numbers in words.

const SVG = "http://www.w3.org/2000/svg";
export const MINUS = "\u2212";
export const signed = (value) => (value < 0 ? MINUS : value ? "+" : "") + Math.abs(value);

export function element(name, attributes = {}, parent = null, text = null) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== null) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

export function html(name, properties = {}, parent = null) {
  const node = Object.assign(document.createElement(name), properties);
  if (parent) parent.append(node);
  return node;
}

export const copyFrame = ({ seeds, stones, scores }) => ({
  seeds: [...seeds],
  stones: [...stones],
  scores: [...scores],
});

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
