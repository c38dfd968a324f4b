import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { decideFilters } from "./filters.ts";
import { decideLogic, Evaluation } from "./logic.ts";
import { findDate } from "./moments.ts";

// The service is tested with the same cases.
const cases = JSON.parse(readFileSync(new URL("../../../tests/conditions/cases.json", import.meta.url), "utf8"));
const at = { now: cases.now, findPrevious: (step: string) => cases.steps[step] };

test("operators of filters decide as those of the service", () => {
  for (const [operator, actual, value, passes] of cases.comparisons) {
    const filters = [{ children: [{ field: "plan", operator, value, on: "payload" }] }];
    assert.equal(
      decideFilters(filters, { payload: { plan: actual } }, null),
      passes,
      JSON.stringify({ operator, actual, value }),
    );
  }
});

test("groups of filters decide as those of the service", () => {
  for (const { filters, variables, isIntegration, passes } of cases.filters) {
    assert.equal(decideFilters(filters, variables, isIntegration ? null : at), passes, JSON.stringify(filters));
  }
});

test("JSON Logic has the values that it has in the service", () => {
  for (const { rule, value } of cases.logic) {
    assert.deepEqual(new Evaluation(cases.now).value(rule, cases.variables), value, JSON.stringify(rule));
  }
});

test("a rule that takes too much work does not pass", () => {
  const many = { many: Array.from({ length: 2000 }, (_, index) => index) };
  assert.equal(decideLogic({ "!": [{ some: [{ var: "many" }, { ">": [{ var: "" }, 5000] }] }] }, many, 0), true);
  assert.equal(decideLogic({ map: [{ var: "many" }, { map: [[1, 2, 3, 4, 5, 6], { "!": [1] }] }] }, many, 0), false);
});

test("texts that are no moments are none", () => {
  for (const text of [
    "2026-13-01",
    "2026-01-01T25:00",
    "01-01-2026 10:00",
    "2026-01-01T10:00:00+25:00",
    "later-on-today",
  ]) {
    assert.equal(findDate(text), null, text);
  }
});
