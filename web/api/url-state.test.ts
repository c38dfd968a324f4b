import assert from "node:assert/strict";
import { test } from "node:test";
import { changeQuery } from "./url-state.ts";

test("values are replaced, several kept, and empty ones removed", () => {
  const query = new URLSearchParams("status=failed&status=skipped&q=ada");
  assert.equal(changeQuery(query, { status: ["failed"], q: "" }), "status=failed");
  assert.equal(
    changeQuery(query, { workflowId: "welcome", q: undefined }),
    "status=failed&status=skipped&workflowId=welcome",
  );
});
