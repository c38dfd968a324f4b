import assert from "node:assert/strict";
import { test } from "node:test";
import { nameOf, subscriberPath } from "./person.ts";

test("people without a name are called by their id", () => {
  assert.equal(nameOf({ subscriberId: "ada", firstName: "Ada", lastName: "Lovelace" }), "Ada Lovelace");
  assert.equal(nameOf({ subscriberId: "ada", firstName: " ", lastName: null }), "ada");
});

test("every id has an address of its own", () => {
  assert.equal(subscriberPath("a/b c", "inbox"), "/subscribers/a%2Fb%20c/inbox");
  assert.equal(subscriberPath("import"), "/subscribers/import/overview");
});
