import assert from "node:assert/strict";
import { test } from "node:test";
import { countBuckets, failureRate, totalOf } from "./counts.ts";
import { dayOf, lastDayOf, listBuckets, readRange, spanOf } from "./range.ts";

const now = Date.parse("2026-05-03T12:34:56.000Z");
const nothing = { range: "", from: "", to: "" };

test("a range of the address is a time in whole hours or days, the present one included", () => {
  assert.deepEqual(spanOf("24h", nothing, now), {
    after: "2026-05-02T13:00:00.000Z",
    before: "2026-05-03T13:00:00.000Z",
    bucket: "hour",
  });
  const week = spanOf("7d", nothing, now);
  assert.equal(listBuckets(week).length, 7);
  assert.equal(listBuckets(week).at(-1), "2026-05-03T00:00:00.000Z");
  assert.equal(lastDayOf(week), dayOf(now));
});

test("chosen days include the last one, and days that are none count as not chosen", () => {
  const chosen = { range: "custom", from: "2026-05-01", to: "2026-05-04" };
  assert.equal(readRange(chosen, "30d"), "custom");
  assert.equal(listBuckets(spanOf("custom", chosen, now)).length, 4);
  assert.equal(readRange({ ...chosen, to: "soon" }, "30d"), "30d");
  assert.equal(spanOf("custom", { ...chosen, to: "2026-05-01" }, now).bucket, "hour");
  assert.equal(readRange({ ...nothing, range: "1y" }, "30d"), "1y");
});

test("totals weigh the time of calls by their number", () => {
  const items = [
    { at: "2026-05-01T00:00:00.000Z", sent: 3, failed: 0, averageMilliseconds: 10, slowestMilliseconds: 20 },
    { at: "2026-05-02T00:00:00.000Z", sent: 0, failed: 1, averageMilliseconds: 50, slowestMilliseconds: 50 },
  ];
  assert.deepEqual(totalOf(items), { sent: 3, failed: 1, average: 20, slowest: 50 });
  assert.deepEqual(totalOf([]), { sent: 0, failed: 0 });
  assert.equal(failureRate(totalOf(items)), 0.25);
  assert.equal(failureRate(totalOf([])), undefined);
});

test("buckets without calls are there too", () => {
  const span = { after: "2026-05-01T00:00:00.000Z", before: "2026-05-04T00:00:00.000Z", bucket: "day" } as const;
  const found = countBuckets([{ at: "2026-05-02T00:00:00.000Z", sent: 2, failed: 1 }], span);
  assert.deepEqual(
    found.map(({ sent, failed }) => [sent, failed]),
    [
      [0, 0],
      [2, 1],
      [0, 0],
    ],
  );
});
