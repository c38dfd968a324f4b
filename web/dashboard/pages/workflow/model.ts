/** A workflow while it is edited: what is in the forms, and what a person does to its steps. */
import type { components } from "../../../api/schema.d.ts";
import { type JsonObject, kebab } from "../../values.ts";

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

/** A path of a branch; the last one may be that of the runs for which no condition holds (`OTHERWISE`). */
export type DraftPath = {
  /** Names the path while it is edited: after its saved name, or one of its own until it is saved. */
  key: string;
  name: string;
  condition?: JsonObject;
  weight?: number;
};

/** Where a step within a branch stands: the keys of the branch and of its path. */
export type Within = { branch: string; path: string };

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
  /** Of a branch. Their steps are in the list of the draft. */
  paths?: DraftPath[];
  /** Absent if it is within no branch. */
  within?: Within;
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
  /** All steps in reading order: a branch, the steps of each of its paths, what follows. */
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
  "branch",
  "exit",
  "trigger",
  "wait_for",
  "http_request",
  "ask",
  "update",
  "clear",
];
/** The key of the path where no condition holds. */
export const OTHERWISE = "otherwise";
/** Of the workflow itself, and of each path. */
export const MAX_STEPS = 20;
export const MAX_ALL_STEPS = 100;
export const MAX_PATHS = 10;
/** So many branches may be around a step. */
export const MAX_DEPTH = 5;

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
    ...(type === "branch" && { paths: FIRST_PATHS }),
  };
}

const FIRST_PATHS: DraftPath[] = [
  { key: "path-1", name: "Path 1" },
  { key: OTHERWISE, name: OTHERWISE },
];

const FIRST_VALUES: Partial<Record<StepKind, JsonObject>> = {
  digest: { type: "regular", amount: 10, unit: "minutes" },
  delay: { type: "regular", amount: 10, unit: "minutes" },
  throttle: { type: "fixed", threshold: 1, amount: 1, unit: "hours" },
  email: { subject: "", body: "" },
};

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
