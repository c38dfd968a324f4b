import { useState } from "preact/hooks";
import { Menu, type MenuItem } from "../../../ui/menu.tsx";
import { Status } from "../../../ui/status.tsx";
import { texts } from "../../texts/editor.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { texts as stepTexts } from "../../texts/steps.ts";
import type { DraftStep } from "./model.ts";
import { type Direction, placeOf } from "./tree.ts";
import type { StepTree } from "./use-tree.ts";
import { describeDraft } from "./words.ts";

type StepEntryProps = { step: DraftStep; tree: StepTree; href: string; problems: number };

const ARROWS: Readonly<Record<string, Direction>> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "out",
  ArrowRight: "into",
};

/** A step in the list: a link to its form, and what can be done to it. */
export function StepEntry({ step, tree, href, problems }: StepEntryProps) {
  const { canWrite } = tree;
  const drop = useDrop(() => tree.drop(step.within, step.key));
  return (
    <div
      class={`editor-row ${tree.dragged === step.key ? "editor-dragged" : ""} ${drop.isOver ? "editor-target" : ""}`}
      role="presentation"
      draggable={canWrite}
      {...dragEvents(tree, step)}
      {...drop.events}
    >
      <a
        class="editor-entry"
        href={href}
        draggable={false}
        data-step={step.key}
        onKeyDown={(event) => canWrite && handleKey(event, step, tree)}
        {...(step.key === tree.chosen && { "aria-current": "true" as const })}
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
        <span class="small quiet editor-summary">{describeDraft(step)}</span>
        {(!step.active || problems > 0) && (
          <span class="row">
            {!step.active && <Status tone="plain">{texts.off}</Status>}
            {problems > 0 && <Status tone="warn">{texts.problemCount(problems)}</Status>}
          </span>
        )}
      </a>
      {canWrite && (
        <Menu label={texts.actionsOf(step.name)} items={listActions(step, tree)}>
          ⋯
        </Menu>
      )}
    </div>
  );
}

function listActions(step: DraftStep, tree: StepTree): MenuItem[] {
  const move = (direction: Direction) => ({
    label: texts.moves[direction],
    onSelect: () => tree.move(step, direction),
    disabled: !tree.canMove(step, direction),
  });
  const canNest = tree.steps.some((one) => one.paths && one.key !== step.key);
  return [
    move("up"),
    move("down"),
    ...(canNest ? [move("into"), move("out")] : []),
    { label: texts.copy, onSelect: () => tree.copy(step) },
    { label: texts.duplicate, onSelect: () => tree.duplicate(step) },
    { label: texts.remove, onSelect: () => tree.remove(step), isDangerous: true },
  ];
}

function handleKey(event: KeyboardEvent, step: DraftStep, tree: StepTree): void {
  const direction = event.altKey ? ARROWS[event.key] : undefined;
  const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  if (direction) {
    // With the left and right arrow, browsers go to another page.
    event.preventDefault();
    tree.move(step, direction);
  } else if (isCommand && event.key === "c") {
    event.preventDefault();
    tree.copy(step);
  } else if (isCommand && event.key === "v" && tree.copied.length > 0) {
    event.preventDefault();
    const { within, index } = placeOf(tree.steps, step.key);
    tree.paste({ within, index: index + 1 });
  }
}

function dragEvents(tree: StepTree, step: DraftStep) {
  return {
    onDragStart: (event: DragEvent) => {
      event.dataTransfer?.setData("text/plain", step.name);
      tree.drag(step.key);
    },
    onDragEnd: () => tree.drag(null),
  };
}

/** A place on which a step that is dragged can be dropped. */
export function useDrop(onDrop: () => void) {
  const [isOver, setOver] = useState(false);
  const events = {
    onDragOver: (event: DragEvent) => {
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      onDrop();
    },
  };
  return { isOver, events };
}
