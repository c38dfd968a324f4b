import assert from "node:assert/strict";
import { test } from "node:test";
import { filterDialect } from "./filter-model.ts";
import { logicDialect, readNode } from "./logic-model.ts";
import { blankGroup, changeRule, type Group, type Rule, replaceChild } from "./model.ts";
import { resultOf, resultOfAll } from "./results.ts";

const filters = filterDialect(false);
const sample = {
  now: Date.parse("2026-07-15T12:00:00Z"),
  values: { payload: { plan: "gold", count: 5, tier: "gold" }, subscriber: { firstName: "Ada", isOnline: false } },
};

function ruleOf(json: unknown): Rule | null {
  const node = readNode(json);
  return node.kind === "rule" ? node : null;
}

test("JSON Logic of other dashboards is shown as rules in words", () => {
  const plan = { var: "payload.plan" };
  const shown: [unknown, string, unknown][] = [
    [{ "==": [plan, "gold"] }, "==", "gold"],
    [{ "=": [plan, 5] }, "==", "5"],
    [{ "!=": [plan, null] }, "notNull", ""],
    [{ in: ["ol", plan] }, "contains", "ol"],
    [{ "!": { in: ["ol", plan] } }, "doesNotContain", "ol"],
    [{ in: [plan, ["a", "b"]] }, "in", "a, b"],
    [{ "!": [{ in: [plan, ["a"]] }] }, "notIn", "a"],
    [{ "<=": [1, plan, 9] }, "between", ["1", "9"]],
    [{ "!": { "<=": [1, plan, 9] } }, "notBetween", ["1", "9"]],
    [{ beginsWith: [plan, "g"] }, "startsWith", "g"],
    [{ moreThanXAgo: [plan, { amount: 3, unit: "days" }] }, "moreThanXAgo", { amount: "3", unit: "days" }],
    [{ "!": plan }, "!", ""],
    [plan, "!!", ""],
  ];
  for (const [json, operator, value] of shown) {
    const rule = ruleOf(json);
    assert.deepEqual(
      [rule?.field, rule?.operator, rule?.value],
      ["payload.plan", operator, value],
      JSON.stringify(json),
    );
  }
});

test("what cannot be shown stays as it is, also when something beside it is changed", () => {
  const odd = { some: [{ var: "payload.items" }, { ">": [{ var: "price" }, 5] }] };
  const right = { "==": [{ var: "payload.a" }, { var: "payload.b" }] };
  const value = { and: [odd, { "==": [{ var: "payload.plan" }, "gold"] }, right] };
  const [group] = logicDialect.read(value) as [Group];
  assert.deepEqual(
    group.children.map((one) => one.kind),
    ["raw", "rule", "raw"],
  );
  const changed = changeRule(logicDialect, group.children[1] as Rule, { value: "silver" }, "string");
  assert.deepEqual(logicDialect.write([replaceChild(group, 1, changed)]), {
    and: [odd, { "==": [{ var: "payload.plan" }, "silver"] }, right],
  });
});

test("reading and writing again changes no rule", () => {
  const value = { or: [{ "!": { and: [{ ">": [{ var: "a" }, 1] }] } }, { in: ["x", { var: "b" }] }] };
  assert.deepEqual(logicDialect.write(logicDialect.read(value)), value);
  const groups = [
    {
      type: "GROUP",
      value: "OR",
      isNegated: true,
      mine: 1,
      children: [
        { on: "webhook", url: "x" },
        { field: "plan", value: 5 },
      ],
    },
  ];
  assert.deepEqual(filters.write(filters.read(groups)), groups);
});

test("no rules are no condition", () => {
  assert.deepEqual([logicDialect.read(undefined), logicDialect.read({}), filters.read([])], [[], [], []]);
  const [group] = logicDialect.read({ "==": [{ var: "a" }, 1] }) as [Group];
  assert.equal(logicDialect.write([replaceChild(group, 0, null)]), undefined);
  assert.deepEqual(filters.write([{ ...blankGroup(filters), children: [] }]), []);
});

test("values are written with the type of the field", () => {
  const rule = ruleOf({ "==": [{ var: "payload.count" }, ""] }) as Rule;
  const written = (value: string, type: string) => changeRule(logicDialect, rule, { value }, type).json;
  assert.deepEqual(written("5", "integer"), { "==": [{ var: "payload.count" }, 5] });
  assert.deepEqual(written("5", "string"), { "==": [{ var: "payload.count" }, "5"] });
  assert.deepEqual(written("true", "boolean"), { "==": [{ var: "payload.count" }, true] });
  const list = changeRule(logicDialect, rule, { operator: "in", value: "1, 2" }, "number");
  assert.deepEqual(list.json, { in: [{ var: "payload.count" }, [1, 2]] });
});

test("another operator keeps what fits of the value", () => {
  const rule = ruleOf({ ">": [{ var: "a" }, 5] }) as Rule;
  assert.deepEqual(changeRule(logicDialect, rule, { operator: "between" }, "").value, ["5", ""]);
  assert.deepEqual(changeRule(logicDialect, rule, { operator: "withinLast" }, "").value, { amount: "5", unit: "days" });
  assert.equal(changeRule(logicDialect, rule, { operator: "null" }, "").value, "");
});

test("filters have subjects of their own", () => {
  const part = { on: "previousStep", step: "mail", stepType: "unread" };
  const [group] = filters.read([{ children: [part, { on: "isOnline", value: true }, { on: "tenant" }] }]) as [Group];
  assert.deepEqual(
    group.children.map((one) => (one.kind === "rule" ? [one.subject, one.operator] : one.kind)),
    [["previousStep", "unread"], ["isOnline", "online"], "raw"],
  );
  const changed = changeRule(
    filters,
    group.children[0] as Rule,
    { subject: "payload", field: "payload.plan", value: "x" },
    "",
  );
  assert.deepEqual(changed.json, { on: "payload", field: "plan", operator: "EQUAL", value: "x" });
});

test("each rule and group has its result for the chosen person", () => {
  const value = { and: [{ "==": [{ var: "payload.plan" }, "gold"] }, { ">": [{ var: "payload.count" }, 9] }] };
  const [group] = logicDialect.read(value) as [Group];
  assert.deepEqual(
    group.children.map((one) => resultOf(one, true, sample)),
    [
      { isPassed: true, actual: "gold" },
      { isPassed: false, actual: 5 },
    ],
  );
  assert.equal(resultOfAll([group], true, sample), false);
  assert.equal(resultOfAll([], true, sample), true);
});

test("what only the run knows has no result, unless the rest decides", () => {
  const of = (json: unknown) => resultOf(readNode(json), true, sample).isPassed;
  assert.equal(of({ "==": [{ var: "steps.mail.read" }, true] }), null);
  assert.equal(of({ "==": [{ var: "payload.plan" }, "{{ payload.tier }}"] }), true);
  assert.equal(of({ "==": [{ var: "payload.plan" }, "{{ payload.tier | upcase }}"] }), null);
  assert.equal(
    of({ or: [{ "==": [{ var: "steps.mail.read" }, true] }, { "==": [{ var: "payload.count" }, 5] }] }),
    true,
  );
  const previous = [{ isNegated: true, children: [{ on: "previousStep", step: "mail", stepType: "read" }] }];
  assert.equal(resultOfAll(filters.read(previous), false, sample), null);
  const undecided = [{ isNegated: true, children: [{ on: "webhook" }] }];
  assert.equal(resultOfAll(filters.read(undecided), false, sample), false);
});
