import type { components } from "../../api/schema.d.ts";
import { Status, type Tone } from "../../ui/status.tsx";
import { texts } from "../texts/runs.ts";

export type RunStatusName = components["schemas"]["RunStatus"];
type JobStatus = components["schemas"]["JobStatus"];

export const RUN_TONES: Record<RunStatusName, Tone> = {
  running: "plain",
  waiting: "wait",
  completed: "good",
  merged: "good",
  skipped: "plain",
  canceled: "plain",
  partly_failed: "warn",
  failed: "bad",
};

const STEP_TONES: Record<JobStatus, Tone> = {
  pending: "plain",
  queued: "plain",
  running: "plain",
  delayed: "wait",
  completed: "good",
  failed: "bad",
  canceled: "plain",
  merged: "good",
  skipped: "warn",
};

/** What has become of a run. */
export function RunStatus({ status }: { status: RunStatusName }) {
  return <Status tone={RUN_TONES[status]}>{texts.statuses[status]}</Status>;
}

/** What has become of a step of a run. */
export function StepStatus({ status }: { status: JobStatus }) {
  return <Status tone={STEP_TONES[status]}>{texts.stepStatuses[status]}</Status>;
}
