/** Operators for dates relative to now, such as "more than 3 days ago". */

import { isObject } from "../values.ts";
import { findDate } from "./moments.ts";
import { findNumber } from "./values.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const EXACT: Record<string, number> = { minutes: MINUTE, hours: HOUR, days: DAY, weeks: 7 * DAY };
const MONTHS: Record<string, number> = { months: 1, years: 12 };
const TOLERANCES: Record<string, number> = { ...EXACT, weeks: DAY, months: DAY, years: 7 * DAY };
const MAX_AMOUNT = 100_000;

type Comparison = (moment: number, since: number, now: number, unit: string) => boolean;

export const DATE_OPERATORS: Record<string, Comparison> = {
  moreThanXAgo: (moment, since) => moment < since,
  lessThanXAgo: (moment, since) => moment >= since,
  withinLast: (moment, since, now) => since <= moment && moment <= now,
  notWithinLast: (moment, since, now) => !(since <= moment && moment <= now),
  exactlyXAgo: (moment, since, _, unit) => Math.abs(moment - since) <= (TOLERANCES[unit] ?? 0),
};

/** Whether a date passes the operator; a malformed date or span never does. */
export function compareDates(operator: string, actual: unknown, span: unknown, now: number): boolean {
  const moment = momentOf(actual);
  const since = isObject(span) ? sinceOf(span, now) : null;
  return (
    moment !== null &&
    since !== null &&
    isObject(span) &&
    (DATE_OPERATORS[operator]?.(moment, since, now, String(span.unit)) ?? false)
  );
}

function momentOf(value: unknown): number | null {
  if (typeof value === "number") {
    return Math.abs(value) < 2 ** 53 ? Math.trunc(value) : null;
  }
  return findDate(value);
}

function sinceOf(span: Record<string, unknown>, now: number): number | null {
  const amount = Number(findNumber(span.amount) ?? 0);
  const unit = span.unit;
  if (!(amount > 0 && amount <= MAX_AMOUNT) || typeof unit !== "string") {
    return null;
  }
  const exact = Object.hasOwn(EXACT, unit) ? EXACT[unit] : undefined;
  if (exact !== undefined) {
    return now - Math.trunc(amount * exact);
  }
  const months = Object.hasOwn(MONTHS, unit) ? MONTHS[unit] : undefined;
  return months === undefined ? null : monthsBefore(now, Math.trunc(amount) * months);
}

/** By the calendar: a day that the month does not have is its last one. */
function monthsBefore(now: number, months: number): number | null {
  const moment = new Date(now);
  const total = moment.getUTCFullYear() * 12 + moment.getUTCMonth() - months;
  const [year, month] = [Math.floor(total / 12), ((total % 12) + 12) % 12];
  if (year < 1) {
    return null;
  }
  const lastDay = new Date(0);
  lastDay.setUTCFullYear(year, month + 1, 0);
  moment.setUTCFullYear(year, month, Math.min(moment.getUTCDate(), lastDay.getUTCDate()));
  return moment.getTime();
}
