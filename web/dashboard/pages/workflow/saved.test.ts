import assert from "node:assert/strict";
import { test } from "node:test";
import type { Workflow } from "./model.ts";
import { findProblems, problemsByPath } from "./problems.ts";
import { bodyOf, draftOf, type SavedStep } from "./saved.ts";

function makeStep(stepId: string, type: string, controlValues: object, more: object = {}): SavedStep {
  const rest = { active: true, filters: [], shouldStopOnFail: false, variants: [] };
  return { _id: `id-${stepId}`, stepId, name: stepId, type, controlValues, ...rest, ...more } as unknown as SavedStep;
}

const condition = { "==": [{ var: "payload.plan" }, "pro"] };
const inner = { name: "mail", type: "sms", controlValues: { body: "" } };
const PATHS = { paths: [{ name: "v1.2 / pro", condition, steps: [inner] }], otherwise: { steps: [inner] } };
const NESTED = [
  makeStep("mail", "sms", { body: "" }, { within: { branch: "plan", path: "v1.2 / pro" } }),
  makeStep("tips", "sms", { body: "Tips" }, { within: { branch: "plan", path: "otherwise" } }),
];

function makeWorkflow(branch: SavedStep): Workflow {
  const layer = { all: { enabled: true, readOnly: false }, channels: {} };
  const steps = [branch, makeStep("last", "sms", { body: "Bye" })];
  return { name: "W", preferences: { default: layer, user: null }, steps } as unknown as Workflow;
}

const saved = makeWorkflow(makeStep("plan", "branch", { skip: condition, ...PATHS }, { nested: NESTED }));

test("a branch is saved as it was read, with the steps of its paths in its controls", () => {
  const draft = draftOf(saved);
  assert.deepEqual(
    draft.steps.map((step) => step.stepId),
    ["plan", "mail", "tips", "last"],
  );
  const [branch, last] = bodyOf(draft, draft).steps ?? [];
  assert.equal(last?.stepId, "last");
  const { skip, paths, otherwise } = (branch?.controlValues ?? {}) as Record<string, unknown>;
  assert.deepEqual(skip, condition);
  const [path] = paths as { name: string; condition: unknown; steps: { _id: string }[] }[];
  assert.deepEqual([path?.name, path?.condition, path?.steps[0]?._id], ["v1.2 / pro", condition, "id-mail"]);
  assert.equal((otherwise as { steps: { _id: string }[] }).steps[0]?._id, "id-tips");
  const text = JSON.stringify(branch);
  assert.ok(!text.includes('"key"') && !text.includes('"within"') && !text.includes('"nested"'));
});

test("a branch that is shown as a custom step is the same branch", () => {
  const custom = makeStep(
    "plan",
    "custom",
    { skip: condition, custom: { type: "branch", ...PATHS } },
    { nested: NESTED },
  );
  assert.deepEqual(draftOf(makeWorkflow(custom)), draftOf(saved));
});

test("what a save was refused for is found at the step within a branch, and at its path", () => {
  const sent = draftOf(saved);
  const fields = {
    "steps.0.controlValues.paths.0.steps.0.controlValues.body": "is no template",
    "steps.0.controlValues.otherwise.steps.0.name": "is too long",
    "steps.0.controlValues.paths.0.name": "is that of a path before",
  };
  const found = findProblems(sent, saved, {}, (name) => name, { fields, sent });
  assert.deepEqual(problemsByPath(found, "id-mail"), { body: "is no template" });
  assert.deepEqual(problemsByPath(found, "id-tips"), { name: "is too long" });
  const [path] = sent.steps[0]?.paths ?? [];
  assert.deepEqual(problemsByPath(found, "id-plan"), { [`paths.${path?.key}.name`]: "is that of a path before" });
});

test("a path without a condition is named, and what the server says of another one follows it", () => {
  const issues = { controls: { "paths.0.condition": [{ issueType: "INVALID", message: "asks about nothing" }] } };
  const workflow = makeWorkflow(makeStep("plan", "branch", PATHS, { nested: NESTED, issues }));
  const draft = draftOf(workflow);
  const [branch] = draft.steps;
  const [first] = branch?.paths ?? [];
  assert.ok(branch && first);
  const added = { key: "path-2", name: "New" };
  const paths = [added, ...(branch.paths ?? [])];
  const changed = { ...draft, steps: draft.steps.with(0, { ...branch, paths }) };
  assert.deepEqual(
    problemsByPath(
      findProblems(changed, workflow, {}, (name) => `${name} is needed`),
      "id-plan",
    ),
    {
      "paths.path-2.condition": "The condition is needed",
      [`paths.${first.key}.condition`]: "asks about nothing",
    },
  );
});
