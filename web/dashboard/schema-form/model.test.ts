import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleOf, extraNames, fieldsOf, missingNames, withMember } from "./model.ts";

const wait = {
  type: "object",
  properties: {
    type: { title: "Kind", enum: ["regular", "timed", null], type: ["string", "null"] },
    amount: { title: "Amount", type: ["number", "null"], examples: [5] },
    unit: { enum: ["minutes", "hours", null], type: ["string", "null"] },
    cron: { type: ["string", "null"] },
  },
  allOf: [
    {
      if: { properties: { type: { const: "regular" } }, required: ["type"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ["amount", "unit"] },
    },
    {
      if: { properties: { type: { const: "timed" } }, required: ["type"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ["cron"] },
    },
    {
      if: { not: { properties: { type: { type: "string" } }, required: ["type"] } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { anyOf: [{ required: ["amount", "unit"] }, { required: ["cron"] }] },
    },
  ],
};

const namesOf = (schema: Record<string, unknown>, values: Record<string, unknown>) =>
  fieldsOf(schema, values).map((field) => field.name);

test("fields that only another kind needs are left out, unless they have a value", () => {
  assert.deepEqual(namesOf(wait, { type: "regular" }), ["type", "amount", "unit"]);
  assert.deepEqual(namesOf(wait, { type: "timed" }), ["type", "cron"]);
  assert.deepEqual(namesOf(wait, { type: "timed", amount: 5 }), ["type", "amount", "cron"]);
  assert.deepEqual(namesOf(wait, {}), ["type", "amount", "unit", "cron"]);
});

test("what is missing follows the rule of the kind", () => {
  assert.deepEqual(missingNames(wait, { type: "regular", amount: 5 }), ["unit"]);
  assert.deepEqual(missingNames(wait, { type: "timed" }), ["cron"]);
  assert.deepEqual(missingNames(wait, {}), ["amount", "unit"]);
  assert.deepEqual(missingNames(wait, { cron: "0 9 * * *" }), []);
  const either = { anyOf: [{ required: ["body"] }, { required: ["subject"] }] };
  assert.deepEqual(missingNames(either, { body: "" }), ["body"]);
  assert.deepEqual(missingNames(either, { subject: "Hi" }), []);
});

test("each shape of a schema has a kind of field", () => {
  const text = { type: "string" };
  const schema = {
    properties: {
      page: { ...text, contentMediaType: "text/html" },
      count: { type: ["integer", "null"] },
      isOn: { type: "boolean" },
      link: { type: ["object", "null"], properties: { url: text } },
      headers: { type: "object", additionalProperties: text },
      data: { type: "object", additionalProperties: true },
      copies: { title: "Copies", anyOf: [text, { type: "array", items: text }, { type: "null" }] },
    },
  };
  const kinds = fieldsOf(schema, {}).map((field) => field.kind);
  assert.deepEqual(kinds, ["html", "number", "flag", "group", "pairs", "json", "text"]);
  assert.equal(fieldsOf(schema, { copies: ["a"] }).at(-1)?.kind, "texts");
  assert.deepEqual(fieldsOf(wait, {})[0]?.options, ["regular", "timed"]);
  assert.equal(fieldsOf(schema, {})[2]?.title, "Is on");
});

test("values that the schema does not know are listed", () => {
  assert.deepEqual(extraNames(wait, { type: "timed", other: 1 }), ["other"]);
});

test("a member is set in its place, and removed if it is undefined", () => {
  assert.equal(JSON.stringify(withMember({ a: 1, b: 2 }, "a", 3)), '{"a":3,"b":2}');
  assert.equal(JSON.stringify(withMember({ a: 1, b: 2 }, "a", undefined)), '{"b":2}');
});

test("an example fits the schema", () => {
  const schema = {
    type: "object",
    properties: {
      order: { type: "string", examples: ["A-1"] },
      lines: { type: "array", items: { type: "object", properties: { count: { type: "integer" } } } },
      at: { type: "string", format: "date-time" },
      plan: { enum: ["free", "pro"] },
    },
  };
  assert.deepEqual(exampleOf(schema), {
    order: "A-1",
    lines: [{ count: 1 }],
    at: "2026-01-31T09:30:00.000Z",
    plan: "free",
  });
});
