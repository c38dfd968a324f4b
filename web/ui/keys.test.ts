import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesKey } from "./keys.ts";

const plain = { ctrlKey: false, metaKey: false, altKey: false };

test("a key is pressed with its modifier, and without others", () => {
  assert.ok(matchesKey("?", { ...plain, key: "?" }));
  assert.ok(matchesKey("mod+k", { ...plain, key: "k", metaKey: true }));
  assert.ok(matchesKey("mod+k", { ...plain, key: "K", ctrlKey: true }));
  assert.ok(!matchesKey("k", { ...plain, key: "k", ctrlKey: true }));
  assert.ok(!matchesKey("mod+k", { ...plain, key: "k" }));
});
