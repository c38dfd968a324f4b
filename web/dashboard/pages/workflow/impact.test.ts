import assert from "node:assert/strict";
import { test } from "node:test";
import { describeEmpty, describeMessages, describeProblems, describeWaiting, type Impact } from "./impact.ts";

const IMPACT: Impact = {
  version: 3,
  waiting: [
    { stepId: "digest", name: "Digest", type: "digest", version: 3, count: 2, follows: true, gone: false },
    { stepId: "wait", name: "Wait", type: "delay", version: 2, count: 1, follows: false, gone: true },
  ],
  waitingCapped: false,
  problems: [{ stepId: "mail", path: "subject", message: "subject is missing" }],
  emptyVariables: [{ stepId: "mail", path: "body", variable: "payload.order", missing: 4 }],
  triggerCount: 10,
  triggers: [],
  complete: true,
  confirmToken: "1.x",
  expiresAt: "2026-01-01T00:15:00.000Z",
};

test("runs that go on with the change are told apart from those that keep their version", () => {
  assert.deepEqual(describeWaiting(IMPACT), [
    "2 runs at Digest: they go on with the change",
    "1 run at Wait: they keep version 2",
  ]);
  assert.match(describeWaiting({ ...IMPACT, waitingCapped: true })[0] ?? "", /2 runs or more/);
});

test("problems and missing values name their step", () => {
  assert.deepEqual(describeProblems(IMPACT), ["mail, subject: subject is missing"]);
  assert.deepEqual(describeEmpty(IMPACT), ["payload.order in mail: missing in 4 of 10"]);
});

test("messages are shown with their channel and subject, and none as such", () => {
  const message = { at: "", channel: "email", stepId: "mail", to: "a@b.c", integration: null, content: "Hi" } as const;
  assert.equal(describeMessages([{ ...message, subject: "Order" }, message]), "email · Order · Hi\nemail · Hi");
  assert.equal(describeMessages([]), "No message");
});
