import type { ComponentChildren } from "preact";
import { Menu } from "../../../ui/menu.tsx";
import { texts } from "../../texts/editor.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { texts as stepTexts } from "../../texts/steps.ts";
import { type DraftStep, MAX_DEPTH, STEP_KINDS, type StepKind } from "./model.ts";

type InsertMenuProps = {
  label: string;
  onInsert: (kind: StepKind) => void;
  /** What can be pasted: a step and those within it. */
  copied: readonly DraftStep[];
  onPaste: () => void;
  /** Whether a branch is too deep here. */
  isDeepest: boolean;
  /** A thin line between two steps. */
  isQuiet?: boolean;
  children?: ComponentChildren;
};

/** The kinds of steps, with words on what each does. */
export function InsertMenu(props: InsertMenuProps) {
  const { label, copied, isDeepest, isQuiet = false, children = "+" } = props;
  const [head] = copied;
  const paste = head && {
    label: texts.paste(head.name),
    detail: texts.pasteHint(copied.length),
    mark: "⧉",
    onSelect: props.onPaste,
  };
  const items = STEP_KINDS.map((kind) => {
    const isRefused = kind === "branch" && isDeepest;
    return {
      label: runTexts.stepTypes[kind],
      detail: isRefused ? texts.deep(MAX_DEPTH) : stepTexts.about[kind],
      mark: stepTexts.marks[kind],
      disabled: isRefused,
      onSelect: () => props.onInsert(kind),
    };
  });
  return (
    <Menu
      label={label}
      items={paste ? [paste, ...items] : items}
      align="start"
      class={isQuiet ? "editor-insert" : "editor-append"}
    >
      {children}
    </Menu>
  );
}
