/** A run as the page shows it. */
import type { components } from "../../../api/schema.d.ts";
import type { Message } from "../../message/model.ts";
import type { Decision } from "../../parts/decisions.tsx";
import { texts } from "../../texts/run.ts";

export type RunEvent = components["schemas"]["Event"];
export type RunRow = components["schemas"]["Run"];
export type DeadLetter = components["schemas"]["DeadLetter"];
export type Job = components["schemas"]["Job"];
export type JobStatus = Job["status"];

/** All that is loaded of a run. */
export type RunData = {
  event: RunEvent;
  decisions: readonly Decision[];
  /** Absent while the list of runs does not have it yet. */
  row: RunRow | undefined;
  messages: readonly Message[];
  hasMoreMessages: boolean;
  deadLetters: readonly DeadLetter[];
  /** Whether the trigger has runs for other people. */
  hasOthers: boolean;
};

const ENDED: readonly JobStatus[] = ["completed", "failed", "canceled", "merged", "skipped"];

/** Whether nothing more happens by itself. The row is newer than the jobs, which may not show the end yet. */
export function hasEnded({ event, row }: Pick<RunData, "event" | "row">): boolean {
  const isOpen = row === undefined || row.status === "running" || row.status === "waiting";
  return !isOpen && event.jobs.every((job) => ENDED.includes(job.status));
}

export type StepGroup = {
  key: string;
  stepId: string | undefined;
  title: string;
  /** The job; absent for what is before and after all steps, and for steps that are switched off. */
  job: Job | undefined;
  decisions: readonly Decision[];
  messages: readonly Message[];
};

/** The parts of the timeline: the trigger, each step, and what is known only afterwards. */
export function groupSteps(
  jobs: readonly Job[],
  decisions: readonly Decision[],
  messages: readonly Message[],
): StepGroup[] {
  const groups: StepGroup[] = jobs.map((job) => ({
    key: job._id,
    stepId: job.step.stepId,
    title: job.step.name,
    job,
    decisions: decisions.filter((one) => one.stepId === job.step.stepId),
    messages: messages.filter((one) => one._jobId === job._id),
  }));
  const known = new Set(jobs.map((job) => job.step.stepId));
  const off = [...new Set(decisions.flatMap((one) => (one.stepId && !known.has(one.stepId) ? [one.stepId] : [])))];
  groups.push(...off.map((stepId) => withoutJob(stepId, stepId, decisions, (one) => one.stepId === stepId)));
  const begin = withoutJob(undefined, texts.begin, decisions, (one) => !one.stepId && one.at !== null);
  const end = withoutJob(undefined, texts.end, decisions, (one) => !one.stepId && one.at === null);
  return [begin, ...groups, end].filter((group) => group.job || group.decisions.length > 0);
}

function withoutJob(
  stepId: string | undefined,
  title: string,
  decisions: readonly Decision[],
  isOfIt: (one: Decision) => boolean,
): StepGroup {
  return { key: title, stepId, title, job: undefined, decisions: decisions.filter(isOfIt), messages: [] };
}

/** The number of the version of the workflow that ran. */
export function versionOf(decisions: readonly Decision[]): number | undefined {
  const versions = decisions.filter((one) => one.kind === "workflow" && !one.stepId).map((one) => one.values.version);
  return versions.find((one) => typeof one === "number");
}

export function personOf({ subscriber }: Pick<RunEvent, "subscriber">): string {
  return [subscriber.firstName, subscriber.lastName].filter(Boolean).join(" ") || subscriber.subscriberId;
}

export type TriggerBody = {
  name: string;
  to: string;
  payload: Record<string, unknown>;
  overrides?: Record<string, unknown>;
};

/** The request that triggers the workflow again for the person. */
export function triggerBodyOf(event: RunEvent): TriggerBody {
  const overrides = overridesOf(event);
  return {
    name: event.template.triggers[0]?.identifier ?? "",
    to: event.subscriber.subscriberId,
    payload: event.payload,
    ...(overrides && { overrides }),
  };
}

export function overridesOf(event: Pick<RunEvent, "jobs">): Record<string, unknown> | undefined {
  const overrides = event.jobs[0]?.overrides;
  return overrides && Object.keys(overrides).length > 0 ? overrides : undefined;
}

/** What was typed as JSON, or what is wrong with it; nothing is an empty object. */
export function readObject(text: string): { value: Record<string, unknown> } | { problem: string } {
  if (text.trim() === "") {
    return { value: {} };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: texts.notJson(error instanceof Error ? error.message : String(error)) };
  }
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? { value: value as Record<string, unknown> } : { problem: texts.notAnObject };
}

export type DigestEvent = { id: string; time: string; payload: unknown; transactionId?: string };

/** The events of a digest that has closed. */
export function digestEventsOf(job: Job): DigestEvent[] {
  const events = job.digest?.events;
  return Array.isArray(events) ? (events as DigestEvent[]) : [];
}
