/** The workflow in the editor: a document whose new steps get their ids when it is saved. */
import { useCallback, useMemo, useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { ApiProblem } from "../../../api/problem.ts";
import type { components } from "../../../api/schema.d.ts";
import { type Edited, type StoredKind, useDocument } from "../../document/use-document.ts";
import { texts } from "../../texts/editor.ts";
import { texts as impactTexts } from "../../texts/impact.ts";
import { rebase, withIds } from "./merge.ts";
import type { Draft, Workflow } from "./model.ts";
import { bodyOf, draftOf } from "./saved.ts";

export type Editor = Edited<Workflow, Draft> & {
  /** The ids that new steps got when they were saved, by their keys until then. */
  ids: Readonly<Record<string, string>>;
  /** A change that the server wants to be looked at before it is saved. */
  asked: AskedChange | null;
};

type Steps = components["schemas"]["StepIn"][];

type AskedChange = {
  steps: Steps;
  /** Go on with the token of the change, or with nothing if it is not to be saved. */
  answer: (token: string | null) => void;
};

function kindOf(ask: (steps: Steps) => Promise<string | null>): StoredKind<Workflow, Draft> {
  return {
    draftOf,
    etagOf: (workflow) => workflow.etag,
    rebase,
    withIds,
    put: async (draft, { saved, base, etag }) => {
      const params = { path: { workflowId: saved.workflowId }, header: { "If-Match": `"${etag}"` } };
      const body = bodyOf(draft, base);
      const put = async (more?: { confirmToken: string }) =>
        dataOf(await api.PUT("/v2/workflows/{workflowId}", { params, body: { ...body, ...more } }));
      try {
        return await put();
      } catch (error) {
        if (!(error instanceof ApiProblem && error.fields.confirmToken)) {
          throw error;
        }
      }
      const confirmToken = await ask(body.steps);
      if (confirmToken === null) {
        throw new Error(impactTexts.notSaved);
      }
      return await put({ confirmToken });
    },
    presentMember: "workflow",
    texts,
  };
}

export function useEditor(workflow: Workflow, key: string): Editor {
  const [ids, setIds] = useState<Editor["ids"]>({});
  const [asked, setAsked] = useState<AskedChange | null>(null);
  const ask = useCallback((steps: Steps) => {
    return new Promise<string | null>((resolve) => {
      setAsked({
        steps,
        answer: (token) => {
          setAsked(null);
          resolve(token);
        },
      });
    });
  }, []);
  const kind = useMemo(() => kindOf(ask), [ask]);
  const edited = useDocument(kind, workflow, key, (sent, made) => {
    const given = sent.steps.map((step, index) => [step.key, made.steps[index]?.key ?? ""]);
    setIds((before) => ({ ...before, ...Object.fromEntries(given) }));
  });
  return { ...edited, ids, asked };
}
