import assert from "node:assert/strict";
import { test } from "node:test";
import { readReturnPath } from "./return-path.ts";

test("one returns to the page where one was", () => {
  assert.equal(
    readReturnPath("/dashboard/e/abc/runs?status=failed", "/dashboard"),
    "/dashboard/e/abc/runs?status=failed",
  );
});

test("an address elsewhere is not followed", () => {
  for (const wanted of [undefined, "https://evil.example", "//evil.example", "/dashboard//evil.example", "/docs"]) {
    assert.equal(readReturnPath(wanted, "/dashboard"), "/dashboard/");
  }
});
