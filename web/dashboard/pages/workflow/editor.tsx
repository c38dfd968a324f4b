import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import type { components } from "../../../api/schema.d.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { lazyComponent } from "../../../ui/lazy.tsx";
import { LeaveGuard } from "../../../ui/leave-guard.tsx";
import { Page } from "../../../ui/page.tsx";
import { DocumentNotes } from "../../document/document-actions.tsx";
import { draftKey } from "../../document/drafts.ts";
import { useAddress, useCan, useSession } from "../../session.ts";
import { NotLoaded } from "../../shell/lazy-page.tsx";
import { texts } from "../../texts/editor.ts";
import { isSame } from "../../values.ts";
import { EditorActions, EditorLead } from "./header.tsx";
import type { ImpactDialogProps } from "./impact-dialog.tsx";
import type { WorkflowMergeProps } from "./merge-dialog.tsx";
import type { DraftStep, Workflow } from "./model.ts";
import { PartTabs, partOf } from "./parts.tsx";
import { ProblemList } from "./problem-list.tsx";
import { type FieldProblem, findProblems, problemsByPath, remarksByPath, type StepSchemas } from "./problems.ts";
import { SidePane } from "./side-pane.tsx";
import { StepForm } from "./step-form.tsx";
import { StepList } from "./step-list.tsx";
import { useEditor } from "./use-editor.ts";
import { useSample } from "./use-sample.ts";
import { variablesOf } from "./variables.ts";
import { WorkflowForm } from "./workflow-form.tsx";

const ImpactDialog = lazyComponent<ImpactDialogProps>(() => import("./impact-dialog.tsx"), NotLoaded);
const WorkflowMerge = lazyComponent<WorkflowMergeProps>(() => import("./merge-dialog.tsx"), NotLoaded);

type WorkflowEditorProps = {
  workflow: Workflow;
  schemas: components["schemas"]["StepSchema"][];
  /** The layout that new e-mails start with. */
  defaultLayout: string | undefined;
};

/** Steps, the form of one of them, and what it sends; on a narrow screen one of these at a time. */
export function WorkflowEditor({ workflow, schemas, defaultLayout }: WorkflowEditorProps) {
  const { environment } = useSession();
  const canWrite = useCan("workflows:write");
  const editor = useEditor(workflow, draftKey(environment.identifier, "workflow", workflow._id));
  const state = useUrlState();
  const { route } = useLocation();
  const address = useAddress();
  const sample = useSample(editor.draft);
  const { draft, saved } = editor;
  const chosen = state.get("step");
  const step = draft.steps.find((one) => one.key === (editor.ids[chosen] ?? chosen) || one.stepId === chosen);
  const byType = useMemo<StepSchemas>(() => Object.fromEntries(schemas.map((one) => [one.type, one])), [schemas]);
  const variables = useStable(step ? variablesOf(step, draft, saved) : {});
  const problems = useMemo(
    () => findProblems(draft, saved, byType, texts.missing, editor.refusal),
    [draft, saved, byType, editor.refusal],
  );

  const [isDeleted, setDeleted] = useState(false);
  function leaveDeleted() {
    editor.discard();
    setDeleted(true);
  }
  // Only after the draft is gone, for which it would be asked whether to leave.
  useEffect(() => {
    if (isDeleted) {
      route(address("/workflows"));
    }
  }, [isDeleted]);

  return (
    <Page
      title={draft.name || saved.workflowId}
      lead={<EditorLead editor={editor} />}
      actions={<EditorActions editor={editor} onDeleted={leaveDeleted} />}
    >
      <DocumentNotes editor={editor} savedEtag={saved.etag} readOnly={!canWrite && texts.readOnly} />
      <PartTabs />
      <div class="editor" data-part={partOf(state)}>
        <div class="editor-steps">
          <StepList
            editor={editor}
            problems={problems}
            canWrite={canWrite}
            chosen={step?.key}
            defaultLayout={defaultLayout}
          />
          <ProblemList problems={problems} draft={draft} />
        </div>
        <div class="editor-form">
          {step ? (
            <StepForm
              key={chosen}
              step={step}
              schema={byType[step.type]}
              problems={problemsByPath(problems.filter(isShownIn(step)), step.key)}
              remarks={remarksByPath(problems, step.key)}
              variables={variables}
              sample={sample.variables}
              canWrite={canWrite}
              change={editor.change}
            />
          ) : (
            <WorkflowForm
              workflowId={saved.workflowId}
              draft={draft}
              problems={problemsByPath(problems)}
              canWrite={canWrite}
              change={editor.change}
            />
          )}
        </div>
        <SidePane editor={editor} step={step} sample={sample} />
      </div>
      <LeaveGuard isActive={editor.isDirty} />
      {editor.theirs && <WorkflowMerge editor={editor} theirs={editor.theirs} />}
      {editor.asked && (
        <ImpactDialog workflowId={saved.workflowId} steps={editor.asked.steps} onAnswer={editor.asked.answer} />
      )}
    </Page>
  );
}

/** What a step lacks that was just added is in the list alone: nobody has had the time to write it. */
function isShownIn(step: DraftStep): (problem: FieldProblem) => boolean {
  return (problem) => !(problem.isMissing && step._id === undefined);
}

/** The first of values that are the same, so that what depends on them is not made again with each key. */
function useStable<Value>(value: Value): Value {
  const kept = useRef(value);
  if (!isSame(kept.current, value)) {
    kept.current = value;
  }
  return kept.current;
}
