import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
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
  const [isDiscarding, setDiscarding] = useState(false);
  const { saved, saving } = editor;
  if (!canWrite) {
    return null;
  }
  async function reload() {
    const path = { workflowId: saved.workflowId };
    editor.reset(dataOf(await api.GET("/v2/workflows/{workflowId}", { params: { path } })));
  }
  return (
    <>
      <span class="small quiet">
        <span role="status">{editor.isDirty ? texts.unsaved : texts.saved}</span>{" "}
        {!editor.isDirty && <Time at={saved.updatedAt} />}
      </span>
      {editor.isDirty && (
        <Button kind="quiet" onClick={() => setDiscarding(true)}>
          {texts.discard}
        </Button>
      )}
      <Button kind="primary" busy={saving.isBusy} disabled={!editor.isDirty} onClick={() => void editor.save()}>
        {texts.save}
      </Button>
      <WorkflowActions
        workflow={{ workflowId: saved.workflowId, name: saved.name, isActive: saved.active }}
        canSetState={!editor.isDirty}
        onChanged={() => void reload()}
        onDeleted={onDeleted}
      />
      {isDiscarding && (
        <Confirm
          title={texts.discardTitle}
          action={texts.discard}
          onClose={() => setDiscarding(false)}
          onConfirm={reload}
        >
          <p>{texts.discardHint}</p>
        </Confirm>
      )}
    </>
  );
}

/** What a person should know before they go on: a draft that is back, a save that was refused, that they only read. */
export function EditorNotes({ editor }: { editor: Editor }) {
  const canWrite = useCan("workflows:write");
  const [isSeen, setSeen] = useState(false);
  return (
    <>
      {!canWrite && <p class="editor-note">{texts.readOnly}</p>}
      {editor.restoredAt && editor.isDirty && !isSeen && (
        <div class="editor-note row" role="status">
          <span>
            {texts.restored} <Time at={editor.restoredAt} />. {editor.etag !== editor.saved.etag && texts.restoredOld}
          </span>
          <Button kind="quiet" onClick={editor.discard}>
            {texts.discard}
          </Button>
          <Button kind="quiet" onClick={() => setSeen(true)}>
            {texts.keep}
          </Button>
        </div>
      )}
      {editor.saving.error !== null && <Problem error={editor.saving.error} />}
    </>
  );
}
