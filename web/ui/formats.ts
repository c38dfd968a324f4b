/** Numbers, lengths of time and moments as people read them. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const whole = new Intl.NumberFormat();
const oneDigit = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const percents = new Intl.NumberFormat(undefined, { style: "percent" });
const smallPercents = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

export function numberText(value: number): string {
  return whole.format(value);
}

/** A number with what it counts; a count that was stopped early has a plus sign. */
export function countText(count: number, one: string, many: string, isCapped = false): string {
  return count === 1 && !isCapped ? `1 ${one}` : `${whole.format(count)}${isCapped ? "+" : ""} ${many}`;
}

/** A share of one, with a digit more where it would be lost. */
export function percentText(share: number): string {
  return (share < 0.1 ? smallPercents : percents).format(share);
}

/** How long something took. */
export function durationText(milliseconds: number): string {
  return milliseconds < SECOND ? `${whole.format(milliseconds)} ms` : `${oneDigit.format(milliseconds / SECOND)} s`;
}

/** An age in its largest unit. */
export function ageText(seconds: number): string {
  const [size, unit] = UNITS.find(([one]) => seconds >= one) ?? LAST_UNIT;
  const format = new Intl.NumberFormat(undefined, { style: "unit", unit, unitDisplay: "short" });
  return format.format(Math.floor(seconds / size));
}

const LAST_UNIT = [1, "second"] as const;
const UNITS = [[86_400, "day"], [3_600, "hour"], [60, "minute"], LAST_UNIT] as const;

const MINUTES = { hour: "2-digit", minute: "2-digit" } as const;
const SECONDS = { ...MINUTES, second: "2-digit" } as const;
const A_DAY = { day: "numeric", month: "short" } as const;
const moments = {
  exact: new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" }),
  date: new Intl.DateTimeFormat(undefined, { dateStyle: "medium" }),
  dateOfUtc: new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" }),
  day: new Intl.DateTimeFormat(undefined, A_DAY),
  dayAndMinutes: new Intl.DateTimeFormat(undefined, { ...A_DAY, ...MINUTES }),
  dayAndSeconds: new Intl.DateTimeFormat(undefined, { ...A_DAY, ...SECONDS }),
  weekdayAndMinutes: new Intl.DateTimeFormat(undefined, { weekday: "short", ...MINUTES }),
  minutes: new Intl.DateTimeFormat(undefined, MINUTES),
  seconds: new Intl.DateTimeFormat(undefined, SECONDS),
};
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "narrow" });

/** A moment to the given part, in the viewer's zone. */
export function momentText(at: string, form: keyof typeof moments): string {
  return moments[form].format(new Date(at));
}

/** The time of the day to the second, with the day if it is not today: for lists in which the order matters. */
export function clockText(at: string, now: number): string {
  const moment = new Date(at);
  const isToday = moment.toDateString() === new Date(now).toDateString();
  return momentText(at, isToday ? "seconds" : "dayAndSeconds");
}

/** "5 min. ago" within a day, a date and a time within a year, otherwise a date. */
export function relativeText(at: string, now: number): string {
  const moment = new Date(at);
  const difference = moment.getTime() - now;
  const distance = Math.abs(difference);
  if (distance < MINUTE) {
    return relative.format(Math.round(difference / SECOND), "second");
  }
  if (distance < HOUR) {
    return relative.format(Math.round(difference / MINUTE), "minute");
  }
  if (distance < DAY) {
    return relative.format(Math.round(difference / HOUR), "hour");
  }
  return momentText(at, moment.getFullYear() === new Date(now).getFullYear() ? "dayAndMinutes" : "date");
}

/** A moment as the value of a field for a local date and time; empty for what is no moment. */
export function toLocalText(at: string): string {
  const moment = new Date(at);
  if (at === "" || Number.isNaN(moment.getTime())) {
    return "";
  }
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * MINUTE);
  return local.toISOString().slice(0, 19);
}

/** The moment of such a value. */
export function fromLocalText(text: string): string {
  const moment = new Date(text);
  return text === "" || Number.isNaN(moment.getTime()) ? "" : moment.toISOString();
}
