import assert from "node:assert/strict";
import { test } from "node:test";
import type { components } from "../../../api/schema.d.ts";
import { type Entry, matchEntries, pathOf } from "./entries.ts";

const matched = { field: "_id", kind: "exact" } as const;

function makeEntry(title: string, words = ""): Entry {
  return { id: title, group: "pages", kind: "Page", title, words, path: "/" };
}

test("all words of the text have to match, and the beginning of a title is best", () => {
  const entries = [makeEntry("Dead letters"), makeEntry("Import subscribers"), makeEntry("Subscribers")];
  const titles = (text: string) => matchEntries(entries, text).map((one) => one.title);
  assert.deepEqual(titles("subscr"), ["Subscribers", "Import subscribers"]);
  assert.deepEqual(titles("sub imp"), ["Import subscribers"]);
  assert.deepEqual(titles("let"), ["Dead letters"]);
  assert.deepEqual(titles("nothing"), []);
});

test("other words find an entry too, after those that are called so", () => {
  const entries = [makeEntry("Activity", "runs events log"), makeEntry("Runs of today")];
  assert.deepEqual(
    matchEntries(entries, "runs").map((one) => one.title),
    ["Runs of today", "Activity"],
  );
});

test("everything that is found has a page", () => {
  const result = (
    type: components["schemas"]["SearchType"],
    id: string,
    parent?: { type: "notification"; id: string },
  ) => pathOf({ type, id, _id: "1", title: "x", matched, ...(parent && { parent }) });
  assert.equal(result("subscriber", "a/b c"), "/subscribers/a%2Fb%20c");
  assert.equal(result("transaction", "order#1"), "/activity?transactionId=order%231");
  assert.equal(result("message", "7", { type: "notification", id: "9" }), "/activity/9");
  assert.equal(result("apiKey", "7"), "/api-keys");
});
