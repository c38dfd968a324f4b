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
  tracking: { opens: true, clicks: false, domain: "links.example.com" },
  replies: { enabled: false },
  subscribersCreateTopics: true,
  createdAt: "2026-05-03T12:00:00.000Z",
  updatedAt: "2026-05-03T12:00:00.000Z",
} as Parameters<typeof formOf>[0];

test("what is set survives the form, and what is not set stays the installation's", () => {
  const patch = patchOf(formOf(environment), environment);
  assert.deepEqual(patch.limits, { trigger: { perSecond: 100, burst: 500 }, configuration: null, global: null });
  assert.equal(patch.retentionDays?.runs, 30);
  assert.equal(patch.retentionDays?.audit, null);
  assert.equal(patch.timezone, null);
});

test("of e-mails only what differs is sent", () => {
  const form = formOf(environment);
  const { tracking, replies } = patchOf(form, environment);
  assert.deepEqual([tracking, replies], [undefined, undefined]);
  const changed = {
    ...form,
    tracking: { ...form.tracking, domain: " " },
    replies: { enabled: true, domain: "in.example.com" },
  };
  assert.deepEqual(patchOf(changed, environment).tracking, { opens: true, clicks: false, domain: null });
  assert.deepEqual(patchOf(changed, environment).replies, { enabled: true, domain: "in.example.com" });
});
