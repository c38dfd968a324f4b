import assert from "node:assert/strict";
import { test } from "node:test";
import {
  appendPage,
  applyRuns,
  EMPTY_TAIL,
  PAGE_SIZE,
  type Run,
  type RunPage,
  refreshHead,
  release,
  startTail,
  type Tail,
} from "./model.ts";

function makeRun(number: number, fields: Partial<Run> = {}): Run {
  const moment = new Date(1_700_000_000_000 + number * 1000).toISOString();
  return {
    _id: `019a0000-0000-7000-8000-${String(number).padStart(12, "0")}`,
    status: "completed",
    transactionId: `t-${number}`,
    subscriber: { subscriberId: "ada" },
    workflow: { _id: "w", workflowId: "welcome", name: "Welcome" },
    steps: [],
    createdAt: moment,
    updatedAt: moment,
    ...fields,
  };
}

function makePage(numbers: readonly number[], next: number | null = null): RunPage {
  const data = numbers.map((number) => makeRun(number));
  return { data, next: next === null ? null : makeRun(next)._id, searchedUntil: null };
}

function numbersOf(rows: Tail["rows"]): number[] {
  return rows.map((row) => Number(row._id.slice(-12)));
}

function count(from: number, to: number): number[] {
  return Array.from({ length: from - to + 1 }, (_, index) => from - index);
}

test("new runs appear at the head, and a run that changed takes the place of its row", () => {
  const tail = startTail(makePage([3, 2, 1]));
  const running = makeRun(2, { status: "failed", updatedAt: "2026-01-01T00:00:00.000Z" });

  const changed = applyRuns(tail, [makeRun(5), running, makeRun(4)], { isHeld: false });

  assert.deepEqual(numbersOf(changed.rows), [5, 4, 3, 2, 1]);
  assert.equal(changed.rows[3]?.status, "failed");
});

test("an older state of a run does not replace a newer one, and a row that is the same keeps its identity", () => {
  const newer = makeRun(1, { status: "completed", updatedAt: "2026-01-02T00:00:00.000Z" });
  const tail = startTail({ ...makePage([]), data: [newer] });
  const older = makeRun(1, { status: "running", updatedAt: "2026-01-01T00:00:00.000Z" });

  assert.equal(applyRuns(tail, [older], { isHeld: false }).rows[0]?.status, "completed");
  assert.equal(applyRuns(tail, [{ ...newer }], { isHeld: false }).rows[0], newer);
});

test("while the list is held, new runs are counted once and wait, but rows change in place", () => {
  const tail = startTail(makePage([2, 1]));
  const failed = makeRun(2, { status: "failed", updatedAt: "2026-01-01T00:00:00.000Z" });

  let held = applyRuns(tail, [makeRun(3), failed], { isHeld: true });
  held = applyRuns(held, [makeRun(3), makeRun(4)], { isHeld: true });

  assert.deepEqual(numbersOf(held.rows), [2, 1]);
  assert.equal(held.rows[0]?.status, "failed");
  assert.equal(held.heldCount, 2);

  const released = release(held);
  assert.deepEqual(numbersOf(released.rows), [4, 3, 2, 1]);
  assert.equal(released.heldCount, 0);
});

test("a list of one screen stays so long, and goes on below its last row", () => {
  const tail = startTail(makePage(count(100, 1), 1));

  const grown = applyRuns(
    tail,
    count(130, 101).map((one) => makeRun(one)),
    { isHeld: false },
  );

  assert.equal(grown.rows.length, PAGE_SIZE);
  assert.equal(grown.next, makeRun(31)._id);
});

test("more runs than the list can show wait only as far as they will be shown", () => {
  const tail = startTail(makePage([1]));

  const held = applyRuns(
    tail,
    count(251, 2).map((one) => makeRun(one)),
    { isHeld: true },
  );

  assert.equal(held.heldCount, 250);
  assert.equal(held.held.length, PAGE_SIZE);
  assert.deepEqual(numbersOf(release(held).rows), count(251, 152));
});

test("a change of a run that was not loaded yet does not appear out of order", () => {
  const withMore = startTail(makePage([9, 8], 8));
  assert.deepEqual(numbersOf(applyRuns(withMore, [makeRun(3)], { isHeld: false }).rows), [9, 8]);

  const complete = startTail(makePage([9, 8]));
  assert.deepEqual(numbersOf(applyRuns(complete, [makeRun(3)], { isHeld: false }).rows), [9, 8, 3]);
});

test("the next page is added below, without rows that are there already", () => {
  const tail = appendPage(startTail(makePage([9, 8], 8)), makePage([8, 7, 6], 6));

  assert.deepEqual(numbersOf(tail.rows), [9, 8, 7, 6]);
  assert.equal(tail.next, makeRun(6)._id);
  assert.equal(appendPage(startTail(makePage(count(200, 101), 101)), makePage(count(100, 1))).limit, 200);
});

test("a search that stopped early says how far it went, until the list ends with a whole page", () => {
  const searchedUntil = "2026-01-01T00:00:00.000Z";
  const stopped = startTail({ ...makePage([], 500), searchedUntil });
  assert.equal(stopped.searchedUntil, searchedUntil);
  assert.equal(appendPage(stopped, { ...makePage([9, 8], 8), searchedUntil }).searchedUntil, searchedUntil);
  assert.equal(appendPage(stopped, { ...makePage([9, 8]), searchedUntil }).searchedUntil, null);

  const grown = applyRuns(
    stopped,
    count(700, 600).map((one) => makeRun(one)),
    { isHeld: false },
  );
  assert.equal(grown.searchedUntil, null);
  assert.equal(startTail({ ...makePage(count(100, 1), 1), searchedUntil }).searchedUntil, null);
});

test("a fresh first page removes what no longer matches, and keeps what is newer or older than it", () => {
  const tail = appendPage(startTail(makePage([9, 8, 7, 6], 6)), makePage([5, 4]));

  const streamed = applyRuns(tail, [makeRun(10)], { isHeld: false });
  const refreshed = refreshHead(streamed, makePage([9, 7], 6), makeRun(9)._id);

  assert.deepEqual(numbersOf(refreshed.rows), [10, 9, 7, 5, 4]);
});

test("a fresh page of a complete list is the whole list", () => {
  const tail = startTail(makePage([3, 2, 1]));
  assert.deepEqual(numbersOf(refreshHead(tail, makePage([4, 2, 1]), makeRun(3)._id).rows), [4, 2, 1]);
  assert.deepEqual(numbersOf(refreshHead(tail, makePage([]), makeRun(3)._id).rows), []);
  assert.deepEqual(numbersOf(refreshHead(EMPTY_TAIL, makePage([2, 1], 1), "").rows), [2, 1]);
});
