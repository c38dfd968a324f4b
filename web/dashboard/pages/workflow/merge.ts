/** Two people changed one workflow: what each of them changed, and what the choices between them come to. */

import { isSame } from "../../values.ts";
import { type Draft, type DraftStep, freeName } from "./model.ts";

export type Side = "mine" | "theirs";

/** Something that one of them or both changed; undefined where there is no such field or step. */
export type Difference = {
  id: string;
  /** The key of the step that it belongs to, if it belongs to one. */
  step?: string;
  /** The path of the field; `step` for a whole step, `order` for the order of steps. */
  field: string;
  base: unknown;
  mine: unknown;
  theirs: unknown;
  /** Who changed it; if both did, a person has to choose. */
  changedBy: Side | "both";
};

export type Choices = Record<string, Side>;

const SETTINGS = [
  "name",
  "description",
  "tags",
  "active",
  "severity",
  "preferences",
  "payloadSchema",
  "validatePayload",
] as const;
const STEP_FIELDS = ["name", "stepId", "active", "filters", "shouldStopOnFail", "variants"] as const;

/** Everything that differs between what both started from and what they have now. */
export function findDifferences(base: Draft, mine: Draft, theirs: Draft): Difference[] {
  const settings = SETTINGS.map((field) => difference(field, base[field], mine[field], theirs[field]));
  const steps = keysOf(base, mine, theirs).flatMap((key) => stepDifferences(key, base, mine, theirs));
  const orders = [base, mine, theirs].map((one) => commonOrder(one, base, mine, theirs));
  const order = difference("order", orders[0], orders[1], orders[2]);
  return [...settings, ...steps, order].filter((one) => one !== null);
}

/** The choices that need no question: a change of one of them alone. */
export function plainChoices(differences: readonly Difference[]): Choices {
  const found: Choices = {};
  for (const one of differences) {
    if (one.changedBy !== "both") {
      found[one.id] = one.changedBy;
    }
  }
  return found;
}

/** The workflow with each difference as chosen; without a choice it is as theirs. */
export function applyChoices(base: Draft, mine: Draft, theirs: Draft, choices: Choices): Draft {
  const differences = findDifferences(base, mine, theirs);
  const isMine = (id: string) => choices[id] === "mine";
  const merged: Draft = { ...theirs };
  for (const field of SETTINGS) {
    if (isMine(field)) {
      Object.assign(merged, { [field]: mine[field] });
    }
  }
  const kept = keysOf(base, mine, theirs)
    .map((key) => mergeStep(key, mine, theirs, differences, isMine))
    .filter((step) => step !== undefined);
  const [first, second] = isMine("order") ? [mine, theirs] : [theirs, mine];
  merged.steps = withOwnIdentifiers(inOrder(kept, keysIn(first), keysIn(second)));
  return merged;
}

/** What was typed while a save was under way, put on what was saved; new steps have their ids by then. */
export function rebase(sent: Draft, current: Draft, saved: Draft): Draft {
  const ids = new Map(sent.steps.map((step, index) => [step.key, saved.steps[index]]));
  const withIds = (draft: Draft): Draft => ({
    ...draft,
    steps: draft.steps.map((step) => {
      const made = ids.get(step.key);
      return made?._id ? { ...step, key: made.key, _id: made._id } : step;
    }),
  });
  const [base, mine] = [withIds(sent), withIds(current)];
  const differences = findDifferences(base, mine, saved);
  const choices = differences.map((one) => [one.id, one.changedBy === "theirs" ? "theirs" : "mine"] as const);
  return applyChoices(base, mine, saved, Object.fromEntries(choices));
}

function difference(field: string, base: unknown, mine: unknown, theirs: unknown, step?: string): Difference | null {
  const isMine = !isSame(mine, base);
  const isTheirs = !isSame(theirs, base);
  if (isSame(mine, theirs) || (!isMine && !isTheirs)) {
    return null;
  }
  const changedBy = isMine && isTheirs ? "both" : isMine ? "mine" : "theirs";
  const id = step === undefined ? field : `${step}/${field}`;
  return { id, field, base, mine, theirs, changedBy, ...(step !== undefined && { step }) };
}

function stepDifferences(key: string, base: Draft, mine: Draft, theirs: Draft): (Difference | null)[] {
  const [before, my, their] = [base, mine, theirs].map((draft) => findStep(draft, key));
  if (!my || !their) {
    return [difference("step", before, my, their, key)];
  }
  const plain = STEP_FIELDS.map((field) => difference(field, before?.[field], my[field], their[field], key));
  const names = new Set([my, their].flatMap((step) => Object.keys(step.controlValues)));
  const controls = [...names].map((name) =>
    difference(
      `controlValues.${name}`,
      before?.controlValues[name],
      my.controlValues[name],
      their.controlValues[name],
      key,
    ),
  );
  return [...plain, ...controls];
}

function mergeStep(
  key: string,
  mine: Draft,
  theirs: Draft,
  differences: readonly Difference[],
  isMine: (id: string) => boolean,
): DraftStep | undefined {
  const my = findStep(mine, key);
  const their = findStep(theirs, key);
  if (!my || !their) {
    const isAsked = differences.some((one) => one.id === `${key}/step`);
    return isAsked && isMine(`${key}/step`) ? my : their;
  }
  const merged: DraftStep = { ...their, controlValues: { ...their.controlValues } };
  for (const one of differences) {
    if (one.step !== key || !isMine(one.id)) {
      continue;
    }
    if (one.field.startsWith("controlValues.")) {
      const name = one.field.slice("controlValues.".length);
      merged.controlValues[name] = one.mine;
      if (one.mine === undefined) {
        delete merged.controlValues[name];
      }
    } else {
      Object.assign(merged, { [one.field]: one.mine });
    }
  }
  return merged;
}

/** Steps in the order of one of the two; those that only the other one has come after the step before them there. */
function inOrder(steps: readonly DraftStep[], first: readonly string[], second: readonly string[]): DraftStep[] {
  const keys = first.filter((key) => steps.some((step) => step.key === key));
  second.forEach((key, index) => {
    if (!keys.includes(key) && steps.some((step) => step.key === key)) {
      const before = second.slice(0, index).findLast((one) => keys.includes(one));
      keys.splice(before === undefined ? 0 : keys.indexOf(before) + 1, 0, key);
    }
  });
  return keys.flatMap((key) => steps.find((step) => step.key === key) ?? []);
}

/** Both may have added a step of the same name; one that is not saved takes another identifier. */
function withOwnIdentifiers(steps: readonly DraftStep[]): DraftStep[] {
  const taken = new Set(steps.filter((step) => step._id).map((step) => step.stepId));
  return steps.map((step) => {
    if (step._id) {
      return step;
    }
    const stepId = freeName(step.stepId, taken);
    taken.add(stepId);
    return { ...step, stepId };
  });
}

function findStep(draft: Draft, key: string): DraftStep | undefined {
  return draft.steps.find((step) => step.key === key);
}

function keysIn(draft: Draft): string[] {
  return draft.steps.map((step) => step.key);
}

function keysOf(...drafts: readonly Draft[]): string[] {
  return [...new Set(drafts.flatMap(keysIn))];
}

function commonOrder(draft: Draft, ...all: readonly Draft[]): string[] {
  return keysIn(draft).filter((key) => all.every((one) => findStep(one, key)));
}
