import assert from "node:assert/strict";
import { test } from "node:test";
import { decisionKeys } from "./decision-keys.ts";

const SENT = { kind: "attempt", at: "2026-01-01T00:00:00Z", summary: "Sent.", source: "recorded", stepId: "email" };
const WAITS = { kind: "delay", at: "2026-01-01T00:00:01Z", summary: "It waits.", source: "derived", stepId: "delay" };

test("a decision keeps its key when others come before it, and when it is derived again", () => {
  const [waits] = decisionKeys([WAITS]);
  const again = decisionKeys([SENT, { ...WAITS, at: "2026-01-01T00:00:09Z" }]);
  assert.equal(again[1], waits);
});

test("decisions that say the same have different keys", () => {
  const keys = decisionKeys([SENT, SENT, { ...SENT, at: "2026-01-01T00:00:02Z" }]);
  assert.equal(new Set(keys).size, 3);
});
