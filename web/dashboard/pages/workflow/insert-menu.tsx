import type { ComponentChildren } from "preact";
import { Menu } from "../../../ui/menu.tsx";
import { texts as runTexts } from "../../texts/runs.ts";
import { texts as stepTexts } from "../../texts/steps.ts";
import { STEP_KINDS, type StepKind } from "./model.ts";

type InsertMenuProps = {
  label: string;
  onInsert: (kind: StepKind) => void;
  /** A thin line between two steps. */
  isQuiet?: boolean;
  children?: ComponentChildren;
};

/** The kinds of steps, with words on what each does. */
export function InsertMenu({ label, onInsert, isQuiet = false, children = "+" }: InsertMenuProps) {
  const items = STEP_KINDS.map((kind) => ({
    label: runTexts.stepTypes[kind],
    detail: stepTexts.about[kind],
    mark: stepTexts.marks[kind],
    onSelect: () => onInsert(kind),
  }));
  return (
    <Menu label={label} items={items} align="start" class={isQuiet ? "editor-insert" : "editor-append"}>
      {children}
    </Menu>
  );
}
