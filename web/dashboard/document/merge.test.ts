import assert from "node:assert/strict";
import { test } from "node:test";
import { findDifference, findMemberDifferences, plainChoices, rebaseChoices } from "./merge.ts";
import { withMine } from "./merge-members.ts";

type Letter = { name: string; body?: string; tags: string[] };

const base: Letter = { name: "Letter", body: "Hi", tags: ["a"] };
const differencesOf = (mine: Letter, theirs: Letter) =>
  findMemberDifferences<Letter>(["name", "body", "tags"], { base, mine, theirs });

test("members that one of both changed come together without a question", () => {
  const [mine, theirs] = [
    { ...base, body: "Hello" },
    { ...base, tags: ["b"] },
  ];
  const differences = differencesOf(mine, theirs);
  assert.deepEqual(withMine(theirs, differences, plainChoices(differences)), { ...base, body: "Hello", tags: ["b"] });
});

test("a member that both changed is theirs until somebody chooses", () => {
  const [mine, theirs] = [
    { ...base, name: "Mine" },
    { ...base, name: "Theirs" },
  ];
  const differences = differencesOf(mine, theirs);
  assert.deepEqual(plainChoices(differences), {});
  assert.equal(withMine(theirs, differences, {}).name, "Theirs");
  assert.equal(withMine(theirs, differences, { name: "mine" }).name, "Mine");
  assert.equal(withMine(theirs, differences, rebaseChoices(differences)).name, "Mine");
  assert.deepEqual(differencesOf(mine, mine), []);
});

test("a member that one removed is removed", () => {
  const mine: Letter = { name: "Letter", tags: ["a"] };
  const differences = differencesOf(mine, { ...base, name: "Other" });
  assert.deepEqual(withMine({ ...base, name: "Other" }, differences, plainChoices(differences)), {
    name: "Other",
    tags: ["a"],
  });
});

test("a difference of a node has its key", () => {
  const found = findDifference("text", { base: 1, mine: 2, theirs: 1 }, "a");
  assert.deepEqual([found?.id, found?.node, found?.changedBy], ["a/text", "a", "mine"]);
});
