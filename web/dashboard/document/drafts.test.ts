import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { makeDraftWriter, readDraft } from "./drafts.ts";

function startStorage(): Map<string, string> {
  const kept = new Map<string, string>();
  Object.assign(globalThis, {
    localStorage: {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, text: string) => kept.set(key, text),
      removeItem: (key: string) => kept.delete(key),
    },
  });
  return kept;
}

const draft = (text: string) => ({ draft: text, base: "", etag: "1", at: "2026-01-31T09:30:00.000Z" });

test("only the last of several changes is written, after a pause", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const kept = startStorage();
  const writer = makeDraftWriter("key");
  const made: string[] = [];
  for (const text of ["H", "He", "Hey"]) {
    writer.write(() => {
      made.push(text);
      return draft(text);
    });
    mock.timers.tick(100);
  }
  assert.equal(kept.size, 0);
  mock.timers.tick(500);
  assert.deepEqual(made, ["Hey"]);
  assert.equal(readDraft<string>("key")?.draft, "Hey");
  mock.timers.reset();
});

test("what waits is written at once when the page is left, and nothing after it was saved", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const kept = startStorage();
  const writer = makeDraftWriter("key");
  writer.write(() => draft("Hello"));
  writer.flush();
  assert.equal(readDraft<string>("key")?.draft, "Hello");
  writer.write(() => draft("Hello you"));
  writer.write(null);
  mock.timers.tick(1000);
  writer.flush();
  assert.equal(kept.size, 0);
  mock.timers.reset();
});

test("what cannot be read is removed", () => {
  const kept = startStorage();
  kept.set("key", "{");
  assert.equal(readDraft("key"), null);
  assert.equal(kept.size, 0);
});
