import assert from "node:assert/strict";
import { test } from "node:test";
import { changesOf, verbOf } from "./model.ts";

test("only what differs is listed, by its path", () => {
  assert.deepEqual(
    changesOf({ name: "A", limits: { a: 1, b: 2 }, tags: [1] }, { name: "A", limits: { a: 3 }, tags: [1, 2] }),
    [
      { path: "limits.a", before: 1, after: 3 },
      { path: "limits.b", before: 2 },
      { path: "tags", before: [1], after: [1, 2] },
    ],
  );
});

test("something new has only values after, something deleted only before", () => {
  assert.deepEqual(changesOf(undefined, { name: "A" }), [{ path: "name", after: "A" }]);
  assert.deepEqual(changesOf({ name: "A" }, undefined), [{ path: "name", before: "A" }]);
});

test("actions are verbs", () => {
  assert.equal(verbOf("webhookEndpoint.rotateSecret"), "rotated the secret of");
  assert.equal(verbOf("workflow.unheardOf"), "unheardOf");
});
