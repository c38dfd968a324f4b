import assert from "node:assert/strict";
import { test } from "node:test";
import { plainChoices } from "../../document/merge.ts";
import { applyChoices, findDifferences, rebase } from "./merge.ts";
import { changeStep, type Draft, type DraftStep } from "./model.ts";
import { insertSteps, moveStep, removeStep } from "./tree.ts";

function makeStep(key: string, controlValues: Record<string, unknown> = {}, saved = true): DraftStep {
  return {
    key,
    ...(saved && { _id: key }),
    stepId: key,
    name: key,
    type: "email",
    active: true,
    controlValues,
    filters: [],
    shouldStopOnFail: false,
    variants: [],
  };
}

const base: Draft = {
  name: "Welcome",
  description: "",
  tags: [],
  active: true,
  severity: "none",
  preferences: { default: { all: { enabled: true, readOnly: false }, channels: {} }, user: null },
  payloadSchema: null,
  validatePayload: false,
  isTranslationEnabled: false,
  tracking: { opens: null, clicks: null },
  takesReplies: null,
  steps: [makeStep("a", { subject: "Hi", body: "…" }), makeStep("b"), makeStep("c")],
};

const keysOf = (draft: Draft) => draft.steps.map((step) => step.key);

function merge(mine: Draft, theirs: Draft, extra: Record<string, "mine" | "theirs"> = {}): Draft {
  const differences = findDifferences(base, mine, theirs);
  return applyChoices(base, mine, theirs, { ...plainChoices(differences), ...extra });
}

test("changes of different fields of one step come together without a question", () => {
  const mine = changeStep(base, "a", { controlValues: { subject: "Hello", body: "…" } });
  const theirs = { ...changeStep(base, "a", { controlValues: { subject: "Hi", body: "Long" } }), tags: ["new"] };
  assert.ok(findDifferences(base, mine, theirs).every((one) => one.changedBy !== "both"));
  const merged = merge(mine, theirs);
  assert.deepEqual(merged.steps[0]?.controlValues, { subject: "Hello", body: "Long" });
  assert.deepEqual(merged.tags, ["new"]);
});

test("a field that both changed is a question, unless they agree", () => {
  const mine = { ...base, name: "Mine", severity: "high" as const };
  const theirs = { ...base, name: "Theirs", severity: "high" as const };
  const found = findDifferences(base, mine, theirs);
  assert.deepEqual(
    found.map((one) => [one.id, one.changedBy]),
    [["name", "both"]],
  );
  assert.equal(merge(mine, theirs, { name: "mine" }).name, "Mine");
  assert.equal(merge(mine, theirs, { name: "theirs" }).name, "Theirs");
});

test("a step that one removed and the other one changed is a question", () => {
  const mine = removeStep(base, "a");
  const theirs = changeStep(base, "a", { controlValues: { subject: "New" } });
  const found = findDifferences(base, mine, theirs);
  assert.deepEqual(
    found.map((one) => [one.id, one.changedBy]),
    [["a/step", "both"]],
  );
  assert.deepEqual(keysOf(merge(mine, theirs, { "a/step": "mine" })), ["b", "c"]);
  assert.deepEqual(keysOf(merge(mine, theirs, { "a/step": "theirs" })), ["a", "b", "c"]);
});

test("a step that one removed and the other one left alone is removed", () => {
  assert.deepEqual(keysOf(merge(base, removeStep(base, "b"))), ["a", "c"]);
  assert.deepEqual(keysOf(merge(removeStep(base, "b"), base)), ["a", "c"]);
});

test("steps that both added stay where they were put, with identifiers of their own", () => {
  const mine = insertSteps(base, { index: 1 }, [{ ...makeStep("new-x", {}, false), stepId: "x" }]);
  const theirs = insertSteps(base, { index: 3 }, [{ ...makeStep("y"), stepId: "x" }]);
  const merged = merge(mine, theirs);
  assert.deepEqual(keysOf(merged), ["a", "new-x", "b", "c", "y"]);
  assert.deepEqual(
    merged.steps.map((step) => step.stepId),
    ["a", "x-2", "b", "c", "x"],
  );
});

test("the order is that of the one who changed it", () => {
  const mine = moveStep(base, "c", { index: 0 });
  const theirs = insertSteps(base, { index: 3 }, [makeStep("d")]);
  assert.deepEqual(keysOf(merge(mine, theirs)), ["c", "d", "a", "b"]);
  const other = moveStep(base, "b", { index: 0 });
  const found = findDifferences(base, mine, other);
  assert.deepEqual(
    found.map((one) => [one.id, one.changedBy]),
    [["order", "both"]],
  );
  assert.deepEqual(keysOf(merge(mine, other, { order: "theirs" })), ["b", "a", "c"]);
});

test("a control that one cleared is cleared", () => {
  const mine = changeStep(base, "a", { controlValues: { subject: "Hi" } });
  assert.deepEqual(merge(mine, { ...base, name: "Other" }).steps[0]?.controlValues, { subject: "Hi" });
});

test("what is typed while a save is under way stays, and new steps get their ids", () => {
  const sent = insertSteps(base, { index: 3 }, [makeStep("new-x", { body: "Hi" }, false)]);
  const current = changeStep(sent, "new-x", { controlValues: { body: "Hi there" } });
  const saved = insertSteps(base, { index: 3 }, [
    { ...makeStep("d", { body: "Hi", subject: "" }), stepId: "new-x", name: "new-x" },
  ]);
  const rebased = rebase(sent, current, saved);
  assert.deepEqual(keysOf(rebased), ["a", "b", "c", "d"]);
  assert.deepEqual(rebased.steps[3]?.controlValues, { body: "Hi there", subject: "" });
  assert.deepEqual(rebase(sent, sent, saved), saved);
});

function makeVariant(key: string, body: string) {
  return { key, _id: key, name: key, filters: [], controlValues: { body } };
}

const varied = changeStep(base, "a", { variants: [makeVariant("v", "V"), makeVariant("w", "W")] });

function withVariants(...variants: DraftStep["variants"]): Draft {
  return changeStep(varied, "a", { variants });
}

test("changes of different variants come together, and those of a removed one do not hit its neighbour", () => {
  const both = (mine: Draft, theirs: Draft) => {
    const differences = findDifferences(varied, mine, theirs);
    assert.ok(differences.every((one) => one.changedBy !== "both"));
    return applyChoices(varied, mine, theirs, plainChoices(differences)).steps[0]?.variants;
  };
  const mine = withVariants(makeVariant("v", "V"), makeVariant("w", "Mine"));
  assert.deepEqual(both(mine, withVariants(makeVariant("v", "Theirs"), makeVariant("w", "W"))), [
    makeVariant("v", "Theirs"),
    makeVariant("w", "Mine"),
  ]);
  assert.deepEqual(both(mine, withVariants(makeVariant("w", "W"))), [makeVariant("w", "Mine")]);
  assert.deepEqual(both(mine, withVariants(makeVariant("w", "W"), makeVariant("v", "V"))), [
    makeVariant("w", "Mine"),
    makeVariant("v", "V"),
  ]);
});

test("a variant that both changed is a question about its field", () => {
  const mine = withVariants(makeVariant("v", "Mine"), makeVariant("w", "W"));
  const theirs = withVariants(makeVariant("v", "Theirs"));
  const [changed, removed] = findDifferences(varied, mine, theirs);
  assert.deepEqual([changed?.id, changed?.changedBy], ["a/variants.v.controlValues.body", "both"]);
  assert.deepEqual([removed?.id, removed?.changedBy], ["a/variants.w", "theirs"]);
});

test("a variant that is typed on while it is saved gets its id", () => {
  const unsaved = { key: "new", name: "New", filters: [], controlValues: { body: "1" } };
  const sent = changeStep(base, "a", { variants: [unsaved] });
  const current = changeStep(base, "a", { variants: [{ ...unsaved, controlValues: { body: "12" } }] });
  const saved = changeStep(base, "a", { variants: [{ ...unsaved, key: "id", _id: "id" }] });
  assert.deepEqual(rebase(sent, current, saved).steps[0]?.variants, [
    { ...unsaved, key: "id", _id: "id", controlValues: { body: "12" } },
  ]);
});

function makeBranch(key: string, ...names: string[]): DraftStep {
  return { ...makeStep(key), type: "branch", paths: names.map((name) => ({ key: name, name })) };
}

const inside = (branch: string, path: string) => ({ within: { branch, path } });
const tree: Draft = {
  ...base,
  steps: [
    makeBranch("plan", "A", "B"),
    { ...makeStep("a"), ...inside("plan", "A") },
    { ...makeStep("b"), ...inside("plan", "B") },
    makeStep("z"),
  ],
};

function mergeTrees(mine: Draft, theirs: Draft, extra: Record<string, "mine" | "theirs"> = {}): Draft {
  return applyChoices(tree, mine, theirs, { ...plainChoices(findDifferences(tree, mine, theirs)), ...extra });
}

const askedOf = (mine: Draft, theirs: Draft) =>
  findDifferences(tree, mine, theirs).flatMap((one) => (one.changedBy === "both" ? [one.id] : []));

test("one moves a step out of a branch while the other one writes it, and adds a path", () => {
  const mine = moveStep(tree, "a", { index: 2 });
  const written = changeStep(tree, "a", { controlValues: { body: "New" } });
  const paths = [
    { key: "A", name: "A" },
    { key: "B", name: "Renamed" },
    { key: "C", name: "C" },
  ];
  const theirs = changeStep(written, "plan", { paths });
  assert.deepEqual(askedOf(mine, theirs), []);
  const merged = mergeTrees(mine, theirs);
  assert.deepEqual(keysOf(merged), ["plan", "b", "z", "a"]);
  assert.deepEqual(merged.steps[3]?.controlValues, { body: "New" });
  assert.ok(!("within" in (merged.steps[3] ?? {})));
  assert.deepEqual(merged.steps[0]?.paths, paths);
});

test("a branch that one removed and the other one put a step into is one question about all of it", () => {
  const mine = insertSteps(tree, { within: { branch: "plan", path: "A" }, index: 0 }, [makeStep("new", {}, false)]);
  const theirs = removeStep(tree, "plan");
  assert.deepEqual(askedOf(mine, theirs), ["plan/step"]);
  assert.deepEqual(keysOf(mergeTrees(mine, theirs, { "plan/step": "mine" })), ["plan", "new", "a", "b", "z"]);
  assert.deepEqual(keysOf(mergeTrees(mine, theirs, { "plan/step": "theirs" })), ["z"]);
});

test("a path that one removed takes its steps along, and the other one's changes of the others stay", () => {
  const mine = { ...changeStep(tree, "plan", { paths: [{ key: "B", name: "B" }] }) };
  mine.steps = mine.steps.filter((step) => step.key !== "a");
  const theirs = changeStep(tree, "b", { name: "Other" });
  assert.deepEqual(askedOf(mine, theirs), []);
  assert.deepEqual(keysOf(mergeTrees(mine, theirs)), ["plan", "b", "z"]);
  const putIn = insertSteps(tree, { within: { branch: "plan", path: "A" }, index: 0 }, [makeStep("y")]);
  assert.deepEqual(askedOf(mine, putIn), ["plan/paths.A"]);
  assert.deepEqual(keysOf(mergeTrees(mine, putIn, { "plan/paths.A": "mine" })), ["plan", "b", "z"]);
  assert.deepEqual(keysOf(mergeTrees(mine, putIn, { "plan/paths.A": "theirs" })), ["plan", "y", "a", "b", "z"]);
});

test("a step that one put into a path that the other one removed stays in the workflow", () => {
  const mine = moveStep(tree, "z", { within: { branch: "plan", path: "A" }, index: 0 });
  const theirs = { ...changeStep(tree, "plan", { paths: [{ key: "B", name: "B" }] }) };
  theirs.steps = theirs.steps.filter((step) => step.key !== "a");
  const merged = mergeTrees(mine, theirs, { "plan/paths.A": "theirs" });
  assert.deepEqual(keysOf(merged), ["plan", "b", "z"]);
  assert.ok(!("within" in (merged.steps[2] ?? {})));
});

test("new branches and paths are saved under other keys, and what is typed meanwhile stays in them", () => {
  const unsaved = insertSteps(base, { index: 3 }, [{ ...makeBranch("new-plan", "path-1"), stepId: "plan" }]);
  const sent = insertSteps(unsaved, { within: { branch: "new-plan", path: "path-1" }, index: 0 }, [
    makeStep("new-x", { body: "1" }, false),
  ]);
  const current = changeStep(sent, "new-x", { controlValues: { body: "12" } });
  const [branch, step] = [sent.steps[3] as DraftStep, sent.steps[4] as DraftStep];
  const saved = {
    ...sent,
    steps: sent.steps
      .with(3, { ...branch, key: "id-plan", _id: "id-plan", paths: [{ key: "Path", name: "path-1" }] })
      .with(4, { ...step, key: "id-x", _id: "id-x", ...inside("id-plan", "Path") }),
  };
  const rebased = rebase(sent, current, saved);
  assert.deepEqual(keysOf(rebased), ["a", "b", "c", "id-plan", "id-x"]);
  assert.deepEqual(rebased.steps[4]?.within, { branch: "id-plan", path: "Path" });
  assert.deepEqual(rebased.steps[4]?.controlValues, { body: "12" });
});
