import assert from "node:assert/strict";
import { test } from "node:test";
import { type EnvironmentStatus, summarize } from "./status.ts";

const idle = { count: 0, isCapped: false, oldestSeconds: 0 };

function makeStatus(backlog: Partial<EnvironmentStatus["backlog"]>, workers = 1): EnvironmentStatus {
  const all = { lane: idle, send: idle, webhook: idle, ...backlog } as EnvironmentStatus["backlog"];
  return { version: "1.0", workers, backlog: all, deadLetters: 0, deadLettersCapped: false };
}

test("without work there is no backlog", () => {
  assert.deepEqual(summarize(makeStatus({})), { tone: "good", text: "No backlog", details: "" });
});

test("the age is that of the oldest work of all queues", () => {
  const found = summarize(
    makeStatus({
      lane: { count: 2, isCapped: false, oldestSeconds: 3.5 },
      send: { count: 5, isCapped: false, oldestSeconds: 130 },
    }),
  );
  assert.equal(found.tone, "warn");
  assert.match(found.text, /Backlog: 7, oldest 2 min/);
  assert.match(found.details, /Runs: 2, oldest 3 sec/);
});

test("work that waits long is alarming, and so is that nobody does it", () => {
  const lane = { count: 1000, isCapped: true, oldestSeconds: 7300 };
  assert.equal(summarize(makeStatus({ lane })).tone, "bad");
  assert.match(summarize(makeStatus({ lane })).text, /more than 1,000, oldest 2 h/);
  assert.match(summarize(makeStatus({}, 0)).text, /No worker/);
});
