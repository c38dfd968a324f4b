/** Audit entries in words, and what changed in them. */
import type { components } from "../../../api/schema.d.ts";
import type { FieldChange } from "../../parts/field-changes.tsx";
import { texts } from "../../texts/audit-log.ts";
import { isObject } from "../../values.ts";

export type AuditEntry = components["schemas"]["AuditEntry"];

/** "workflow.rotateSecret" as a verb. */
export function verbOf(action: string): string {
  const verb = action.slice(action.indexOf(".") + 1);
  return texts.verbs[verb] ?? verb;
}

/** The fields of an entry that differ, of nested objects by their paths. */
export function changesOf(before: unknown, after: unknown, path = ""): FieldChange[] {
  if (isObject(before) || isObject(after)) {
    const old = isObject(before) ? before : {};
    const new_ = isObject(after) ? after : {};
    const names = [...new Set([...Object.keys(old), ...Object.keys(new_)])];
    return names.flatMap((name) => changesOf(old[name], new_[name], path ? `${path}.${name}` : name));
  }
  if (JSON.stringify(before) === JSON.stringify(after)) {
    return [];
  }
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
}
