/** Block documents as they are stored: nodes with attributes, content and marks. */
import { isObject, type JsonObject } from "../values.ts";

export type StoredMark = { type: string; attrs?: JsonObject | null };

export type StoredNode = {
  type: string;
  attrs?: JsonObject | null;
  content?: StoredNode[] | null;
  text?: string | null;
  marks?: StoredMark[] | null;
};

/** The document in a text; null if it is none. */
export function readStored(text: string): StoredNode | null {
  if (!text.trimStart().startsWith("{")) {
    return null;
  }
  try {
    const document: unknown = JSON.parse(text);
    const isDocument = isObject(document) && document.type === "doc" && Array.isArray(document.content);
    return isDocument ? (document as StoredNode) : null;
  } catch {
    return null;
  }
}

/** Whether a value has the form of a node; what is in its content may be anything. */
export function isNode(value: unknown): value is StoredNode {
  return (
    isObject(value) &&
    typeof value.type === "string" &&
    isAbsentOr(value.attrs, isObject) &&
    isAbsentOr(value.content, Array.isArray) &&
    isAbsentOr(value.text, (text) => typeof text === "string") &&
    isAbsentOr(value.marks, (marks) => Array.isArray(marks) && marks.every(isMark))
  );
}

function isMark(value: unknown): boolean {
  return isObject(value) && typeof value.type === "string" && isAbsentOr(value.attrs, isObject);
}

function isAbsentOr(value: unknown, test: (value: unknown) => boolean): boolean {
  return value === undefined || value === null || test(value);
}
