import assert from "node:assert/strict";
import { test } from "node:test";
import { type Draft, newStep } from "./model.ts";
import { sampleOf } from "./variables.ts";

function draftOf(...types: ("digest" | "email")[]): Draft {
  const steps = types.map((type, index) => newStep(type, `${type} ${index}`, []));
  return { name: "Draft", tags: ["a"], severity: "high", steps } as unknown as Draft;
}

function sampleAt(draft: Draft, place: number) {
  const step = draft.steps[place];
  assert.ok(step);
  return sampleOf(step, draft, "shipped", { order: 1 });
}

test("a step sees the workflow as it is edited", () => {
  assert.deepEqual(sampleAt(draftOf("email"), 0), {
    workflow: { name: "Draft", workflowId: "shipped", tags: ["a"], severity: "high" },
    steps: {},
    step: { digest: false, events: [], total_count: 0 },
  });
});

test("a step sees events of the active digests before it alone", () => {
  const draft = draftOf("email", "digest", "email");

  assert.equal(sampleAt(draft, 0).step.digest, false);
  assert.deepEqual(Object.keys(sampleAt(draft, 2).steps), ["digest-1"]);
  assert.deepEqual(sampleAt(draft, 2).step.events, [{ order: 1 }, { order: 1 }]);
  assert.equal(sampleAt(draft, 2).steps["digest-1"]?.events[0]?.payload.order, 1);
  const off = { ...draft, steps: draft.steps.map((one) => ({ ...one, active: one.type !== "digest" })) };
  assert.deepEqual(sampleAt(off, 2).steps, {});
});
