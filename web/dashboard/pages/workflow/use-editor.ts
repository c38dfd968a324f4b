/** The workflow in the editor: a document whose new steps get their ids when it is saved. */
import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { type Edited, type StoredKind, useDocument } from "../../document/use-document.ts";
import { texts } from "../../texts/editor.ts";
import { rebase, withIds } from "./merge.ts";
import type { Draft, Workflow } from "./model.ts";
import { bodyOf, draftOf } from "./saved.ts";

export type Editor = Edited<Workflow, Draft> & {
  /** The ids that new steps got when they were saved, by their keys until then. */
  ids: Readonly<Record<string, string>>;
};

const KIND: StoredKind<Workflow, Draft> = {
  draftOf,
  etagOf: (workflow) => workflow.etag,
  rebase,
  withIds,
  put: async (draft, { saved, base, etag }) => {
    const params = { path: { workflowId: saved.workflowId }, header: { "If-Match": `"${etag}"` } };
    return dataOf(await api.PUT("/v2/workflows/{workflowId}", { params, body: bodyOf(draft, base) }));
  },
  presentMember: "workflow",
  texts,
};

export function useEditor(workflow: Workflow, key: string): Editor {
  const [ids, setIds] = useState<Editor["ids"]>({});
  const edited = useDocument(KIND, workflow, key, (sent, made) => {
    const given = sent.steps.map((step, index) => [step.key, made.steps[index]?.key ?? ""]);
    setIds((before) => ({ ...before, ...Object.fromEntries(given) }));
  });
  return { ...edited, ids };
}
