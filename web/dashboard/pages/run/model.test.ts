import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "../../message/model.ts";
import type { Decision } from "../../parts/decisions.tsx";
import type { RunData } from "./model.ts";
import {
  digestEventsOf,
  groupSteps,
  hasEnded,
  type Job,
  type JobStatus,
  personOf,
  readObject,
  versionOf,
} from "./model.ts";

const job = (stepId: string, status: JobStatus = "completed") =>
  ({ _id: `job-${stepId}`, status, step: { stepId, name: `The ${stepId}` } }) as unknown as Job;

const decision = (summary: string, fields: Partial<Decision> = {}): Decision => ({
  at: "2026-01-01T00:00:00Z",
  kind: "workflow",
  verdict: "passed",
  summary,
  values: {},
  source: "recorded",
  ...fields,
});

test("decisions and messages are at their steps, between the trigger and what is known afterwards", () => {
  const message = { _id: "m", _jobId: "job-email" } as Message;
  const decisions = [
    decision("triggered"),
    decision("sent", { stepId: "email" }),
    decision("off", { stepId: "sms" }),
    decision("merged", { at: null }),
  ];
  const groups = groupSteps([job("email")], decisions, [message]);
  assert.deepEqual(
    groups.map((one) => [one.title, one.decisions.map((made) => made.summary), one.messages.length]),
    [
      ["Trigger", ["triggered"], 0],
      ["The email", ["sent"], 1],
      ["sms", ["off"], 0],
      ["Afterwards", ["merged"], 0],
    ],
  );
});

test("a run has ended when its row and its jobs say so", () => {
  const data = (status: string, ...jobs: Job[]) => ({ row: { status }, event: { jobs } }) as unknown as RunData;
  assert.equal(hasEnded(data("completed", job("email"))), true);
  assert.equal(hasEnded(data("completed", job("email", "queued"))), false);
  assert.equal(hasEnded(data("waiting", job("email"))), false);
  assert.equal(hasEnded({ ...data("completed"), row: undefined }), false);
});

test("the version that ran is the one that the trigger decided on", () => {
  assert.equal(versionOf([decision("off", { stepId: "sms", values: { version: 1 } })]), undefined);
  assert.equal(versionOf([decision("triggered", { values: { version: 3 } })]), 3);
});

test("a person without a name is called by their id", () => {
  const subscriber = { _id: "x", subscriberId: "ada" };
  assert.equal(personOf({ subscriber }), "ada");
  assert.equal(personOf({ subscriber: { ...subscriber, firstName: "Ada", lastName: "Lovelace" } }), "Ada Lovelace");
});

test("only objects are read as payloads", () => {
  assert.deepEqual(readObject(' {"a": 1} '), { value: { a: 1 } });
  assert.deepEqual(readObject(""), { value: {} });
  assert.deepEqual(readObject("[1]"), { problem: "This must be a JSON object." });
  assert.match((readObject("{") as { problem: string }).problem, /^This is no JSON: /);
});

test("a digest that is open has no events yet", () => {
  assert.deepEqual(digestEventsOf(job("digest")), []);
  const event = { id: "1", time: "2026-01-01T00:00:00Z", payload: {} };
  assert.deepEqual(digestEventsOf({ ...job("digest"), digest: { events: [event] } }), [event]);
});
