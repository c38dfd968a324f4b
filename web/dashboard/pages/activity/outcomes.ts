/** Counts of runs as bars: the eight statuses are five outcomes. */
import type { components } from "../../../api/schema.d.ts";
import type { Tone } from "../../../ui/status.tsx";

type Schemas = components["schemas"];
export type RunCounts = Schemas["RunCounts"];
type Status = Schemas["RunStatus"];

export type Outcome = "failed" | "partlyFailed" | "skipped" | "underWay" | "delivered";

/** From the bottom of a bar to its top: failures stand on the ground, where they can be compared. */
export const OUTCOMES: readonly { name: Outcome; tone: Tone; statuses: readonly Status[] }[] = [
  { name: "failed", tone: "bad", statuses: ["failed"] },
  { name: "partlyFailed", tone: "warn", statuses: ["partly_failed"] },
  { name: "underWay", tone: "wait", statuses: ["running", "waiting"] },
  { name: "skipped", tone: "plain", statuses: ["skipped", "canceled"] },
  { name: "delivered", tone: "good", statuses: ["completed", "merged"] },
];

export function countOutcome(statuses: Partial<Record<Status, number>>, outcome: Outcome): number {
  const found = OUTCOMES.find((one) => one.name === outcome);
  return (found?.statuses ?? []).reduce((sum, status) => sum + (statuses[status] ?? 0), 0);
}

/** How many runs of all intervals have each outcome. */
export function sumOutcomes(counts: RunCounts): Record<Outcome, number> {
  const sum = (outcome: Outcome) =>
    counts.buckets.reduce((total, bucket) => total + countOutcome(bucket.statuses, outcome), 0);
  return {
    failed: sum("failed"),
    partlyFailed: sum("partlyFailed"),
    underWay: sum("underWay"),
    skipped: sum("skipped"),
    delivered: sum("delivered"),
  };
}

const SECOND = 1000;
const LENGTHS: Record<RunCounts["interval"], number> = {
  "1s": SECOND,
  "10s": 10 * SECOND,
  "1m": 60 * SECOND,
  "5m": 300 * SECOND,
  "15m": 900 * SECOND,
  "1h": 3600 * SECOND,
  "6h": 6 * 3600 * SECOND,
  "1d": 24 * 3600 * SECOND,
  "7d": 7 * 24 * 3600 * SECOND,
};

/** The moment at which an interval that begins then ends. */
export function endOf(at: string, interval: RunCounts["interval"]): string {
  return new Date(Date.parse(at) + LENGTHS[interval]).toISOString();
}

/** The time of some of the intervals, from the first to the last. */
export function spanOf(counts: RunCounts, first: number, last: number): { after: string; before: string } | null {
  const from = counts.buckets[first];
  const to = counts.buckets[last];
  return from && to ? { after: from.at, before: endOf(to.at, counts.interval) } : null;
}

/** Whether only the runs of an outcome are shown. */
export function isChosen(statuses: readonly Status[], outcome: Outcome): boolean {
  const found = OUTCOMES.find((one) => one.name === outcome)?.statuses ?? [];
  return statuses.length === found.length && found.every((status) => statuses.includes(status));
}
