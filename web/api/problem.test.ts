import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiProblem } from "./problem.ts";

test("a problem has the sentence of the server and those of its fields", () => {
  const body = { message: "Validation Error", errors: { email: { messages: ["must be an address"] } } };
  const problem = new ApiProblem(422, body, "req_1");

  assert.equal(problem.message, "Validation Error");
  assert.deepEqual(problem.fields, { email: "must be an address" });
  assert.equal(problem.requestId, "req_1");
});

test("an answer without a body still says something", () => {
  assert.match(new ApiProblem(502, undefined, null).message, /502/);
});
