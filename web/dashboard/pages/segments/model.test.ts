import assert from "node:assert/strict";
import { test } from "node:test";
import { listFields } from "../../conditions/fields.ts";
import {
  bodyOf,
  changesOf,
  EMPTY,
  formOf,
  isUsed,
  joinPreviews,
  type Segment,
  shownCondition,
  typedCondition,
  VARIABLES,
} from "./model.ts";

const GOLD = { "==": [{ var: "subscriber.data.plan" }, "gold"] };
const SEGMENT: Segment = {
  _id: "1",
  key: "gold",
  name: "Gold",
  description: "Who pays",
  condition: GOLD,
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
};

function person(subscriberId: string): {
  _id: string;
  subscriberId: string;
  firstName: null;
  lastName: null;
  email: null;
} {
  return { _id: subscriberId, subscriberId, firstName: null, lastName: null, email: null };
}

test("only what was changed is sent", () => {
  const form = formOf(SEGMENT);
  assert.deepEqual(changesOf(SEGMENT, form), {});
  assert.deepEqual(changesOf(SEGMENT, { ...form, name: "Golden" }), { name: "Golden" });
  assert.deepEqual(changesOf(SEGMENT, { ...form, description: "" }), { description: null });
  assert.deepEqual(changesOf(SEGMENT, { ...form, condition: structuredClone(GOLD) }), {});
  assert.deepEqual(changesOf(SEGMENT, { ...form, condition: false }), { condition: false });
});

test("a new segment without a description has none", () => {
  const form = { ...EMPTY, key: "all", name: "All" };
  assert.deepEqual(bodyOf(form), { key: "all", name: "All", condition: true });
  assert.deepEqual(bodyOf(formOf(SEGMENT)), { key: "gold", name: "Gold", description: "Who pays", condition: GOLD });
});

test("everybody is no condition in the editor, and nobody is one", () => {
  assert.equal(shownCondition(true), undefined);
  assert.equal(shownCondition(false), false);
  assert.equal(typedCondition(undefined), true);
  assert.equal(typedCondition(false), false);
  assert.deepEqual(typedCondition(shownCondition(GOLD)), GOLD);
});

test("a count goes on behind another, with ten people at most", () => {
  const first = { count: 9, sample: Array.from({ length: 9 }, (_, index) => person(`a${index}`)), next: "x" };
  const joined = joinPreviews(first, { count: 5, sample: [person("b"), person("c")], next: null });
  assert.deepEqual([joined.count, joined.sample.length, joined.next], [14, 10, null]);
  assert.equal(joined.sample.at(-1)?.subscriberId, "b");
});

test("what a trigger under way needs is used", () => {
  const nothing = { workflows: [], schedules: [], triggers: [] };
  assert.equal(isUsed(nothing), false);
  assert.equal(isUsed({ ...nothing, triggers: [{ transactionId: "t", at: "2026-01-01T00:00:00.000Z" }] }), true);
});

test("the editor suggests all fields of the person", () => {
  const paths = listFields(VARIABLES, "variable").map((one) => one.path);
  assert.equal(paths.length, 14);
  assert.ok(paths.includes("subscriber.data") && paths.includes("subscriber.topics.size") === false);
});
