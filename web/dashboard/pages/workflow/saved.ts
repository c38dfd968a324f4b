/** A workflow as the API has it, where the controls of a branch hold the steps of its paths, and as a draft has it. */
import type { components } from "../../../api/schema.d.ts";
import { isObject, isSame, type JsonObject } from "../../values.ts";
import {
  type Draft,
  type DraftPath,
  type DraftStep,
  OTHERWISE,
  type StepKind,
  type Within,
  type Workflow,
} from "./model.ts";
import { childrenOf } from "./tree.ts";

type Schemas = components["schemas"];
export type SavedStep = Workflow["steps"][number];

/** All steps of a saved workflow in reading order. */
export function listSaved(workflow: Pick<Workflow, "steps">): SavedStep[] {
  return workflow.steps.flatMap((step) => [step, ...(step.nested ?? [])]);
}

/** What a saved workflow has, in the shape of the forms. */
export function draftOf(workflow: Workflow): Draft {
  return {
    name: workflow.name,
    description: workflow.description ?? "",
    tags: workflow.tags,
    active: workflow.active,
    severity: workflow.severity,
    preferences: workflow.preferences,
    payloadSchema: workflow.payloadSchema ?? null,
    validatePayload: workflow.validatePayload,
    isTranslationEnabled: workflow.isTranslationEnabled,
    tracking: { opens: workflow.tracking?.opens ?? null, clicks: workflow.tracking?.clicks ?? null },
    takesReplies: workflow.takesReplies ?? null,
    steps: draftSteps(listSaved(workflow)),
  };
}

/** Steps with what a draft needs of them; `within` names branches by their `stepId`. */
export function draftSteps(steps: readonly SavedStep[]): DraftStep[] {
  const keys = new Map(steps.map((step) => [step.stepId, step._id]));
  return steps.map((step) => {
    const within = step.within && {
      branch: keys.get(step.within.branch) ?? "",
      path: pathKeyOf(step.within.path),
    };
    return draftStep(step, within);
  });
}

function draftStep(step: SavedStep, within: Within | undefined): DraftStep {
  const { type, values } = readKind(step);
  const { paths, otherwise, ...controlValues } = values;
  return {
    key: step._id,
    _id: step._id,
    stepId: step.stepId,
    name: step.name,
    type,
    active: step.active,
    controlValues: type === "branch" ? controlValues : values,
    filters: step.filters,
    shouldStopOnFail: step.shouldStopOnFail,
    variants: step.variants.map((variant) => ({ key: variant._id, ...variant })),
    ...(step.replyCallback && { replyCallback: step.replyCallback }),
    ...(step.providerOverrides && { providerOverrides: step.providerOverrides }),
    ...(type === "branch" && { paths: readPaths(paths, otherwise) }),
    ...(within && { within }),
  };
}

const KINDS_IN_CUSTOM: readonly unknown[] = [
  "branch",
  "exit",
  "trigger",
  "tool",
  "wait_for",
  "http_request",
  "ask",
  "update",
  "clear",
];

/** The kind and the controls of a step. Where Clarion has the names of other clients, new kinds are shown as custom. */
function readKind({ type, controlValues }: SavedStep): { type: StepKind; values: JsonObject } {
  const { custom, ...outside } = controlValues;
  if (type !== "custom" || !isObject(custom) || !KINDS_IN_CUSTOM.includes(custom.type)) {
    return { type: type as StepKind, values: controlValues };
  }
  const { type: kind, ...own } = custom;
  return { type: kind as StepKind, values: { ...own, ...outside } };
}

function readPaths(paths: unknown, otherwise: unknown): DraftPath[] {
  const named = (Array.isArray(paths) ? paths.filter(isObject) : []).map((path): DraftPath => {
    const name = String(path.name);
    return {
      key: pathKeyOf(name),
      name,
      ...(isObject(path.condition) && { condition: path.condition }),
      ...(typeof path.weight === "number" && { weight: path.weight }),
    };
  });
  return isObject(otherwise) ? [...named, { key: OTHERWISE, name: OTHERWISE }] : named;
}

/** A key that may be part of the path of a field, in which dots part the names. */
function pathKeyOf(name: string): string {
  return encodeURIComponent(name).replaceAll(".", "%2E");
}

/** The request that saves a draft. Preferences are sent only if they differ: what is read has every switch filled in. */
export function bodyOf(draft: Draft, saved: Draft): Schemas["WorkflowPut"] {
  const { preferences, description, steps, ...rest } = draft;
  return {
    ...rest,
    description: description === "" ? null : description,
    steps: stepBodiesOf(steps),
    ...(!isSame(preferences, saved.preferences) && { preferences: changedLayers(preferences, saved.preferences) }),
  };
}

function changedLayers(now: Draft["preferences"], before: Draft["preferences"]): Schemas["PreferencesIn"] {
  return {
    ...(!isSame(now.default, before.default) && { workflow: now.default }),
    ...(!isSame(now.user, before.user) && { user: now.user }),
  };
}

/** The steps of the workflow itself, or of a path, each branch with those within. */
export function stepBodiesOf(steps: readonly DraftStep[], within?: Within): Schemas["StepIn"][] {
  return childrenOf(steps, within).map(({ key, paths, variants, within: _, ...step }) => ({
    ...step,
    variants: variants.map(({ key: __, ...variant }) => variant),
    ...(paths && { controlValues: { ...step.controlValues, ...pathBodiesOf(steps, key, paths) } }),
  }));
}

function pathBodiesOf(steps: readonly DraftStep[], branch: string, paths: readonly DraftPath[]): JsonObject {
  const named = paths.filter((path) => path.key !== OTHERWISE);
  const stepsOf = (path: string) => stepBodiesOf(steps, { branch, path });
  return {
    paths: named.map(({ key, ...path }) => ({ ...path, steps: stepsOf(key) })),
    ...(named.length < paths.length && { otherwise: { steps: stepsOf(OTHERWISE) } }),
  };
}
