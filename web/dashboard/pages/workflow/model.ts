/** A workflow while it is edited: what is in the forms, and what a person does to its steps. */
import type { components } from "../../../api/schema.d.ts";
import { isSame, type JsonObject, kebab } from "../../values.ts";

type Schemas = components["schemas"];
export type Workflow = Schemas["Workflow"];
export type Layer = Schemas["Layer"];
export type StepKind = Schemas["StepKind"];
export type Severity = Schemas["Severity"];
export type DraftVariant = {
  /** Names the variant while it is edited: its `_id`, or one of its own until it is saved. */
  key: string;
  _id?: string;
  name: string;
  filters: JsonObject[];
  controlValues: JsonObject;
};

export type DraftStep = {
  /** Names the step while it is edited: its `_id`, or one of its own until it is saved. */
  key: string;
  _id?: string;
  stepId: string;
  name: string;
  type: StepKind;
  active: boolean;
  controlValues: JsonObject;
  filters: JsonObject[];
  shouldStopOnFail: boolean;
  variants: DraftVariant[];
  /** Where replies to the mails of the step are posted to; absent if nothing was said about that. */
  replyCallback?: { active: boolean; url: string };
  /** What is merged into the requests to each provider, of chat and tool steps; null takes it away. */
  providerOverrides?: Record<string, JsonObject> | null;
};

export type Draft = {
  name: string;
  description: string;
  tags: string[];
  active: boolean;
  severity: Severity;
  preferences: { default: Layer; user: Layer | null };
  payloadSchema: JsonObject | null;
  validatePayload: boolean;
  isTranslationEnabled: boolean;
  /** Null: as the environment does. */
  tracking: { opens: boolean | null; clicks: boolean | null };
  /** Null: as the environment does. */
  takesReplies: boolean | null;
  steps: DraftStep[];
};

export const STEP_KINDS: readonly StepKind[] = [
  "in_app",
  "email",
  "sms",
  "chat",
  "push",
  "tool",
  "digest",
  "delay",
  "throttle",
  "custom",
  "exit",
  "trigger",
];
export const MAX_STEPS = 20;

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
    steps: workflow.steps.map((step) => ({
      key: step._id,
      _id: step._id,
      stepId: step.stepId,
      name: step.name,
      type: step.type as StepKind,
      active: step.active,
      controlValues: step.controlValues,
      filters: step.filters,
      shouldStopOnFail: step.shouldStopOnFail,
      variants: step.variants.map((variant) => ({ key: variant._id, ...variant })),
      ...(step.replyCallback && { replyCallback: step.replyCallback }),
      ...(step.providerOverrides && { providerOverrides: step.providerOverrides }),
    })),
  };
}

/** The request that saves a draft. Preferences are sent only if they differ: what is read has every switch filled in. */
export function bodyOf(draft: Draft, saved: Draft): Schemas["WorkflowPut"] {
  const { preferences, description, steps, ...rest } = draft;
  return {
    ...rest,
    description: description === "" ? null : description,
    steps: steps.map(stepBodyOf),
    ...(!isSame(preferences, saved.preferences) && { preferences: changedLayers(preferences, saved.preferences) }),
  };
}

function changedLayers(now: Draft["preferences"], before: Draft["preferences"]): Schemas["PreferencesIn"] {
  return {
    ...(!isSame(now.default, before.default) && { workflow: now.default }),
    ...(!isSame(now.user, before.user) && { user: now.user }),
  };
}

export function stepBodyOf({ key: _, variants, ...step }: DraftStep): Schemas["StepIn"] {
  return { ...step, variants: variants.map(({ key: __, ...variant }) => variant) };
}

/** A variant that starts with the content of its step, which is changed then. */
export function newVariant(step: DraftStep, name: string): DraftVariant {
  const { skip: _, ...controlValues } = step.controlValues;
  const key = freeName("new", new Set(step.variants.map((variant) => variant.key)));
  return { key, name, filters: [], controlValues: structuredClone(controlValues) };
}

/** A new step that no other one has the identifier of; an e-mail has the default layout. */
export function newStep(
  type: StepKind,
  name: string,
  steps: readonly DraftStep[],
  defaultLayout?: string | undefined,
): DraftStep {
  const stepId = freeName(kebab(name) || kebab(type), new Set(steps.map((step) => step.stepId)));
  return {
    key: freeName(`new-${stepId}`, new Set(steps.map((step) => step.key))),
    stepId,
    name,
    type,
    active: true,
    controlValues: { ...FIRST_VALUES[type], ...(type === "email" && defaultLayout && { layoutId: defaultLayout }) },
    filters: [],
    shouldStopOnFail: false,
    variants: [],
  };
}

const FIRST_VALUES: Partial<Record<StepKind, JsonObject>> = {
  digest: { type: "regular", amount: 10, unit: "minutes" },
  delay: { type: "regular", amount: 10, unit: "minutes" },
  throttle: { type: "fixed", threshold: 1, amount: 1, unit: "hours" },
  email: { subject: "", body: "" },
};

export function insertStep(draft: Draft, index: number, step: DraftStep): Draft {
  return { ...draft, steps: draft.steps.toSpliced(index, 0, step) };
}

/** Move a step by its key to the place that it is to have then. */
export function moveStep(draft: Draft, key: string, to: number): Draft {
  const from = draft.steps.findIndex((step) => step.key === key);
  const step = draft.steps[from];
  if (!step || to === from || to < 0 || to >= draft.steps.length) {
    return draft;
  }
  return { ...draft, steps: draft.steps.toSpliced(from, 1).toSpliced(to, 0, step) };
}

export function removeStep(draft: Draft, key: string): Draft {
  return { ...draft, steps: draft.steps.filter((step) => step.key !== key) };
}

/** Put a copy behind a step; it is a step of its own. */
export function duplicateStep(draft: Draft, key: string): { draft: Draft; key: string } {
  const index = draft.steps.findIndex((step) => step.key === key);
  const source = draft.steps[index];
  if (!source) {
    return { draft, key };
  }
  const fresh = newStep(source.type, source.name, draft.steps);
  const copy: DraftStep = {
    ...structuredClone(source),
    key: fresh.key,
    stepId: fresh.stepId,
    variants: source.variants.map(({ _id: _, ...variant }, place) =>
      structuredClone({ ...variant, key: `new-${place}` }),
    ),
  };
  delete copy._id;
  return { draft: insertStep(draft, index + 1, copy), key: copy.key };
}

export function changeStep(draft: Draft, key: string, changes: Partial<DraftStep>): Draft {
  return { ...draft, steps: draft.steps.map((step) => (step.key === key ? { ...step, ...changes } : step)) };
}

export function freeName(base: string, taken: ReadonlySet<string>): string {
  let name = base;
  for (let number = 2; taken.has(name); number += 1) {
    name = `${base}-${number}`;
  }
  return name;
}
