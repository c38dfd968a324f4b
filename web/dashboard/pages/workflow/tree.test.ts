import assert from "node:assert/strict";
import { test } from "node:test";
import { copiesOf, pasteSteps } from "./copies.ts";
import { type Draft, type DraftStep, MAX_STEPS, newStep, OTHERWISE, type StepKind, type Within } from "./model.ts";
import { addPath, decideBy, movePath, removePath, shareOf } from "./paths.ts";
import { insertSteps, listEarlier, moveStep, placeTowards, removeStep, subtreeOf, whyNot } from "./tree.ts";

function put(draft: Draft, name: string, type: StepKind, within?: Within): Draft {
  return insertSteps(draft, { within, index: MAX_STEPS }, [{ ...newStep(type, name, draft.steps), key: name }]);
}

/** a, plan [first: b, deep [first: c]] [otherwise: d], e */
function makeTree(): Draft {
  let draft = { steps: [] as DraftStep[] } as Draft;
  draft = put(draft, "a", "sms");
  draft = put(draft, "plan", "branch");
  draft = put(draft, "e", "sms");
  draft = put(draft, "b", "sms", FIRST);
  draft = put(draft, "deep", "branch", FIRST);
  draft = put(draft, "d", "sms", { branch: "plan", path: OTHERWISE });
  return put(draft, "c", "sms", DEEP);
}

const FIRST = { branch: "plan", path: "path-1" };
const DEEP = { branch: "deep", path: "path-1" };
const keysOf = (draft: Draft) => draft.steps.map((step) => step.key).join(" ");
const towards = (draft: Draft, key: string, direction: Parameters<typeof placeTowards>[2]) => {
  const place = placeTowards(draft.steps, key, direction);
  return place ? moveStep(draft, key, place) : draft;
};

function stepOf(draft: Draft, key: string): DraftStep {
  const step = draft.steps.find((one) => one.key === key);
  assert.ok(step);
  return step;
}

test("the steps of a draft are in reading order, wherever they are put in", () => {
  assert.equal(keysOf(makeTree()), "a plan b deep c d e");
});

test("a branch moves and goes with what is within it", () => {
  const tree = makeTree();
  assert.equal(keysOf(moveStep(tree, "plan", { index: 2 })), "a e plan b deep c d");
  assert.equal(keysOf(moveStep(tree, "deep", { index: 0 })), "deep c a plan b d e");
  assert.equal(keysOf(removeStep(tree, "plan")), "a e");
});

test("no step moves into itself, or to a place that there is not", () => {
  const tree = makeTree();
  assert.equal(moveStep(tree, "plan", { within: DEEP, index: 0 }), tree);
  assert.equal(moveStep(tree, "a", { index: 9 }), tree);
  assert.equal(moveStep(tree, "a", { index: 0 }), tree);
});

test("up and down lead through the paths of a branch and out of it", () => {
  let tree = makeTree();
  tree = towards(tree, "c", "up");
  assert.equal(keysOf(tree), "a plan b c deep d e");
  tree = towards(towards(tree, "c", "down"), "c", "down");
  assert.deepEqual([keysOf(tree), stepOf(tree, "c").within?.path], ["a plan b deep c d e", OTHERWISE]);
  tree = towards(towards(tree, "c", "down"), "c", "down");
  assert.deepEqual([keysOf(tree), stepOf(tree, "c").within], ["a plan b deep d c e", undefined]);
  assert.equal(towards(makeTree(), "a", "up").steps[0]?.key, "a");
});

test("a step moves out behind its branch, and into the branch beside it", () => {
  const tree = makeTree();
  const out = towards(tree, "b", "out");
  assert.deepEqual([keysOf(out), stepOf(out, "b").within], ["a plan deep c d b e", undefined]);
  assert.deepEqual(stepOf(towards(tree, "e", "into"), "e").within, FIRST);
  const into = towards(tree, "a", "into");
  assert.deepEqual([keysOf(into), stepOf(into, "a").within], ["plan a b deep c d e", FIRST]);
  assert.equal(placeTowards(tree.steps, "d", "into"), null);
});

test("limits keep steps out: of a path, of the workflow, and of the depth", () => {
  const tree = makeTree();
  let full = tree;
  for (let count = 2; count < MAX_STEPS; count += 1) {
    full = put(full, `more-${count}`, "sms", FIRST);
  }
  assert.equal(whyNot(full.steps, FIRST, subtreeOf(full.steps, "a"), false), "full");
  assert.equal(whyNot(full.steps, FIRST, subtreeOf(full.steps, "b"), false), null);
  const many = Array.from({ length: 94 }, (_, at) => ({ ...stepOf(tree, "a"), key: `n${at}` }));
  assert.equal(whyNot(tree.steps, undefined, many, true), "many");
  let deep = tree;
  for (const name of ["three", "four", "five"]) {
    const within = { branch: { three: "deep", four: "three", five: "four" }[name] ?? "", path: "path-1" };
    deep = put(deep, name, "branch", within);
  }
  const inner = { branch: "five", path: "path-1" };
  assert.equal(whyNot(deep.steps, inner, subtreeOf(deep.steps, "a"), false), null);
  const other = put(deep, "other", "branch");
  assert.equal(whyNot(other.steps, inner, subtreeOf(other.steps, "other"), false), "deep");
  assert.equal(moveStep(other, "other", { within: inner, index: 0 }), other);
});

test("a step is preceded by those that its run has come to, none of other paths", () => {
  const tree = makeTree();
  const before = (key: string) => listEarlier(tree.steps, key).map((step) => step.key);
  assert.deepEqual(before("c"), ["a", "plan", "b", "deep"]);
  assert.deepEqual(before("d"), ["a", "plan"]);
  assert.deepEqual(before("e"), ["a", "plan", "b", "deep", "c", "d"]);
});

test("a copy has identifiers of its own, and asks about the steps that were copied along", () => {
  const tree = makeTree();
  const steps = tree.steps.map((step) => ({ ...step, _id: `id-${step.key}` }));
  const asking = steps.map((step) =>
    step.key === "c"
      ? { ...step, controlValues: { body: "{{steps.deep.path}} {{steps.a.seen}} {{steps.deeper.x}}" } }
      : step,
  );
  const copies = copiesOf(subtreeOf(asking, "deep"), asking);
  assert.deepEqual(
    copies.map((step) => [step.key, step.stepId, step._id, step.within?.branch]),
    [
      ["new-deep-2", "deep-2", undefined, undefined],
      ["new-c-2", "c-2", undefined, "new-deep-2"],
    ],
  );
  assert.equal(copies[1]?.controlValues.body, "{{steps.deep-2.path}} {{steps.a.seen}} {{steps.deeper.x}}");
  const pasted = pasteSteps(tree, { within: { branch: "plan", path: OTHERWISE }, index: 0 }, subtreeOf(asking, "deep"));
  assert.equal(keysOf(pasted.draft), "a plan b deep c new-deep-2 new-c-2 d e");
});

test("paths are added, moved and removed with their steps; otherwise stays the last", () => {
  let tree = makeTree();
  tree = addPath(tree, stepOf(tree, "plan"), (number) => `Path ${number}`);
  tree = movePath(tree, stepOf(tree, "plan"), "path-2", -1);
  assert.deepEqual(
    stepOf(tree, "plan").paths?.map((path) => path.key),
    ["path-2", "path-1", OTHERWISE],
  );
  tree = put(tree, "f", "sms", { branch: "plan", path: "path-2" });
  assert.equal(keysOf(tree), "a plan f b deep c d e");
  assert.equal(keysOf(removePath(tree, stepOf(tree, "plan"), "path-1")), "a plan f d e");
});

test("weights leave nobody over: the steps for the others are a path of their own", () => {
  const tree = makeTree();
  const split = decideBy(tree, stepOf(tree, "plan"), "weights", "Others");
  const branch = stepOf(split, "plan");
  assert.deepEqual(
    branch.paths?.map(({ name, weight }) => [name, weight]),
    [
      ["Path 1", 1],
      ["Others", 1],
    ],
  );
  assert.deepEqual(stepOf(split, "d").within, { branch: "plan", path: "rest" });
  assert.deepEqual(
    branch.paths?.map((path) => shareOf(branch, path)),
    [50, 50],
  );
  const back = decideBy(split, branch, "conditions", "Others");
  assert.ok(stepOf(back, "plan").paths?.every((path) => path.weight === undefined));
});
