import assert from "node:assert/strict";
import { test } from "node:test";
import { changeStep, type Workflow } from "./model.ts";
import { findProblems, problemsByPath, remarksByPath } from "./problems.ts";
import { draftOf } from "./saved.ts";

const schemas = { email: { dataSchema: { required: ["subject", "body"] }, uiSchema: {} } };
const missing = (name: string) => `${name} is needed`;

const saved = {
  name: "Welcome",
  tags: [],
  active: true,
  severity: "none",
  preferences: { default: { all: { enabled: true, readOnly: false }, channels: {} }, user: null },
  validatePayload: false,
  isTranslationEnabled: false,
  steps: [
    {
      _id: "1",
      stepId: "mail",
      name: "Mail",
      type: "email",
      active: true,
      controlValues: { subject: "Hi", from: "nobody", body: "" },
      filters: [],
      shouldStopOnFail: false,
      variants: [],
      issues: {
        controls: {
          from: [{ issueType: "MISSING_VALUE", message: "must be an address" }],
          body: [{ issueType: "MISSING_VALUE", message: "body is missing" }],
        },
      },
    },
  ],
} as unknown as Workflow;

test("what is missing is found as it is typed, and what the server found stays until it is changed", () => {
  const draft = draftOf(saved);
  const before = problemsByPath(findProblems(draft, saved, schemas, missing), "1");
  assert.deepEqual(before, { body: "body is needed", from: "must be an address" });
  const changed = changeStep(draft, "1", { controlValues: { subject: "", body: "Hi", from: "ada@example.com" } });
  const after = problemsByPath(findProblems(changed, saved, schemas, missing), "1");
  assert.deepEqual(after, { subject: "subject is needed" });
});

test("what a save was refused for belongs to its step, wherever that has moved", () => {
  const sent = draftOf(saved);
  const fields = { "steps.0.controlValues.subject": "is no template", payloadSchema: "is no schema" };
  const refusal = { fields, sent };
  const found = findProblems(sent, saved, schemas, missing, refusal);
  assert.equal(problemsByPath(found, "1").subject, "is no template");
  assert.equal(problemsByPath(found).payloadSchema, "is no schema");
  const changed = changeStep(sent, "1", { controlValues: { subject: "Hello", body: "x" } });
  assert.ok(!("subject" in problemsByPath(findProblems(changed, saved, schemas, missing, refusal), "1")));
});

test("what is wrong inside of a document stays until the document is changed, and a remark is no error", () => {
  const [step] = saved.steps;
  const issues = {
    controls: { "body.content[0].type": [{ issueType: "MISSING_VALUE", message: "is unknown" }] },
    warnings: { body: [{ message: "a picture has no alt" }] },
  };
  const controlValues = { subject: "Hi", body: '{"type":"doc"}' };
  const workflow = { ...saved, steps: [{ ...step, controlValues, issues }] } as unknown as Workflow;
  const draft = draftOf(workflow);
  const found = findProblems(draft, workflow, schemas, missing);
  assert.deepEqual(
    found.map(({ path, isError }) => [path, isError]),
    [
      ["body.content[0].type", true],
      ["body", false],
    ],
  );
  const changed = changeStep(draft, "1", { controlValues: { subject: "Hi", body: "x" } });
  assert.deepEqual(findProblems(changed, workflow, schemas, missing), []);
});

test("a problem of a variant follows it, and goes with it", () => {
  const [step] = saved.steps;
  const variants = [
    { _id: "v", name: "V", filters: [], controlValues: { body: "" } },
    { _id: "w", name: "W", filters: [], controlValues: {} },
  ];
  const issues = {
    controls: { "variants.1.body": [{ issueType: "MISSING_VALUE", message: "body is missing" }] },
    warnings: { "variants.0.more": [{ message: "is read by nothing" }] },
  };
  const controlValues = { subject: "Hi", body: "x" };
  const workflow = { ...saved, steps: [{ ...step, controlValues, variants, issues }] } as unknown as Workflow;
  const draft = draftOf(workflow);
  const found = (left: typeof draft) => findProblems(left, workflow, schemas, missing);
  assert.deepEqual(problemsByPath(found(draft), "1"), { "variants.w.body": "body is missing" });
  assert.deepEqual(remarksByPath(found(draft), "1"), { "variants.v.more": ["is read by nothing"] });
  const [first, second] = draft.steps[0]?.variants ?? [];
  assert.ok(first && second);
  const onlySecond = changeStep(draft, "1", { variants: [second] });
  assert.deepEqual(problemsByPath(found(onlySecond), "1"), { "variants.w.body": "body is missing" });
  assert.deepEqual(remarksByPath(found(onlySecond), "1"), {});
  assert.deepEqual(
    found(changeStep(draft, "1", { variants: [first] })).map(({ path }) => path),
    ["variants.v.more"],
  );
});
