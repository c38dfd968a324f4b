import assert from "node:assert/strict";
import { test } from "node:test";
import { changes, creation, NO_VALUES, readData, type Subscriber, valuesOf } from "./subscriber-fields.ts";

const ADA = {
  subscriberId: "ada",
  firstName: "Ada",
  lastName: null,
  email: "ada@example.com",
  phone: null,
  avatar: null,
  locale: null,
  timezone: null,
  data: { plan: "gold" },
} as Partial<Subscriber> as Subscriber;

test("a new subscriber has only the fields that were filled in", () => {
  const values = { ...NO_VALUES, subscriberId: "ada", firstName: " Ada ", email: " " };
  assert.deepEqual(creation(values, null), { subscriberId: "ada", firstName: "Ada" });
  assert.deepEqual(creation(values, { a: 1 }).data, { a: 1 });
});

test("a change sends what differs, and null for what was emptied", () => {
  const values = valuesOf(ADA);
  assert.deepEqual(changes(ADA, values, { plan: "gold" }), {});
  assert.deepEqual(changes(ADA, { ...values, email: "", lastName: "Byron" }, null), {
    email: null,
    lastName: "Byron",
    data: null,
  });
});

test("custom data is an object", () => {
  assert.deepEqual(readData(" "), { data: null });
  assert.deepEqual(readData('{"a": 1}'), { data: { a: 1 } });
  assert.match(readData("[1]").problem ?? "", /JSON object/);
  assert.match(readData("{a").problem ?? "", /not valid JSON/);
});
