import assert from "node:assert/strict";
import { test } from "node:test";
import { countBackTo, currentEntry, findKept, keep } from "./entries.ts";

/** A history as a browser has it, with one entry at first. */
function startHistory() {
  const entries: { path: string; state: unknown }[] = [{ path: "/list", state: null }];
  let at = 0;
  const here = () => entries[at] ?? { path: "", state: null };
  Object.assign(globalThis, {
    location: {
      get pathname() {
        return here().path;
      },
    },
    history: {
      get state() {
        return here().state;
      },
      replaceState: (state: unknown) => {
        here().state = state;
      },
    },
  });
  return {
    push: (path: string) => {
      at += 1;
      entries.splice(at, entries.length, { path, state: null });
      return currentEntry();
    },
    go: (steps: number) => {
      at += steps;
      return currentEntry();
    },
  };
}

test("an entry is the same when somebody comes back to it, and knows the way back to a list", () => {
  const browser = startHistory();
  const list = currentEntry();
  assert.equal(countBackTo("/list"), null);
  browser.push("/one");
  assert.equal(countBackTo("/list"), 1);
  browser.push("/two");
  assert.equal(countBackTo("/list"), 2);
  assert.equal(countBackTo("/other"), null);

  assert.deepEqual(browser.go(-2), list);
  const other = browser.push("/three");
  assert.notEqual(other.id, list.id);
  assert.equal(countBackTo("/one"), null);
});

test("an entry keeps its latest values, and the latest entries theirs", () => {
  for (let number = 0; number < 30; number++) {
    keep("entry", `value ${number}`, number);
    keep("entry", "often", number);
    keep(`entry ${number}`, "value", number);
  }

  assert.equal(findKept("entry", "often"), 29);
  assert.equal(findKept("entry", "value 29"), 29);
  assert.equal(findKept("entry", "value 0"), undefined);
  assert.equal(findKept("entry 29", "value"), 29);
  assert.equal(findKept("entry 0", "value"), undefined);
});
