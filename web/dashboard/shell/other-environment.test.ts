import assert from "node:assert/strict";
import { test } from "node:test";
import { findCounterpart } from "./other-environment.ts";

test("a list stays the same page, with its filters", () => {
  for (const path of ["/", "/activity", "/subscribers/import", "/integrations/new", "/audit-log"]) {
    assert.deepEqual(findCounterpart(path), { path, keepsQuery: true });
  }
});

test("a thing with an id of one environment leads to its list", () => {
  assert.deepEqual(findCounterpart("/activity/0193"), { path: "/activity", keepsQuery: false });
  assert.deepEqual(findCounterpart("/webhooks/0193"), { path: "/webhooks", keepsQuery: false });
});

test("a thing with a name may be in the other environment too", () => {
  assert.deepEqual(findCounterpart("/subscribers/a%40b/preferences"), {
    path: "/subscribers/a%40b/preferences",
    list: "/subscribers",
    kind: "subscribers",
    id: "a@b",
  });
  assert.equal(findCounterpart("/workflows/welcome/versions").path, "/workflows/welcome/versions");
  assert.equal("kind" in findCounterpart("/segments/gold"), true);
});
