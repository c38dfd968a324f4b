/** What people do with blocks; each command makes a transaction, or null where it can do nothing. */
import { Fragment, type Node, type NodeType, type ResolvedPos } from "@tiptap/pm/model";
import { type EditorState, NodeSelection, Selection, TextSelection, type Transaction } from "@tiptap/pm/state";
import type { JsonObject } from "../values.ts";
import { findBlock, findMovable, findPath, type Placed } from "./chosen.ts";
import { readNode, writeNode } from "./convert.ts";
import { rawOf } from "./schema.ts";
import type { StoredNode } from "./stored.ts";

/** What stays where it is when others move into it. */
const BOXES = ["section", "repeat", "blockquote", "columns", "column"];

/** Move the chosen block by one place: past its neighbour, into a box beside it, or out of the box that it is in. */
export function moveBlock(state: EditorState, by: 1 | -1): Transaction | null {
  const chosen = findMovable(state);
  const target = chosen && findTarget(state.doc.resolve(chosen.pos), chosen.node, by);
  return chosen && target !== null ? moveTo(state, chosen, target) : null;
}

/** Move a block to a position; what was chosen in it stays chosen. */
export function moveTo(state: EditorState, { node, pos }: Placed, target: number): Transaction | null {
  const end = pos + node.nodeSize;
  if (target >= pos && target <= end) {
    return null;
  }
  const { tr, selection } = state;
  tr.insert(target, node);
  removeAt(tr, tr.mapping.map(pos, 1));
  const place = tr.mapping.slice(1).map(target);
  const isInside = selection instanceof TextSelection && selection.from >= pos && selection.to <= end;
  const by = place - pos;
  tr.setSelection(
    isInside
      ? TextSelection.create(tr.doc, selection.anchor + by, selection.head + by)
      : NodeSelection.create(tr.doc, place),
  );
  return tr.scrollIntoView();
}

export function duplicateBlock(state: EditorState): Transaction | null {
  const chosen = findMovable(state);
  if (!chosen) {
    return null;
  }
  const { node, pos } = chosen;
  const parent = state.doc.resolve(pos).parent.type;
  const copy = readNode(withoutIds(writeNode(node)), parent);
  return copy && choose(state.tr.insert(pos + node.nodeSize, copy), pos + node.nodeSize);
}

export function removeBlock(state: EditorState): Transaction | null {
  const chosen = findMovable(state);
  if (!chosen) {
    return null;
  }
  const { tr } = state;
  removeAt(tr, chosen.pos);
  const near = Selection.near(tr.doc.resolve(Math.min(chosen.pos, tr.doc.content.size)), -1);
  return tr.setSelection(near).scrollIntoView();
}

/** Put a new block behind the chosen one, or in the place of an empty paragraph. */
export function insertBlock(state: EditorState, stored: StoredNode): Transaction | null {
  const path = findPath(state);
  const last = path.at(-1);
  if (!last) {
    return insertAt(state, state.doc.content.size, state.doc.content.size, stored);
  }
  const { node, pos } = last;
  const isEmpty = node.type.name === "paragraph" && node.childCount === 0;
  if (isEmpty && fits(state.doc.resolve(pos), stored)) {
    return insertAt(state, pos, pos + node.nodeSize, stored);
  }
  const before = path.findLast((one) => fits(state.doc.resolve(one.pos), stored));
  const place = before ? before.pos + before.node.nodeSize : state.doc.content.size;
  return insertAt(state, place, place, stored);
}

/** Put something into the line in the place of the selection or of what was typed. */
export function insertInline(state: EditorState, from: number, to: number, stored: StoredNode): Transaction | null {
  const $from = state.doc.resolve(from);
  const node =
    $from.parent.inlineContent && fits(state.doc.resolve(from), stored) ? readNode(stored, $from.parent.type) : null;
  return node && state.tr.replaceWith(from, to, node.mark($from.marks())).scrollIntoView();
}

/** Put the chosen block into a new box. */
export function wrapBlock(state: EditorState, box: StoredNode): Transaction | null {
  const chosen = findBlock(state);
  if (!chosen) {
    return null;
  }
  const { node, pos } = chosen;
  const inner = (stored: StoredNode): StoredNode =>
    stored.type === "columns"
      ? { ...stored, content: (stored.content ?? []).map((one, index) => (index === 0 ? inner(one) : one)) }
      : { ...stored, content: [writeNode(node)] };
  const $pos = state.doc.resolve(pos);
  const isPossible = fits($pos, box) && (box.type !== "repeat" || canRepeat($pos, node));
  return isPossible ? insertAt(state, pos, pos + node.nodeSize, inner(box)) : null;
}

/** Take the blocks out of the chosen box. */
export function unwrapBlock(state: EditorState): Transaction | null {
  const chosen = findBlock(state);
  if (!chosen || !BOXES.includes(chosen.node.type.name) || chosen.node.type.name === "column") {
    return null;
  }
  const { node, pos } = chosen;
  const content = node.type.name === "columns" ? node.children.flatMap((one) => one.children) : node.children;
  return choose(state.tr.replaceWith(pos, pos + node.nodeSize, content), pos);
}

/** Give a node other attributes; undefined removes one. */
export function changeAttributes(state: EditorState, { node, pos }: Placed, changes: JsonObject): Transaction {
  const { attrs: before, ...raw } = rawOf(node);
  const attrs: JsonObject = { ...before };
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) {
      delete attrs[name];
    } else {
      attrs[name] = value;
    }
  }
  const after = Object.keys(attrs).length > 0 || before ? { ...raw, attrs } : raw;
  const { tr, selection } = state;
  tr.setNodeMarkup(pos, null, { raw: after }, node.marks);
  return selection instanceof NodeSelection && selection.from === pos
    ? tr.setSelection(NodeSelection.create(tr.doc, pos))
    : tr;
}

/** Make another kind of text of the chosen block; alignment and condition stay. */
export function turnInto(state: EditorState, stored: StoredNode): Transaction | null {
  const chosen = findBlock(state);
  const type = state.schema.nodes[stored.type];
  if (!chosen?.node.isTextblock || !type || chosen.node.type.spec.code) {
    return null;
  }
  const { level: _, ...kept } = rawOf(chosen.node).attrs ?? {};
  const attrs = { ...kept, ...stored.attrs };
  const raw = Object.keys(attrs).length > 0 ? { ...stored, attrs } : stored;
  return state.tr.setNodeMarkup(chosen.pos, type, { raw });
}

/** Choose the block at a position: with the cursor in its text if it has one, or as a whole. */
export function choose(tr: Transaction, pos: number, isWhole = false): Transaction {
  const node = tr.doc.nodeAt(pos);
  if (!node) {
    return tr;
  }
  const inner = node.isTextblock && !isWhole ? TextSelection.create(tr.doc, pos + 1 + node.content.size) : null;
  return tr.setSelection(inner ?? NodeSelection.create(tr.doc, pos)).scrollIntoView();
}

/** Where a block can be put at a position of the document. */
export function canHold($pos: ResolvedPos, node: Node): boolean {
  return $pos.parent.type.contentMatch.matchType(node.type) !== null && (!hasRepeat(node) || !isRepeated($pos));
}

function findTarget($pos: ResolvedPos, node: Node, by: 1 | -1): number | null {
  const sibling = $pos.parent.maybeChild($pos.index() + by);
  const start = $pos.pos;
  if (sibling) {
    const beside = by > 0 ? start + node.nodeSize : start - sibling.nodeSize;
    const inside = node.type.name === "column" || node.type.name === "listItem" ? null : enter($pos.doc, beside, by);
    const isPossible = inside !== null && canHold($pos.doc.resolve(inside), node);
    return isPossible ? inside : by > 0 ? beside + sibling.nodeSize : beside;
  }
  if ($pos.depth === 0 || node.type.name === "column" || node.type.name === "listItem") {
    return null;
  }
  return leave($pos, by);
}

/** The place in a box at a position that is first reached; null if there is no box. */
function enter(doc: Node, pos: number, by: 1 | -1): number | null {
  const box = doc.nodeAt(pos);
  if (!box || !BOXES.includes(box.type.name)) {
    return null;
  }
  const edge = by > 0 ? pos + 1 : pos + box.nodeSize - 1;
  if (box.type.name !== "columns") {
    return edge;
  }
  const column = by > 0 ? box.firstChild : box.lastChild;
  return column?.type.name === "column" ? edge + by : null;
}

/** The place outside of a box; from a column that of the next one. */
function leave($pos: ResolvedPos, by: 1 | -1): number {
  const edge = by > 0 ? $pos.after() : $pos.before();
  if ($pos.parent.type.name !== "column") {
    return edge;
  }
  const next = $pos.doc.resolve(edge);
  const column = by > 0 ? next.nodeAfter : next.nodeBefore;
  return column?.type.name === "column" ? edge + by : by > 0 ? next.after() : next.before();
}

function insertAt(state: EditorState, from: number, to: number, stored: StoredNode): Transaction | null {
  const node = readNode(stored, state.doc.resolve(from).parent.type);
  if (!node) {
    return null;
  }
  const tr = state.tr.replaceWith(from, to, node);
  return chooseFirst(tr, node, from);
}

/** Choose what of a new block is to be filled in first. */
function chooseFirst(tr: Transaction, node: Node, pos: number): Transaction {
  let first: number | null = node.isTextblock || node.isLeaf ? pos : null;
  node.descendants((one, offset) => {
    first ??= one.isTextblock ? pos + 1 + offset : null;
    return first === null;
  });
  return choose(tr, first ?? pos);
}

function removeAt(tr: Transaction, pos: number): void {
  const $pos = tr.doc.resolve(pos);
  const node = $pos.nodeAfter;
  if (!node) {
    return;
  }
  const isLast = $pos.parent.childCount === 1;
  const filler = isLast ? $pos.parent.type.contentMatch.fillBefore(Fragment.empty, true) : null;
  tr.replaceWith(pos, pos + node.nodeSize, filler ?? Fragment.empty);
}

function fits($pos: ResolvedPos, stored: StoredNode): boolean {
  const type: NodeType | undefined = $pos.doc.type.schema.nodes[stored.type];
  const isRepeat = stored.type === "repeat" && isRepeated($pos);
  return type !== undefined && !isRepeat && $pos.parent.type.contentMatch.matchType(type) !== null;
}

function canRepeat($pos: ResolvedPos, node: Node): boolean {
  return !isRepeated($pos) && !hasRepeat(node);
}

/** Repeats cannot be nested. */
function isRepeated($pos: ResolvedPos): boolean {
  return Array.from({ length: $pos.depth + 1 }, (_, depth) => $pos.node(depth)).some(
    (one) => one.type.name === "repeat",
  );
}

function hasRepeat(node: Node): boolean {
  let isFound = node.type.name === "repeat";
  node.descendants((one) => {
    isFound ||= one.type.name === "repeat";
    return !isFound;
  });
  return isFound;
}

const IDS = ["id", "columnId"];

/** A copy is a block of its own; the `id` of a variable is its name. */
function withoutIds(stored: StoredNode): StoredNode {
  const { attrs, content, ...others } = stored;
  const kept =
    attrs && stored.type !== "variable"
      ? Object.fromEntries(Object.entries(attrs).filter(([name]) => !IDS.includes(name)))
      : attrs;
  return {
    ...others,
    ...(kept !== undefined && { attrs: kept }),
    ...(content !== undefined && { content: content?.map(withoutIds) ?? null }),
  };
}
