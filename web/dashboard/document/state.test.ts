import assert from "node:assert/strict";
import { test } from "node:test";
import { redo, undo } from "./history.ts";
import {
  changed,
  type DocumentKind,
  type DocumentState,
  isDirty,
  mergedState,
  restoredState,
  savedState,
  stateOf,
} from "./state.ts";

type Saved = { etag: string; name: string; items: string[] };
type Draft = { name: string; items: string[] };

/** New items end in `?` until they are saved. */
const kind: DocumentKind<Saved, Draft> = {
  draftOf: ({ name, items }) => ({ name, items }),
  etagOf: (saved) => saved.etag,
  rebase: (sent, current, made) => ({
    name: current.name === sent.name ? made.name : current.name,
    items: current.items.map((item) => item.replace("?", "")),
  }),
  withIds: () => (former) => ({ ...former, items: former.items.map((item) => item.replace("?", "")) }),
};

const saved: Saved = { etag: "1", name: "Letter", items: ["a"] };
const named = (name: string) => (draft: Draft) => ({ ...draft, name });
const undone = (state: DocumentState<Saved, Draft>) => ({ ...state, history: undo(state.history) });

test("a draft differs from what is saved until it is undone", () => {
  const state = changed(stateOf(kind, saved), named("Mine"), 0);
  assert.ok(isDirty(state));
  assert.ok(!isDirty(undone(state)));
});

test("what is typed while a save is under way stays, and former states come back after it with their ids", () => {
  const first = changed(stateOf(kind, saved), (draft) => ({ ...draft, items: ["a", "b?"] }), 0);
  const sent = first.history.present;
  const more = changed(first, named("Later"), 5000);
  const after = savedState(kind, more, sent, { etag: "2", name: "Letter", items: ["a", "b"] });
  assert.deepEqual(after.history.present, { name: "Later", items: ["a", "b"] });
  assert.deepEqual([after.etag, after.base.name, isDirty(after)], ["2", "Letter", true]);
  const before = undone(after);
  assert.deepEqual(before.history.present, { name: "Letter", items: ["a", "b"] });
  assert.ok(!isDirty(before));
  assert.deepEqual(undone(before).history.present.items, ["a"]);
  assert.ok(isDirty(undone(before)));
  assert.equal(redo(before.history).present.name, "Later");
});

test("a draft that was found keeps what it started from", () => {
  const found = { draft: { name: "Mine", items: [] }, base: { name: "Old", items: ["a"] }, etag: "0", at: "then" };
  const state = restoredState(kind, saved, found);
  assert.deepEqual([state.etag, state.base.name, state.restoredAt], ["0", "Old", "then"]);
  assert.equal(restoredState(kind, saved, null).restoredAt, null);
});

test("after a merge there is nothing to undo", () => {
  const state = mergedState(kind, { ...saved, etag: "5" }, { name: "Both", items: [] });
  assert.deepEqual([state.etag, state.history.past.length, isDirty(state)], ["5", 0, true]);
});
