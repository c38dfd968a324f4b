/** What is wrong with a workflow in the editor, by step and field. */
import type { Refusal } from "../../document/state.ts";
import { missingNames } from "../../schema-form/model.ts";
import { texts } from "../../texts/editor.ts";
import { isSame, valueAt } from "../../values.ts";
import type { Draft, DraftStep, Workflow } from "./model.ts";
import { isWeighted, namedPaths } from "./paths.ts";
import { findStepAt, keyedPath, partPath, valueIn } from "./places.ts";
import { draftOf, listSaved } from "./saved.ts";

export type FieldProblem = {
  /** The key of the step; undefined for a setting of the workflow. */
  step?: string;
  /** The path in the controls, or `filters…`, `variants.<key>…`, `paths.<key>…`, the name of a setting. */
  path: string;
  message: string;
  /** Something that keeps the workflow from being saved or from running, as opposed to a remark. */
  isError: boolean;
  /** What a complete step has; the message is a whole sentence. */
  isMissing?: boolean;
};

export type StepSchemas = Partial<
  Record<string, { dataSchema: Record<string, unknown>; uiSchema: Record<string, unknown> }>
>;

/** The problems of the last save that still are, and what is missing now. */
export function findProblems(
  draft: Draft,
  saved: Workflow,
  schemas: StepSchemas,
  missing: (name: string) => string,
  refusal: Refusal<Draft> | null = null,
): FieldProblem[] {
  const refused = refusal ? refusedProblems(draft, refusal) : [];
  const found = draft.steps.flatMap((step) => stepProblems(step, saved, schemas, missing));
  const isNamed = (one: FieldProblem) => refused.some((other) => other.step === one.step && other.path === one.path);
  return [...refused, ...found.filter((one) => !isNamed(one))];
}

/** The first sentence about each field of a step, or of the settings; what is only remarked is not there. */
export function problemsByPath(problems: readonly FieldProblem[], step?: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const one of problems) {
    if (one.step === step && one.isError) {
      found[one.path] ??= one.message;
    }
  }
  return found;
}

/** All that is remarked about each field of a step. */
export function remarksByPath(problems: readonly FieldProblem[], step: string): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const one of problems) {
    if (one.step === step && !one.isError) {
      found[one.path] = [...(found[one.path] ?? []), one.message];
    }
  }
  return found;
}

/** The sentence about a field, or about something in it with its place. */
export function problemUnder(problems: Readonly<Record<string, string>>, path: string): string | undefined {
  const found = Object.entries(problems).find(([one]) => one === path || one.startsWith(`${path}.`));
  if (!found) {
    return undefined;
  }
  return found[0] === path ? found[1] : `${found[0].slice(path.length + 1)}: ${found[1]}`;
}

function stepProblems(
  step: DraftStep,
  saved: Workflow,
  schemas: StepSchemas,
  missing: (name: string) => string,
): FieldProblem[] {
  const schema = schemas[step.type]?.dataSchema;
  const names = step.paths ? missingOfPaths(step) : missingNames(schema, step.controlValues);
  const lacking = names.map((name) => ({
    step: step.key,
    path: name,
    message: missing(titleOf(schema, name)),
    isError: true,
    isMissing: true,
  }));
  return [...lacking, ...savedProblems(step, saved)];
}

/** What decides of each path, and that there is one at all. */
function missingOfPaths(branch: DraftStep): string[] {
  const paths = namedPaths(branch);
  const member = isWeighted(branch) ? "weight" : "condition";
  const lacking = paths.filter((path) => path[member] === undefined);
  return paths.length === 0 ? ["paths"] : lacking.map(({ key }) => `${partPath("paths", key)}.${member}`);
}

/** What the server found in a step when it was saved, as long as the field is as it was. */
function savedProblems(step: DraftStep, saved: Workflow): FieldProblem[] {
  const before = draftOf(saved).steps.find((one) => one._id === step._id);
  const { controls = {}, warnings = {} } = listSaved(saved).find((one) => one._id === step._id)?.issues ?? {};
  if (!before) {
    return [];
  }
  const errors = Object.entries(controls).flatMap(([path, list]) =>
    list
      .filter(({ issueType }) => issueType !== "MISSING_VALUE" || !isFoundAtOnce(path, before))
      .map(({ message }) => ({ path, message, isError: true })),
  );
  const remarks = Object.entries(warnings).flatMap(([path, list]) =>
    list.map(({ message }) => ({ path, message, isError: false })),
  );
  return [...errors, ...remarks]
    .map((one) => ({ ...one, step: step.key, path: keyedPath(one.path, before) }))
    .filter(({ path }) => isSame(valueIn(step, path), valueIn(before, path)));
}

/** Whether a field is empty, which is found as it is typed; the server says the same of what cannot be used. */
function isFoundAtOnce(path: string, step: DraftStep): boolean {
  const value = valueIn(step, path);
  return !path.startsWith("variants.") && (value === undefined || value === null || value === "");
}

/** How the form calls a control, or what decides about a path. */
function titleOf(schema: unknown, name: string): string {
  const [, member] = /^paths\.[^.]+\.(.+)$/.exec(name) ?? [];
  if (member) {
    return texts.deciding[member] ?? member;
  }
  const title = valueAt(schema, `properties.${name}.title`);
  return typeof title === "string" ? title : name;
}

/** What a save was refused for, as long as the field is as it was sent. */
function refusedProblems(draft: Draft, { fields, sent }: Refusal<Draft>): FieldProblem[] {
  return Object.entries(fields).flatMap(([path, message]): FieldProblem[] => {
    const found = findStepAt(path, sent.steps);
    if (!found) {
      const [name = path] = path.split(".");
      const isAsSent = isSame(valueAt(draft, name), valueAt(sent, name));
      return isAsSent ? [{ path: name, message, isError: true }] : [];
    }
    const before = found.step;
    const now = draft.steps.find((step) => step.key === before.key);
    // Issues name the controls of a variant without this part.
    const inner = found.path.replace(/^(variants\.\d+\.)controlValues\./, "$1");
    const shown = keyedPath(inner, before);
    const isAsSent = now && isSame(valueIn(now, shown), valueIn(before, shown));
    return isAsSent ? [{ step: before.key, path: shown, message, isError: true }] : [];
  });
}
