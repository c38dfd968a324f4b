import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { getSchema } from "@tiptap/core";
import type { Node } from "@tiptap/pm/model";
import { EditorState } from "@tiptap/pm/state";
import { NEW_BLOCKS } from "./catalog.ts";
import { readDocument, writeContent } from "./convert.ts";
import { MARKS, NODES } from "./schema.ts";
import type { StoredNode } from "./stored.ts";

const schema = getSchema([...NODES, ...MARKS]);
const GOLDEN = `${import.meta.dirname}/../../../tests/content/email/golden`;

function text(words: string, ...marks: string[]): StoredNode {
  return { type: "text", text: words, ...(marks.length > 0 && { marks: marks.map((type) => ({ type })) }) };
}

function read(...content: unknown[]): Node {
  const node = readDocument(schema, { type: "doc", content: content as StoredNode[] });
  node.check();
  return node;
}

/** The same nodes without a memory of what they were read from, as after each of them was changed. */
function forget(node: Node): Node {
  return schema.nodeFromJSON(node.toJSON());
}

/** When they are touched, marks have one order, and texts with the same ones are one. */
function inOneForm(content: readonly StoredNode[]): StoredNode[] {
  const joined: StoredNode[] = [];
  for (const stored of content) {
    const marks = stored.marks?.toSorted((one, other) => one.type.localeCompare(other.type));
    const node = { ...stored, ...(marks && { marks }) };
    const before = joined.at(-1);
    if (before?.type === "text" && node.type === "text" && isDeepStrictEqual(before.marks, node.marks)) {
      joined.splice(-1, 1, { ...before, text: `${before.text}${node.text}` });
    } else {
      joined.push(node.content ? { ...node, content: inOneForm(node.content) } : node);
    }
  }
  return joined;
}

test("stored e-mails are written as they were read", () => {
  const files = globSync("*.json", { cwd: GOLDEN });
  assert.ok(files.length >= 10, "no golden documents");
  for (const file of files) {
    const stored: StoredNode = JSON.parse(readFileSync(`${GOLDEN}/${file}`, "utf8"));
    const node = readDocument(schema, stored);
    node.check();
    assert.deepEqual(writeContent(node), stored.content, file);
    const touched = writeContent(forget(node));
    assert.deepEqual(inOneForm(touched), inOneForm(stored.content ?? []), `${file}, when all of it was touched`);
  }
});

test("documents of any form are written as they were read", () => {
  const random = makeRandom(7);
  for (let number = 0; number < 500; number += 1) {
    const content = Array.from({ length: 1 + random(4) }, () => makeNode(random, 0));
    assert.deepEqual(writeContent(read(...content)), content);
  }
});

test("what the editor does not know is kept as a whole, and so is what stands in a wrong place", () => {
  const strange = [
    { type: "carousel", attrs: { speed: 3 }, content: [{ type: "slide" }] },
    { type: "text", text: "alone" },
    { type: "listItem", content: [] },
    { type: "button", content: [text("inside")] },
    { type: "section", marks: [{ type: "bold" }], other: true },
    { type: "paragraph", content: [{ type: "section" }, { type: "text", text: "a", attrs: { x: 1 } }] },
    { type: "unknownBlock" },
    "words",
    null,
  ];
  assert.deepEqual(writeContent(forget(read(...strange))), strange);
});

test("attributes and members without a meaning are kept when the text beside them changes", () => {
  const marked = { type: "text", text: "Hi", marks: [{ type: "glow", attrs: { by: 2 } }, { type: "bold" }] };
  const stored = { type: "paragraph", attrs: { dir: "rtl", textAlign: null }, extra: [1], content: [marked] };
  const state = EditorState.create({ doc: read(stored, { type: "spacer", attrs: { height: "8px" } }) });
  const [first, second] = writeContent(state.apply(state.tr.insertText("!", 3)).doc);
  const { content, ...others } = first as StoredNode & { extra: unknown };
  assert.deepEqual(others, { type: "paragraph", attrs: { dir: "rtl", textAlign: null }, extra: [1] });
  assert.deepEqual(content?.map(({ text }) => text).join(""), "Hi!");
  assert.deepEqual(content?.[0]?.marks?.map(({ type }) => type).sort(), ["bold", "glow"]);
  assert.deepEqual(second, { type: "spacer", attrs: { height: "8px" } });
});

test("empty boxes are filled for the cursor, and stored as they were", () => {
  const stored = [{ type: "section" }, { type: "columns", content: [{ type: "column", attrs: { columnId: "a" } }] }];
  const node = read(...stored);
  assert.equal(node.toString(), "doc(section(paragraph), columns(column(paragraph)))");
  assert.deepEqual(writeContent(node), stored);
});

test("new blocks fit the document", () => {
  for (const [name, stored] of Object.entries(NEW_BLOCKS)) {
    const inline = name === "inlineImage";
    const node = read(inline ? { type: "paragraph", content: [stored] } : stored);
    assert.ok(!node.toString().includes("unknown"), name);
  }
});

type Random = (below: number) => number;

/** Numbers that are the same in every run. */
function makeRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
}

const TYPES = [...Object.keys(NODES.map(({ name }) => name)), ...NODES.map(({ name }) => name), "for", "foo", "doc"];
const MARK_TYPES = [...MARKS.map(({ name }) => name), "glow"];
const VALUES = [null, true, 0, "", "payload.items", "#fff", [1], { deep: { er: 1 } }];

/** A node of any type in any place, with any attributes, content and marks. */
function makeNode(random: Random, depth: number): StoredNode {
  const pick = <Item>(items: readonly Item[]) => items[random(items.length)] as Item;
  const maybe = (make: () => object) => (random(3) === 0 ? {} : make());
  const list = <Item>(make: () => Item) => Array.from({ length: random(4) }, make);
  if (random(4) === 0) {
    const words = pick(["Hi", " ", "{{payload.name}}", "שלום", ""]);
    return { type: "text", text: words, ...maybe(() => ({ marks: list(() => ({ type: pick(MARK_TYPES) })) })) };
  }
  return {
    type: pick(TYPES),
    ...maybe(() => ({ attrs: { [pick(["showIfKey", "id", "level", "foo"])]: pick(VALUES) } })),
    ...(depth < 5 && maybe(() => ({ content: list(() => makeNode(random, depth + 1)) }))),
  };
}
