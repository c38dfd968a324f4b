import assert from "node:assert/strict";
import { test } from "node:test";
import { countFilters, parametersOf, queryTextOf, readFilters, replaceFirst } from "./filters.ts";

function read(query: string) {
  return readFilters((name) => new URLSearchParams(query).getAll(name));
}

test("filters of the address are those of the request, in one order", () => {
  const filters = read("subscriberId=ada&status=failed&range=1h&status=skipped&topicKey=news");

  assert.deepEqual(parametersOf(filters), { status: ["failed", "skipped"], subscriberId: ["ada"], topicKey: "news" });
  assert.equal(queryTextOf(filters), "status=failed&status=skipped&subscriberId=ada&topicKey=news");
  assert.equal(countFilters(filters), 3);
  assert.equal(countFilters(read("")), 0);
});

test("a field changes the first of several values and keeps the others", () => {
  assert.deepEqual(replaceFirst([], "a"), ["a"]);
  assert.deepEqual(replaceFirst(["a", "b"], "c"), ["c", "b"]);
  assert.deepEqual(replaceFirst(["a", "b"], "b"), ["b"]);
  assert.deepEqual(replaceFirst(["a", "b"], ""), ["b"]);
});
