import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyOf, type LayoutDraft, rebase } from "./model.ts";

const draft: LayoutDraft = { name: "News", body: "", editorType: "html", isTranslationEnabled: false };

test("a layout without a body has none", () => {
  assert.equal(bodyOf(draft).controlValues, null);
  assert.deepEqual(bodyOf({ ...draft, body: "<html>" }).controlValues, {
    email: { body: "<html>", editorType: "html" },
  });
});

test("what is typed while a layout is saved stays", () => {
  const typed = { ...draft, body: "<html>" };
  assert.deepEqual(rebase(draft, typed, { ...draft, name: "Newsletter" }), { ...typed, name: "Newsletter" });
});
