import assert from "node:assert/strict";
import { test } from "node:test";
import { givenCredentials, withoutToken } from "./credentials.ts";
import { contextKeysOf, contextOf, preferenceRows, ruleWords, usedChannels } from "./preference-rows.ts";
import { DAYS, isOvernight, readTime, scheduleOf, weekOf, writeTime } from "./week.ts";

test("times of day are written as the API has them, and read again", () => {
  for (const [field, wire] of [
    ["00:00", "12:00 AM"],
    ["09:05", "09:05 AM"],
    ["12:30", "12:30 PM"],
    ["23:59", "11:59 PM"],
  ] as const) {
    assert.equal(writeTime(field), wire);
    assert.equal(readTime(wire), field);
  }
});

test("a schedule is kept as it is, and a new one is open all week", () => {
  const schedule = {
    isEnabled: true,
    weeklySchedule: { monday: { isEnabled: true, hours: [{ start: "09:00 AM", end: "05:00 PM" }] } },
  };
  const week = weekOf(schedule);
  assert.deepEqual(week.monday, { isEnabled: true, hours: [{ start: "09:00", end: "17:00" }] });
  assert.deepEqual(week.sunday, { isEnabled: false, hours: [] });
  assert.deepEqual(scheduleOf(week, true).weeklySchedule?.monday, schedule.weeklySchedule.monday);
  assert.deepEqual(scheduleOf(week, true).weeklySchedule?.sunday, { isEnabled: false });
  assert.ok(DAYS.every((day) => weekOf(undefined)[day].isEnabled));
  assert.ok(isOvernight({ start: "22:00", end: "06:00" }));
});

test("each switch says which layer decides it, and critical workflows cannot be switched", () => {
  const workflow = (identifier: string) => ({ identifier, name: identifier, slug: identifier, updatedAt: "" });
  const rows = preferenceRows(
    [
      {
        enabled: true,
        channels: { email: false, in_app: true },
        overrides: [{ channel: "email", source: "subscriber", layer: "subscriber global" }],
        workflow: workflow("news"),
      },
    ],
    [
      {
        enabled: true,
        channels: { sms: true },
        overrides: [{ channel: "sms", source: "template", layer: "workflow default" }],
        workflow: workflow("alert"),
      },
    ],
  );
  assert.deepEqual(
    rows.map((row) => row.switches.map((one) => [one.channel, one.isOn, one.reason, one.canChange])),
    [
      [
        ["in_app", true, "By default", true],
        ["email", false, "Their choice for everything", true],
      ],
      [["sms", true, "Critical: the person cannot switch it", false]],
    ],
  );
  assert.deepEqual(usedChannels(rows), ["in_app", "email", "sms"]);
});

test("rules of subscriptions are said in words", () => {
  assert.equal(ruleWords({ workflowIds: ["news"], tags: ["blue"], enabled: false }), "news, tag blue: off");
  assert.match(ruleWords({ workflowIds: ["news"], tags: [], enabled: true, condition: {} }), /condition/);
});

test("what was left empty is not sent, and a device can be taken away alone", () => {
  assert.equal(givenCredentials({ webhookUrl: " " }, "\n"), null);
  assert.deepEqual(givenCredentials({ channel: "a" }, "t1\nt2 t1"), { channel: "a", deviceTokens: ["t1", "t2"] });
  const entry = {
    providerId: "fcm",
    integrationIdentifier: "fcm",
    _integrationId: "1",
    credentials: { deviceTokens: ["t1", "t2"], title: "x" },
  };
  assert.deepEqual(withoutToken(entry, "t1"), { deviceTokens: ["t2"], title: "x" });
});

test("contexts are read when they are complete", () => {
  assert.deepEqual(contextKeysOf("tenant:acme, app:a:b"), ["tenant:acme", "app:a:b"]);
  assert.deepEqual(contextOf(["tenant:acme", "app:a:b"]), { tenant: "acme", app: "a:b" });
  for (const text of ["", "ten", "tenant:", "tenant:acme, a"]) {
    assert.deepEqual(contextKeysOf(text), []);
  }
});
