import assert from "node:assert/strict";
import { test } from "node:test";
import { formOf, patchOf } from "./model.ts";

// Only what the form shows.
const environment = {
  _id: "1",
  name: "Development",
  _organizationId: "2",
  identifier: "abc",
  type: "dev" as const,
  slug: "dev",
  limits: { trigger: { perSecond: 100, burst: 500 } },
  retentionDays: { runs: 30 },
  subscribersCreateTopics: true,
  createdAt: "2026-05-03T12:00:00.000Z",
  updatedAt: "2026-05-03T12:00:00.000Z",
} as Parameters<typeof formOf>[0];

test("what is set survives the form, and what is not set stays the installation's", () => {
  const patch = patchOf(formOf(environment));
  assert.deepEqual(patch.limits, { trigger: { perSecond: 100, burst: 500 }, configuration: null, global: null });
  assert.equal(patch.retentionDays?.runs, 30);
  assert.equal(patch.retentionDays?.audit, null);
  assert.equal(patch.timezone, null);
});
