import assert from "node:assert/strict";
import { test } from "node:test";
import { findPlace } from "./environment.ts";

const environments = [{ identifier: "dev" }, { identifier: "prod" }];

test("the address decides, then the environment that was shown last, then the first one", () => {
  assert.equal(findPlace(environments, "/dashboard/e/prod/activity", "dev")?.environment.identifier, "prod");
  assert.equal(findPlace(environments, "/dashboard", "prod")?.environment.identifier, "prod");
  assert.equal(findPlace(environments, "/dashboard", "gone")?.environment.identifier, "dev");
  assert.equal(findPlace([], "/dashboard", null), undefined);
});

test("an address without an environment keeps its page", () => {
  const place = findPlace(environments, "/dashboard/workflows/welcome", "prod");
  assert.deepEqual([place?.path, place?.isIncomplete, place?.isUnknown], ["/workflows/welcome", true, false]);
  assert.equal(findPlace(environments, "/dashboard", null)?.path, "/");
  assert.equal(findPlace(environments, "/dashboard/e/dev", null)?.path, "/");
});

test("an environment that cannot be entered is not taken for another one", () => {
  assert.equal(findPlace(environments, "/dashboard/e/secret/activity", "prod")?.isUnknown, true);
});
