/** Drafts that are kept in the browser until they are saved or discarded. */
import type { Draft } from "./model.ts";

/** A draft with what it started from, so that it can be merged if somebody saves in between. */
export type StoredDraft = { draft: Draft; base: Draft; etag: string; at: string };

export function readStored(key: string): StoredDraft | null {
  const text = localStorage.getItem(key);
  if (text === null) {
    return null;
  }
  try {
    return JSON.parse(text);
  } catch {
    localStorage.removeItem(key);
    return null;
  }
}

export function writeStored(key: string, stored: StoredDraft): void {
  try {
    localStorage.setItem(key, JSON.stringify(stored));
  } catch {
    // The store of the browser is full: the warning on leaving remains.
  }
}

export function removeStored(key: string): void {
  localStorage.removeItem(key);
}

export function storedKey(environment: string, workflowId: string): string {
  return `clarion-draft/${environment}/${workflowId}`;
}
