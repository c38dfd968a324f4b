/** Drafts that are kept in the browser until they are saved or discarded. */

/** A draft with what it started from, so that it can be merged if somebody saves in between. */
export type StoredDraft<Document> = { draft: Document; base: Document; etag: string; at: string };

/** Milliseconds without a change, after which a draft is written. */
const PAUSE = 500;

export function readDraft<Document>(key: string): StoredDraft<Document> | null {
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

/** Writes the latest draft after a pause; null removes it. */
export type DraftWriter = {
  write: (make: (() => StoredDraft<unknown>) | null) => void;
  /** Write at once what waits, because the page may be gone in a moment. */
  flush: () => void;
};

export function makeDraftWriter(key: string): DraftWriter {
  let waiting: (() => StoredDraft<unknown>) | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  function flush() {
    clearTimeout(timer);
    const make = waiting;
    waiting = null;
    if (make) {
      store(key, make());
    }
  }
  function write(make: (() => StoredDraft<unknown>) | null) {
    clearTimeout(timer);
    waiting = make;
    if (make) {
      timer = setTimeout(flush, PAUSE);
    } else {
      localStorage.removeItem(key);
    }
  }
  return { write, flush };
}

function store(key: string, draft: StoredDraft<unknown>): void {
  try {
    localStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // The store of the browser is full: the warning on leaving remains.
  }
}

/** The place of the draft of a document, by its environment and id. */
export function draftKey(environment: string, kind: string, id: string): string {
  return `clarion-draft/${environment}/${kind}/${id}`;
}
