import assert from "node:assert/strict";
import { test } from "node:test";
import { findChange } from "./change.ts";

test("only what differs is changed", () => {
  assert.equal(findChange("abc", "abc"), null);
  assert.deepEqual(findChange("abc", "abXc"), { from: 2, to: 2, insert: "X" });
  assert.deepEqual(findChange("aaa", "aa"), { from: 2, to: 3, insert: "" });
  assert.deepEqual(findChange("", "new"), { from: 0, to: 0, insert: "new" });
  assert.deepEqual(findChange("one two", "one 2 two"), { from: 4, to: 4, insert: "2 " });
});
