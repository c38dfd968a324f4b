/** What the list of workflows shows of their activity. */
import type { components } from "../../../api/schema.d.ts";

type Schemas = components["schemas"];
export type ListedWorkflow = Schemas["ListedWorkflow"];
export type Activity = Schemas["WorkflowActivity"];

export const RANGES = { day: 1, week: 7, month: 30 } as const;
export type Range = keyof typeof RANGES;

const DAY = 24 * 60 * 60 * 1000;

export function rangeOf(text: string): Range {
  return text === "day" || text === "month" ? text : "week";
}

/** When the chosen time begins. */
export function startOf(range: Range, now: number): string {
  return new Date(now - RANGES[range] * DAY).toISOString();
}

export type Totals = { sent: number; failed: number; read: number };

/** The figures of all channels together. */
export function totalsOf(activity: Activity): Totals {
  const totals: Totals = { sent: 0, failed: 0, read: 0 };
  for (const channel of Object.values(activity.channels)) {
    totals.sent += channel.sent;
    totals.failed += channel.failed;
    totals.read += channel.read;
  }
  return totals;
}

/** How many fields of the steps have a problem. */
export function countProblems(workflow: ListedWorkflow): number {
  return workflow.steps.flatMap((step) => Object.keys(step.issues?.controls ?? {})).length;
}

/** Groups of a size that one request takes. */
export function groupsOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
