/** Whether documents differ by what was typed in one place, which is one state of the history. */
import { isSame } from "../values.ts";
import type { StoredNode } from "./stored.ts";

const INLINE = ["text", "variable", "hardBreak", "inlineImage"];

/** The path of the only block whose words differ, or of the only attribute; null if anything else differs. */
export function findTyped(before: StoredNode, after: StoredNode, path = ""): string | null {
  const { content: left, ...one } = before;
  const { content: right, ...other } = after;
  if (!isSame(one, other)) {
    const name = isSame(left, right) ? findAttribute(before, after) : null;
    return name === null ? null : `${path}/${name}`;
  }
  if (isLine(left) && isLine(right)) {
    const isTyped = wordsOf(left) !== wordsOf(right) && isSame(othersOf(left), othersOf(right));
    return isTyped ? path : null;
  }
  const different = (left ?? []).flatMap((node, index) => (isSame(node, right?.[index]) ? [] : [index]));
  const [index] = different;
  const [node, next] = index === undefined ? [] : [left?.[index], right?.[index]];
  const isOne = different.length === 1 && left?.length === right?.length;
  return isOne && node && next ? findTyped(node, next, `${path}/${index}`) : null;
}

function findAttribute(before: StoredNode, after: StoredNode): string | null {
  const { attrs: left, ...one } = before;
  const { attrs: right, ...other } = after;
  const names = [...new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])];
  const different = names.filter((name) => !isSame(left?.[name], right?.[name]));
  const isTyped = different.every((name) => [left?.[name], right?.[name]].every((value) => typeof value === "string"));
  return isSame(one, other) && isTyped && different.length === 1 ? (different[0] ?? null) : null;
}

function isLine(content: StoredNode["content"]): boolean {
  return (content ?? []).every(({ type }) => INLINE.includes(type));
}

function wordsOf(content: StoredNode["content"]): string {
  return (content ?? []).map(({ text }) => text ?? "").join("");
}

function othersOf(content: StoredNode["content"]): StoredNode[] {
  return (content ?? []).filter(({ type }) => type !== "text");
}
