import assert from "node:assert/strict";
import { test } from "node:test";
import { neighbourOf, newestFirst, readFilter } from "./model.ts";

test("messages are listed once, newest first", () => {
  const listed = newestFirst([{ _id: "3" }, { _id: "2" }], [{ _id: "2" }, { _id: "1" }]);
  assert.deepEqual(
    listed.map((one) => one._id),
    ["3", "2", "1"],
  );
});

test("the filter leaves out what is no channel of the outbox", () => {
  const read = (values: Record<string, string>) => readFilter((name) => values[name] ?? "");
  assert.deepEqual(read({ channel: "sms", recipient: " ada " }), { channel: "sms", recipient: "ada" });
  assert.deepEqual(read({ channel: "push" }), { channel: "", recipient: "" });
});

test("the keys move within the list", () => {
  assert.equal(neighbourOf(["a", "b"], "a", 1), "b");
  assert.equal(neighbourOf(["a", "b"], "b", 1), undefined);
  assert.equal(neighbourOf(["a", "b"], "", 1), "a");
});
