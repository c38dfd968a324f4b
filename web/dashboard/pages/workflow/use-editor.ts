/** The state of the editor: what is saved, what is in the forms, and saving it. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Action, useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { ApiProblem } from "../../../api/problem.ts";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/editor.ts";
import { rebase } from "./merge.ts";
import { bodyOf, type Draft, draftOf, isDirty, type Workflow } from "./model.ts";
import type { Refusal } from "./problems.ts";
import { readStored, removeStored, writeStored } from "./stored.ts";

type State = {
  /** The workflow as the server had it last. */
  saved: Workflow;
  /** What the draft started from, and its ETag. */
  base: Draft;
  etag: string;
  draft: Draft;
  /** When the draft was left, if it was found in the browser. */
  restoredAt: string | null;
  refusal: Refusal | null;
  /** What somebody else has saved in between. */
  theirs: Workflow | null;
  /** The ids that new steps got when they were saved, by their keys until then. */
  ids: Readonly<Record<string, string>>;
};

export type Editor = State & {
  isDirty: boolean;
  change: (make: (draft: Draft) => Draft) => void;
  save: () => Promise<void>;
  /** Save a merge of the draft with what somebody else has saved. */
  saveMerged: (merged: Draft) => Promise<void>;
  /** Go back to a state of the server. */
  reset: (workflow: Workflow) => void;
  discard: () => void;
  closeMerge: () => void;
  saving: Action<[Draft, Workflow | null]>;
};

export function useEditor(workflow: Workflow, key: string): Editor {
  const [state, setState] = useState(() => startState(workflow, key));
  const latest = useRef(state);
  latest.current = state;
  const dirty = isDirty(state.draft, state.base);

  useEffect(() => {
    if (dirty) {
      const { draft, base, etag } = state;
      writeStored(key, { draft, base, etag, at: new Date().toISOString() });
    } else {
      removeStored(key);
    }
  }, [state.draft, state.base, dirty, key]);

  const saving = useAction(async (sent: Draft, theirs: Workflow | null) => {
    const base = theirs ? draftOf(theirs) : latest.current.base;
    const etag = theirs?.etag ?? latest.current.etag;
    try {
      const made = await put(latest.current.saved.workflowId, sent, base, etag);
      const now = draftOf(made);
      setState((before) => ({
        ...stateOf(made),
        draft: rebase(sent, before.draft, now),
        ids: { ...before.ids, ...Object.fromEntries(sent.steps.map((step, index) => [step.key, keyAt(now, index)])) },
      }));
      notify(theirs ? texts.merged : texts.savedNow);
    } catch (error) {
      const present = presentState(error);
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
    setState((before) => ({ ...before, draft: make(before.draft) }));
  }, []);
  const reset = useCallback((to: Workflow) => setState(stateOf(to)), []);

  return {
    ...state,
    isDirty: dirty,
    change,
    save: () => saving.run(state.draft, null),
    saveMerged: async (merged) => {
      const { theirs } = latest.current;
      if (theirs) {
        setState({ ...stateOf(theirs), draft: merged });
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

function startState(workflow: Workflow, key: string): State {
  const found = readStored(key);
  if (!found) {
    return stateOf(workflow);
  }
  return { ...stateOf(workflow), base: found.base, etag: found.etag, draft: found.draft, restoredAt: found.at };
}

function stateOf(workflow: Workflow): State {
  const draft = draftOf(workflow);
  const none = { restoredAt: null, refusal: null, theirs: null, ids: {} };
  return { saved: workflow, base: draft, etag: workflow.etag, draft, ...none };
}

function keyAt(draft: Draft, index: number): string {
  return draft.steps[index]?.key ?? "";
}

async function put(workflowId: string, draft: Draft, base: Draft, etag: string): Promise<Workflow> {
  const params = { path: { workflowId }, header: { "If-Match": `"${etag}"` } };
  return dataOf(await api.PUT("/v2/workflows/{workflowId}", { params, body: bodyOf(draft, base) }));
}

/** What the server has now, if it refused a save because of that. */
function presentState(error: unknown): Workflow | null {
  const isOld = error instanceof ApiProblem && error.status === 412;
  return isOld ? ((error.context.workflow as Workflow | undefined) ?? null) : null;
}
