/** Marks at the cursor: which there are, how far they reach, and their attributes. */
import { getMarkRange } from "@tiptap/core";
import type { Mark } from "@tiptap/pm/model";
import type { EditorState, Transaction } from "@tiptap/pm/state";
import type { JsonObject } from "../values.ts";
import type { StoredMark } from "./stored.ts";

/** The mark of a type at the cursor or at the start of the selection. */
export function findMark(state: Pick<EditorState, "selection" | "storedMarks" | "doc">, name: string): Mark | null {
  const { $from, from, to, empty } = state.selection;
  let found: Mark | undefined = empty ? (state.storedMarks ?? $from.marks()).find(isNamed) : undefined;
  function isNamed(mark: Mark) {
    return mark.type.name === name;
  }
  if (!empty) {
    state.doc.nodesBetween(from, to, (node) => {
      found ??= node.isInline ? node.marks.find(isNamed) : undefined;
    });
  }
  return found ?? null;
}

export function markAttributes(mark: Mark): JsonObject {
  return (mark.attrs.raw as StoredMark | null)?.attrs ?? {};
}

/** Give the mark at the cursor other attributes. */
export function changeMark(state: EditorState, name: string, changes: JsonObject): Transaction | null {
  const mark = findMark(state, name);
  const range = mark && rangeOf(state, mark);
  if (!range) {
    return null;
  }
  const raw = { ...(mark.attrs.raw as StoredMark | null), type: name, attrs: { ...markAttributes(mark), ...changes } };
  return state.tr.removeMark(range.from, range.to, mark).addMark(range.from, range.to, mark.type.create({ raw }));
}

export function removeMark(state: EditorState, name: string): Transaction | null {
  const mark = findMark(state, name);
  const range = mark && rangeOf(state, mark);
  return range ? state.tr.removeMark(range.from, range.to, mark) : null;
}

/** Mark the selection with what is to be filled in. */
export function addMark(state: EditorState, raw: StoredMark): Transaction | null {
  const { from, to, empty } = state.selection;
  const type = state.schema.marks[raw.type];
  return empty || !type ? null : state.tr.addMark(from, to, type.create({ raw }));
}

function rangeOf(state: EditorState, mark: Mark): { from: number; to: number } | null {
  const { from, to, empty, $from } = state.selection;
  return empty ? (getMarkRange($from, mark.type) ?? null) : { from, to };
}
