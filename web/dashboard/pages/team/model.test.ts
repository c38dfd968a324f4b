import assert from "node:assert/strict";
import { test } from "node:test";
import { choiceOf, GENERAL, NONE, otherRoles, rolesToGive, withRole } from "./model.ts";

test("a role in an environment can be set, taken away, and left to the one in general", () => {
  const viewer = withRole({}, "a", "viewer");
  assert.deepEqual(viewer, { a: "viewer" });
  assert.deepEqual(withRole(viewer, "a", NONE), { a: null });
  assert.deepEqual(withRole(viewer, "a", GENERAL), {});
  assert.deepEqual([choiceOf(viewer, "a"), choiceOf({ a: null }, "a"), choiceOf({}, "a")], ["viewer", NONE, GENERAL]);
});

test("only roles that differ are listed", () => {
  const environments = [
    { _id: "a", name: "Development" },
    { _id: "b", name: "Production" },
  ];
  assert.deepEqual(otherRoles({ b: null }, environments), [{ environment: "Production", role: "No access" }]);
});

test("nobody gives a role above their own", () => {
  assert.deepEqual(rolesToGive("admin"), ["viewer", "author", "admin"]);
  assert.deepEqual(rolesToGive("owner").at(-1), "owner");
});
