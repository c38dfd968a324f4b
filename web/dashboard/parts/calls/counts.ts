/** Counts of calls, added up by whatever they are shown by. */
import { listBuckets, type Span } from "./range.ts";

export type CallItem = {
  at: string;
  sent: number;
  failed: number;
  averageMilliseconds?: number;
  slowestMilliseconds?: number;
};

export type CallTotal = {
  sent: number;
  failed: number;
  /** Absent without calls. */
  average?: number;
  slowest?: number;
};

/** Add counts up; the average weighs each by its calls. */
export function totalOf(items: readonly CallItem[]): CallTotal {
  let sent = 0;
  let failed = 0;
  let milliseconds = 0;
  let slowest = 0;
  for (const one of items) {
    sent += one.sent;
    failed += one.failed;
    milliseconds += (one.averageMilliseconds ?? 0) * (one.sent + one.failed);
    slowest = Math.max(slowest, one.slowestMilliseconds ?? 0);
  }
  const calls = sent + failed;
  return calls === 0 ? { sent, failed } : { sent, failed, average: Math.round(milliseconds / calls), slowest };
}

/** The share of calls that failed; undefined without calls. */
export function failureRate({ sent, failed }: { sent: number; failed: number }): number | undefined {
  return sent + failed === 0 ? undefined : failed / (sent + failed);
}

/** The counts of each bucket of a time, empty ones included. */
export function countBuckets(items: readonly CallItem[], span: Span): { at: string; sent: number; failed: number }[] {
  const found = new Map(listBuckets(span).map((at) => [Date.parse(at), { at, sent: 0, failed: 0 }]));
  for (const one of items) {
    const bucket = found.get(Date.parse(one.at));
    if (bucket) {
      bucket.sent += one.sent;
      bucket.failed += one.failed;
    }
  }
  return [...found.values()];
}
