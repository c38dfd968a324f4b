import assert from "node:assert/strict";
import { test } from "node:test";
import { isChosen, type RunCounts, spanOf, sumOutcomes } from "./outcomes.ts";

const counts: RunCounts = {
  interval: "15m",
  estimated: false,
  total: 9,
  buckets: [
    { at: "2026-05-03T12:00:00.000Z", total: 6, statuses: { completed: 3, merged: 1, failed: 2 } },
    { at: "2026-05-03T12:15:00.000Z", total: 3, statuses: { waiting: 1, running: 1, canceled: 1 } },
  ],
};

test("every status belongs to one outcome", () => {
  assert.deepEqual(sumOutcomes(counts), { failed: 2, partlyFailed: 0, underWay: 2, skipped: 1, delivered: 4 });
});

test("chosen bars are the time from the first to the end of the last", () => {
  assert.deepEqual(spanOf(counts, 0, 1), { after: "2026-05-03T12:00:00.000Z", before: "2026-05-03T12:30:00.000Z" });
  assert.deepEqual(spanOf(counts, 1, 1), { after: "2026-05-03T12:15:00.000Z", before: "2026-05-03T12:30:00.000Z" });
  assert.equal(spanOf(counts, 1, 2), null);
});

test("an outcome is chosen if the statuses are exactly its own", () => {
  assert.ok(isChosen(["waiting", "running"], "underWay"));
  assert.ok(!isChosen(["waiting"], "underWay"));
  assert.ok(!isChosen([], "failed"));
});
