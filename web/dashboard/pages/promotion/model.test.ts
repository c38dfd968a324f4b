import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseAtFirst, fieldsOf, keyOf, type ResourceDiff } from "./model.ts";

const summary = { added: 0, modified: 0, deleted: 0, unchanged: 0 };

function make(action: ResourceDiff["action"], id: string, problem?: string): ResourceDiff {
  const resource = { id, name: id };
  return {
    resourceType: "workflow",
    action,
    sourceResource: action === "deleted" ? null : resource,
    targetResource: action === "added" ? null : resource,
    changes: [],
    summary,
    ...(problem && { problem }),
  };
}

test("new and changed resources are chosen at first, but nothing is deleted unasked", () => {
  const diffs = [make("added", "a"), make("modified", "b"), make("deleted", "c"), make("unchanged", "d")];
  assert.deepEqual(chooseAtFirst([...diffs, make("added", "e", "is of another provider")]), [
    "workflow a",
    "workflow b",
  ]);
  assert.equal(keyOf(make("deleted", "c")), "workflow c");
});

test("a field that only one side has is listed without the other value", () => {
  const change = {
    resourceType: "step" as const,
    action: "modified" as const,
    sourceResource: null,
    targetResource: null,
  };
  assert.deepEqual(fieldsOf({ ...change, diffs: { previous: { a: 1, b: 2 }, new: { b: 3, c: 4 } } }), [
    { path: "a", before: 1 },
    { path: "b", before: 2, after: 3 },
    { path: "c", after: 4 },
  ]);
});
