import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addView,
  findDefault,
  NO_VIEWS,
  normalizeQuery,
  problemOfName,
  readViews,
  removeView,
  renameView,
  toggleDefault,
  writeViews,
} from "./views.ts";

function makeStore() {
  const values = new Map<string, string>();
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
  };
}

const views = addView(NO_VIEWS, { name: " Failures ", query: "status=failed" });

test("views are kept for each environment", () => {
  const store = makeStore();
  writeViews(store, "dev", views);

  assert.deepEqual(readViews(store, "dev").saved, [{ name: "Failures", query: "range=24h&status=failed" }]);
  assert.deepEqual(readViews(store, "prod"), NO_VIEWS);
});

test("what is no list of views is left alone", () => {
  const store = makeStore();
  for (const text of ["{", "[]", '{"saved":[1],"default":null}', '{"saved":[]}']) {
    store.setItem("clarion-activity-views:dev", text);
    assert.deepEqual(readViews(store, "dev"), NO_VIEWS);
  }
});

test("a name is not empty and not taken by another view", () => {
  assert.equal(problemOfName(views, "  "), "empty");
  assert.equal(problemOfName(views, "Failures"), "taken");
  assert.equal(problemOfName(views, "Failures", "Failures"), null);
  assert.equal(problemOfName(views, "Others"), null);
});

test("the default follows a new name, and leaves with its view", () => {
  const chosen = toggleDefault(views, "Failures");
  assert.equal(findDefault(chosen)?.name, "Failures");
  assert.equal(findDefault(renameView(chosen, "Failures", "Problems"))?.name, "Problems");
  assert.equal(removeView(chosen, "Failures").default, null);
  assert.equal(toggleDefault(chosen, "Failures").default, null);
});

test("the same filters are the same view in any order", () => {
  assert.equal(normalizeQuery("status=failed&range=24h"), normalizeQuery("status=failed"));
  assert.notEqual(normalizeQuery("status=failed&range=7d"), normalizeQuery("status=failed"));
});
