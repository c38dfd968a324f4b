/** What is done and what comes next, from what exists; and how runs are summed up. */
import type { components } from "../../../api/schema.d.ts";
import type { Bar } from "../../../ui/bars.tsx";
import type { Tone } from "../../../ui/status.tsx";
import { texts } from "../../texts/start.ts";

type Schemas = components["schemas"];
type RunStatusName = Schemas["RunStatus"];

export type StepName = keyof typeof texts.steps;
export const STEPS = Object.keys(texts.steps) as StepName[];

/** What exists in an environment. */
export type Facts = {
  hasUsedKey: boolean;
  person: string | undefined;
  workflow: string | undefined;
  hasRun: boolean;
  hasProvider: boolean;
};

export function listDone(facts: Facts): Record<StepName, boolean> {
  return {
    key: facts.hasUsedKey,
    person: facts.person !== undefined,
    workflow: facts.workflow !== undefined,
    run: facts.hasRun,
    provider: facts.hasProvider,
  };
}

/** The first step that is not done. */
export function nextStep(done: Record<StepName, boolean>): StepName | undefined {
  return STEPS.find((step) => !done[step]);
}

type Integration = { channel: string; providerId: string; active: boolean };

/** Whether an active integration is not one of those that come with Clarion, which are named after the inbox. */
export function hasOwnProvider(integrations: readonly Integration[]): boolean {
  const inbox = integrations.find((one) => one.channel === "in_app")?.providerId ?? "svc";
  const builtIn = [inbox, `${inbox}-email`, `${inbox}-sms`];
  return integrations.some((one) => one.active && !builtIn.includes(one.providerId));
}

export type Outcome = { name: keyof typeof texts.overview.outcomes; tone: Tone; statuses: readonly RunStatusName[] };

export const OUTCOMES: readonly Outcome[] = [
  { name: "completed", tone: "good", statuses: ["completed", "merged"] },
  { name: "open", tone: "wait", statuses: ["running", "waiting"] },
  { name: "skipped", tone: "plain", statuses: ["skipped", "canceled"] },
  { name: "partly", tone: "warn", statuses: ["partly_failed"] },
  { name: "failed", tone: "bad", statuses: ["failed"] },
];

type Bucket = Schemas["RunBucket"];

function countIn(bucket: Bucket, outcome: Outcome): number {
  return outcome.statuses.reduce((sum, status) => sum + (bucket.statuses[status] ?? 0), 0);
}

export function barsOf(buckets: readonly Bucket[], labelOf: (at: string) => string): Bar[] {
  return buckets.map((bucket) => ({
    at: bucket.at,
    label: labelOf(bucket.at),
    parts: OUTCOMES.map((one) => ({
      name: texts.overview.outcomes[one.name],
      tone: one.tone,
      value: countIn(bucket, one),
    })),
  }));
}

/** How many runs had each outcome, those that there are. */
export function totalsOf(buckets: readonly Bucket[]): { outcome: Outcome; count: number }[] {
  return OUTCOMES.map((outcome) => ({
    outcome,
    count: buckets.reduce((sum, bucket) => sum + countIn(bucket, outcome), 0),
  })).filter(({ count }) => count > 0);
}
