import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { checkLiquid, nearest, openBlocksAt, scopeAt } from "./liquid-check.ts";
import { findShape, listMembers, listNames } from "./variables.ts";

// The service is tested with the same templates.
const cases = JSON.parse(readFileSync(new URL("../../../tests/templates/syntax_cases.json", import.meta.url), "utf8"));

const variables = {
  type: "object",
  additionalProperties: false,
  properties: {
    subscriber: {
      type: "object",
      additionalProperties: false,
      properties: { firstName: { type: ["string", "null"] }, data: { type: "object", additionalProperties: true } },
    },
    payload: {
      type: "object",
      properties: {
        plan: { type: "string", description: "The plan" },
        items: { type: "array", items: { type: "object", properties: { price: { type: "number" } } } },
      },
    },
    steps: {
      type: "object",
      additionalProperties: false,
      properties: {
        digest: {
          type: "object",
          additionalProperties: false,
          properties: {
            events: {
              type: "array",
              items: { type: "object", properties: { payload: { $ref: "#/properties/payload" } } },
            },
          },
        },
      },
    },
  },
};

function remarks(text: string): string[] {
  return checkLiquid(text, variables).map((one) => `${one.severity} ${text.slice(one.from, one.to)}`);
}

test("templates that the service accepts have no errors", () => {
  for (const text of cases.fine) {
    assert.deepEqual(
      checkLiquid(text).filter((one) => one.severity === "error"),
      [],
      text,
    );
  }
});

test("templates that the service refuses have an error, inside the text", () => {
  for (const text of cases.faulty) {
    const [first] = checkLiquid(text);
    assert.equal(first?.severity, "error", text);
    assert.ok(first && first.from >= 0 && first.from < first.to && first.to <= text.length, text);
  }
});

test("an error is where the fault is, and says what is meant", () => {
  assert.deepEqual(remarks("Hi {{ payload.plan | upcsae }}"), ["error upcsae"]);
  assert.deepEqual(remarks("{% if payload.plan %}x"), ["error {% if payload.plan %}"]);
  assert.match(checkLiquid("{{ a | upcsae }}")[0]?.message ?? "", /do you mean upcase/);
  assert.equal(nearest("xyzzy", ["upcase"]), undefined);
});

test("variables that do not exist are a warning, those that may exist are not", () => {
  assert.deepEqual(remarks("{{ subscriber.firstNam }}"), ["warning subscriber.firstNam"]);
  assert.deepEqual(remarks("{{ payload.plna }}{{ nothing }}"), ["warning payload.plna", "warning nothing"]);
  assert.deepEqual(remarks("{{ subscriber.data.anything.at.all }}{{ payload.items.size }}"), []);
  assert.deepEqual(remarks("{{ payload.items[0].price }}{{ payload.items.first.cost }}"), [
    "warning payload.items.first.cost",
  ]);
});

test("names that the text makes exist, those of a loop only inside", () => {
  assert.deepEqual(remarks("{% for item in payload.items %}{{ item.price }}{{ forloop.index }}{% endfor %}"), []);
  assert.deepEqual(remarks("{% for item in payload.items %}{{ item.cost }}{% endfor %}{{ item }}"), [
    "warning item.cost",
    "warning item",
  ]);
  assert.deepEqual(
    remarks("{% assign all = payload.items %}{% capture x %}a{% endcapture %}{{ all.size }}{{ x }}"),
    [],
  );
});

test("items of a list in a loop have the members of the list's items", () => {
  const text = "{% for event in steps.digest.events %}{{ event.payload. }}";
  const scope = scopeAt(text, text.length - 3, variables);
  assert.deepEqual(
    listMembers(findShape(["event", "payload"], scope) ?? null, scope.root).map(({ name, type }) => [name, type]),
    [
      ["plan", "string"],
      ["items", "array"],
    ],
  );
  assert.deepEqual(
    listNames(scope)
      .slice(0, 2)
      .map((one) => one.name),
    ["event", "forloop"],
  );
  assert.deepEqual(openBlocksAt("{% if a %}{% for x in y %}{% endfor %}", 38), ["if"]);
});
