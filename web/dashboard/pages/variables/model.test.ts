import assert from "node:assert/strict";
import { test } from "node:test";
import { changedValues, countMissing, usesOf, type Variable, valuesOf } from "./model.ts";

function makeVariable(isSecret: boolean): Variable {
  const values = [{ _environmentId: "dev", value: isSecret ? "••••••••" : "https://dev.example" }];
  const moment = "2026-01-31T09:30:00.000Z";
  const ids = { _id: "1", _organizationId: "2" };
  const flags = { isSecret, forCredentials: false };
  return { ...ids, key: "URL", type: "string", ...flags, values, createdAt: moment, updatedAt: moment };
}

test("only values that were changed are sent", () => {
  const variable = makeVariable(false);
  assert.deepEqual(changedValues(variable, { ...valuesOf(variable), prod: "https://example" }), [
    { _environmentId: "prod", value: "https://example" },
  ]);
  assert.deepEqual(changedValues(variable, valuesOf(variable)), []);
});

test("the mask of a secret is neither shown as its value nor sent", () => {
  assert.deepEqual(valuesOf(makeVariable(true)), {});
  assert.deepEqual(changedValues(makeVariable(true), { dev: "" }), []);
});

test("environments without a value are counted", () => {
  assert.equal(countMissing(makeVariable(false), ["dev", "prod"]), 1);
});

test("everything that refers to a variable is named once", () => {
  const uses = usesOf({
    workflows: [{ name: "Welcome", workflowId: "welcome" }],
    layouts: [{ name: "Plain", layoutId: "plain" }],
    translations: [
      { resourceId: "welcome", locale: "de_DE" },
      { resourceId: "welcome", locale: "en_US" },
    ],
    integrations: [{ name: "Mailgun", identifier: "mailgun" }],
  });
  assert.deepEqual(
    uses.map((use) => use.replace(/[\u2068\u2069]/g, "")),
    ["Workflow Welcome", "Layout Plain", "Texts of welcome", "Integration Mailgun"],
  );
});
