/** What is wrong with a workflow in the editor, by step and field. */
import type { Refusal } from "../../document/state.ts";
import { missingNames } from "../../schema-form/model.ts";
import { isSame, valueAt } from "../../values.ts";
import type { Draft, DraftStep, Workflow } from "./model.ts";

export type FieldProblem = {
  /** The key of the step; undefined for a setting of the workflow. */
  step?: string;
  /** The path in the controls, or `filters…`, `variants…`, the name of a setting. */
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

/** The first sentence about each field of a step, or of the settings. */
export function problemsByPath(problems: readonly FieldProblem[], step?: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const one of problems) {
    if (one.step === step) {
      found[one.path] ??= one.message;
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
  const before = saved.steps.find((one) => one._id === step._id);
  const issues = Object.entries(before?.issues?.controls ?? {}).flatMap(([path, list]) =>
    list.map((issue) => ({ path, ...issue })),
  );
  const known = issues
    .filter((issue) => issue.issueType !== "MISSING_VALUE" || issue.path.startsWith("variants."))
    .filter((issue) => before !== undefined && isSame(valueIn(step, issue.path), valueIn(before, issue.path)))
    .map((issue) => ({
      step: step.key,
      path: issue.path,
      message: issue.message,
      isError: issue.issueType !== "UNKNOWN_PROPERTY",
    }));
  const remarks = Object.entries(before?.issues?.warnings ?? {}).flatMap(([path, list]) =>
    list.map(({ message }) => ({ step: step.key, path, message, isError: false })),
  );
  const current = remarks.filter(
    ({ path }) => before !== undefined && isSame(valueIn(step, path), valueIn(before, path)),
  );
  const schema = schemas[step.type]?.dataSchema;
  const lacking = missingNames(schema, step.controlValues).map((name) => ({
    step: step.key,
    path: name,
    message: missing(titleOf(schema, name)),
    isError: true,
    isMissing: true,
  }));
  return [...lacking, ...known, ...current];
}

/** How the form calls a control. */
function titleOf(schema: unknown, name: string): string {
  const title = valueAt(schema, `properties.${name}.title`);
  return typeof title === "string" ? title : name;
}

function valueIn(step: Pick<DraftStep, "controlValues" | "filters" | "variants">, path: string): unknown {
  const [first = ""] = path.split(".");
  if (first === "filters" || first === "variants") {
    return step[first];
  }
  const control = valueAt(step.controlValues, first);
  // The path goes on inside of a block document.
  return typeof control === "string" ? control : valueAt(step.controlValues, path);
}

/** What a save was refused for, as long as the field is as it was sent. */
function refusedProblems(draft: Draft, { fields, sent }: Refusal<Draft>): FieldProblem[] {
  return Object.entries(fields).flatMap(([path, message]): FieldProblem[] => {
    const found = /^steps\.(\d+)\.(?:controlValues\.)?(.+)$/.exec(path);
    const before = found && sent.steps[Number(found[1])];
    if (!found || !before) {
      const [name = path] = path.split(".");
      const isAsSent = isSame(valueAt(draft, name), valueAt(sent, name));
      return isAsSent ? [{ path: name, message, isError: true }] : [];
    }
    const now = draft.steps.find((step) => step.key === before.key);
    const inner = found[2] ?? "";
    // Issues name the controls of a variant without this part.
    const shown = inner.replace(/^(variants\.\d+\.)controlValues\./, "$1");
    const isControl = path.includes(".controlValues.") && !inner.startsWith("variants.");
    const read = (step: DraftStep) => (isControl ? valueAt(step.controlValues, inner) : valueAt(step, inner));
    return now && isSame(read(now), read(before)) ? [{ step: before.key, path: shown, message, isError: true }] : [];
  });
}
