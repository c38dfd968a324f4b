/** The states that a document had while it was edited: undo and redo, with the letters of one field joined. */
import { readStored, type StoredNode } from "../blocks/stored.ts";
import { findTyped } from "../blocks/typed.ts";
import { isObject } from "../values.ts";

export type History<Document> = {
  past: readonly Document[];
  present: Document;
  future: readonly Document[];
  /** What was typed last and when: typing on in the same field makes no state of its own. */
  typing: { path: string; at: number } | null;
};

const MAX_STATES = 100;
/** Milliseconds without a key, after which more typing is a state of its own. */
const TYPING_PAUSE = 1000;

export function startHistory<Document>(document: Document): History<Document> {
  return { past: [], present: document, future: [], typing: null };
}

/** Make another state the present one. */
export function record<Document>(history: History<Document>, next: Document, at: number): History<Document> {
  const { past, present, typing } = history;
  if (next === present) {
    return history;
  }
  const path = typedPath(present, next);
  const isJoined = path !== null && typing?.path === path && at - typing.at < TYPING_PAUSE;
  return {
    past: isJoined ? past : [...past, present].slice(-MAX_STATES),
    present: next,
    future: [],
    typing: path === null ? null : { path, at },
  };
}

export function undo<Document>(history: History<Document>): History<Document> {
  const { past, present, future } = history;
  const last = past.at(-1);
  return last === undefined
    ? history
    : { past: past.slice(0, -1), present: last, future: [present, ...future], typing: null };
}

export function redo<Document>(history: History<Document>): History<Document> {
  const { past, present, future } = history;
  const [next, ...later] = future;
  return next === undefined ? history : { past: [...past, present], present: next, future: later, typing: null };
}

/** Change all states alike, such as by ids that the server gave; the present one gets a value of its own. */
export function rewrite<Document>(
  history: History<Document>,
  present: Document,
  change: (document: Document) => Document,
): History<Document> {
  return { past: history.past.map(change), present, future: history.future.map(change), typing: null };
}

/** The path of the only text or number that differs; null if more differs, or something else. */
function typedPath(before: unknown, after: unknown): string | null {
  const path: string[] = [];
  let [left, right] = [before, after];
  while (!isTyped(left) || !isTyped(right)) {
    const name = onlyDifference(left, right);
    if (name === null) {
      return null;
    }
    path.push(name);
    left = (left as Record<string, unknown>)[name];
    right = (right as Record<string, unknown>)[name];
  }
  const [one, other] = [readDocument(left), readDocument(right)];
  const inside = one && other ? findTyped(one, other) : "";
  return inside === null ? null : path.join("/") + inside;
}

/** A text may be a document of blocks. */
function readDocument(value: unknown): StoredNode | null {
  return typeof value === "string" ? readStored(value) : null;
}

/** An empty field may be absent from its object. */
function isTyped(value: unknown): boolean {
  return value === undefined || typeof value === "string" || typeof value === "number";
}

/** The name of the only member that is another value in one object than in the other. */
function onlyDifference(left: unknown, right: unknown): string | null {
  const areLists = Array.isArray(left) && Array.isArray(right) && left.length === right.length;
  if (!areLists && !(isObject(left) && isObject(right))) {
    return null;
  }
  const [one, other] = [left as Record<string, unknown>, right as Record<string, unknown>];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  const different = [...names].filter((name) => one[name] !== other[name]);
  return different.length === 1 ? (different[0] ?? null) : null;
}
