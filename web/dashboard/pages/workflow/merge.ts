/** Two people changed one workflow: what each of them changed, and what the choices between them come to. */
import { commonOrder, findKeyed, inOrder, keysOf } from "../../document/keyed.ts";
import {
  type Choices,
  type Difference,
  findDifference,
  findMemberDifferences,
  namesOf,
  rebaseChoices,
  type Versions,
} from "../../document/merge.ts";
import { tellBlocksApart, withMine } from "../../document/merge-members.ts";

import { findVariantDifferences, mergeVariants } from "./merge-variants.ts";
import { type Draft, type DraftStep, freeName } from "./model.ts";

const SETTINGS = [
  "name",
  "description",
  "tags",
  "active",
  "severity",
  "preferences",
  "payloadSchema",
  "validatePayload",
  "isTranslationEnabled",
  "tracking",
  "takesReplies",
] as const;
const STEP_FIELDS = [
  "name",
  "stepId",
  "active",
  "filters",
  "shouldStopOnFail",
  "replyCallback",
  "providerOverrides",
] as const;
const CONTROL = "controlValues.";

/** Everything that differs; `step` is a whole step, `order` the order of steps. */
export function findDifferences(base: Draft, mine: Draft, theirs: Draft): Difference[] {
  return tellBlocksApart(listDifferences(base, mine, theirs));
}

function listDifferences(base: Draft, mine: Draft, theirs: Draft): Difference[] {
  const drafts = { base, mine, theirs };
  const settings = findMemberDifferences<Draft>(SETTINGS, drafts);
  const all = [base.steps, mine.steps, theirs.steps];
  const steps = keysOf(...all).flatMap((key) => stepDifferences(key, drafts));
  const order = findDifference("order", {
    base: commonOrder(base.steps, ...all),
    mine: commonOrder(mine.steps, ...all),
    theirs: commonOrder(theirs.steps, ...all),
  });
  return [...settings, ...steps, ...(order ? [order] : [])];
}

/** The workflow with each difference as chosen; without a choice it is as theirs. */
export function applyChoices(base: Draft, mine: Draft, theirs: Draft, choices: Choices): Draft {
  const differences = listDifferences(base, mine, theirs);
  const settings = differences.filter((one) => one.node === undefined && one.field !== "order");
  const merged = withMine(theirs, settings, choices);
  const kept = keysOf(base.steps, mine.steps, theirs.steps)
    .map((key) => mergeStep(key, mine, theirs, differences, choices))
    .filter((step) => step !== undefined);
  const [first, second] = choices.order === "mine" ? [mine, theirs] : [theirs, mine];
  merged.steps = withOwnIdentifiers(inOrder(kept, first.steps, second.steps));
  return merged;
}

/** What was typed while a save was under way, put on what was saved; new steps have their ids by then. */
export function rebase(sent: Draft, current: Draft, saved: Draft): Draft {
  const rename = withIds(sent, saved);
  const [base, mine] = [rename(sent), rename(current)];
  return applyChoices(base, mine, saved, rebaseChoices(findDifferences(base, mine, saved)));
}

/** A former state of the draft in which new steps and variants have the ids that they were saved with. */
export function withIds(sent: Draft, saved: Draft): (former: Draft) => Draft {
  const ids = new Map(sent.steps.map((step, index) => [step.key, saved.steps[index]]));
  return (former) => ({
    ...former,
    steps: former.steps.map((step) => {
      const made = ids.get(step.key);
      const before = findKeyed(sent.steps, step.key);
      const known = made?._id ? { ...step, key: made.key, _id: made._id } : step;
      return made && before ? { ...known, variants: withVariantIds(step.variants, before, made) } : known;
    }),
  });
}

function withVariantIds(variants: DraftStep["variants"], sent: DraftStep, saved: DraftStep): DraftStep["variants"] {
  const ids = new Map(sent.variants.map((variant, index) => [variant.key, saved.variants[index]?._id]));
  return variants.map((variant) => {
    const _id = ids.get(variant.key);
    return _id === undefined ? variant : { ...variant, key: _id, _id };
  });
}

function stepDifferences(key: string, drafts: Versions<Draft>): Difference[] {
  const base = findKeyed(drafts.base.steps, key);
  const mine = findKeyed(drafts.mine.steps, key);
  const theirs = findKeyed(drafts.theirs.steps, key);
  if (!mine || !theirs) {
    const whole = findDifference("step", { base, mine, theirs }, key);
    return whole ? [whole] : [];
  }
  const values = { base: base?.controlValues, mine: mine.controlValues, theirs: theirs.controlValues };
  const controls = findMemberDifferences(namesOf(mine.controlValues, theirs.controlValues), values, key);
  return [
    ...findMemberDifferences<DraftStep>(STEP_FIELDS, { base, mine, theirs }, key),
    ...findVariantDifferences({ base, mine, theirs }, key),
    ...controls.map((one) => ({ ...one, id: `${key}/${CONTROL}${one.field}`, field: CONTROL + one.field })),
  ];
}

function mergeStep(
  key: string,
  mine: Draft,
  theirs: Draft,
  differences: readonly Difference[],
  choices: Choices,
): DraftStep | undefined {
  const my = findKeyed(mine.steps, key);
  const their = findKeyed(theirs.steps, key);
  if (!my || !their) {
    const isAsked = differences.some((one) => one.id === `${key}/step`);
    return isAsked && choices[`${key}/step`] === "mine" ? my : their;
  }
  const own = differences.filter((one) => one.node === key);
  const controls = own
    .filter((one) => one.field.startsWith(CONTROL))
    .map((one) => ({ ...one, field: one.field.slice(CONTROL.length) }));
  const fields = own.filter(({ field }) => (STEP_FIELDS as readonly string[]).includes(field));
  return {
    ...withMine(their, fields, choices),
    controlValues: withMine(their.controlValues, controls, choices),
    variants: mergeVariants(my.variants, their.variants, own, choices),
  };
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
