import { api, dataOf } from "../../../api/client.ts";
import { Status } from "../../../ui/status.tsx";
import { DocumentActions } from "../../document/document-actions.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/editor.ts";
import { texts as listTexts } from "../../texts/workflows.ts";
import { WorkflowActions } from "../workflows/workflow-actions.tsx";
import type { Editor } from "./use-editor.ts";

/** The state of the workflow and of the draft. */
export function EditorLead({ editor }: { editor: Editor }) {
  const address = useAddress();
  const { saved } = editor;
  const versions = address(`/workflows/${encodeURIComponent(saved.workflowId)}/versions`);
  return (
    <span class="row">
      <code>{saved.workflowId}</code>
      {saved.active ? (
        <Status tone="good">{listTexts.active}</Status>
      ) : (
        <Status tone="plain">{listTexts.inactive}</Status>
      )}
      <a href={versions}>{texts.versions(saved.version)}</a>
    </span>
  );
}

export function EditorActions({ editor, onDeleted }: { editor: Editor; onDeleted: () => void }) {
  const canWrite = useCan("workflows:write");
  const { saved } = editor;
  if (!canWrite) {
    return null;
  }
  async function reload() {
    const path = { workflowId: saved.workflowId };
    editor.reset(dataOf(await api.GET("/v2/workflows/{workflowId}", { params: { path } })));
  }
  return (
    <>
      <DocumentActions editor={editor} savedAt={saved.updatedAt} onReload={reload} />
      <WorkflowActions
        workflow={{ workflowId: saved.workflowId, name: saved.name, isActive: saved.active }}
        canSetState={!editor.isDirty}
        onChanged={() => void reload()}
        onDeleted={onDeleted}
      />
    </>
  );
}
