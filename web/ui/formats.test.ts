import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ageText,
  clockText,
  countText,
  durationText,
  fromLocalText,
  numberText,
  percentText,
  relativeText,
  toLocalText,
} from "./formats.ts";

const now = Date.parse("2026-05-03T12:00:00.000Z");

test("a moment within a day is shown as long ago as it is", () => {
  assert.match(relativeText("2026-05-03T11:55:00.000Z", now), /5/);
  assert.match(relativeText("2026-05-03T09:00:00.000Z", now), /3/);
});

test("an older moment is shown as a date, with the year if it is another", () => {
  assert.match(relativeText("2026-04-01T12:00:00.000Z", now), /1/);
  assert.match(relativeText("2025-04-01T12:00:00.000Z", now), /2025/);
});

test("a time of today has seconds, one of another day has the day too", () => {
  const noon = new Date(2026, 4, 3, 12, 0, 0);
  const early = clockText(new Date(2026, 4, 3, 0, 0, 7).toISOString(), noon.getTime());
  const before = clockText(new Date(2026, 4, 2, 23, 59, 7).toISOString(), noon.getTime());

  assert.match(early, /07/);
  assert.ok(before.length > early.length);
  assert.match(before, /2/);
});

test("a field for a local time gives back the moment that it got", () => {
  assert.equal(fromLocalText(toLocalText("2026-05-03T12:34:56.000Z")), "2026-05-03T12:34:56.000Z");
  assert.equal(toLocalText("yesterday"), "");
  assert.equal(fromLocalText(""), "");
  assert.equal(toLocalText(""), "");
  assert.equal(fromLocalText(toLocalText("2026-05-03T12:30:00.000Z")), "2026-05-03T12:30:00.000Z");
});

test("a count has the singular for one alone, and a plus sign if it was stopped", () => {
  assert.equal(countText(1, "run", "runs"), "1 run");
  assert.equal(countText(0, "run", "runs"), "0 runs");
  assert.equal(countText(1234, "run", "runs", true), `${numberText(1234)}+ runs`);
});

test("a small share keeps a digit, and a short time is in milliseconds", () => {
  assert.match(percentText(0.016), /1.6/);
  assert.doesNotMatch(percentText(0.164), /[.,]/);
  assert.equal(durationText(999), "999 ms");
  assert.match(durationText(1540), /^1.5 s$/);
});

test("an age is in its largest unit", () => {
  assert.match(ageText(130), /^2 min/);
  assert.match(ageText(7300), /^2 h/);
  assert.match(ageText(0), /^0 sec/);
});
