import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, type Facts, hasOwnProvider, listDone, nextStep, totalsOf } from "./model.ts";

const nothing: Facts = {
  hasUsedKey: false,
  person: undefined,
  workflow: undefined,
  hasRun: false,
  hasProvider: false,
};

test("the next step is the first one that is not done", () => {
  assert.equal(nextStep(listDone(nothing)), "key");
  assert.equal(nextStep(listDone({ ...nothing, hasUsedKey: true, workflow: "welcome" })), "person");
  const all = { hasUsedKey: true, person: "ada", workflow: "welcome", hasRun: true, hasProvider: true };
  assert.equal(nextStep(listDone(all)), undefined);
});

test("providers that come with Clarion do not count, whatever they are called here", () => {
  const inbox = { channel: "in_app", providerId: "acme", active: true };
  const mail = { channel: "email", providerId: "acme-email", active: true };
  const real = { channel: "email", providerId: "sendgrid", active: true };
  assert.equal(hasOwnProvider([inbox, mail]), false);
  assert.equal(hasOwnProvider([inbox, { ...real, active: false }]), false);
  assert.equal(hasOwnProvider([inbox, mail, real]), true);
});

test("runs are summed up by outcome", () => {
  const buckets = [
    { at: "2026-01-01T00:00:00.000Z", total: 4, statuses: { completed: 2, merged: 1, failed: 1 } },
    { at: "2026-01-01T01:00:00.000Z", total: 0, statuses: {} },
  ];
  assert.deepEqual(
    totalsOf(buckets).map(({ outcome, count }) => [outcome.name, count]),
    [
      ["completed", 3],
      ["failed", 1],
    ],
  );
  assert.deepEqual(
    barsOf(buckets, (at) => at).map((bar) => bar.parts.map((part) => part.value)),
    [
      [3, 0, 0, 0, 1],
      [0, 0, 0, 0, 0],
    ],
  );
});
