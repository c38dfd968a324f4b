import assert from "node:assert/strict";
import { test } from "node:test";
import { type DraftStep, newStep } from "./model.ts";
import { payloadOfTexts } from "./payload-example.ts";

function stepOf(body: string): DraftStep {
  return { ...newStep("sms", "Text", []), controlValues: { body } };
}

test("values that templates print are named after themselves", () => {
  const steps = [stepOf("{{payload.order}} {{ payload.user.name | upcase }}"), stepOf("{{-payload.user.age-}}")];
  assert.deepEqual(payloadOfTexts(steps), { order: "order", user: { name: "name", age: "age" } });
});

test("a value with members is an object, whichever is printed first", () => {
  assert.deepEqual(payloadOfTexts([stepOf("{{payload.a}} {{payload.a.b}} {{payload.a}}")]), { a: { b: "b" } });
});

test("lists, other variables and texts outside of templates say nothing about the payload", () => {
  const text =
    "payload.a {{payload.list[0].x}} {{subscriber.payload.b}} {% for x in payload.items %}{{x.c}}{% endfor %}";
  assert.deepEqual(payloadOfTexts([stepOf(text)]), {});
});
