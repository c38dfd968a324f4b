import assert from "node:assert/strict";
import { test } from "node:test";
import { filterOf, readGrouping, type Sweep, sweep, valuesOf } from "./model.ts";

function makeServer(letters: number, comeBack = 0) {
  const limits: number[] = [];
  let left = letters;
  return {
    limits,
    change: async (limit: number) => {
      limits.push(limit);
      const count = Math.min(limit, left);
      left = left - count + comeBack;
      return { count, hasMore: left > 0, remaining: left };
    },
  };
}

test("a group is found by what it is grouped by", () => {
  assert.deepEqual(filterOf("provider", "ses"), { providerId: "ses" });
  assert.deepEqual(filterOf(readGrouping("mood"), "Refused"), { reason: "Refused" });
});

test("letters are changed piece by piece, with what is left after each", async () => {
  const server = makeServer(1200);
  const seen: Sweep[] = [];
  await sweep(
    { count: 1200, isCapped: false },
    server.change,
    (one) => seen.push(one),
    () => false,
  );
  assert.deepEqual(server.limits, [500, 500, 200]);
  assert.deepEqual(
    seen.map((one) => [one.done, one.remaining, one.isOver]),
    [
      [0, 1200, false],
      [500, 700, false],
      [1000, 200, false],
      [1200, 0, false],
      [1200, 0, true],
    ],
  );
});

test("letters that come back at once are not redriven for ever", async () => {
  const server = makeServer(3, 3);
  const end = await sweep(
    { count: 3, isCapped: false },
    server.change,
    () => {},
    () => false,
  );
  assert.equal(end.done, 3);
  assert.deepEqual(server.limits, [3]);
});

test("more letters than are counted are changed until none is left", async () => {
  const server = makeServer(10_700);
  const end = await sweep(
    { count: 10_000, isCapped: true },
    server.change,
    () => {},
    () => false,
  );
  assert.equal(end.done, 10_700);
});

test("it stops when a person wants it to", async () => {
  const server = makeServer(5000);
  let calls = 0;
  const end = await sweep(
    { count: 5000, isCapped: false },
    (limit) => {
      calls += 1;
      return server.change(limit);
    },
    () => {},
    () => calls === 2,
  );
  assert.deepEqual([end.done, end.remaining], [1000, 4000]);
});

test("values of a detail are read from their text", () => {
  assert.deepEqual(valuesOf('{"a":1}'), { a: 1 });
  assert.equal(valuesOf("no json"), "no json");
  assert.equal(valuesOf(undefined), undefined);
});
