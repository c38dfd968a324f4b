/** Two people changed the variants of one step: each variant by itself, and their order. */
import { commonOrder, findKeyed, inOrder, keysOf } from "../../document/keyed.ts";
import {
  type Choices,
  type Difference,
  findDifference,
  findMemberDifferences,
  namesOf,
  type Versions,
} from "../../document/merge.ts";
import { withMine } from "../../document/merge-members.ts";
import type { DraftStep, DraftVariant } from "./model.ts";
import { variantPath } from "./places.ts";

const FIELDS = ["name", "filters"] as const;
const ORDER = "variants";

type Variants = readonly DraftVariant[];

/** What differs; the fields are `variants` for the order, `variants.<key>` for a whole one, or a field of one. */
export function findVariantDifferences(steps: Versions<DraftStep | undefined>, node: string): Difference[] {
  const all = {
    base: steps.base?.variants ?? [],
    mine: steps.mine?.variants ?? [],
    theirs: steps.theirs?.variants ?? [],
  };
  const own = keysOf(all.base, all.mine, all.theirs).flatMap((key) => oneDifferences(key, all, node));
  const order = {
    base: commonOrder(all.base, all.base, all.mine, all.theirs),
    mine: commonOrder(all.mine, all.base, all.mine, all.theirs),
    theirs: commonOrder(all.theirs, all.base, all.mine, all.theirs),
  };
  const moved = findDifference(ORDER, order, node);
  return moved ? [...own, moved] : own;
}

/** The variants with each difference as chosen; `differences` are those of the step. */
export function mergeVariants(
  mine: Variants,
  theirs: Variants,
  differences: readonly Difference[],
  choices: Choices,
): DraftVariant[] {
  const kept = keysOf(mine, theirs).flatMap((key) => mergeOne(key, mine, theirs, differences, choices) ?? []);
  const order = differences.find((one) => one.field === ORDER);
  const [first, second] = order && choices[order.id] === "mine" ? [mine, theirs] : [theirs, mine];
  return inOrder(kept, first, second);
}

function oneDifferences(key: string, all: Versions<Variants>, node: string): Difference[] {
  const versions = {
    base: findKeyed(all.base, key),
    mine: findKeyed(all.mine, key),
    theirs: findKeyed(all.theirs, key),
  };
  if (!versions.mine || !versions.theirs) {
    const whole = findDifference(variantPath(key), versions, node);
    return whole ? [whole] : [];
  }
  const values = {
    base: versions.base?.controlValues,
    mine: versions.mine.controlValues,
    theirs: versions.theirs.controlValues,
  };
  return [
    ...findMemberDifferences<DraftVariant>(FIELDS, versions, node),
    ...findMemberDifferences(namesOf(values.mine, values.theirs), values, node).map((one) =>
      named(one, "controlValues"),
    ),
  ].map((one) => named(one, variantPath(key)));
}

function named(one: Difference, before: string): Difference {
  const field = `${before}.${one.field}`;
  return { ...one, field, id: `${one.node}/${field}` };
}

function mergeOne(
  key: string,
  mine: Variants,
  theirs: Variants,
  differences: readonly Difference[],
  choices: Choices,
): DraftVariant | undefined {
  const [my, their] = [findKeyed(mine, key), findKeyed(theirs, key)];
  if (!my || !their) {
    const whole = differences.find((one) => one.field === variantPath(key));
    return whole && choices[whole.id] === "mine" ? my : their;
  }
  const controls = inside(differences, `${variantPath(key)}.controlValues.`);
  const fields = inside(differences, `${variantPath(key)}.`).filter(({ field }) => !field.startsWith("controlValues."));
  return { ...withMine(their, fields, choices), controlValues: withMine(their.controlValues, controls, choices) };
}

/** The differences of the members of something, by the names of these. */
function inside(differences: readonly Difference[], prefix: string): Difference[] {
  return differences
    .filter(({ field }) => field.startsWith(prefix))
    .map((one) => ({ ...one, field: one.field.slice(prefix.length) }));
}
