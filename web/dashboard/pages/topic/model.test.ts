import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCsv } from "../../../ui/csv.ts";
import { addAnswer, guessIdColumn, readIds } from "./model.ts";

test("ids are read from the column that is named so, each once", () => {
  const csv = parseCsv("name,Subscriber ID\nAda,ada\nGrace,grace\nAda,ada\nX,\n");
  assert.equal(guessIdColumn(csv.columns), "Subscriber ID");
  assert.deepEqual(readIds(csv, "Subscriber ID"), [
    { line: 2, id: "ada" },
    { line: 3, id: "grace" },
  ]);
});

test("a plain list of ids needs no first line with a name", () => {
  assert.deepEqual(
    readIds(parseCsv("ada\ngrace"), "ada").map((one) => one.id),
    ["ada", "grace"],
  );
  assert.deepEqual(readIds(parseCsv("id\nada"), "id"), [{ line: 2, id: "ada" }]);
});

test("those who were not added are kept with their lines and reasons", () => {
  const batch = [
    { line: 2, id: "ada" },
    { line: 3, id: "nobody" },
  ];
  const answer = { added: 1, errors: [{ subscriberId: "nobody", message: "does not exist" }] };
  assert.deepEqual(addAnswer({ done: 100, added: 100, refused: [] }, batch, answer), {
    done: 102,
    added: 101,
    refused: [{ line: 3, id: "nobody", sentence: "does not exist" }],
  });
});
