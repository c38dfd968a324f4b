import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiProblem } from "../../../api/problem.ts";
import { parseCsv } from "../../../ui/csv.ts";
import { checkRows, fileProblem, guessMapping, type Line, mappingProblem } from "./model.ts";
import { sendBatch } from "./sender.ts";

function check(text: string) {
  const csv = parseCsv(text);
  return checkRows(csv.rows, guessMapping(csv.columns));
}

test("columns are recognised by their names, each field once", () => {
  assert.deepEqual(guessMapping(["User ID", "E-Mail", "mail", "Given name", "data.plan", "Shoe size"]), {
    "User ID": "subscriberId",
    "E-Mail": "email",
    mail: "",
    "Given name": "firstName",
    "data.plan": "member",
    "Shoe size": "",
  });
});

test("a row becomes a subscriber, and empty cells are left out", () => {
  const { lines, problems } = check('id,email,firstName,data,data.plan\nada,ada@example.com,,"{""age"": 36}",gold');
  assert.deepEqual(problems, []);
  assert.deepEqual(lines, [
    { line: 2, subscriber: { subscriberId: "ada", email: "ada@example.com", data: { age: 36, plan: "gold" } } },
  ]);
});

test("each line says all that is wrong with it, and the others can be sent", () => {
  const { lines, problems } = check(
    "id,email,timezone,locale,data\nada,ada@example.com,Europe/London,en-GB,\n,x,,,\nada,,,,\ncy,nope,Mars/One,?,[1]\nd,,,,,6",
  );
  assert.deepEqual(
    lines.map((one) => one.line),
    [2],
  );
  assert.deepEqual(
    problems.map((one) => one.line),
    [3, 4, 5, 6],
  );
  assert.match(problems[0]?.sentence ?? "", /id is empty.*“x” is not an email/);
  assert.match(problems[1]?.sentence ?? "", /Line 2 has the same/);
  assert.match(problems[2]?.sentence ?? "", /nope.*Mars\/One.*“\?”.*JSON object/);
  assert.match(problems[3]?.sentence ?? "", /more cells/);
});

test("a file and a choice of columns that cannot work say why", () => {
  assert.match(fileProblem(parseCsv("")) ?? "", /empty/);
  assert.match(fileProblem(parseCsv("id,email\n")) ?? "", /no line below/);
  assert.match(fileProblem(parseCsv("id,id\n1,2")) ?? "", /Two columns/);
  assert.match(fileProblem(parseCsv('id,name\n1,"Ada\n2,Grace')) ?? "", /line 2/);
  assert.equal(fileProblem(parseCsv("id\n1")), null);
  assert.match(mappingProblem({ a: "email" }) ?? "", /subscriber id/);
  assert.match(mappingProblem({ a: "subscriberId", b: "email", c: "email" }) ?? "", /Email/);
  assert.equal(mappingProblem({ a: "subscriberId", b: "member", c: "member" }), null);
});

const LINES: Line[] = ["a", "b", "c"].map((subscriberId, index) => ({ line: index + 2, subscriber: { subscriberId } }));

test("lines that the server refuses are taken out, and the rest of the batch is sent", async () => {
  const sent: string[][] = [];
  const result = await sendBatch(LINES, async (people) => {
    sent.push(people.map((one) => one.subscriberId));
    if (people.length === 3) {
      const errors = { "subscribers.1.email": { messages: ["email must be an address"] } };
      throw new ApiProblem(422, { message: "Validation failed", errors }, null);
    }
    return { created: people, updated: [] };
  });
  assert.deepEqual(sent, [
    ["a", "b", "c"],
    ["a", "c"],
  ]);
  assert.deepEqual(result, { created: 2, updated: 0, refused: [{ line: 3, sentence: "email must be an address" }] });
});

test("a refusal that names no line is said of the whole batch; other failures are thrown", async () => {
  const refuse = (status: number) => sendBatch(LINES, () => Promise.reject(new ApiProblem(status, undefined, null)));
  assert.equal((await refuse(413)).refused.length, 3);
  await assert.rejects(refuse(503));
  await assert.rejects(refuse(403));
});
