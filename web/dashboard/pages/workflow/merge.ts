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
import { findPartDifferences, mergeParts } from "./merge-parts.ts";
import { type Draft, type DraftPath, type DraftStep, freeName, OTHERWISE, type Within } from "./model.ts";
import { partPath } from "./places.ts";
import { inReadingOrder, pathAt, subtreeOf } from "./tree.ts";

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
  "within",
] as const;
const CONTROL = "controlValues.";

/** Everything that differs; `step` is a whole step with what is within it, `order` the order of steps. */
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
  const placed = withPlaces(inOrder(kept, first.steps, second.steps), mine, theirs);
  merged.steps = withOwnIdentifiers(inReadingOrder(placed));
  return merged;
}

/** What was typed while a save was under way, put on what was saved; new steps have their ids by then. */
export function rebase(sent: Draft, current: Draft, saved: Draft): Draft {
  const rename = withIds(sent, saved);
  const [base, mine] = [rename(sent), rename(current)];
  return applyChoices(base, mine, saved, rebaseChoices(findDifferences(base, mine, saved)));
}

/** A former state of the draft in which new steps, variants and paths have the ids that they were saved with. */
export function withIds(sent: Draft, saved: Draft): (former: Draft) => Draft {
  const ids = new Map(sent.steps.map((step, index) => [step.key, saved.steps[index]]));
  const keys = new Map(sent.steps.map((step) => [step.key, pathKeysOf(step, ids.get(step.key))]));
  return (former) => ({
    ...former,
    steps: former.steps.map((step) => {
      const made = ids.get(step.key);
      const before = findKeyed(sent.steps, step.key);
      const known = made?._id ? { ...step, key: made.key, _id: made._id } : step;
      const placed = step.within ? { ...known, within: withSavedKeys(step.within, ids, keys) } : known;
      if (!made || !before) {
        return placed;
      }
      const pathKeys = keys.get(step.key);
      const paths = step.paths?.map((path) => ({ ...path, key: pathKeys?.get(path.key) ?? path.key }));
      return { ...placed, variants: withVariantIds(step.variants, before, made), ...(paths && { paths }) };
    }),
  });
}

/** The keys that paths have when they are saved, which follow from their names. */
function pathKeysOf(sent: DraftStep, saved: DraftStep | undefined): Map<string, string> {
  return new Map((sent.paths ?? []).map(({ key }, index) => [key, saved?.paths?.[index]?.key ?? key]));
}

function withSavedKeys(
  { branch, path }: Within,
  ids: ReadonlyMap<string, DraftStep | undefined>,
  keys: ReadonlyMap<string, ReadonlyMap<string, string>>,
): Within {
  return { branch: ids.get(branch)?.key ?? branch, path: keys.get(branch)?.get(path) ?? path };
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
    const whole = isWithOther(key, drafts) ? null : findDifference("step", wholeOf(key, drafts), key);
    return whole ? [whole] : [];
  }
  const values = { base: base?.controlValues, mine: mine.controlValues, theirs: theirs.controlValues };
  const controls = findMemberDifferences(namesOf(mine.controlValues, theirs.controlValues), values, key);
  return [
    ...findMemberDifferences<DraftStep>(STEP_FIELDS, { base, mine, theirs }, key),
    ...findPartDifferences("variants", { base, mine, theirs }, key),
    ...findPartDifferences("paths", { base, mine, theirs }, key, (path, side) => ({
      path,
      steps: inReadingOrder(drafts[side].steps, { branch: key, path: path.key }),
    })),
    ...controls.map((one) => ({ ...one, id: `${key}/${CONTROL}${one.field}`, field: CONTROL + one.field })),
  ];
}

/** A step with what is within it: one that somebody put something into is not the same. */
function wholeOf(key: string, drafts: Versions<Draft>): Versions<unknown> {
  const of = ({ steps }: Draft) => {
    const subtree = subtreeOf(steps, key);
    return subtree.length > 1 ? subtree : subtree[0];
  };
  return { base: of(drafts.base), mine: of(drafts.mine), theirs: of(drafts.theirs) };
}

/** Whether a step that one of both does not have came or went with the branch or the path that it is in. */
function isWithOther(key: string, drafts: Versions<Draft>): boolean {
  return ownerOf(key, drafts.mine, drafts.theirs) !== null;
}

/** The difference that decides about a step that one of both does not have, if it is not one of its own. */
function ownerOf(key: string, mine: Draft, theirs: Draft): string | null {
  const [my, their] = [findKeyed(mine.steps, key), findKeyed(theirs.steps, key)];
  const within = (my ?? their)?.within;
  const [here, there] = my ? [mine, theirs] : [theirs, mine];
  if (!within || (my && their) || pathAt(there.steps, within) || !pathAt(here.steps, within)) {
    return null;
  }
  if (findKeyed(there.steps, within.branch)) {
    return `${within.branch}/${partPath("paths", within.path)}`;
  }
  return ownerOf(within.branch, mine, theirs) ?? `${within.branch}/step`;
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
    const asked = ownerOf(key, mine, theirs) ?? `${key}/step`;
    const isAsked = differences.some((one) => one.id === asked);
    return isAsked && choices[asked] === "mine" ? my : their;
  }
  const own = differences.filter((one) => one.node === key);
  const controls = own
    .filter((one) => one.field.startsWith(CONTROL))
    .map((one) => ({ ...one, field: one.field.slice(CONTROL.length) }));
  const fields = own.filter(({ field }) => (STEP_FIELDS as readonly string[]).includes(field));
  return {
    ...withMine(their, fields, choices),
    controlValues: withMine(their.controlValues, controls, choices),
    variants: mergeParts("variants", my.variants, their.variants, own, choices),
    ...(my.paths &&
      their.paths && { paths: withOtherwiseLast(mergeParts("paths", my.paths, their.paths, own, choices)) }),
  };
}

function withOtherwiseLast(paths: readonly DraftPath[]): DraftPath[] {
  return [...paths.filter(({ key }) => key !== OTHERWISE), ...paths.filter(({ key }) => key === OTHERWISE)];
}

/** Steps whose path went with the choices stand where the other one has them, or else in the workflow itself. */
function withPlaces(steps: readonly DraftStep[], mine: Draft, theirs: Draft): DraftStep[] {
  return steps.map((step) => {
    const places = [step, findKeyed(theirs.steps, step.key), findKeyed(mine.steps, step.key)].map((one) => one?.within);
    const place = places.find((within) => within && pathAt(steps, within));
    const { within: _, ...rest } = step;
    return place && step.within ? { ...rest, within: place } : rest;
  });
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
