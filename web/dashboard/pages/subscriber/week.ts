/** A weekly schedule as people edit it. Times of day are as fields have them, such as 17:30. */
import type { components } from "../../../api/schema.d.ts";

type Schedule = components["schemas"]["Schedule"];

export const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
export type Day = (typeof DAYS)[number];

export type Hours = { start: string; end: string };
/** A day without hours is open all day. */
export type DayPlan = { isEnabled: boolean; hours: readonly Hours[] };
export type Week = Record<Day, DayPlan>;

export const WORKING_HOURS: Hours = { start: "09:00", end: "17:00" };

/** The week of a schedule; days that it does not mention get no messages, unless it has no week at all. */
export function weekOf(schedule: Schedule | undefined): Week {
  const weekly = schedule?.weeklySchedule;
  const isOpen = weekly === undefined || Object.keys(weekly).length === 0;
  const plans = DAYS.map((day): [Day, DayPlan] => {
    const plan = weekly?.[day];
    const hours = (plan?.hours ?? []).map((one) => ({ start: readTime(one.start), end: readTime(one.end) }));
    return [day, { isEnabled: plan?.isEnabled ?? isOpen, hours }];
  });
  return Object.fromEntries(plans) as Week;
}

export function scheduleOf(week: Week, isEnabled: boolean): Schedule {
  const plans = DAYS.map((day) => [
    day,
    {
      isEnabled: week[day].isEnabled,
      ...(week[day].hours.length > 0 && {
        hours: week[day].hours.map((one) => ({ start: writeTime(one.start), end: writeTime(one.end) })),
      }),
    },
  ]);
  return { isEnabled, weeklySchedule: Object.fromEntries(plans) };
}

/** Whether hours go on after midnight. */
export function isOvernight({ start, end }: Hours): boolean {
  return start !== "" && end !== "" && end <= start;
}

/** 05:30 PM as 17:30. */
export function readTime(text: string): string {
  const found = /^(\d{2}):(\d{2}) (AM|PM)$/.exec(text);
  if (!found) {
    return "";
  }
  const hour = (Number(found[1]) % 12) + (found[3] === "PM" ? 12 : 0);
  return `${String(hour).padStart(2, "0")}:${found[2]}`;
}

/** 17:30 as 05:30 PM. What is no time is sent as it is, and refused. */
export function writeTime(text: string): string {
  const found = /^(\d{2}):(\d{2})/.exec(text);
  if (!found) {
    return text;
  }
  const hour = Number(found[1]);
  return `${String(hour % 12 || 12).padStart(2, "0")}:${found[2]} ${hour < 12 ? "AM" : "PM"}`;
}
