/** The time that counts of calls are shown for, as it stands in the address. */

export const RANGES = ["24h", "7d", "30d", "90d", "1y"] as const;

export type RangeName = (typeof RANGES)[number] | "custom";

export type Span = { after: string; before: string; bucket: "hour" | "day" };

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const LENGTHS: Record<(typeof RANGES)[number], number> = {
  "24h": DAY,
  "7d": 7 * DAY,
  "30d": 30 * DAY,
  "90d": 90 * DAY,
  "1y": 365 * DAY,
};

export type RangeValues = { range: string; from: string; to: string };

/** The range that the address names, or the one to begin with. */
export function readRange(values: RangeValues, first: RangeName): RangeName {
  if (values.range === "custom" && isDay(values.from) && isDay(values.to)) {
    return "custom";
  }
  return RANGES.find((one) => one === values.range) ?? first;
}

/** The time of a range, in whole hours or days; days are those of UTC, as the server counts them. */
export function spanOf(range: RangeName, values: RangeValues, now: number): Span {
  if (range === "custom") {
    const after = Date.parse(values.from);
    const before = Date.parse(values.to) + DAY;
    return makeSpan(after, Math.max(before, after + DAY), before - after <= 2 * DAY ? "hour" : "day");
  }
  if (range === "24h") {
    const before = Math.ceil((now + 1) / HOUR) * HOUR;
    return makeSpan(before - LENGTHS[range], before, "hour");
  }
  const before = Math.ceil((now + 1) / DAY) * DAY;
  return makeSpan(before - LENGTHS[range], before, "day");
}

/** The beginnings of all buckets of a time, with those in which nothing happened. */
export function listBuckets({ after, before, bucket }: Span): string[] {
  const length = bucket === "hour" ? HOUR : DAY;
  const found: string[] = [];
  for (let at = Math.floor(Date.parse(after) / length) * length; at < Date.parse(before); at += length) {
    found.push(new Date(at).toISOString());
  }
  return found;
}

/** The day of a moment in UTC, as a field of dates has it. */
export function dayOf(moment: string | number): string {
  return new Date(moment).toISOString().slice(0, 10);
}

/** The last day of a time. */
export function lastDayOf({ before }: Span): string {
  return dayOf(Date.parse(before) - 1);
}

function makeSpan(after: number, before: number, bucket: Span["bucket"]): Span {
  return { after: new Date(after).toISOString(), before: new Date(before).toISOString(), bucket };
}

function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}
