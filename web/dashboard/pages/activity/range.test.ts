import assert from "node:assert/strict";
import { test } from "node:test";
import { boundsOf, countBoundsOf, endsNow, isExact, type Range, readRange, widerPreset } from "./range.ts";

const now = Date.parse("2026-05-03T12:00:00.000Z");

function read(query: string): Range {
  const values = new URLSearchParams(query);
  return readRange((name) => values.get(name) ?? "");
}

test("a day is shown unless the address says otherwise", () => {
  assert.equal(read("").preset, "24h");
  assert.deepEqual(boundsOf(read(""), now), { after: "2026-05-02T12:00:00.000Z" });
  assert.deepEqual(boundsOf(read("range=1h"), now), { after: "2026-05-03T11:00:00.000Z" });
});

test("exact moments count instead of the preset, which is kept to go back to", () => {
  const range = read("range=7d&after=2026-05-01T00:00:00.000Z&before=2026-05-02T00:00:00.000Z");
  assert.ok(isExact(range));
  assert.equal(range.preset, "7d");
  assert.deepEqual(boundsOf(range, now), { after: "2026-05-01T00:00:00.000Z", before: "2026-05-02T00:00:00.000Z" });
});

test("only a range that ends now, or later, is live", () => {
  assert.ok(endsNow(read("range=1h"), now));
  assert.ok(endsNow(read("after=2026-05-01T00:00:00.000Z"), now));
  assert.ok(endsNow(read("before=2026-05-04T00:00:00.000Z"), now));
  assert.ok(!endsNow(read("before=2026-05-02T00:00:00.000Z"), now));
});

test("counts up to a moment begin a preset earlier", () => {
  assert.deepEqual(countBoundsOf(read("range=1h&before=2026-05-02T00:00:00.000Z"), now), {
    after: "2026-05-01T23:00:00.000Z",
    before: "2026-05-02T00:00:00.000Z",
  });
});

test("every preset but the longest has a wider one", () => {
  assert.equal(widerPreset("24h"), "7d");
  assert.equal(widerPreset("90d"), undefined);
});
