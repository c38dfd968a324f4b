import assert from "node:assert/strict";
import { test } from "node:test";
import { csvRows, groupMails, groupUsage, type UsageItem } from "./model.ts";

const items: UsageItem[] = [
  { at: "2026-05-01T00:00:00.000Z", channel: "email", providerId: "ses", sent: 1, failed: 1 },
  { at: "2026-05-01T00:00:00.000Z", channel: "sms", providerId: "twilio", sent: 5, failed: 0 },
  { at: "2026-05-02T00:00:00.000Z", channel: "email", providerId: "mailgun", sent: 1, failed: 0 },
];

test("groups are channels or providers, the largest first, each with its share", () => {
  const channels = groupUsage(items, "channel").map((one) => [one.key, one.total.sent, one.total.failed, one.share]);
  assert.deepEqual(channels, [
    ["sms", 5, 0, 5 / 8],
    ["email", 2, 1, 3 / 8],
  ]);
  const providers = groupUsage(items, "provider").map((one) => one.providerId);
  assert.deepEqual(providers, ["twilio", "ses", "mailgun"]);
  assert.deepEqual(groupUsage([], "channel"), []);
});

test("a file has a line for each bucket and provider", () => {
  assert.deepEqual(csvRows(items)[0], {
    at: "2026-05-01T00:00:00.000Z",
    channel: "email",
    provider: "ses",
    sent: "1",
    failed: "1",
    averageMilliseconds: "",
    slowestMilliseconds: "",
  });
});

test("reactions to e-mails are added up by workflow, the most first", () => {
  const [first, second] = ["2026-05-01T00:00:00.000Z", "2026-05-02T00:00:00.000Z"] as const;
  const groups = groupMails([
    { at: first, _workflowId: "1", workflowId: "a", name: "A", opened: 1, clicked: 0, replied: 0 },
    { at: first, _workflowId: "2", name: "B", opened: 2, clicked: 1, replied: 0 },
    { at: second, _workflowId: "1", workflowId: "a", name: "A", opened: 3, clicked: 1, replied: 1 },
  ]);
  assert.deepEqual(groups, [
    { _workflowId: "1", workflowId: "a", name: "A", opened: 4, clicked: 1, replied: 1 },
    { _workflowId: "2", name: "B", opened: 2, clicked: 1, replied: 0 },
  ]);
});
