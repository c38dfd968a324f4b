import { useEffect, useRef } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { texts } from "../../texts/editor.ts";
import { useEditorAddress } from "./parts.tsx";
import type { FieldProblem } from "./problems.ts";
import { StepLevel } from "./step-level.tsx";
import type { Editor } from "./use-editor.ts";
import { sentenceOfRemoved, useTree } from "./use-tree.ts";

type StepListProps = {
  editor: Editor;
  problems: readonly FieldProblem[];
  canWrite: boolean;
  /** The key of the step in the form; undefined: the settings. */
  chosen: string | undefined;
  /** The layout that new e-mails start with. */
  defaultLayout: string | undefined;
};

/** The steps from the top down, those within branches in their paths, with everything that can be done to them. */
export function StepList({ editor, problems, canWrite, chosen, defaultLayout }: StepListProps) {
  const tree = useTree(editor, { canWrite, chosen, defaultLayout });
  const address = useEditorAddress();
  const undo = useRef<HTMLDivElement>(null);
  const { removed, steps } = tree;
  useEffect(() => {
    if (removed) {
      undo.current?.querySelector("button")?.focus();
    }
  }, [removed]);
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
      {steps.length === 0 && <p class="quiet">{texts.noSteps}</p>}
      <StepLevel tree={tree} problems={problems} />
      {removed && (
        <div ref={undo} class="document-note row">
          <span>{sentenceOfRemoved(removed.steps)}</span>
          <Button kind="quiet" onClick={tree.putBack}>
            {texts.undo}
          </Button>
        </div>
      )}
      {canWrite && steps.length > 1 && <p class="small quiet editor-move-hint">{texts.moveHint}</p>}
      <p class="visually-hidden" role="status">
        {tree.announcement}
      </p>
    </nav>
  );
}
