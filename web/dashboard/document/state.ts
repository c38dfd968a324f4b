/** A document that is edited: what is saved, what both started from, and the states that the draft had. */
import { isSame } from "../values.ts";
import type { StoredDraft } from "./drafts.ts";
import { type History, record, rewrite, startHistory } from "./history.ts";

/** A sentence of the server about a save, kept with what was sent. */
export type Refusal<Draft> = { fields: Record<string, string>; sent: Draft };

export type DocumentState<Saved, Draft> = {
  /** The document as the server had it last. */
  saved: Saved;
  /** What the draft started from, and its ETag. */
  base: Draft;
  etag: string;
  history: History<Draft>;
  /** When the draft was left, if it was found in the browser. */
  restoredAt: string | null;
  refusal: Refusal<Draft> | null;
  /** What somebody else has saved in between. */
  theirs: Saved | null;
};

/** What the store has to know about a kind of document. */
export type DocumentKind<Saved, Draft> = {
  draftOf: (saved: Saved) => Draft;
  etagOf: (saved: Saved) => string;
  /** What was typed while a save was under way, put on what was saved. */
  rebase: (sent: Draft, current: Draft, made: Draft) => Draft;
  /** A former state with the ids that the save gave to what was new. */
  withIds: (sent: Draft, made: Draft) => (former: Draft) => Draft;
};

export function stateOf<Saved, Draft>(kind: DocumentKind<Saved, Draft>, saved: Saved): DocumentState<Saved, Draft> {
  const draft = kind.draftOf(saved);
  return {
    saved,
    base: draft,
    etag: kind.etagOf(saved),
    history: startHistory(draft),
    restoredAt: null,
    refusal: null,
    theirs: null,
  };
}

/** The state of a document for which a draft was found in the browser. */
export function restoredState<Saved, Draft>(
  kind: DocumentKind<Saved, Draft>,
  saved: Saved,
  found: StoredDraft<Draft> | null,
): DocumentState<Saved, Draft> {
  const state = stateOf(kind, saved);
  if (!found) {
    return state;
  }
  const { base, etag, draft, at } = found;
  return { ...state, base, etag, history: startHistory(draft), restoredAt: at };
}

export function changed<Saved, Draft>(
  state: DocumentState<Saved, Draft>,
  make: (draft: Draft) => Draft,
  at: number,
): DocumentState<Saved, Draft> {
  return { ...state, history: record(state.history, make(state.history.present), at) };
}

/** The state after a save; what was typed since it was sent stays, and former states are still there. */
export function savedState<Saved, Draft>(
  kind: DocumentKind<Saved, Draft>,
  state: DocumentState<Saved, Draft>,
  sent: Draft,
  made: Saved,
): DocumentState<Saved, Draft> {
  const now = kind.draftOf(made);
  const present = kind.rebase(sent, state.history.present, now);
  return { ...stateOf(kind, made), history: rewrite(state.history, present, kind.withIds(sent, now)) };
}

/** The state with a merge of the draft and of what somebody else has saved; what was before it cannot come back. */
export function mergedState<Saved, Draft>(
  kind: DocumentKind<Saved, Draft>,
  theirs: Saved,
  merged: Draft,
): DocumentState<Saved, Draft> {
  return { ...stateOf(kind, theirs), history: startHistory(merged) };
}

export function isDirty<Saved, Draft>({ history, base }: DocumentState<Saved, Draft>): boolean {
  return !isSame(history.present, base);
}
