/** The parts of a rule of JSON Logic. */
import { isObject } from "../values.ts";

/** The operator and the arguments of a rule; null for a plain value. */
export function readRule(rule: unknown): { operator: string; values: unknown[] } | null {
  const names = isObject(rule) ? Object.keys(rule) : [];
  const [operator] = names;
  if (!isObject(rule) || operator === undefined || names.length !== 1) {
    return null;
  }
  const given = rule[operator];
  return { operator, values: Array.isArray(given) ? given : [given] };
}
