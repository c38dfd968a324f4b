/** Entries of the browser's history: what a page keeps in one, so that going back shows what was shown there. */
import { useEffect, useState } from "preact/hooks";

const MAX_ENTRIES = 20;
/** Of one entry. */
const MAX_VALUES = 12;

export type Entry = { id: string /** Its place in the history. */; index: number };

let last: Entry | null = null;
let made = 0;
/** The path of each entry by its place, as far as this document knows them. */
const paths: string[] = [];
const kept = new Map<string, Map<string, unknown>>();

/** The entry that is shown; one that is new gets an id, which stays with it. */
export function currentEntry(): Entry {
  const known = isEntry(history.state) ? history.state : null;
  const entry = known ?? { id: `${performance.timeOrigin} ${made++}`, index: last === null ? 0 : last.index + 1 };
  if (known === null) {
    history.replaceState(entry, "");
    // A new entry takes the place of those that were ahead.
    paths.length = Math.min(paths.length, entry.index);
  }
  paths[entry.index] = location.pathname;
  last = entry;
  return entry;
}

/** How many entries to go back to the latest one with a path; null if there is none. */
export function countBackTo(path: string): number | null {
  const { index } = currentEntry();
  const found = paths.lastIndexOf(path, index - 1);
  return index === 0 || found < 0 ? null : index - found;
}

export function keep(entryId: string, name: string, value: unknown): void {
  const values = kept.get(entryId) ?? new Map<string, unknown>();
  putLast(values, name, value, MAX_VALUES);
  putLast(kept, entryId, values, MAX_ENTRIES);
}

export function findKept<Value>(entryId: string, name: string): Value | undefined {
  return kept.get(entryId)?.get(name) as Value | undefined;
}

/** State that is there again when somebody comes back to the page. */
export function useKept<Value>(name: string, first: Value): [Value, (value: Value) => void] {
  const [entryId] = useState(() => currentEntry().id);
  const [value, setValue] = useState<Value>(() => findKept<Value>(entryId, name) ?? first);
  useEffect(() => {
    // What becomes of a page that is being left is not what was shown.
    if (currentEntry().id === entryId) {
      keep(entryId, name, value);
    }
  }, [entryId, name, value]);
  return [value, setValue];
}

function putLast<Value>(map: Map<string, Value>, name: string, value: Value, limit: number): void {
  map.delete(name);
  map.set(name, value);
  const [oldest] = map.keys();
  if (map.size > limit && oldest !== undefined) {
    map.delete(oldest);
  }
}

function isEntry(state: unknown): state is Entry {
  return typeof state === "object" && state !== null && "id" in state && "index" in state;
}
