import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCsv, writeCsv } from "./csv.ts";

test("cells may be quoted, and contain separators, quotes and lines", () => {
  const { columns, rows } = parseCsv('\uFEFFid, name\r\n1,"Lovelace, ""Ada""\nof London"\r\n\r\n2,Grace\n');
  assert.deepEqual(columns, ["id", "name"]);
  assert.deepEqual(rows, [
    { line: 2, values: { id: "1", name: 'Lovelace, "Ada"\nof London' } },
    { line: 5, values: { id: "2", name: "Grace" } },
  ]);
});

test("semicolons and tabs separate too, and missing cells are empty", () => {
  assert.deepEqual(parseCsv("a;b\n1").rows, [{ line: 2, values: { a: "1", b: "" } }]);
  assert.deepEqual(parseCsv("a\tb\n1\t2").rows[0]?.values, { a: "1", b: "2" });
  assert.deepEqual(parseCsv(""), { columns: [], rows: [] });
});

test("cells beyond the columns and quotation marks that stay open are noted", () => {
  assert.deepEqual(parseCsv("a\n1,2,3").rows, [{ line: 2, values: { a: "1" }, extraCells: 2 }]);
  assert.equal(parseCsv('a\n1\n"2\n3').unclosedLine, 3);
});

test("what is written is read again, and formulas are no formulas", () => {
  const rows = [{ a: 'x, "y"', b: "+44 20 7946 0000" }];
  assert.deepEqual(parseCsv(writeCsv(["a", "b"], rows)).rows[0]?.values, rows[0]);
  assert.match(writeCsv(["a"], [{ a: "=1+1" }]), /'=1\+1/);
});
