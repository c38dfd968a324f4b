import assert from "node:assert/strict";
import { test } from "node:test";
import { groupByChannel, healthWord, type Integration, moveTo, placeAt } from "./model.ts";

function make(id: string, fields: Partial<Integration>): Integration {
  return { _id: id, channel: "email", active: true, primary: false, priority: 0, ...fields } as Integration;
}

test("integrations are listed by channel, the primary first, then by priority", () => {
  const groups = groupByChannel([
    make("a", { priority: 1 }),
    make("b", { priority: 2 }),
    make("c", { priority: 3, primary: true }),
    make("d", { active: false }),
    make("e", { channel: "chat" }),
  ]);
  assert.deepEqual(
    groups.map((one) => [one.channel, one.active.map((own) => own._id), one.inactive.map((own) => own._id)]),
    [
      ["email", ["c", "b", "a"], ["d"]],
      ["sms", [], []],
      ["push", [], []],
      ["chat", ["e"], []],
      ["tool", [], []],
      ["in_app", [], []],
    ],
  );
});

test("an entry moves to another place, and not beyond the ends", () => {
  assert.deepEqual(moveTo(["a", "b", "c"], 0, 2), ["b", "c", "a"]);
  assert.deepEqual(moveTo(["a", "b", "c"], 2, 0), ["c", "a", "b"]);
  assert.deepEqual(moveTo(["a", "b", "c"], 1, -1), ["b", "a", "c"]);
  assert.deepEqual(moveTo(["a", "b", "c"], 1, 9), ["a", "c", "b"]);
});

test("what is dragged is behind the rows whose middle it has passed", () => {
  assert.equal(placeAt(5, [10, 30]), 0);
  assert.equal(placeAt(29, [10, 30]), 1);
  assert.equal(placeAt(99, [10, 30]), 2);
});

test("an open circuit says more than its calls, and calls more than a closed one", () => {
  const counts = { sent: 5, failed: 0 };
  assert.equal(healthWord({ circuit: { state: "open", failures: 5 }, counts }), "open");
  const circuit = { state: "closed", failures: 0 } as const;
  assert.equal(healthWord({ circuit, counts }), "works");
  assert.equal(healthWord({ circuit, counts: { sent: 0, failed: 3 } }), "allFail");
  assert.equal(healthWord({ circuit, counts: { sent: 1, failed: 3 } }), "someFail");
  assert.equal(healthWord({ circuit, counts: { sent: 0, failed: 0 } }), "unused");
});
