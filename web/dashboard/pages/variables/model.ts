/** The values of a variable by environment, as a form has them. */
import type { components } from "../../../api/schema.d.ts";
import { texts } from "../../texts/variables.ts";

type Usage = components["schemas"]["VariableUsage"];
export type Variable = components["schemas"]["Variable"];
export type Values = Readonly<Record<string, string>>;

/** What fields start with; values of secrets are not known. */
export function valuesOf(variable: Variable | null): Values {
  if (variable === null || variable.isSecret) {
    return {};
  }
  return Object.fromEntries(variable.values.map((one) => [one._environmentId, one.value]));
}

/** The values that differ from what is stored. */
export function changedValues(variable: Variable | null, values: Values) {
  const before = valuesOf(variable);
  return Object.entries(values)
    .filter(([id, value]) => value !== (before[id] ?? ""))
    .map(([id, value]) => ({ _environmentId: id, value }));
}

/** How many of the environments have no value. */
export function countMissing(variable: Variable, environmentIds: readonly string[]): number {
  const given = new Set(variable.values.filter((one) => one.value !== "").map((one) => one._environmentId));
  return environmentIds.filter((id) => !given.has(id)).length;
}

/** What refers to a variable, in words; each once, in whatever languages and environments. */
export function usesOf({ workflows, layouts, translations, integrations }: Usage): string[] {
  const { uses } = texts;
  return [
    ...new Set([
      ...workflows.map((one) => uses.workflow(one.name)),
      ...layouts.map((one) => uses.layout(one.name)),
      ...translations.map((one) => uses.translation(one.resourceId)),
      ...integrations.map((one) => uses.integration(one.name)),
    ]),
  ];
}
