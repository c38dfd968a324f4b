import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyOf, EMPTY, formOf, type Schedule, shortRecipients } from "./model.ts";

const SCHEDULE: Schedule = {
  _id: "1",
  identifier: "weekly",
  name: "Weekly",
  workflowId: "report",
  to: [{ type: "Topic", topicKey: "news" }],
  cron: "0 9 * * 1",
  timezone: "Europe/Berlin",
  fallbackTimezone: "UTC",
  payload: { a: 1 },
  catchUp: "all",
  paused: false,
  status: "active",
  nextMoments: [],
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
};

test("what is read of a schedule is sent again as it was", () => {
  assert.deepEqual(bodyOf(formOf({ ...SCHEDULE, from: "2026-01-01T09:00:00.000Z" })), {
    name: "Weekly",
    workflowId: "report",
    to: { type: "Topic", topicKey: "news" },
    cron: "0 9 * * 1",
    timezone: "Europe/Berlin",
    fallbackTimezone: "UTC",
    from: "2026-01-01T09:00:00.000Z",
    until: null,
    catchUp: "all",
    payload: { a: 1 },
  });
});

test("each form of recipients is read and sent", () => {
  const excluding = { type: "Topic", topicKey: "news", exclude: ["bob"] };
  for (const [to, sent] of [
    [[{ type: "Everyone" }], { type: "Everyone" }],
    [[{ type: "Segment", segmentKey: "gold" }], { type: "Segment", segmentKey: "gold" }],
    [["ada"], "ada"],
    [
      ["ada", "bob"],
      ["ada", "bob"],
    ],
    [[excluding], [excluding]],
  ] as [Schedule["to"], unknown][]) {
    assert.deepEqual(bodyOf(formOf({ ...SCHEDULE, to })).to, sent);
  }
});

test("recipients have a few words", () => {
  assert.deepEqual(shortRecipients([]), { kind: "nobody", text: "" });
  assert.deepEqual(shortRecipients(["ada", { type: "Segment", segmentKey: "gold" }]), {
    kind: "several",
    text: "ada, gold",
  });
});

test("the zone of each person takes the place of a fixed one, and an empty one is that of the environment", () => {
  assert.equal(bodyOf({ ...EMPTY, isOfPerson: true, timezone: "UTC" }).timezone, "subscriber");
  assert.equal(bodyOf(EMPTY).timezone, null);
  assert.equal(formOf({ ...SCHEDULE, timezone: "subscriber" }).isOfPerson, true);
});
