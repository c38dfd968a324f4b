import assert from "node:assert/strict";
import { test } from "node:test";
import { plainChoices, type Side } from "../document/merge.ts";
import { findBlockDifferences, mergeBlocks } from "./merge.ts";
import type { StoredNode } from "./stored.ts";

function text(words: string, attrs?: Record<string, unknown>): StoredNode {
  return { type: "paragraph", ...(attrs && { attrs }), content: [{ type: "text", text: words }] };
}

function box(...content: StoredNode[]): StoredNode {
  return { type: "section", content };
}

type Versions = { base: StoredNode[]; mine: StoredNode[]; theirs: StoredNode[] };

/** The differences that need an answer, and the content with one answer to all of them. */
function merge(versions: Versions, side: Side = "mine"): { asked: (string | undefined)[]; content: StoredNode[] } {
  const write = (content: StoredNode[]) => JSON.stringify({ type: "doc", content });
  const [base, mine, theirs] = [versions.base, versions.mine, versions.theirs].map(write);
  const whole = { id: "body", field: "body", base, mine, theirs };
  const differences = findBlockDifferences(whole) ?? [];
  const asked = differences.filter(({ changedBy }) => changedBy === "both");
  const choices = { ...plainChoices(differences), ...Object.fromEntries(asked.map(({ id }) => [id, side])) };
  return { asked: asked.map(({ part }) => part), content: JSON.parse(mergeBlocks(whole, choices) ?? "{}").content };
}

test("changes of different blocks need no answer", () => {
  const merged = merge({
    base: [text("A"), text("B"), text("C")],
    mine: [text("A!"), text("B"), text("C"), text("D")],
    theirs: [text("A"), text("B"), text("New"), text("C?")],
  });
  assert.deepEqual(merged.asked, []);
  assert.deepEqual(merged.content.map(wordsOf), ["A!", "B", "New", "C?", "D"]);
});

test("blocks in a box are told apart, too", () => {
  const merged = merge({
    base: [box(text("A"), box(text("B")), text("C"))],
    mine: [box(text("A!"), box(text("B")), text("C"))],
    theirs: [{ ...box(text("A"), box(text("B?")), text("C")), attrs: { align: "left" } }],
  });
  assert.deepEqual(merged.asked, []);
  const [section] = merged.content;
  assert.deepEqual(section?.attrs, { align: "left" });
  assert.deepEqual(section?.content, [text("A!"), box(text("B?")), text("C")]);
});

test("one block that both changed is asked for", () => {
  const versions = { base: [text("A"), text("B")], mine: [text("A"), text("B1")], theirs: [text("A2"), text("B2")] };
  assert.deepEqual(merge(versions).asked, ["Paragraph"]);
  assert.deepEqual(merge(versions).content, [text("A2"), text("B1")]);
  assert.deepEqual(merge(versions, "theirs").content, [text("A2"), text("B2")]);
});

test("a block that moved is the same one, and may be changed by the other person", () => {
  const merged = merge({
    base: [text("A"), text("B"), text("C", { id: "c" })],
    mine: [text("C", { id: "c" }), text("A"), text("B")],
    theirs: [text("A"), text("B"), text("C changed", { id: "c" })],
  });
  assert.deepEqual(merged.asked, []);
  assert.deepEqual(merged.content, [text("C changed", { id: "c" }), text("A"), text("B")]);
});

test("a block that one deleted is gone, unless the other one changed it", () => {
  const base = [text("A"), text("B"), text("C")];
  const gone = merge({ base, mine: [text("A"), text("C")], theirs: [text("A!"), text("B"), text("C")] });
  assert.deepEqual(gone.content, [text("A!"), text("C")]);
  const kept = merge({ base, mine: [text("A"), text("C")], theirs: [text("A"), text("B!"), text("C")] }, "theirs");
  assert.deepEqual(kept.asked, ["Paragraph"]);
  assert.deepEqual(kept.content, [text("A"), text("B!"), text("C")]);
});

test("what is no document is merged as a whole", () => {
  const whole = { id: "body", field: "body", base: "<p>A</p>", mine: "<p>B</p>", theirs: "<p>C</p>" };
  assert.equal(findBlockDifferences(whole), null);
  assert.equal(mergeBlocks(whole, {}), null);
});

function wordsOf(node: StoredNode): string {
  return node.content?.[0]?.text ?? "";
}
