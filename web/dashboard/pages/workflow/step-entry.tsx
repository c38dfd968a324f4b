import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Menu } from "../../../ui/menu.tsx";
import { Status } from "../../../ui/status.tsx";
import { texts } from "../../texts/editor.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { texts as stepTexts } from "../../texts/steps.ts";
import type { DraftStep } from "./model.ts";
import { describeStep } from "./words.ts";

type StepEntryProps = {
  step: DraftStep;
  href: string;
  isChosen: boolean;
  problems: number;
  canWrite: boolean;
  isDragged: boolean;
  isFirst: boolean;
  isLast: boolean;
  /** What inserts a step above this one. */
  insert: ComponentChildren;
  onMove: (by: number) => void;
  onDuplicate: () => void;
  onRemove: () => void;
  onDrag: (key: string | null) => void;
  onDrop: () => void;
};

/** A step in the list: a link to its form, and what can be done to it. */
export function StepEntry(props: StepEntryProps) {
  const { step, href, isChosen, problems, canWrite, isDragged } = props;
  const [isTarget, setTarget] = useState(false);

  function handleKey(event: KeyboardEvent) {
    if (canWrite && event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      const link = event.currentTarget as HTMLElement;
      props.onMove(event.key === "ArrowUp" ? -1 : 1);
      // Moving the element in the document takes the focus away.
      setTimeout(() => link.focus());
    }
  }

  return (
    <li
      class={`editor-step ${isDragged ? "editor-dragged" : ""} ${isTarget ? "editor-target" : ""}`}
      draggable={canWrite}
      onDragStart={(event) => {
        event.dataTransfer?.setData("text/plain", step.name);
        props.onDrag(step.key);
      }}
      onDragEnd={() => props.onDrag(null)}
      onDragOver={(event) => {
        event.preventDefault();
        setTarget(true);
      }}
      onDragLeave={() => setTarget(false)}
      onDrop={(event) => {
        event.preventDefault();
        setTarget(false);
        props.onDrop();
      }}
    >
      {props.insert}
      <div class="editor-row">
        <a
          class="editor-entry"
          href={href}
          draggable={false}
          onKeyDown={handleKey}
          {...(isChosen && { "aria-current": "true" as const })}
        >
          <span class="editor-step-name">
            <span class="editor-mark" aria-hidden="true">
              {stepTexts.marks[step.type]}
            </span>
            <strong>
              <bdi>{step.name}</bdi>
            </strong>
          </span>
          <span class="visually-hidden">{runTexts.stepTypes[step.type]}</span>
          <span class="small quiet editor-summary">{describeStep(step.type, step.controlValues)}</span>
          {(!step.active || problems > 0) && (
            <span class="row">
              {!step.active && <Status tone="plain">{texts.off}</Status>}
              {problems > 0 && <Status tone="warn">{texts.problemCount(problems)}</Status>}
            </span>
          )}
        </a>
        {canWrite && (
          <Menu
            label={texts.actionsOf(step.name)}
            items={[
              { label: texts.moveUp, onSelect: () => props.onMove(-1), disabled: props.isFirst },
              { label: texts.moveDown, onSelect: () => props.onMove(1), disabled: props.isLast },
              { label: texts.duplicate, onSelect: props.onDuplicate },
              { label: texts.remove, onSelect: props.onRemove, isDangerous: true },
            ]}
          >
            ⋯
          </Menu>
        )}
      </div>
    </li>
  );
}
