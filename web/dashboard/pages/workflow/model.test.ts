import assert from "node:assert/strict";
import { test } from "node:test";
import { isSame } from "../../values.ts";
import { duplicateStep } from "./copies.ts";
import { changeStep, type Draft, newStep } from "./model.ts";
import { bodyOf } from "./saved.ts";
import { insertSteps, moveStep, removeStep } from "./tree.ts";

const layer = { all: { enabled: true, readOnly: false }, channels: {} };

function makeDraft(...names: string[]): Draft {
  let draft: Draft = {
    name: "Welcome",
    description: "",
    tags: [],
    active: true,
    severity: "none",
    preferences: { default: layer, user: null },
    payloadSchema: null,
    validatePayload: false,
    isTranslationEnabled: false,
    tracking: { opens: null, clicks: null },
    takesReplies: null,
    steps: [],
  };
  for (const name of names) {
    draft = insertSteps(draft, { index: draft.steps.length }, [newStep("sms", name, draft.steps)]);
  }
  return draft;
}

const namesOf = (draft: Draft) => draft.steps.map((step) => step.stepId);

test("steps are inserted anywhere, each with an identifier of its own", () => {
  const draft = makeDraft("Text", "Text");
  const more = insertSteps(draft, { index: 1 }, [newStep("email", "Größe XL", draft.steps)]);
  assert.deepEqual(namesOf(more), ["text", "groe-xl", "text-2"]);
});

test("a step moves to the place that it is to have, and no further than the ends", () => {
  const draft = makeDraft("a", "b", "c");
  const key = draft.steps[0]?.key ?? "";
  assert.deepEqual(namesOf(moveStep(draft, key, { index: 2 })), ["b", "c", "a"]);
  assert.equal(moveStep(draft, key, { index: -1 }), draft);
  assert.equal(moveStep(draft, key, { index: 3 }), draft);
});

test("a copy is a step of its own behind the first", () => {
  const draft = makeDraft("a", "b");
  const saved = changeStep(draft, draft.steps[0]?.key ?? "", { _id: "1", controlValues: { body: "Hi" } });
  const copied = duplicateStep(saved, saved.steps[0]?.key ?? "");
  assert.deepEqual(namesOf(copied.draft), ["a", "a-2", "b"]);
  assert.equal(copied.draft.steps[1]?._id, undefined);
  assert.deepEqual(copied.draft.steps[1]?.controlValues, { body: "Hi" });
  assert.equal(copied.key, copied.draft.steps[1]?.key);
});

test("a draft is dirty until it is as it was saved", () => {
  const saved = makeDraft("a");
  const key = saved.steps[0]?.key ?? "";
  const changed = changeStep(saved, key, { controlValues: { body: "Hi" } });
  assert.ok(!isSame(changed, saved));
  assert.ok(isSame(changeStep(changed, key, { controlValues: { body: undefined } }), saved));
  assert.ok(!isSame(removeStep(saved, key), saved));
});

test("a save sends the layer of preferences that was changed, and no other", () => {
  const saved = makeDraft("a");
  assert.ok(!("preferences" in bodyOf({ ...saved, name: "New" }, saved)));
  const off = { ...layer, all: { enabled: false, readOnly: false } };
  const body = bodyOf({ ...saved, preferences: { default: off, user: null } }, saved);
  assert.deepEqual(body.preferences, { workflow: off });
  assert.equal(body.description, null);
  assert.ok(!("key" in (body.steps[0] ?? {})));
});
