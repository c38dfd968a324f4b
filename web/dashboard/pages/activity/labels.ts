/** Moments of bars, as short as their length allows. */
import { momentText } from "../../../ui/formats.ts";
import type { RunCounts } from "./outcomes.ts";

export function labelOfBar(at: string, interval: RunCounts["interval"], now: number): string {
  if (interval.endsWith("d")) {
    return momentText(at, "day");
  }
  const isToday = new Date(at).toDateString() === new Date(now).toDateString();
  if (!isToday) {
    return momentText(at, "dayAndMinutes");
  }
  return momentText(at, interval.endsWith("s") ? "seconds" : "minutes");
}
