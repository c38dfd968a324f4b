/** A document in an editor: its draft with undo and redo, kept in the browser until it is saved. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Action, useAction } from "../../api/action.ts";
import { ApiProblem } from "../../api/problem.ts";
import { notify } from "../../ui/notices.tsx";
import { makeDraftWriter, readDraft } from "./drafts.ts";
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

export type StoredKind<Saved, Draft> = DocumentKind<Saved, Draft> & {
  /** Save a draft on top of the state that the ETag names. */
  put: (draft: Draft, on: { saved: Saved; base: Draft; etag: string }) => Promise<Saved>;
  /** The member of an error's context that has the present state, if somebody else has saved. */
  presentMember: string;
  texts: { savedNow: string; merged: string };
};

export type Edited<Saved, Draft> = Omit<DocumentState<Saved, Draft>, "history"> & {
  draft: Draft;
  isDirty: boolean;
  canUndo: boolean;
  canRedo: boolean;
  undo: () => void;
  redo: () => void;
  change: (make: (draft: Draft) => Draft) => void;
  save: () => Promise<void>;
  /** Save a merge of the draft with what somebody else has saved. */
  saveMerged: (merged: Draft) => Promise<void>;
  /** Go back to a state of the server. */
  reset: (saved: Saved) => void;
  discard: () => void;
  closeMerge: () => void;
  saving: Action<[Draft, Saved | null]>;
};

/** Called with what was sent and what it was saved as. */
type OnSaved<Draft> = (sent: Draft, made: Draft) => void;

export function useDocument<Saved, Draft>(
  kind: StoredKind<Saved, Draft>,
  saved: Saved,
  key: string,
  onSaved?: OnSaved<Draft>,
): Edited<Saved, Draft> {
  const [state, setState] = useState(() => restoredState(kind, saved, readDraft<Draft>(key)));
  const latest = useRef(state);
  latest.current = state;
  const dirty = isDirty(state);
  useStoredDraft(state, dirty, key);

  const saving = useAction(async (sent: Draft, theirs: Saved | null) => {
    const on = theirs ? stateOf(kind, theirs) : latest.current;
    try {
      const made = await kind.put(sent, on);
      setState((before) => savedState(kind, before, sent, made));
      onSaved?.(sent, kind.draftOf(made));
      notify(theirs ? kind.texts.merged : kind.texts.savedNow);
    } catch (error) {
      const present = presentState<Saved>(error, kind.presentMember);
      if (present) {
        setState((before) => ({ ...before, theirs: present }));
        return;
      }
      if (error instanceof ApiProblem && error.status === 422) {
        setState((before) => ({ ...before, refusal: { fields: error.fields, sent } }));
      }
      throw error;
    }
  });

  const change = useCallback((make: (draft: Draft) => Draft) => {
    setState((before) => changed(before, make, performance.now()));
  }, []);
  const reset = useCallback((to: Saved) => setState(stateOf(kind, to)), [kind]);
  const { history, ...rest } = state;

  return {
    ...rest,
    draft: history.present,
    isDirty: dirty,
    canUndo: history.past.length > 0,
    canRedo: history.future.length > 0,
    undo: () => setState((before) => ({ ...before, history: undo(before.history) })),
    redo: () => setState((before) => ({ ...before, history: redo(before.history) })),
    change,
    save: () => saving.run(history.present, null),
    saveMerged: async (merged) => {
      const { theirs } = latest.current;
      if (theirs) {
        setState(mergedState(kind, theirs, merged));
        await saving.run(merged, theirs);
      }
    },
    reset,
    discard: () => {
      saving.clear();
      reset(state.saved);
    },
    closeMerge: () => setState((before) => ({ ...before, theirs: null })),
    saving,
  };
}

/** Keeps the draft in the browser; it is written at the latest when the page is left or hidden. */
function useStoredDraft<Saved, Draft>(state: DocumentState<Saved, Draft>, dirty: boolean, key: string): void {
  const [writer] = useState(() => makeDraftWriter(key));
  const { history, base, etag } = state;
  useEffect(() => {
    writer.write(dirty ? () => ({ draft: history.present, base, etag, at: new Date().toISOString() }) : null);
  }, [history.present, base, dirty, writer]);
  useEffect(() => {
    const flush = () => writer.flush();
    addEventListener("pagehide", flush);
    document.addEventListener("visibilitychange", flush);
    return () => {
      removeEventListener("pagehide", flush);
      document.removeEventListener("visibilitychange", flush);
      flush();
    };
  }, [writer]);
}

/** What the server has now, if it refused a save because of that. */
function presentState<Saved>(error: unknown, member: string): Saved | null {
  const isOld = error instanceof ApiProblem && error.status === 412;
  return isOld ? ((error.context[member] as Saved | undefined) ?? null) : null;
}
