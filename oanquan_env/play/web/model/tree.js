// Trees of moves, for analysis. It knows no rules.
//
// A node is { move: "5A", comment: "", children: [node, ...] }: the first child continues the line, and the others begin
// variations. The root's move is null. A path lists the index of a child at each step from the root. Children that are
// not legal under the present rules are in the list `hidden` instead, with their index among all children.

import { moveText, parseMove } from "./notation.js";
import { MAX_NESTING, newNode } from "./records.js";
import { Refused, impossible } from "./refused.js";

/** Return the nodes on a path, without the root. */
export function nodesOn(root, path) {
  const nodes = [];
  for (const index of path) nodes.push((nodes.at(-1) ?? root).children[index]);
  return nodes;
}

export const nodeAt = (root, path) => nodesOn(root, path).at(-1) ?? root;

/** Return the path from `path` to the end of its line. */
export function endOf(root, path = []) {
  const end = [...path];
  for (let node = nodeAt(root, path); node.children.length; [node] = node.children) end.push(0);
  return end;
}

/** Throw Refused if one of the paths lies in more variations within one another than a record may have. */
function checkNesting(paths) {
  if (paths.some((path) => path.filter(Boolean).length > MAX_NESTING))
    throw impossible(
      `at most ${MAX_NESTING} variations can lie within one another`,
      `chỉ được lồng nhiều nhất ${MAX_NESTING} nhánh phụ vào nhau`,
    );
}

/** Add a move after a node, unless it is there; return its path. Throws Refused for too many nested variations. */
export function add(root, path, move) {
  const { children } = nodeAt(root, path),
    index = children.findIndex((child) => child.move === move),
    added = [...path, index < 0 ? children.length : index];
  if (index < 0) {
    checkNesting([added]);
    children.push(newNode(move));
  }
  return added;
}

/** Add moves one after the other from the root; return the path of the last. */
export const addLine = (root, moves) => moves.reduce((path, move) => add(root, path, move), []);

/**
 * Make the line through a node the main line; return the node's new path. Throws Refused for too many nested variations.
 */
export function promote(root, path) {
  const old = [...path.slice(0, path.findIndex(Boolean)), 0]; // the main line from there on becomes a variation
  checkNesting(
    pathsOf(root)
      .filter((one) => `${one},`.startsWith(`${old},`))
      .map((one) => [1, ...one]),
  );
  let node = root;
  for (const index of path) {
    const [next] = node.children.splice(index, 1);
    node.children.unshift(next);
    node = next;
  }
  return path.map(() => 0);
}

/** Delete a node and all that follows it; return the path of the node before it. */
export function remove(root, path) {
  const before = path.slice(0, -1);
  nodeAt(root, before).children.splice(path.at(-1), 1);
  return before;
}

/** Return the path of the alternative before (`by` -1) or after (1) a node; the path itself if there is none. */
export function beside(root, path, by) {
  const before = path.slice(0, -1),
    index = (path.at(-1) ?? 0) + by;
  return index in nodeAt(root, before).children && path.length ? [...before, index] : path;
}

/** Return the paths of all nodes, the root first, in the order of a record: a move, its alternatives, what follows. */
export function pathsOf(root) {
  const paths = [[]];
  const line = (node, path) => {
    for (; node.children.length; [node] = node.children) {
      paths.push([...path, 0]);
      node.children.slice(1).forEach((child, index) => {
        paths.push([...path, index + 1]);
        line(child, [...path, index + 1]);
      });
      path = [...path, 0];
    }
  };
  line(root, []);
  return paths;
}

/** Return the path to the last of `nodes`, each a child of the one before; it ends before one that is hidden. */
export function pathTo(root, nodes) {
  const path = [];
  for (const node of nodes) {
    const index = nodeAt(root, path).children.indexOf(node);
    if (index < 0) break;
    path.push(index);
  }
  return path;
}

// ---- moves that the rules hide --------------------------------------------------------------------------------------

/** Return the children of a node with those that are hidden, in their order. */
const allOf = ({ children, hidden = [] }) =>
  hidden.reduce((all, [index, child]) => all.toSpliced(index, 0, child), children);

/**
 * Hide the moves of a tree that are not legal, with all that follows them, and show hidden ones that are. `step(state,
 * move)` returns the state after a legal move, or null; `state` is the state at the root.
 */
export function hideIllegal(root, state, step) {
  const seen = [[root, state]];
  for (const [node, before] of seen) {
    const all = allOf(node).map((child) => [child, step(before, child.move)]),
      shown = all.filter(([, after]) => after !== null);
    node.children = shown.map(([child]) => child);
    node.hidden = all.flatMap(([child, after], index) => (after === null ? [[index, child]] : []));
    seen.push(...shown);
  }
}

/** Return how many branches of a tree are hidden. */
export function hiddenIn(root) {
  const nodes = [root];
  for (const { children } of nodes) nodes.push(...children);
  return nodes.reduce((sum, { hidden = [] }) => sum + hidden.length, 0);
}

// ---- the form in storage: [index of the node before, move, comment] for each node, also for hidden ones -------------

export function listed(root) {
  const all = [[root, 0]];
  for (const [index, [node]] of all.entries()) all.push(...allOf(node).map((child) => [child, index]));
  return all.map(([{ move, comment }, before]) => [before, move, comment]);
}

/** Return the tree of a list; nothing in it is hidden. Throws an error if the list is damaged. */
export function unlisted(list) {
  const nodes = list.map(([, move, comment], index) => newNode(index ? moveText(parseMove(move)) : null, `${comment}`));
  list.forEach(([before], index) => index && nodes[before].children.push(nodes[index]));
  return nodes[0];
}

// ---- the form in links: moves without blanks, each followed by its alternatives, between v and e: 5A3Av3C2Ae2A --------

export function treeText(root) {
  const line = (node) => {
    let text = "";
    for (; node.children.length; [node] = node.children) {
      const [main, ...others] = node.children;
      text += main.move + others.map((other) => `v${other.move}${line(other)}e`).join("");
    }
    return text;
  };
  return line(root);
}

/** Read the form in links; comments are not in it. Throws Refused. */
export function parseTree(text) {
  const root = newNode(null),
    lines = []; // of the lines that a variation interrupted: the path, and whether the variation has moves
  let path = [];
  for (const [word] of text.matchAll(/[1-9][AC]|./gsu)) {
    if (word === "v" && path.length > (lines.at(-1)?.length ?? 1) - 1) {
      lines.push(path);
      path = path.slice(0, -1);
    } else if (word === "e" && lines.length && path.length >= lines.at(-1).length) path = lines.pop();
    else if (word.length === 2) path = add(root, path, word);
    else throw new Refused("link", `moves and variations expected; got ${word}`, `không hiểu “${word}” trong liên kết`);
  }
  return root;
}
