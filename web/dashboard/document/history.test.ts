import assert from "node:assert/strict";
import { test } from "node:test";
import { type History, record, redo, rewrite, startHistory, undo } from "./history.ts";

type Letter = { title: string; tags: string[]; parts: { id: string; text?: string }[] };

const first: Letter = { title: "", tags: [], parts: [{ id: "a" }, { id: "b", text: "Hi" }] };

function typeTitle(history: History<Letter>, text: string, at: number): History<Letter> {
  return [...text].reduce((now, letter, index) => {
    const { present } = now;
    return record(now, { ...present, title: present.title + letter }, at + index * 100);
  }, history);
}

test("letters that are typed in one go are one state", () => {
  const typed = typeTitle(startHistory(first), "Hello", 0);
  assert.equal(typed.present.title, "Hello");
  assert.deepEqual(undo(typed).present, first);
});

test("a pause, another field and any other change begin a new state", () => {
  let history = typeTitle(startHistory(first), "One", 0);
  history = typeTitle(history, " two", 5000);
  history = record(history, { ...history.present, tags: ["x"] }, 5500);
  const parts = history.present.parts.with(0, { id: "a", text: "A" });
  history = record(history, { ...history.present, parts }, 5600);
  assert.deepEqual(
    [1, 2, 3, 4].map((steps) => {
      let now = history;
      for (let step = 0; step < steps; step++) {
        now = undo(now);
      }
      return [now.present.title, now.present.tags.length, now.present.parts[0]?.text];
    }),
    [
      ["One two", 1, undefined],
      ["One two", 0, undefined],
      ["One", 0, undefined],
      ["", 0, undefined],
    ],
  );
});

test("what was undone comes back, until something else is done", () => {
  const typed = typeTitle(startHistory(first), "Hello", 0);
  assert.equal(redo(undo(typed)).present.title, "Hello");
  const other = typeTitle(undo(typed), "Bye", 200);
  assert.equal(redo(other), other);
  assert.deepEqual(undo(other).present, first);
  assert.equal(undo(startHistory(first)).present, first);
});

test("typing after undo is a state of its own", () => {
  const typed = typeTitle(startHistory(first), "Hello", 0);
  const again = typeTitle(redo(undo(typed)), "!", 500);
  assert.equal(undo(again).present.title, "Hello");
});

test("letters in one block of a document are one state, and what is done with blocks is another", () => {
  const text = (words: string) => ({ type: "paragraph", ...(words && { content: [{ type: "text", text: words }] }) });
  const write = (...content: object[]) => JSON.stringify({ type: "doc", content });
  const box = (words: string) => ({ type: "section", content: [text(words)] });
  const button = (url: string) => ({ type: "button", attrs: { url } });
  const states = [
    write(text("Hi"), box(""), button("")),
    write(text("Hi"), box("A"), button("")),
    write(text("Hi"), box("Ab"), button("")),
    write(text("Hi"), box("Ab"), button("h")),
    write(text("Hi"), box("Ab"), button("ht")),
    write(box("Ab"), text("Hi"), button("ht")),
    write(text("Hi"), box("Ab"), button("ht")),
  ];
  let history = startHistory({ body: states[0] });
  states.slice(1).forEach((body, index) => {
    history = record(history, { body }, index * 100);
  });
  const kept = [0, 2, 4, 5].map((index) => ({ body: states[index] }));
  assert.deepEqual(history.past, kept);
});

test("a limited number of states is kept", () => {
  let history = startHistory<Letter>(first);
  for (let number = 0; number < 300; number++) {
    history = record(history, { ...history.present, tags: [String(number)] }, number * 5000);
  }
  assert.equal(history.past.length, 100);
});

test("all states can be changed alike", () => {
  const history = undo(typeTitle(typeTitle(startHistory(first), "A", 0), "B", 9000));
  const renamed = (letter: Letter) => ({ ...letter, tags: ["saved"] });
  const changed = rewrite(history, history.present, renamed);
  assert.deepEqual(undo(changed).present.tags, ["saved"]);
  assert.deepEqual(redo(changed).present, { ...first, title: "AB", tags: ["saved"] });
  assert.equal(changed.present, history.present);
});
