import assert from "node:assert/strict";
import { test } from "node:test";
import { type Activity, countProblems, groupsOf, type ListedWorkflow, startOf, totalsOf } from "./model.ts";

test("figures are those of all channels together", () => {
  const none = { skipped: 0, canceled: 0, merged: 0, waiting: 0, seen: 0 };
  const channels = { email: { sent: 3, failed: 1, read: 1, ...none }, sms: { sent: 2, failed: 0, read: 0, ...none } };
  assert.deepEqual(totalsOf({ channels } as unknown as Activity), { sent: 5, failed: 1, read: 1 });
});

test("problems are counted by field", () => {
  const issues = (issueType: string) => [{ issueType, message: "…" }];
  const controls = { body: [...issues("MISSING_VALUE"), ...issues("ILLEGAL_VARIABLE_IN_CONTROL_VALUE")] };
  const workflow = { steps: [{ issues: { controls, warnings: { other: issues("") } } }, {}] };
  assert.equal(countProblems(workflow as unknown as ListedWorkflow), 1);
});

test("a time begins so many days ago", () => {
  assert.equal(startOf("week", Date.parse("2026-05-08T00:00:00Z")), "2026-05-01T00:00:00.000Z");
});

test("many are asked for in groups", () => {
  assert.deepEqual(groupsOf([1, 2, 3], 2), [[1, 2], [3]]);
  assert.deepEqual(groupsOf([], 2), []);
});
