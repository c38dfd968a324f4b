/**
 * Block documents as nodes of the editor and back. Nodes of the editor never change, and each one that was read
 * remembers what it was read from: what nobody touched is written as it was stored, to the last member.
 */
import type { Mark, Node, NodeType, Schema } from "@tiptap/pm/model";
import { nameOf, rawOf } from "./schema.ts";
import { isNode, type StoredMark, type StoredNode } from "./stored.ts";

const originals = new WeakMap<Node, StoredNode>();

/** The content of a document. */
export function readDocument(schema: Schema, stored: StoredNode): Node {
  const children = readContent(stored, schema.topNodeType);
  return schema.topNodeType.createAndFill(null, children) ?? schema.topNodeType.create();
}

/** A node for a place in a parent of a type; null for a text without letters, which the editor cannot have. */
export function readNode(stored: unknown, parent: NodeType): Node | null {
  const node = readKnown(stored, parent);
  if (node !== undefined) {
    return node;
  }
  const { unknownInline, unknownBlock } = parent.schema.nodes;
  const unknown = parent.inlineContent ? unknownInline : unknownBlock;
  return unknown ? unknown.create({ raw: stored }) : null;
}

/** What is stored of a node and of everything in it. */
export function writeNode(node: Node): StoredNode {
  const original = originals.get(node);
  if (original !== undefined) {
    return original;
  }
  if (isUnknown(node)) {
    return node.attrs.raw as StoredNode;
  }
  const marks = node.marks.map(writeMark);
  if (node.isText) {
    return { type: "text", text: node.text ?? "", ...(marks.length > 0 && { marks }) };
  }
  const raw = rawOf(node);
  // Splitting and joining may give a node what was another one's.
  const own: StoredNode = nameOf(raw.type) === node.type.name ? raw : { type: node.type.name };
  return {
    ...own,
    ...(node.childCount > 0 && { content: writeContent(node) }),
    ...(marks.length > 0 && { marks }),
  };
}

export function writeContent(node: Node): StoredNode[] {
  return node.children.map(writeNode);
}

export function isUnknown(node: Node): boolean {
  return node.type.name === "unknownBlock" || node.type.name === "unknownInline";
}

function readContent(stored: StoredNode, type: NodeType): Node[] {
  return (stored.content ?? []).flatMap((child) => readNode(child, type) ?? []);
}

/** Undefined where the editor has no node for it in this place. */
function readKnown(stored: unknown, parent: NodeType): Node | null | undefined {
  if (!isNode(stored)) {
    return undefined;
  }
  const type = parent.schema.nodes[nameOf(stored.type)];
  const isHere = type !== undefined && parent.contentMatch.matchType(type) !== null;
  if (!isHere || type.name.startsWith("unknown")) {
    return undefined;
  }
  const node = type.isText ? readText(stored, parent) : readElement(stored, type, parent);
  if (node) {
    originals.set(node, stored);
  }
  return node;
}

function readText(stored: StoredNode, parent: NodeType): Node | null | undefined {
  const { type: _, text, marks, ...others } = stored;
  const hasMarks = (marks ?? []).length > 0;
  if (typeof text !== "string" || Object.keys(others).length > 0 || (hasMarks && !allowsMarks(parent))) {
    return undefined;
  }
  return text === "" ? null : parent.schema.text(text, readMarks(parent.schema, marks));
}

function readElement(stored: StoredNode, type: NodeType, parent: NodeType): Node | undefined {
  const { content, text, marks, ...raw } = stored;
  const hasContent = (content ?? []).length > 0;
  const hasMarks = (marks ?? []).length > 0;
  const isLeafWithMore = (type.isLeaf && hasContent) || typeof text === "string";
  if (isLeafWithMore || (hasMarks && !(type.isInline && allowsMarks(parent)))) {
    return undefined;
  }
  const own = isPlain(raw) && raw.type === type.name ? null : raw;
  return type.createAndFill({ raw: own }, readContent(stored, type), readMarks(type.schema, marks)) ?? undefined;
}

/** Whether there is nothing but the type, as in nodes and marks that the editor makes itself. */
function isPlain(raw: object): boolean {
  return Object.keys(raw).length === 1;
}

function allowsMarks(parent: NodeType): boolean {
  return parent.markSet === null || parent.markSet.length > 0;
}

function readMarks(schema: Schema, stored: readonly StoredMark[] | null | undefined): Mark[] {
  return (stored ?? []).flatMap((raw) => {
    const known = raw.type === "unknownMark" ? undefined : schema.marks[raw.type];
    const type = known ?? schema.marks.unknownMark;
    return type ? type.create({ raw: known && isPlain(raw) ? null : raw }) : [];
  });
}

function writeMark(mark: Mark): StoredMark {
  return (mark.attrs.raw as StoredMark | null) ?? { type: mark.type.name };
}
