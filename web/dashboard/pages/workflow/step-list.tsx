import { useRef, useState } from "preact/hooks";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { texts } from "../../texts/editor.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { InsertMenu } from "./insert-menu.tsx";
import {
  type DraftStep,
  duplicateStep,
  insertStep,
  MAX_STEPS,
  moveStep,
  newStep,
  removeStep,
  type StepKind,
} from "./model.ts";
import { useEditorAddress } from "./parts.tsx";
import type { FieldProblem } from "./problems.ts";
import { StepEntry } from "./step-entry.tsx";
import type { Editor } from "./use-editor.ts";

type StepListProps = {
  editor: Editor;
  problems: readonly FieldProblem[];
  canWrite: boolean;
  /** The key of the step in the form; undefined: the settings. */
  chosen: string | undefined;
  /** The layout that new e-mails start with. */
  defaultLayout: string | undefined;
};

/** The steps from the top down, with everything that can be done to their order. */
export function StepList({ editor, problems, canWrite, chosen, defaultLayout }: StepListProps) {
  const { draft, change } = editor;
  const state = useUrlState();
  const address = useEditorAddress();
  const [announcement, setAnnouncement] = useState("");
  const [removed, setRemoved] = useState<{ step: DraftStep; index: number } | null>(null);
  const [dragged, setDragged] = useState<string | null>(null);
  const undo = useRef<HTMLDivElement>(null);
  const count = draft.steps.length;

  function move(step: DraftStep, to: number) {
    if (to < 0 || to >= count) {
      return;
    }
    change((before) => moveStep(before, step.key, to));
    setAnnouncement(texts.moved(step.name, to + 1, count));
  }
  function insert(index: number, kind: StepKind) {
    const step = newStep(kind, runTexts.stepTypes[kind], draft.steps, defaultLayout);
    change((before) => insertStep(before, index, step));
    setRemoved(null);
    state.set({ step: step.key, part: "form" }, { push: true });
  }
  function duplicate(step: DraftStep) {
    const copied = duplicateStep(draft, step.key);
    change(() => copied.draft);
    state.set({ step: copied.key }, { push: true });
  }
  function remove(step: DraftStep, index: number) {
    change((before) => removeStep(before, step.key));
    setRemoved({ step, index });
    setAnnouncement(texts.removed(step.name));
    if (chosen === step.key) {
      state.set({ step: undefined });
    }
    setTimeout(() => undo.current?.querySelector("button")?.focus());
  }
  function putBack() {
    if (removed) {
      change((before) => insertStep(before, removed.index, removed.step));
      setRemoved(null);
      state.set({ step: removed.step.key });
    }
  }

  return (
    <nav class="editor-list" aria-label={texts.steps}>
      <a
        class="editor-entry"
        href={address({ step: undefined, part: "form" })}
        {...(chosen === undefined && { "aria-current": "true" as const })}
      >
        <strong>{texts.settings}</strong>
        <span class="small quiet">{texts.settingsHint}</span>
      </a>
      <ol class="editor-step-list">
        {draft.steps.map((step, index) => (
          <StepEntry
            key={step.key}
            step={step}
            href={address({ step: step.key, part: "form" })}
            isChosen={step.key === chosen}
            problems={problems.filter((one) => one.step === step.key && one.isError).length}
            canWrite={canWrite}
            isDragged={dragged === step.key}
            isFirst={index === 0}
            isLast={index === count - 1}
            insert={
              canWrite &&
              count < MAX_STEPS && (
                <InsertMenu label={texts.insertAt(index + 1)} onInsert={(kind) => insert(index, kind)} isQuiet />
              )
            }
            onMove={(by) => move(step, index + by)}
            onDuplicate={() => duplicate(step)}
            onRemove={() => remove(step, index)}
            onDrag={setDragged}
            onDrop={() => {
              const found = draft.steps.find((one) => one.key === dragged);
              if (found) {
                move(found, index);
              }
            }}
          />
        ))}
      </ol>
      {count === 0 && <p class="quiet">{texts.noSteps}</p>}
      {canWrite && count < MAX_STEPS && (
        <InsertMenu label={texts.insertEnd} onInsert={(kind) => insert(count, kind)}>
          + {texts.insert}
        </InsertMenu>
      )}
      {count >= MAX_STEPS && <p class="small quiet">{texts.full(MAX_STEPS)}</p>}
      {removed && (
        <div ref={undo} class="document-note row">
          <span>{texts.removed(removed.step.name)}</span>
          <Button kind="quiet" onClick={putBack}>
            {texts.undo}
          </Button>
        </div>
      )}
      {canWrite && count > 1 && <p class="small quiet editor-move-hint">{texts.moveHint}</p>}
      <p class="visually-hidden" role="status">
        {announcement}
      </p>
    </nav>
  );
}
