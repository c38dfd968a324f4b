import assert from "node:assert/strict";
import { test } from "node:test";
import { scopesText } from "./model.ts";

test("many scopes are cut, and all of them are a word", () => {
  assert.equal(scopesText(["all"]), "Full access");
  assert.equal(scopesText(["a", "b"]), "a, b");
  assert.equal(scopesText(["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
});
