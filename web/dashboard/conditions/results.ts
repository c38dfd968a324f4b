/** What conditions come to for a chosen person: the same decisions as those of the service, as far as they are known. */

import { isObject } from "../values.ts";
import { decideFilters, decidePart, joinResults } from "./filters.ts";
import { decideLogic, Evaluation } from "./logic.ts";
import type { Group, Node } from "./model.ts";
import { readRule } from "./rules.ts";
import { renderSimply } from "./templates.ts";
import { findValue, type Values } from "./values.ts";

/** `isPassed` is null where it is not known before the run. */
export type Result = { isPassed: boolean | null; actual?: unknown };

export type Sample = { values: Values; now: number };

export function resultOf(node: Node, isLogic: boolean, sample: Sample): Result {
  if (node.kind === "group") {
    return { isPassed: groupResult(node, isLogic, sample) };
  }
  const json = renderSimply(node.json, sample.values);
  if (json === undefined) {
    return { isPassed: null };
  }
  return isLogic ? logicResult(json, sample) : filterResult(json, sample);
}

/** Whether one of the groups passes; none at all do. */
export function resultOfAll(groups: readonly Group[], isLogic: boolean, sample: Sample): boolean | null {
  const results = groups.map((group) => groupResult(group, isLogic, sample));
  return groups.length === 0 ? true : joinResults(results, true);
}

function groupResult(group: Group, isLogic: boolean, sample: Sample): boolean | null {
  if (group.children.length === 0) {
    return true;
  }
  const results = group.children.map((child) => resultOf(child, isLogic, sample).isPassed);
  if (!results.includes(null) && !isLogic) {
    const json = renderSimply(group.json, sample.values);
    // Filters that cannot be decided count differently in a group than their own result says.
    return json === undefined ? null : decideFilters([json], sample.values, circumstances(sample));
  }
  const joined = joinResults(results, group.join === "or");
  return joined === null ? null : joined !== group.isNegated;
}

function logicResult(rule: unknown, { values, now }: Sample): Result {
  const paths = listVariables(rule);
  if (paths.some((path) => isOfTheRun(path, values))) {
    return { isPassed: null };
  }
  const isPassed = decideLogic(rule, values, now);
  const [first] = paths;
  return first === undefined ? { isPassed } : { isPassed, actual: new Evaluation(now).value({ var: first }, values) };
}

function filterResult(part: unknown, sample: Sample): Result {
  const { values } = sample;
  if (isObject(part) && part.on === "previousStep" && findStep(values, part.step) === undefined) {
    return { isPassed: null };
  }
  if (isObject(part) && (part.on === "webhook" || part.on === "tenant")) {
    return { isPassed: false };
  }
  const { passed, actual } = decidePart(part, values, circumstances(sample));
  return { isPassed: passed, ...(actual !== undefined && { actual }) };
}

function circumstances({ values, now }: Sample) {
  return { now, findPrevious: (step: string) => findStep(values, step) };
}

function findStep(values: Values, step: unknown): Values | undefined {
  const found = isObject(values.steps) && typeof step === "string" ? values.steps[step] : undefined;
  return isObject(found) ? found : undefined;
}

/** Whether a variable gets its value only in the run: the sample has nothing of its kind. */
function isOfTheRun(path: string, values: Values): boolean {
  const [root = ""] = path.split(".");
  return ["steps", "step", "context", "actor", "workflow"].includes(root) && findValue(values, path) === undefined;
}

function listVariables(rule: unknown): string[] {
  if (Array.isArray(rule)) {
    return rule.flatMap(listVariables);
  }
  const read = readRule(rule);
  if (read === null) {
    return [];
  }
  const [path] = read.values;
  return read.operator === "var" && typeof path === "string" ? [path] : read.values.flatMap(listVariables);
}
