/** What can be promoted, and what changes by it. */
import type { components } from "../../../api/schema.d.ts";
import type { FieldChange } from "../../parts/field-changes.tsx";

export type ResourceDiff = components["schemas"]["ResourceDiff"];
type Change = components["schemas"]["Change"];

/** One name for a resource: identifiers of workflows and integrations may be the same. */
export function keyOf(diff: ResourceDiff): string {
  return `${diff.resourceType} ${idOf(diff)}`;
}

export function idOf(diff: ResourceDiff): string {
  return diff.sourceResource?.id ?? diff.targetResource?.id ?? "";
}

export function nameOf(diff: {
  sourceResource: { name: string } | null;
  targetResource: { name: string } | null;
}): string {
  return diff.sourceResource?.name ?? diff.targetResource?.name ?? "";
}

export function isChangeable(diff: ResourceDiff): boolean {
  return diff.action !== "unchanged" && diff.problem === undefined;
}

/** What is chosen at first: all that is new or changed, but nothing that would be deleted. */
export function chooseAtFirst(diffs: readonly ResourceDiff[]): string[] {
  return diffs.filter((one) => isChangeable(one) && one.action !== "deleted").map(keyOf);
}

/** Fields of a change, with the value in the target before and the one of the source after. */
export function fieldsOf(change: Change): FieldChange[] {
  const before = change.diffs.previous ?? {};
  const after = change.diffs.new ?? {};
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].map((path) => ({
    path,
    ...(path in before && { before: before[path] }),
    ...(path in after && { after: after[path] }),
  }));
}
