/** What can be done in the list of steps: add, move, copy and remove, each said aloud. */
import { useState } from "preact/hooks";
import { type UrlState, useUrlState } from "../../../api/url-state.ts";
import { texts } from "../../texts/editor.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { copiesOf, duplicateStep, keepCopied, pasteSteps, readCopied } from "./copies.ts";
import { type Draft, type DraftStep, newStep, OTHERWISE, type StepKind, type Within } from "./model.ts";
import {
  childrenOf,
  type Direction,
  insertSteps,
  moveStep,
  type Place,
  pathAt,
  placeOf,
  placeTowards,
  removeStep,
  subtreeOf,
  whyNot,
} from "./tree.ts";
import type { Editor } from "./use-editor.ts";

type Removed = { steps: DraftStep[]; place: Place };

export type StepTree = {
  steps: readonly DraftStep[];
  canWrite: boolean;
  /** The key of the step in the form. */
  chosen: string | undefined;
  /** The steps that were copied last, the outermost first. */
  copied: readonly DraftStep[];
  /** The key of the step that is dragged. */
  dragged: string | null;
  removed: Removed | null;
  /** What was done last, for those who cannot see it. */
  announcement: string;
  drag: (key: string | null) => void;
  /** Whether a step can be moved in a direction. */
  canMove: (step: DraftStep, direction: Direction) => boolean;
  move: (step: DraftStep, direction: Direction) => void;
  /** Put the step that is dragged before the step at a place, or at the end. */
  drop: (within: Within | undefined, before: string | undefined) => void;
  insert: (place: Place, kind: StepKind) => void;
  copy: (step: DraftStep) => void;
  paste: (place: Place) => void;
  duplicate: (step: DraftStep) => void;
  remove: (step: DraftStep) => void;
  putBack: () => void;
};

type Options = { canWrite: boolean; chosen: string | undefined; defaultLayout: string | undefined };

export function useTree({ draft, change }: Editor, { canWrite, chosen, defaultLayout }: Options): StepTree {
  const state = useUrlState();
  const [announcement, announce] = useState("");
  const [removed, setRemoved] = useState<Removed | null>(null);
  const [copied, setCopied] = useState<readonly DraftStep[]>(readCopied);
  const [dragged, drag] = useState<string | null>(null);
  const { steps } = draft;

  function show(key: string | undefined, extra: Parameters<UrlState["set"]>[0] = {}) {
    state.set({ step: key, ...extra }, { push: true });
  }
  function moveTo(step: DraftStep, place: Place) {
    const refused = whyNot(steps, place.within, subtreeOf(steps, step.key), false);
    const moved = moveStep(draft, step.key, place);
    if (moved !== draft) {
      change((before) => moveStep(before, step.key, place));
      announce(sentenceOfPlace(moved, step));
      focusEntry(step.key);
    } else if (refused) {
      announce(texts.refused[refused]);
    }
  }
  function add(place: Place, added: readonly DraftStep[], made: Draft) {
    const refused = whyNot(steps, place.within, added, true);
    if (refused) {
      announce(texts.refused[refused]);
      return false;
    }
    setRemoved(null);
    change(() => made);
    return true;
  }

  return {
    steps,
    canWrite,
    chosen,
    copied,
    dragged,
    removed,
    announcement,
    drag,
    canMove: (step, direction) => placeTowards(steps, step.key, direction) !== null,
    move: (step, direction) => {
      const place = placeTowards(steps, step.key, direction);
      if (place) {
        moveTo(step, place);
      }
    },
    drop: (within, before) => {
      const step = steps.find((one) => one.key === dragged);
      drag(null);
      if (!step || step.key === before) {
        return;
      }
      const left = childrenOf(removeStep(draft, step.key).steps, within);
      const index = left.findIndex((one) => one.key === before);
      moveTo(step, { within, index: index === -1 ? left.length : index });
    },
    insert: (place, kind) => {
      const step = newStep(kind, runTexts.stepTypes[kind], steps, defaultLayout);
      if (add(place, [step], insertSteps(draft, place, [step]))) {
        show(step.key, { part: "form" });
      }
    },
    copy: (step) => {
      const subtree = subtreeOf(steps, step.key);
      keepCopied(subtree);
      setCopied(subtree);
      announce(texts.copied(step.name));
    },
    paste: (place) => {
      const made = pasteSteps(draft, place, copied);
      if (add(place, copiesOf(copied, steps), made.draft)) {
        announce(texts.pasted(copied[0]?.name ?? ""));
        show(made.key);
        focusEntry(made.key);
      }
    },
    duplicate: (step) => {
      const made = duplicateStep(draft, step.key);
      if (add(placeOf(steps, step.key), copiesOf(subtreeOf(steps, step.key), steps), made.draft)) {
        show(made.key);
      }
    },
    remove: (step) => {
      const subtree = subtreeOf(steps, step.key);
      change((before) => removeStep(before, step.key));
      setRemoved({ steps: subtree, place: placeOf(steps, step.key) });
      announce(sentenceOfRemoved(subtree));
      if (subtree.some((one) => one.key === chosen)) {
        state.set({ step: undefined });
      }
    },
    putBack: () => {
      if (removed) {
        change((before) => insertSteps(before, removed.place, removed.steps));
        setRemoved(null);
        state.set({ step: removed.steps[0]?.key });
      }
    },
  };
}

export function sentenceOfRemoved([head, ...inside]: readonly DraftStep[]): string {
  const name = head?.name ?? "";
  return inside.length > 0 ? texts.removedAll(name, inside.length) : texts.removed(name);
}

function sentenceOfPlace({ steps }: Draft, { key, name }: DraftStep): string {
  const { within, index } = placeOf(steps, key);
  const count = childrenOf(steps, within).length;
  return within
    ? texts.movedInto(name, index + 1, count, nameOfPath(steps, within))
    : texts.moved(name, index + 1, count);
}

/** The branch and the path by their names. */
export function nameOfPath(steps: readonly DraftStep[], within: Within): string {
  const branch = steps.find((step) => step.key === within.branch)?.name ?? "";
  const path = within.path === OTHERWISE ? texts.otherwise : (pathAt(steps, within)?.name ?? "");
  return texts.pathOf(branch, path);
}

/** A step that moves into another list is another element of the document. */
function focusEntry(key: string): void {
  setTimeout(() => document.querySelector<HTMLElement>(`[data-step="${CSS.escape(key)}"]`)?.focus());
}
