import assert from "node:assert/strict";
import { test } from "node:test";
import {
  areFinished,
  hasFields,
  newTransactionId,
  type Scenario,
  simulationBody,
  triggerBody,
  withRun,
} from "./model.ts";

const scenario: Scenario = {
  workflowId: "welcome",
  subscriberId: "ada",
  payload: { plan: "gold" },
  moment: "",
  wishes: {},
  steps: undefined,
};

test("a simulation says only what was chosen", () => {
  assert.deepEqual(simulationBody(scenario), { name: "welcome", to: "ada", payload: { plan: "gold" } });
  assert.deepEqual(triggerBody(scenario), simulationBody(scenario));
  const steps = [{ name: "Mail", type: "email" as const }];
  const chosen = simulationBody({
    ...scenario,
    moment: "2026-07-15T12:30",
    wishes: { email: "off", sms: "on", push: "own" },
    steps,
  });
  assert.equal(chosen.at, new Date("2026-07-15T12:30").toISOString());
  assert.deepEqual(chosen.preferences, { channels: { email: false, sms: true } });
  assert.deepEqual(chosen.steps, steps);
  assert.ok(!("steps" in triggerBody({ ...scenario, steps })));
});

test("newer states replace older ones, and older ones that come late are dropped", () => {
  type Row = { _id: string; updatedAt: string; status: "running" | "completed" };
  const first: Row = { _id: "1", updatedAt: "2026-01-01T00:00:01Z", status: "running" };
  const later: Row = { ...first, updatedAt: "2026-01-01T00:00:02Z", status: "completed" };
  assert.deepEqual(withRun([], first), [first]);
  assert.deepEqual(withRun([first], later), [later]);
  assert.deepEqual(withRun([later], first), [later]);
  assert.deepEqual([areFinished([]), areFinished([first]), areFinished([later])], [false, false, true]);
});

test("transactions of tests differ, and forms need fields", () => {
  assert.match(newTransactionId(1_784_116_800_000, 0.5), /^test-\w+-\w{6}$/);
  assert.notEqual(newTransactionId(1, 0.1), newTransactionId(1, 0.2));
  assert.deepEqual([hasFields(undefined), hasFields({}), hasFields({ properties: { a: {} } })], [false, false, true]);
});
