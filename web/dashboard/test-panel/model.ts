/** What the test panel asks the service for. */
import type { components } from "../../api/schema.d.ts";

type Schemas = components["schemas"];

export type Wish = "own" | "on" | "off";
export type Wishes = Partial<Record<Schemas["Channel"], Wish>>;

export type Scenario = {
  workflowId: string;
  subscriberId: string;
  payload: Record<string, unknown>;
  /** As a field for date and time has it, in the viewer's zone; empty for now. */
  moment: string;
  wishes: Wishes;
  steps: Schemas["StepIn"][] | undefined;
};

export const CHANNELS: readonly Schemas["Channel"][] = ["in_app", "email", "sms", "chat", "push", "tool"];

const FINISHED: readonly Schemas["RunStatus"][] = [
  "completed",
  "merged",
  "skipped",
  "canceled",
  "partly_failed",
  "failed",
];

export function triggerBody({ workflowId, subscriberId, payload }: Scenario): Schemas["TriggerIn"] {
  return { name: workflowId, to: subscriberId, payload };
}

export function simulationBody(scenario: Scenario): Schemas["SimulationIn"] {
  const channels = Object.fromEntries(
    Object.entries(scenario.wishes)
      .filter(([, wish]) => wish !== "own")
      .map(([channel, wish]) => [channel, wish === "on"]),
  );
  const at = new Date(scenario.moment);
  return {
    ...triggerBody(scenario),
    ...(!Number.isNaN(at.getTime()) && { at: at.toISOString() }),
    ...(Object.keys(channels).length > 0 && { preferences: { channels } }),
    ...(scenario.steps && { steps: scenario.steps }),
  };
}

/** The runs with a newer state of one of them, in the order in which they appeared. */
export function withRun<Run extends { _id: string; updatedAt: string }>(
  runs: readonly Run[],
  run: Run,
): readonly Run[] {
  const known = runs.find((one) => one._id === run._id);
  if (known === undefined) {
    return [...runs, run];
  }
  return known.updatedAt > run.updatedAt ? runs : runs.map((one) => (one._id === run._id ? run : one));
}

export function areFinished(runs: readonly { status: Schemas["RunStatus"] }[]): boolean {
  return runs.length > 0 && runs.every((run) => FINISHED.includes(run.status));
}

/** A transaction of its own for each test, so that the run can be followed from its beginning. */
export function newTransactionId(now: number, random: number): string {
  return `test-${now.toString(36)}-${Math.floor(random * 36 ** 6)
    .toString(36)
    .padStart(6, "0")}`;
}

/** Whether a form can be made of a schema. */
export function hasFields(schema: Record<string, unknown> | undefined): schema is Record<string, unknown> {
  const properties = schema?.properties;
  return typeof properties === "object" && properties !== null && Object.keys(properties).length > 0;
}
