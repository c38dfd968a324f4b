/** Two people changed the parts of one step, its variants or the paths of a branch: each by itself, and their order. */
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
import type { DraftStep } from "./model.ts";
import { partPath } from "./places.ts";

export type PartKind = "variants" | "paths";
/** A part with what is asked about as members of it; `content` is compared where one of both has no such part. */
type Part = { key: string; controlValues?: Record<string, unknown> };
type Parts = readonly Part[];

const CONTROLS = "controlValues";

/** What differs; the fields are the kind for the order, `<kind>.<key>` for a whole one, or a field of one. */
export function findPartDifferences(
  kind: PartKind,
  steps: Versions<DraftStep | undefined>,
  node: string,
  contentOf: (part: Part, side: keyof Versions<unknown>) => unknown = (part) => part,
): Difference[] {
  const all: Versions<Parts> = {
    base: steps.base?.[kind] ?? [],
    mine: steps.mine?.[kind] ?? [],
    theirs: steps.theirs?.[kind] ?? [],
  };
  const own = keysOf(all.base, all.mine, all.theirs).flatMap((key) => {
    const versions = {
      base: findKeyed(all.base, key),
      mine: findKeyed(all.mine, key),
      theirs: findKeyed(all.theirs, key),
    };
    return partDifferences(partPath(kind, key), versions, node, contentOf);
  });
  const order = {
    base: commonOrder(all.base, all.base, all.mine, all.theirs),
    mine: commonOrder(all.mine, all.base, all.mine, all.theirs),
    theirs: commonOrder(all.theirs, all.base, all.mine, all.theirs),
  };
  const moved = findDifference(kind, order, node);
  return moved ? [...own, moved] : own;
}

/** The parts with each difference as chosen; `differences` are those of the step. */
export function mergeParts<Kind extends PartKind>(
  kind: Kind,
  mine: readonly NonNullable<DraftStep[Kind]>[number][],
  theirs: readonly NonNullable<DraftStep[Kind]>[number][],
  differences: readonly Difference[],
  choices: Choices,
): NonNullable<DraftStep[Kind]> {
  const kept = keysOf(mine, theirs).flatMap((key) => {
    const [my, their] = [findKeyed<Part>(mine, key), findKeyed<Part>(theirs, key)];
    return mergePart(partPath(kind, key), my, their, differences, choices) ?? [];
  });
  const order = differences.find((one) => one.field === kind);
  const [first, second] = order && choices[order.id] === "mine" ? [mine, theirs] : [theirs, mine];
  return inOrder(kept, first, second) as NonNullable<DraftStep[Kind]>;
}

function partDifferences(
  place: string,
  { base, mine, theirs }: Versions<Part | undefined>,
  node: string,
  contentOf: (part: Part, side: keyof Versions<unknown>) => unknown,
): Difference[] {
  if (!mine || !theirs) {
    const contents = {
      base: base && contentOf(base, "base"),
      mine: mine && contentOf(mine, "mine"),
      theirs: theirs && contentOf(theirs, "theirs"),
    };
    const whole = findDifference(place, contents, node);
    return whole ? [whole] : [];
  }
  const values = { base: base?.controlValues, mine: mine.controlValues, theirs: theirs.controlValues };
  const members = namesOf(mine, theirs).filter((name) => name !== CONTROLS && name !== "_id" && name !== "key");
  return [
    ...findMemberDifferences<Record<string, unknown>>(members, { base, mine, theirs }, node),
    ...findMemberDifferences(namesOf(values.mine, values.theirs), values, node).map((one) => named(one, CONTROLS)),
  ].map((one) => named(one, place));
}

function named(one: Difference, before: string): Difference {
  const field = `${before}.${one.field}`;
  return { ...one, field, id: `${one.node}/${field}` };
}

function mergePart(
  place: string,
  mine: Part | undefined,
  theirs: Part | undefined,
  differences: readonly Difference[],
  choices: Choices,
): Part | undefined {
  if (!mine || !theirs) {
    const whole = differences.find((one) => one.field === place);
    return whole && choices[whole.id] === "mine" ? mine : theirs;
  }
  const controls = inside(differences, `${place}.${CONTROLS}.`);
  const fields = inside(differences, `${place}.`).filter(({ field }) => !field.startsWith(`${CONTROLS}.`));
  return {
    ...withMine(theirs, fields, choices),
    ...(theirs.controlValues && { controlValues: withMine(theirs.controlValues, controls, choices) }),
  };
}

/** The differences of the members of something, by the names of these. */
function inside(differences: readonly Difference[], prefix: string): Difference[] {
  return differences
    .filter(({ field }) => field.startsWith(prefix))
    .map((one) => ({ ...one, field: one.field.slice(prefix.length) }));
}
