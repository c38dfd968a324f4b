import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { LeaveGuard } from "../../../ui/leave-guard.tsx";
import { Page } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { DocumentActions, DocumentNotes } from "../../document/document-actions.tsx";
import { draftKey } from "../../document/drafts.ts";
import { textOfValue } from "../../document/merge-choice.tsx";
import { MergeDialog } from "../../document/merge-dialog.tsx";
import { LayoutActions } from "../../layouts/layout-actions.tsx";
import { useAddress, useCan, useSession } from "../../session.ts";
import { texts } from "../../texts/layouts.ts";
import { LayoutForm } from "./layout-form.tsx";
import { applyChoices, draftOf, findDifferences, type Layout } from "./model.ts";
import { LayoutPreview } from "./preview.tsx";
import { Usage } from "./usage.tsx";
import { type LayoutEditor, useLayout } from "./use-layout.ts";

/** The body of a layout beside what it looks like. */
export function LayoutEditorPage({ layout }: { layout: Layout }) {
  const { environment } = useSession();
  const canWrite = useCan("workflows:write");
  const editor = useLayout(layout, draftKey(environment.identifier, "layout", layout._id));
  const { draft, saved } = editor;
  const address = useAddress();
  const { route } = useLocation();
  const [isDeleted, setDeleted] = useState(false);
  // Only after the draft is gone, for which it would be asked whether to leave.
  useEffect(() => {
    if (isDeleted) {
      route(address("/layouts"));
    }
  }, [isDeleted]);
  async function reload() {
    const params = { path: { layoutId: saved.layoutId } };
    editor.reset(dataOf(await api.GET("/v2/layouts/{layoutId}", { params })));
  }
  const actions = canWrite && (
    <>
      <DocumentActions editor={editor} savedAt={saved.updatedAt} onReload={reload} />
      <LayoutActions
        layout={saved}
        onChanged={() => void reload()}
        onDeleted={() => {
          editor.discard();
          setDeleted(true);
        }}
      />
    </>
  );
  return (
    <Page
      title={draft.name || saved.layoutId}
      back={{ href: address("/layouts"), label: texts.back }}
      lead={<Lead layout={saved} />}
      actions={actions}
    >
      <DocumentNotes editor={editor} savedEtag={saved.etag} readOnly={!canWrite && texts.readOnly} />
      <div class="layout-editor">
        <div class="stack">
          <LayoutForm editor={editor} canWrite={canWrite} />
          <Usage layoutId={saved.layoutId} />
        </div>
        <LayoutPreview layoutId={saved.layoutId} draft={draft} />
      </div>
      <LeaveGuard isActive={editor.isDirty} />
      {editor.theirs && <LayoutMerge editor={editor} theirs={editor.theirs} />}
    </Page>
  );
}

function Lead({ layout }: { layout: Layout }) {
  return (
    <span class="row">
      <code>{layout.layoutId}</code>
      {layout.isDefault && (
        <span title={texts.defaultHint}>
          <Status tone="good">{texts.default}</Status>
        </span>
      )}
      <span>{texts.version(layout.version)}</span>
    </span>
  );
}

function LayoutMerge({ editor, theirs }: { editor: LayoutEditor; theirs: Layout }) {
  const their = draftOf(theirs);
  const differences = findDifferences(editor.base, editor.draft, their);
  return (
    <MergeDialog
      kind={texts.kind}
      savedBy={
        <p class="small quiet">
          {theirs.updatedBy?.firstName && <bdi>{theirs.updatedBy.firstName}</bdi>} <Time at={theirs.updatedAt} />
        </p>
      }
      differences={differences}
      titleOf={({ field }) => texts.fields[field] ?? field}
      textOf={(_, value) => textOfValue(value)}
      isBusy={editor.saving.isBusy}
      onSave={(choices) => void editor.saveMerged(applyChoices(editor.base, editor.draft, their, choices))}
      onClose={editor.closeMerge}
    />
  );
}
