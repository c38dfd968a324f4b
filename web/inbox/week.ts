// Days and times: of delivery hours, as the API writes them and as fields of a page show them, and of snoozes.

import type { Day } from "./shapes.ts";

export const DAYS: readonly Day[] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

const HOUR = 3_600_000;

export function dayName(day: Day, locale: string | undefined): string {
  // The first of January 2024 was a Monday.
  return new Date(2024, 0, 1 + DAYS.indexOf(day)).toLocaleDateString(locale, { weekday: "long" });
}

/** `09:30 PM` as the value of a time field, `21:30`. */
export function timeFieldValue(text: string): string {
  const [, hour = "0", minute = "00", half] = /^(\d+):(\d+) ?([AP]M)$/i.exec(text) ?? [];
  const hours = (Number(hour) % 12) + (half?.toUpperCase() === "PM" ? 12 : 0);
  return `${pad(hours)}:${minute}`;
}

/** The value of a time field in the words of the API. */
export function twelveHourTime(value: string): string {
  const [hour = 0, minute = 0] = value.split(":").map(Number);
  return `${pad(hour % 12 || 12)}:${pad(minute)} ${hour < 12 ? "AM" : "PM"}`;
}

/** The moments that are offered for a snooze, as far as the server allows them. */
export function snoozePresets(now: Date, maxHours: number): { name: "inAnHour" | "tomorrow" | "nextWeek"; at: Date }[] {
  const morning = (days: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 9);
  const untilMonday = (8 - now.getDay()) % 7 || 7;
  const presets = [
    { name: "inAnHour", at: new Date(now.getTime() + HOUR) },
    { name: "tomorrow", at: morning(1) },
    { name: "nextWeek", at: morning(untilMonday) },
  ] as const;
  return presets.filter((one) => one.at.getTime() - now.getTime() <= maxHours * HOUR);
}

/** A moment as the value of a date field, in the time zone of the browser. */
export function dateFieldValue(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function pad(number: number): string {
  return String(number).padStart(2, "0");
}
