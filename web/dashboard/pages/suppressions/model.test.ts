import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiProblem } from "../../../api/problem.ts";
import { parseCsv, writeCsv } from "../../../ui/csv.ts";
import { listBatches, readImport, refusedLines } from "./import-model.ts";
import { CSV_COLUMNS, csvRow, queryOf, type Suppression } from "./model.ts";

test("an address is looked for in its channel, unless one is chosen", () => {
  assert.deepEqual(queryOf({ address: " ada@example.com ", channel: "", reason: "" }), {
    address: "ada@example.com",
    channel: "email",
  });
  assert.deepEqual(queryOf({ address: "+44 20", channel: "", reason: "bounced" }), {
    address: "+44 20",
    channel: "sms",
    reason: "bounced",
  });
  assert.deepEqual(queryOf({ address: "", channel: "fax", reason: "mood" }), {});
});

test("lines without an address or with another channel are problems, the others are ready", () => {
  const file = readImport(
    "Email,channel,detail\nada@example.com,,bounced at the old system\n,email,\nbob@example.com,push,\n",
  );
  assert.deepEqual(file.rows, [
    { line: 2, channel: "email", address: "ada@example.com", detail: "bounced at the old system" },
  ]);
  assert.deepEqual(
    file.problems.map((one) => one.line),
    [3, 4],
  );
});

test("a phone number is for SMS, and a file without a column of addresses is refused as a whole", () => {
  assert.equal(readImport("phone\n+44 20 7946 0000\n").rows[0]?.channel, "sms");
  assert.match(readImport("name\nAda\n").problem ?? "", /no column/);
  assert.match(readImport("address\n").problem ?? "", /no lines/);
});

test("a file that was exported can be imported", () => {
  const stored = {
    channel: "email",
    address: "a@b.c",
    reason: "manual",
    detail: "x, y",
    createdAt: "now",
  } as Suppression;
  const text = writeCsv(CSV_COLUMNS, [csvRow(stored)]);
  assert.equal(parseCsv(text).rows.length, 1);
  assert.deepEqual(readImport(text).rows, [{ line: 2, channel: "email", address: "a@b.c", detail: "x, y" }]);
});

test("rows go in batches, and what the server refuses is told by line", () => {
  const rows = Array.from({ length: 2001 }, (_, index) => ({
    line: index + 2,
    channel: "email" as const,
    address: `p${index}@example.com`,
  }));
  const batches = listBatches(rows);
  assert.deepEqual(
    batches.map((one) => one.length),
    [1000, 1000, 1],
  );
  const errors = { "suppressions.1.address": { messages: ["is not an address"] } };
  assert.deepEqual(refusedLines(new ApiProblem(422, { errors }, null), batches[1] ?? []), [
    { line: 1003, problem: "p1001@example.com is not an address" },
  ]);
  assert.deepEqual(refusedLines(new Error("offline"), rows), []);
});
