// Elements of the page: finding them by their id, and making them.

const SVG = "http://www.w3.org/2000/svg";
export const $ = (id) => document.getElementById(id);

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

export const make = (name, properties = {}, ...children) => {
  const node = html(name, properties);
  node.append(...children);
  return node;
};

/** Add a style sheet to the page, for a part of it that loads later. */
export function addStyle(text) {
  const style = new CSSStyleSheet();
  style.replaceSync(text);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, style];
}
